"""Recurrent estimators of contrib.learn leave behind what they do in TensorFlow."""
import json
from pathlib import Path

import pytest

from ....estimator.test_beside_tensorflow import same
from ....estimator.trainings import outcome, texts

HERE = Path(__file__).parent
WANTED = json.loads((HERE / "data" / "tf115_programs.json").read_text())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", texts(HERE)[1])
def test_the_model_does_what_it_does_in_tensorflow(tf, program):
    found, wanted = outcome(tf, texts(HERE)[0], program), dict(WANTED[program])
    # at which steps summaries are written is left to chance: the step is read while it is counted
    assert sorted(found.pop("tags", ())) == sorted(wanted.pop("tags", ()))
    same(found, wanted, "")
