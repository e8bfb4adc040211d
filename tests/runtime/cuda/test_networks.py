"""Whole small networks: three steps of Adam on a simulated device give what the CPU gives."""
import numpy as np
import pytest

from jitgraph.compiler.place import HostStep


def convolutional(tf, rng):
    """Convolution, batch norm with its moving averages, pooling, a dense layer."""
    x, y = tf.placeholder(tf.float32, [2, 6, 6, 2]), tf.placeholder(tf.int32, [2])
    h = tf.layers.conv2d(x, 3, 3, padding="same", use_bias=False)
    h = tf.nn.relu(tf.layers.batch_normalization(h, training=True))
    h = tf.layers.flatten(tf.layers.max_pooling2d(h, 2, 2))
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(h, 3))
    return loss, {x: rng.standard_normal((2, 6, 6, 2)), y: [0, 2]}


def recurrent(tf, rng):
    """An LSTM over sequences of different lengths."""
    x, y = tf.placeholder(tf.float32, [2, 4, 3]), tf.placeholder(tf.float32, [2])
    outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(4), x, sequence_length=tf.constant([4, 2]), dtype=tf.float32)
    predicted = tf.layers.dense(state.h + tf.reduce_mean(outputs, 1), 1)[:, 0]
    return tf.reduce_mean(tf.square(predicted - y)), {x: rng.standard_normal((2, 4, 3)), y: [1.0, -1.0]}


def transformer(tf, rng):
    """Embedding, attention with two heads and a mask, layer norm, a feed-forward layer, logits by the embedding.

    Attention has no biases: the gradient of those of keys is zero but for rounding, which Adam would magnify.
    """
    tokens = tf.placeholder(tf.int32, [2, 4])
    table = tf.get_variable("table", [7, 8])
    h = tf.nn.embedding_lookup(table, tokens)

    def norm(a):
        mean, variance = tf.nn.moments(a, [-1], keep_dims=True)
        return (a - mean) * tf.rsqrt(variance + 1e-5)

    def heads(a):
        return tf.transpose(tf.reshape(a, [2, 4, 2, 4]), [0, 2, 1, 3])

    q, k, v = (heads(part) for part in tf.split(tf.layers.dense(norm(h), 24, use_bias=False), 3, -1))
    scores = tf.matmul(q, k, transpose_b=True) * 0.5 + (1.0 - tf.matrix_band_part(tf.ones([4, 4]), -1, 0)) * -1e9
    mixed = tf.reshape(tf.transpose(tf.matmul(tf.nn.softmax(scores), v), [0, 2, 1, 3]), [2, 4, 8])
    h += tf.layers.dense(mixed, 8)
    h += tf.layers.dense(tf.nn.relu(tf.layers.dense(norm(h), 16)), 8)
    logits = tf.tensordot(norm(h), table, [[2], [1]])
    return tf.losses.sparse_softmax_cross_entropy(tokens[:, 1:], logits[:, :-1]), {tokens: rng.integers(0, 7, (2, 4))}


def variational(tf, rng):
    """A variational autoencoder: its noise is that of the CPU, bit for bit."""
    x = tf.placeholder(tf.float32, [3, 6])
    mean, log_variance = tf.split(tf.layers.dense(tf.nn.tanh(tf.layers.dense(x, 5)), 4), 2, -1)
    noise = tf.random_normal([3, 2], seed=7, name="noise")
    logits = tf.layers.dense(mean + tf.exp(0.5 * log_variance) * noise, 6)
    error = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), -1)
    divergence = -0.5 * tf.reduce_sum(1.0 + log_variance - tf.square(mean) - tf.exp(log_variance), -1)
    return tf.reduce_mean(error + divergence), {x: rng.uniform(0, 1, (3, 6))}


@pytest.mark.parametrize("network", [
    variational, *(pytest.param(one, marks=pytest.mark.slow) for one in (convolutional, recurrent, transformer))])
