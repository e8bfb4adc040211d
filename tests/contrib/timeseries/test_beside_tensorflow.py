"""What tf.contrib.timeseries gives is what it gives in TensorFlow: variables, losses, predictions, exports, errors."""
import importlib
from pathlib import Path

import pytest

from ...recorded import check, texts

HERE = Path(__file__).parent


LONG = "StructuralEnsemble"      # models of many thousand nodes, which train for half a minute


@pytest.mark.parametrize("program", [pytest.param(text, marks=[pytest.mark.slow] * (LONG in text)) for text in texts(HERE)[1]])
def test_the_program_does_what_it_does_in_tensorflow(tf, program):
    importlib.import_module("jitgraph.compat").install()
    check(tf, HERE, program)
