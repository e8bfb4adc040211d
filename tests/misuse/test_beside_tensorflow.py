"""Programs that misuse things raise the class of error that TensorFlow does: here estimators, datasets, layers, losses, training
and cells; in `runs` what a run is given, there with the words of TensorFlow, and variables that stay as they were; in `flows`
control flow, loops of cells, decoders, elements that change, damaged files, columns and hooks."""
from pathlib import Path

import pytest

from ..recorded import check, texts

HERE = Path(__file__).parent
PROGRAMS = [(folder, program) for folder in (HERE, HERE / "runs", HERE / "flows") for program in texts(folder)[1]]


@pytest.mark.parametrize("folder, program", PROGRAMS, ids=[f"{folder.name}: {program}" for folder, program in PROGRAMS])
def test_the_program_does_what_it_does_in_tensorflow(tf, folder, program):
    check(tf, folder, program)
