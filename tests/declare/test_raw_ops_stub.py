"""What checkers and editors see of `tf.raw_ops` is what is declared."""
import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.fixture(scope="module")
def write_raw_ops():
    spec = importlib.util.spec_from_file_location("write_raw_ops", DOCS / "write_raw_ops.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stub_is_current(write_raw_ops, request):
    """`pytest --update` writes it anew."""
    if request.config.getoption("--update"):
        write_raw_ops.STUB.write_text(write_raw_ops.text())
    assert write_raw_ops.STUB.read_text() == write_raw_ops.text(), "run python docs/write_raw_ops.py"


def test_every_op_of_the_stub_is_there(write_raw_ops, tf):
    names = [line[4:line.index("(")] for line in write_raw_ops.STUB.read_text().splitlines() if line.startswith("def ")]
    assert len(set(names)) > 750 and all(callable(getattr(tf.raw_ops, name)) for name in names)
