"""Scaled losses, their gradients and the scales after steps are TensorFlow's."""
from pathlib import Path

import pytest

from ...recorded import check, texts

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _options(monkeypatch):
    """Programs set an option of the process."""
    from jitgraph.app import configuration

    monkeypatch.setattr(configuration, "_kept", {})


@pytest.mark.parametrize("program", texts(HERE)[1])
def test_the_program_does_what_it_does_in_tensorflow(tf, program):
    check(tf, HERE, program)
