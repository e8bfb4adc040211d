"""Iterators over several runs do what those of TensorFlow 1.15 do, compiled or not."""
import importlib.util
import json
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("data_runs", _HERE / "runs.py")
runs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(runs)
OF_TENSORFLOW = json.loads((_HERE / "data" / "tf115_runs.json").read_text())


@pytest.mark.parametrize("jit", ["auto", "always", "off"])
@pytest.mark.parametrize("name", sorted(OF_TENSORFLOW))
def test_runs_are_tensorflows(tf, monkeypatch, name, jit):
    monkeypatch.setenv("JITGRAPH_JIT", jit)
    assert runs.result(tf, name) == OF_TENSORFLOW[name]
