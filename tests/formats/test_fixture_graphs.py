"""Graphs of TensorFlow run as they ran there: every one of the fixtures, its runs one after the other in one session."""
import json
from pathlib import Path

import numpy as np
import pytest

from jitgraph.protobuf import messages

FOLDER = Path(__file__).parent.parent / "fixtures" / "graphs"
NAMES = sorted(path.name for path in FOLDER.iterdir())

# rtol, atol as the README of the fixtures has them, for sums and convolutions in float32; half precision has 11 bits
TOLERANCES = {"float16": (1e-2, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-10, 1e-12), "complex64": (1e-4, 1e-5),
              "complex128": (1e-10, 1e-12)}


def stored(array, kind):
    """A stored array as the value that it stands for."""
    return array.astype(object) if kind == "string" else array


def assert_same(value, wanted, kind, what):
    value = np.asarray(value)
    if kind == "string":
        assert value.shape == wanted.shape and value.ravel().tolist() == wanted.ravel().tolist(), what
    elif kind == "bfloat16":
        np.testing.assert_array_equal(value.view(np.uint16), wanted, what)
    else:
        assert (value.shape, value.dtype) == (wanted.shape, wanted.dtype), what
        if kind in TOLERANCES:
            np.testing.assert_allclose(value, wanted, *TOLERANCES[kind], err_msg=what)
        else:
            np.testing.assert_array_equal(value, wanted, what)


def in_order_of_creation(name, run, tensor, wanted, arrays):
    """What jitgraph promises where TensorFlow leaves the order open.

    ``m/after`` is ``m/y`` once ``m/b2 *= 2`` is done; whether the sum in ``m/y`` reads ``m/b2`` before or after that,
    no edge says.  TensorFlow happened to read it after, when these numbers were taken.  By the state rule the read comes
    first, as it stands first in the graph.
    """
    if name.startswith("04_variables") and (run, tensor) == (7, "m/after:0"):
        after = arrays["8|fetch|m/b2read:0"]
        return wanted - after + after / 2
    return wanted


def test_all_are_here():
    assert len(NAMES) == 20


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("name", NAMES)
def test_a_graph_gives_what_it_gave_in_tensorflow(tf, name, jit):
    tf.import_graph_def(messages.GraphDef.FromString((FOLDER / name / "graph.pb").read_bytes()), name="")
    arrays = np.load(FOLDER / name / "io.npz")
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True), jit=jit) as session:
        for k, run in enumerate(json.loads((FOLDER / name / "io.json").read_text())["runs"]):
            feeds = {tensor: stored(arrays[f"{k}|feed|{tensor}"], kind) for tensor, kind in run["feeds"].items()}
            values, _ = session.run([list(run["fetches"]), run["targets"]], feeds)
            for (tensor, kind), value in zip(run["fetches"].items(), values):
                wanted = in_order_of_creation(name, k, tensor, arrays[f"{k}|fetch|{tensor}"], arrays)
                assert_same(value, wanted, kind, f"{name}, run {k}: {tensor}")
