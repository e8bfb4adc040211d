"""Graph files with the control flow of TensorFlow 1.15 as functions: they give what they give as graphs."""
from pathlib import Path

import numpy as np
import pytest

from jitgraph.protobuf import messages

FOLDER = Path(__file__).parent.parent / "formats" / "data" / "control_flow_v1"


@pytest.fixture
def wrapped(tf, data):
    """The graph of a file, and a constant, as a function without arguments."""
    definition = messages.GraphDef.FromString(data["graph"].tobytes())

    def build():
        tf.import_graph_def(definition, name="")
        tf.constant(0, name="done")

    return tf.wrap_function(build, [])


@pytest.fixture(params=sorted(path.stem for path in FOLDER.glob("*.npz")))
def data(request):
    return np.load(FOLDER / f"{request.param}.npz")


def test_values(tf, data, wrapped):
    keys = list({key.split("|")[2]: None for key in data.files if "|feed|" in key})
    inputs = [wrapped.graph.as_graph_element(key) for key in keys]
    fetches = [str(fetch) for fetch in data["fetches"]]
    given = [tf.placeholder(tensor.dtype, tensor.shape) for tensor in inputs]
    results = wrapped.prune(inputs, fetches)(*given)
    with tf.Session() as session:
        if data["init"]:
            session.run(wrapped.prune([], ["done:0", str(data["init"])])()[0])      # both functions have the same variables
        for run in range(int(data["runs"])):
            feeds = {tensor: data[f"{run}|feed|{key}"] for tensor, key in zip(given, keys)}
            if f"{run}|error" in data.files:
                with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
                    session.run(results, feeds)
                continue
            for fetch, value in zip(fetches, session.run(results, feeds)):
                wanted = data[f"{run}|fetch|{fetch}"]
                if wanted.dtype.kind == "f":
                    np.testing.assert_allclose(value, wanted, 1e-4, 1e-5)
                else:
                    np.testing.assert_array_equal(value, wanted.astype(np.asarray(value).dtype))


@pytest.mark.parametrize("data", ["while_power", "while_second_order", "cond_in_while", "while_in_cond", "cond_gradient"],
                         indirect=True)
def test_gradients(tf, data, wrapped):
    """The second result is the gradient of the first with respect to x, as TensorFlow built it into the graph."""
    y, dy = (str(fetch) for fetch in data["fetches"][:2])
    keys = list({key.split("|")[2]: None for key in data.files if "|feed|" in key})
    inputs = [wrapped.graph.as_graph_element(key) for key in keys]
    given = [tf.placeholder(tensor.dtype, tensor.shape) for tensor in inputs]
    (x,) = [one for one, key in zip(given, keys) if key.startswith("x")]
    (gradient,) = tf.gradients(wrapped.prune(inputs, y)(*given), x)
    with tf.Session() as session:
        for run in range(int(data["runs"])):
            found = session.run(gradient, {tensor: data[f"{run}|feed|{key}"] for tensor, key in zip(given, keys)})
            np.testing.assert_allclose(found, data[f"{run}|fetch|{dy}"], 1e-5)
