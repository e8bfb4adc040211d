"""Resolvers of clusters say what TensorFlow's do, and refuse what they refuse."""
from pathlib import Path

import pytest

from ...recorded import check, texts

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    """Programs set TF_CONFIG."""
    monkeypatch.setenv("TF_CONFIG", "{}")


@pytest.mark.parametrize("program", texts(HERE)[1])
def test_the_program_does_what_it_does_in_tensorflow(tf, program):
    check(tf, HERE, program)
