"""Cells and recurrent networks leave behind what they do in TensorFlow: names, node counts, weights, results, errors."""
import importlib
from pathlib import Path

import pytest

from ..recorded import check, texts

HERE = Path(__file__).parent


@pytest.mark.parametrize("program", texts(HERE)[1])
def test_the_program_does_what_it_does_in_tensorflow(tf, program):
    importlib.import_module("jitgraph.compat").install()
    check(tf, HERE, program)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("program", [text for text in texts(HERE)[1] if any(
    word in text for word in ("tf.gradients", "raw_rnn", "sequence_length", "minimize"))])
def test_it_does_so_by_reference_and_compiled(tf, program, jit):
    importlib.import_module("jitgraph.compat").install()
    check(tf, HERE, program, jit=jit)
