"""Monitored sessions log, save, call and raise what they do in TensorFlow 1.15."""
import json
from pathlib import Path

import pytest

from . import session_programs

WANTED = json.loads((Path(__file__).parent / "data" / "tf115_sessions.json").read_text())


@pytest.mark.parametrize("program", session_programs.PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_does_what_it_does_in_tensorflow(tf, program):
    assert session_programs.result(tf, program) == WANTED[program.__name__]
