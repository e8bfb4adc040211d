"""What the gradient of a loop keeps of each iteration, and what it computes again."""
import numpy as np
import pytest

from jitgraph.graph.function_graph import LOOPS


def loss_of(tf, step):
    """A loss of four iterations that begin with `start`, and the values around."""
    start = tf.constant(np.linspace(-1.0, 1.0, 6).reshape(2, 3))
    w, b = (tf.constant(np.cos(np.arange(n)).reshape(shape)) for n, shape in ((9, (3, 3)), (3, (3,))))
    end = tf.while_loop(lambda k, h: k < 4, lambda k, h: (k + 1, step(tf, h, w, b)), [0, start])[1]
    return tf.reduce_sum(end * end), [start, w, b]


def read_twice(tf, product, b):
    return tf.tanh(product + b) * tf.sin(product)


STEPS = {
    "a sum": (lambda tf, h, w, b: tf.tanh(tf.nn.bias_add(tf.matmul(h, w), b)), set()),
    "a sum of two": (lambda tf, h, w, b: tf.tanh(tf.matmul(h, w) + tf.matmul(h, w * w) + b), set()),
    "a sum with what it was made of": (lambda tf, h, w, b: tf.tanh(h + tf.matmul(h, w)), set()),
    "a product that something else reads": (lambda tf, h, w, b: read_twice(tf, tf.matmul(h, w), b), {"AddV2"}),
    "a sum of another size": (lambda tf, h, w, b: tf.tanh(tf.reduce_sum(tf.reshape(tf.matmul(h, w), [2, 1, 3])
                                                                        + tf.stack([b, b]), 1)), {"AddV2"}),
    "a larger sum": (lambda tf, h, w, b: tf.tanh(tf.reduce_sum(tf.matmul(h, w) + tf.ones([2, 2, 3], h.dtype), 0)), {"AddV2"})}


@pytest.mark.parametrize("name", STEPS)
def test_sums_of_products_are_kept(tf, numeric, name):
    """Products are not computed again, nor are sums, unless that would keep more."""
    step, again = STEPS[name]
    loss, around = loss_of(tf, step)
    grads = tf.gradients(loss, around)
    backwards, = (op for op in tf.get_default_graph().get_operations() if op.type in LOOPS and "_grad" in op.name)
    body = backwards.attrs["body"]
    needed, waiting = set(), [t.op for t in body.outputs]
    while waiting:
        op = waiting.pop()
        if op not in needed:
            needed.add(op)
            waiting.extend(t.op for t in op.inputs)
    replayed = {op.type for op in needed if op.replays}
    assert "MatMul" not in replayed and replayed & {"AddV2", "BiasAdd"} == again
    with tf.Session() as session:
        values = session.run(around)
        reached = [(tensor, value, session.run(grad)) for tensor, value, grad in zip(around, values, grads) if grad is not None]
        assert len(reached) >= 2
        for tensor, value, grad in reached:
            found = numeric(lambda x, tensor=tensor: session.run(loss, {tensor: x}), value)
            np.testing.assert_allclose(grad, found, rtol=1e-4, atol=1e-6)
