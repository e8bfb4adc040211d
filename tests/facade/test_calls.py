"""The nodes that calls of public functions make are TensorFlow 1.15's, in its order."""
import importlib.util
import json
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
EXPECTED = json.loads((_HERE / "data" / "tf115_calls.json").read_text())
# other nodes of the same meaning: guards of assertions, gradients that use what is known of shapes, fused image functions
DIFFERENT = set((_HERE / "data" / "calls_that_differ.txt").read_text().splitlines())
_spec = importlib.util.spec_from_file_location("graph_calls", _HERE / "calls.py")
calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(calls)


@pytest.mark.parametrize("family", sorted(calls.CALLS))
def test_nodes_equal_those_of_tensorflow(tf, family):
    differ = {call for other, call in calls.calls() if other == family and calls.nodes_of(tf, call) != EXPECTED[call]}
    listed = {call for other, call in calls.calls() if other == family} & DIFFERENT
    assert differ - listed == set()
    assert listed - differ == set(), "these have TensorFlow's nodes by now: take them off the list"


def test_four_of_five_calls_make_the_same_nodes():
    every = {call for _, call in calls.calls()}
    assert every >= DIFFERENT and len(DIFFERENT) < 0.2 * len(every)
