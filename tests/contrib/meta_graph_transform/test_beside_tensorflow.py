"""MetaGraphDefs that were rewritten are those of TensorFlow: nodes, collections, signatures."""
import importlib
from pathlib import Path

import pytest

from ...recorded import check, texts

HERE = Path(__file__).parent


@pytest.mark.parametrize("program", texts(HERE)[1])
def test_the_program_does_what_it_does_in_tensorflow(tf, program):
    importlib.import_module("jitgraph.compat").install()
    check(tf, HERE, program)
