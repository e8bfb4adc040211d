"""tf.contrib.layers leave behind what they do in TensorFlow: names, collections, node counts, initial values, results, errors."""
from pathlib import Path

import pytest

from ...recorded import check, texts

HERE = Path(__file__).parent


@pytest.mark.parametrize("program", texts(HERE)[1])
def test_the_program_does_what_it_does_in_tensorflow(tf, program):
    check(tf, HERE, program)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("program", [text for text in texts(HERE)[1] if "tf.gradients" in text or "training)" in text])
def test_it_does_so_by_reference_and_compiled(tf, program, jit):
    check(tf, HERE, program, jit=jit)
