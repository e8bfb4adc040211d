"""Functions that take fewer nodes here than in TensorFlow count TensorFlow's, so that what is drawn after them is the same."""
from pathlib import Path

import pytest

from ...recorded import check, texts

HERE = Path(__file__).parent


@pytest.mark.parametrize("program", texts(HERE)[1])
def test_the_program_does_what_it_does_in_tensorflow(tf, program):
    check(tf, HERE, program)


@pytest.mark.parametrize("program", [text for text in texts(HERE)[1] if "tf.gradients" in text])
def test_it_does_so_compiled(tf, program):
    check(tf, HERE, program, jit="always")
