"""Estimators leave behind what they do in TensorFlow: losses of each step, checkpoints, metrics, predictions, files, summaries."""
import json

import numpy as np
import pytest

from .trainings import HERE, outcome, texts

WANTED = json.loads((HERE / "data" / "tf115_programs.json").read_text())


def same(found, wanted, where):
    """Equal, numbers up to the rounding of float32."""
    assert type(found) is type(wanted), where
    if isinstance(wanted, dict):
        assert sorted(found) == sorted(wanted), where
        for key in wanted:
            same(found[key], wanted[key], f"{where}/{key}")
    elif wanted and isinstance(wanted, list) and all(isinstance(one, float) for one in wanted):
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-5, err_msg=where)
    elif isinstance(wanted, list) and len(found) == len(wanted):
        for number, pair in enumerate(zip(found, wanted)):
            same(*pair, f"{where}/{number}")
    else:
        assert found == wanted, where


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", texts()[1])
def test_the_training_does_what_it_does_in_tensorflow(tf, program):
    same(outcome(tf, texts()[0], program), WANTED[program], "")
