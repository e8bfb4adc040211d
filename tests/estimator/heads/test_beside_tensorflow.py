"""The heads of tf.estimator leave behind what they do in TensorFlow: losses, predictions, metrics, exports, errors."""
import json
from pathlib import Path

import pytest

from ..test_beside_tensorflow import same
from ..trainings import outcome, texts

HERE = Path(__file__).parent
WANTED = json.loads((HERE / "data" / "tf115_programs.json").read_text())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", texts(HERE)[1])
def test_the_head_does_what_it_does_in_tensorflow(tf, program):
    same(outcome(tf, texts(HERE)[0], program), WANTED[program], "")