def test_networks_learn_on_a_device_as_on_the_cpu(tf, monkeypatch, network):
    tf.set_random_seed(3)
    loss, feeds = network(tf, np.random.default_rng(1))
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(updates):
        train = tf.train.AdamOptimizer(0.01).minimize(loss)
    noise = [op.outputs[0] for op in tf.get_default_graph().get_operations() if op.name == "noise"]
    weights, found = tf.global_variables(), {}
    initial = None
    for target in ("cpu", "cuda-simulator"):
        monkeypatch.setenv("JITGRAPH_TARGET", target)
        with tf.Session(jit="always") as session:
            session.run(tf.global_variables_initializer())
            if initial is None:
                initial = session.run(weights)
            for variable, value in zip(weights, initial):
                variable.load(value, session)
            losses = [session.run([loss, train, *noise], feeds) for _ in range(3)]
            found[target] = [one[0] for one in losses], session.run(weights), [one[2:] for one in losses]
            launched = sum(len(c.launches) for plan in session.plans for c in plan.compiled)
            assert (launched > 5) == (target != "cpu")
    cpu, gpu = found["cpu"], found["cuda-simulator"]
    np.testing.assert_allclose(gpu[0], cpu[0], rtol=1e-5)
    assert len(set(cpu[0])) == 3
    for variable, here, there in zip(weights, gpu[1], cpu[1], strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-5, atol=2e-6, err_msg=variable.name)
    np.testing.assert_array_equal(gpu[2], cpu[2])


def small_cnn(tf, rng, dtype):
    """Convolution, bias, ReLU, pooling, a dense layer."""
    x, y = tf.placeholder(dtype, [2, 6, 6, 2]), tf.placeholder(tf.int32, [2])
    h = tf.layers.max_pooling2d(tf.layers.conv2d(x, 3, 3, padding="same", activation=tf.nn.relu), 2, 2)
    return tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(tf.layers.flatten(h), 3)), {
        x: rng.standard_normal((2, 6, 6, 2)), y: [0, 2]}


def small_lstm(tf, rng, dtype):
    """Two steps of an LSTM, and what it ends with."""
    x, y = tf.placeholder(dtype, [2, 2, 3]), tf.placeholder(dtype, [2, 1])
    _, state = tf.nn.static_rnn(tf.nn.rnn_cell.LSTMCell(4), tf.unstack(x, axis=1), dtype=dtype)
    return tf.reduce_mean(tf.square(tf.layers.dense(state.h, 1) - y)), {x: rng.standard_normal((2, 2, 3)), y: [[1.0], [-1.0]]}


def small_attention(tf, rng, dtype):
    """Words, one head of attention, layer norm, a layer with a residual, logits."""
    words = tf.placeholder(tf.int32, [2, 4])
    h = tf.nn.embedding_lookup(tf.get_variable("table", [7, 8], dtype), words)
    q, k, v = tf.split(tf.layers.dense(h, 24), 3, -1)
    h += tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * 0.35), v)
    mean, variance = tf.nn.moments(h, [-1], keep_dims=True)
    h = (h - mean) * tf.rsqrt(variance + 1e-3)
    h += tf.layers.dense(tf.layers.dense(h, 16, activation=tf.nn.relu), 8)
    return tf.losses.sparse_softmax_cross_entropy(words, tf.layers.dense(h, 7)), {words: rng.integers(0, 7, (2, 4))}


@pytest.mark.parametrize("network", [small_cnn, small_lstm, small_attention])
@pytest.mark.parametrize("dtype", ["float16", pytest.param("bfloat16", marks=pytest.mark.slow)])
def test_networks_of_16_bits_learn_on_a_device_as_on_the_cpu(tf, monkeypatch, network, dtype):
    """Their gradients differ by roundings of 16 bits, in which sums are added up in another order; nothing is left to the host."""
    loss, feeds = network(tf, np.random.default_rng(1), tf.as_dtype(dtype))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    weights, found, initial = tf.trainable_variables(), {}, None
    assert {v.dtype.base_dtype.name for v in weights} == {dtype}
    for target in ("cpu", "cuda-simulator"):
        monkeypatch.setenv("JITGRAPH_TARGET", target)
        with tf.Session(jit="always") as session:
            session.run(tf.global_variables_initializer())
            initial = initial or session.run(weights)
            for variable, value in zip(weights, initial):
                variable.load(value, session)
            losses = [float(session.run([loss, train], feeds)[0]) for _ in range(3)]
            found[target] = losses, session.run(weights)
            compiled = session.plans[-1].compiled
    assert not any(one.kernels or any(isinstance(step, HostStep) for step in one.program.layout.steps) for one in compiled)
    near = {"float16": 0.01, "bfloat16": 0.08}[dtype]
    np.testing.assert_allclose(found["cuda-simulator"][0], found["cpu"][0], rtol=near)
    assert found["cpu"][0][2] < found["cpu"][0][0]
    for variable, here, there in zip(weights, found["cuda-simulator"][1], found["cpu"][1], strict=True):
        np.testing.assert_allclose(here.astype(np.float32), there.astype(np.float32), atol=near, err_msg=variable.name)
