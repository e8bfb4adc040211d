"""Variables that start from the checkpoint of another model."""
import json
from pathlib import Path

import pytest

from . import warm_start_programs

WANTED = json.loads((Path(__file__).parent / "data" / "tf115_warm_start.json").read_text())


@pytest.fixture(scope="module")
def found():
    import jitgraph

    return warm_start_programs.result(jitgraph)


@pytest.mark.parametrize("case", WANTED)
def test_variables_start_as_in_tensorflow(found, case):
    assert found[case] == WANTED[case]


def test_an_axis_that_there_is_not(tf):
    with pytest.raises(ValueError, match="only supported values for the axis argument are 0 and 1"):
        tf.train.VocabInfo("new", 1, 1, "old", axis=2)
    assert tf.train.VocabInfo("new", 1, 2, "old")[4:] == (-1, None, 0)
