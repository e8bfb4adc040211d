"""Pipelines give what TensorFlow 1.15 gives: elements and their order, nodes, types, shapes, and the next default seed."""
import importlib.util
import json
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("data_pipelines", _HERE / "pipelines.py")
pipelines = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pipelines)
OF_TENSORFLOW = json.loads((_HERE / "data" / "tf115_pipelines.json").read_text())


def _class_names(text):
    for module in ("jitgraph.graph.tensor.", "jitgraph.graph.composite.", "tensorflow.python.framework.sparse_tensor."):
        text = text.replace(module, "")
    return text


@pytest.mark.parametrize("text", sorted(OF_TENSORFLOW))
def test_pipelines_are_tensorflows(tf, text):
    found = json.loads(json.dumps(pipelines.result(tf, tf.contrib.data if " C." in text or "(C." in text or text[:2] == "C."
                                                   else None, text)))
    expected = OF_TENSORFLOW[text]
    for kinds in (found, expected):
        if "classes" in kinds:
            kinds["classes"] = _class_names(kinds["classes"])
    assert found == expected
