"""The nodes of small programs are TensorFlow 1.15's: names, types, inputs, devices, attributes, and their order."""
import importlib.util
import json
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent


def cases():
    """(module of programs, program, its nodes in TensorFlow)"""
    for programs, recorded in (("graph/programs.py", "graph/data/tf115_graphs.json"),
                               ("train/saver_programs.py", "train/data/tf115_savers.json")):
        spec = importlib.util.spec_from_file_location(Path(programs).stem, TESTS / programs)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        expected = json.loads((TESTS / recorded).read_text())
        for program in module.PROGRAMS:
            yield pytest.param(module, program, expected[program.__name__], id=program.__name__)


@pytest.mark.parametrize("module, program, expected", list(cases()))
def test_nodes_equal_those_of_tensorflow(tf, module, program, expected):
    found = module.nodes_of(tf, program)
    assert [node[0] for node in found] == [node[0] for node in expected]
    for node, wanted in zip(found, expected):
        assert node == wanted
