"""Programs of ``tf.compat.v2`` leave behind what they do in TensorFlow: names, node counts, results, errors."""
from pathlib import Path

import pytest

from jitgraph import compat

from ..recorded import check, texts

HERE = Path(__file__).parent


@pytest.mark.parametrize("program", texts(HERE)[1])
def test_the_program_does_what_it_does_in_tensorflow(tf, program):
    compat.install()
    check(tf, HERE, program)
