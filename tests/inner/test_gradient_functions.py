"""``tensorflow.python.ops.nn_grad`` and its like: gradients of ops by the names that TensorFlow's functions have."""
import importlib

import numpy as np
import pytest

from jitgraph import compat


@pytest.fixture(autouse=True)
def tensorflow():
    compat.install()
    yield
    compat.uninstall()


@pytest.mark.parametrize(("module", "name", "call", "inputs"), [
    ("nn_grad", "_ReluGrad", lambda tf, x: tf.nn.relu(x), 1),
    ("nn_grad", "_SoftplusGrad", lambda tf, x: tf.nn.softplus(x), 1),
    ("nn_grad", "_EluGrad", lambda tf, x: tf.nn.elu(x), 1),
    ("nn_grad", "_TopKGrad", lambda tf, x: tf.nn.top_k(x, 2)[0], 2),
    ("math_grad", "_TanhGrad", lambda tf, x: tf.tanh(x), 1),
    ("math_grad", "_SigmoidGrad", lambda tf, x: tf.sigmoid(x), 1),
    ("math_grad", "_MatMulGrad", lambda tf, x: tf.matmul(x, x, transpose_b=True), 2),
    ("math_grad", "_SumGrad", lambda tf, x: tf.reduce_sum(x, 1), 2),
    ("array_grad", "_ConcatGradV2", lambda tf, x: tf.concat([x, x], 1), 3),
    ("array_grad", "_IdGrad", lambda tf, x: tf.identity(x), 1),
])
def test_they_give_what_gradients_gives(tf, module, name, call, inputs):
    x = tf.constant([[-1.0, 2.0, 0.5], [0.25, -3.0, 4.0]])
    y = call(tf, x)
    seed = tf.ones_like(y) * 3.0
    others = [tf.zeros_like(other) for other in y.op.outputs[1:]]
    function = getattr(importlib.import_module(f"tensorflow.python.ops.{module}"), name)
    found = function(y.op, seed, *others)
    found = found if isinstance(found, (list, tuple)) else [found]
    assert len(found) == inputs
    with tf.Session() as session:
        total = sum(session.run(grad) for grad, source in zip(found, y.op.inputs) if source is x)
        np.testing.assert_array_equal(total, session.run(tf.gradients(y, x, seed)[0]))


def test_an_override_that_calls_the_usual_gradient(tf):
    from tensorflow.python.ops import math_grad, nn_grad

    assert not hasattr(nn_grad, "_NoSuchGrad") and not hasattr(math_grad, "_ShapeGrad")

    @tf.RegisterGradient("Guided")
    def _guided(op, grad):
        return tf.nn.relu(nn_grad._ReluGrad(op, grad))

    x = tf.constant([[-1.0, 2.0, 3.0]])
    with tf.get_default_graph().gradient_override_map({"Relu": "Guided"}):
        y = tf.nn.relu(x)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(tf.gradients(y, x, tf.constant([[1.0, 1.0, -1.0]]))[0]), [[0, 1, 0]])
