"""Forests of contrib.tensor_forest grow as they do in TensorFlow."""
import json
from pathlib import Path

import pytest

from ...estimator.test_beside_tensorflow import same
from ...estimator.trainings import outcome, texts

HERE = Path(__file__).parent
WANTED = json.loads((HERE / "data" / "tf115_programs.json").read_text())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", texts(HERE)[1])
def test_the_forest_grows_as_in_tensorflow(tf, program):
    same(outcome(tf, texts(HERE)[0], program), WANTED[program], "")
