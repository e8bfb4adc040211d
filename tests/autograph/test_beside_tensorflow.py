"""Rewritten functions do what they do in TensorFlow: results, gradients, errors."""
import importlib.util
import sys
import types
from pathlib import Path

import pytest

from ..recorded import check, texts

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _imp(monkeypatch):
    """The module ``imp``, which TensorFlow 1.15's Python has."""
    def load_source(name, path):
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    monkeypatch.setitem(sys.modules, "imp", types.SimpleNamespace(load_source=load_source))
    monkeypatch.chdir(HERE.parent.parent)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


@pytest.mark.parametrize("program", texts(HERE)[1])
def test_the_program_does_what_it_does_in_tensorflow(tf, program):
    check(tf, HERE, program)
