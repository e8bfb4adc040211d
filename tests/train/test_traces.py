"""A convolutional network trains as TensorFlow trained it (data/cnn.npz): built here, and imported from its meta graph."""
from pathlib import Path

import numpy as np
import pytest

DATA = Path(__file__).parent / "data"
TRACE = np.load(DATA / "cnn.npz")
OPTIMIZERS = {
    "sgd": lambda tf: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.05, 0.9),
    "rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.01, decay=0.9, momentum=0.5, epsilon=1e-10),
    "adam": lambda tf: tf.train.AdamOptimizer(0.01),
}


def batches(steps, dtype):
    """Step by step, a quarter of the rows."""
    size = len(TRACE["x"]) // 4
    for k in range(steps):
        rows = slice(k % 4 * size, k % 4 * size + size)
        yield {"x:0": TRACE["x"][rows].astype(dtype), "y:0": TRACE["y"][rows]}


def network(tf, weights):
    """The mean cross-entropy of two convolutions with pooling and a dense layer."""
    x = tf.placeholder(tf.float64, [None, 8, 8, 2], name="x")
    y = tf.placeholder(TRACE["y"].dtype, [None], name="y")
    hidden = tf.nn.relu(tf.nn.conv2d(x, weights["K1"], [1, 1, 1, 1], "SAME") + weights["c1"])
    hidden = tf.nn.max_pool(hidden, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    hidden = tf.nn.relu(tf.nn.conv2d(hidden, weights["K2"], [1, 1, 1, 1], "SAME") + weights["c2"])
    hidden = tf.nn.avg_pool(hidden, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    logits = tf.matmul(tf.reshape(hidden, [-1, 20]), weights["W"]) + weights["b"]
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_twenty_steps_are_those_of_tensorflow(tf, name):
    weights = {key[5:]: tf.Variable(TRACE[key], name=key[5:]) for key in TRACE.files if key.startswith("init/")}
    loss = network(tf, weights)
    train = OPTIMIZERS[name](tf).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        losses = []
        for step, feeds in enumerate(batches(20, np.float64)):
            losses.append(sess.run([loss, train], feeds)[0])
            if step == 9:
                np.testing.assert_allclose(sess.run(weights["K1"]), TRACE[f"{name}/step10/K1"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(losses, TRACE[f"{name}/loss"], rtol=1e-10)


def test_an_imported_graph_trains_on(tf):
    tf.train.import_meta_graph(str(DATA / "cnn_momentum.meta"))
    with tf.Session() as sess:
        sess.run("init")
        losses = [sess.run(["loss:0", "train"], feeds)[0] for feeds in batches(100, np.float32)]
    # what the fixtures' README states for sums and convolutions in float32
    np.testing.assert_allclose(losses, TRACE["float32/momentum/loss"], rtol=1e-4, atol=1e-5)
