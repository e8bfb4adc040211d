"""tf.contrib.slim leaves behind what it does in TensorFlow: names, collections, node counts, results, errors."""
from pathlib import Path

import pytest

from ...recorded import check, texts

HERE = Path(__file__).parent


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", texts(HERE)[1])
def test_the_program_does_what_it_does_in_tensorflow(tf, program):
    check(tf, HERE, program)
