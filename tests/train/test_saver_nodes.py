"""The nodes of savers are TensorFlow 1.15's: names, types, inputs, devices, attributes, and their order."""
import importlib.util
import json
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
EXPECTED = json.loads((_HERE / "data" / "tf115_savers.json").read_text())
_spec = importlib.util.spec_from_file_location("saver_programs", _HERE / "saver_programs.py")
programs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(programs)


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda p: p.__name__)
def test_nodes_equal_those_of_tensorflow(tf, program):
    found, expected = programs.nodes_of(tf, program), EXPECTED[program.__name__]
    assert [node[0] for node in found] == [node[0] for node in expected]
    for node, wanted in zip(found, expected):
        assert node == wanted
