"""Stacks by cuDNN's equations, beside the same equations in NumPy: TensorFlow has them on graphics processors only."""
import numpy as np
import pytest

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
CLASSES = {"lstm": "CudnnLSTM", "gru": "CudnnGRU", "rnn_tanh": "CudnnRNNTanh", "rnn_relu": "CudnnRNNRelu"}


def _sigmoid(values):
    return 1 / (1 + np.exp(-values))


def _step(mode, x, h, c, w, r, bw, br):
    on_x = [x @ one.T + bias for one, bias in zip(w, bw)]
    on_h = [h @ one.T + bias for one, bias in zip(r, br)]
    both = [a + b for a, b in zip(on_x, on_h)]
    if mode == "lstm":
        memory = _sigmoid(both[1]) * c + _sigmoid(both[0]) * np.tanh(both[2])
        return _sigmoid(both[3]) * np.tanh(memory), memory
    if mode == "gru":
        update = _sigmoid(both[1])
        return (1 - update) * np.tanh(on_x[2] + _sigmoid(both[0]) * on_h[2]) + update * h, c
    return (np.tanh(both[0]) if mode == "rnn_tanh" else np.maximum(both[0], 0)), c


def _one_direction(mode, x, h, c, lengths, parts, backward):
    outputs = np.zeros(x.shape[:2] + h.shape[1:])
    h, c = h.copy(), c.copy()
    for row, length in enumerate(lengths):
        for time in (reversed(range(length)) if backward else range(length)):
            h[row], c[row] = _step(mode, x[time, row], h[row], c[row], *parts)
            outputs[time, row] = h[row]
    return outputs, h, c


def _expected(mode, x, h, c, lengths, vector, layers, units, directions):
    gates, at, shapes = GATES[mode], 0, []
    for layer in range(layers):
        depth = x.shape[2] if layer == 0 else units * directions
        shapes += ([(units, depth)] * gates + [(units, units)] * gates) * directions
    weights = []
    for rows, columns in shapes:
        weights.append(vector[at:at + rows * columns].reshape(rows, columns))
        at += rows * columns
    biases = vector[at:].reshape(-1, units)
    assert len(biases) == len(shapes)
    last_h, last_c = [], []
    for layer in range(layers):
        found = []
        for direction in range(directions):
            place = layer * directions + direction
            w, r = (weights[(2 * place + k) * gates:(2 * place + k + 1) * gates] for k in (0, 1))
            bw, br = (biases[(2 * place + k) * gates:(2 * place + k + 1) * gates] for k in (0, 1))
            y, one_h, one_c = _one_direction(mode, x, h[place], c[place], lengths, (w, r, bw, br), direction == 1)
            found.append(y)
            last_h.append(one_h)
            last_c.append(one_c)
        x = np.concatenate(found, 2)
    return x, np.stack(last_h), np.stack(last_c)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("direction", ["unidirectional", "bidirectional"])
@pytest.mark.parametrize("lengths", [None, [5, 2, 4]])
@pytest.mark.parametrize("mode", sorted(GATES))
def test_stack(tf, mode, lengths, direction):
    rng, directions = np.random.RandomState(1), 1 if direction == "unidirectional" else 2
    x, h, c = rng.randn(5, 3, 2), rng.randn(2 * directions, 3, 4), rng.randn(2 * directions, 3, 4)
    layer = getattr(tf.contrib.cudnn_rnn, CLASSES[mode])(2, 4, direction=direction, dtype=tf.float64,
                                                         bias_initializer=tf.random_uniform_initializer(-1, 1))
    state = (tf.constant(h), tf.constant(c)) if mode == "lstm" else (tf.constant(h),)
    outputs, last = layer(tf.constant(x), initial_state=state, sequence_lengths=lengths)
    turned, turned_last = layer(tf.constant(x.transpose(1, 0, 2)), tuple(tf.transpose(one, [1, 0, 2]) for one in state),
                                sequence_lengths=lengths, time_major=False)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        vector, found, states, other, others = session.run([layer.kernel, outputs, last, turned, turned_last])
    wanted = _expected(mode, x, h, c, lengths or [5] * 3, vector, 2, 4, directions)
    np.testing.assert_allclose(found, wanted[0], atol=1e-12)
    assert len(states) == (2 if mode == "lstm" else 1)
    for one, two, expected in zip(states, others, wanted[1:]):
        np.testing.assert_allclose(one, expected, atol=1e-12)
        np.testing.assert_allclose(two.transpose(1, 0, 2), expected, atol=1e-12)
    np.testing.assert_allclose(other.transpose(1, 0, 2), found, atol=1e-12)


def test_variable_and_shapes(tf):
    layer = tf.contrib.cudnn_rnn.CudnnLSTM(2, 3)
    with pytest.raises(ValueError, match="'input_size' is unknown"):
        layer.input_size
    outputs, (h, c) = layer(tf.zeros([4, 2, 5]))
    assert [v.name for v in tf.trainable_variables()] == ["cudnn_lstm/opaque_kernel:0"]
    assert layer.trainable_variables == tf.trainable_variables()
    assert layer.input_size == 5 and layer.rnn_mode == "lstm" and layer.num_dirs == 1
    assert layer.canonical_weight_shapes == [(3, 5)] * 4 + [(3, 3)] * 12
    assert layer.canonical_bias_shapes == [[3]] * 16
    assert outputs.shape.as_list() == [4, 2, 3] and h.shape[0] == c.shape[0] == 2


def test_dropout_between_layers_and_training(tf):
    tf.set_random_seed(3)
    layer = tf.contrib.cudnn_rnn.CudnnGRU(2, 6, dropout=0.5)
    x = tf.random_normal([4, 3, 5], seed=1)
    trained, plain = layer(x, training=True)[0], layer(x, training=False)[0]
    step = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(tf.square(plain - 0.5)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        one, two = session.run([trained, plain])
        assert np.abs(one - two).max() > 1e-3
        before = session.run(layer.kernel)
        session.run(step)
        assert np.abs(session.run(layer.kernel) - before).max() > 0


def test_skipped_inputs(tf):
    layer = tf.contrib.cudnn_rnn.CudnnRNNTanh(1, 3, input_mode="auto_select")
    y = layer(tf.ones([1, 2, 3]))[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(y), np.full([1, 2, 3], np.tanh(1)), rtol=1e-6)


@pytest.mark.parametrize("words,message", [
    ({"direction": "sideways"}, "Invalid direction"), ({"input_mode": "odd"}, "Invalid input_mode"),
    ({"dtype": "int32"}, "Only support float16")])
def test_refused(tf, words, message):
    if "dtype" in words:
        words = {"dtype": tf.int32}
    with pytest.raises(ValueError, match=message):
        tf.contrib.cudnn_rnn.CudnnLSTM(1, 2, **words)


def test_refused_inputs(tf):
    with pytest.raises(ValueError, match="3 dims"):
        tf.contrib.cudnn_rnn.CudnnGRU(1, 2).build([2, 3])
    with pytest.raises(ValueError, match="should be defined"):
        tf.contrib.cudnn_rnn.CudnnGRU(1, 2).build([2, 3, None])
    with pytest.raises(ValueError, match="skip_input needs"):
        tf.contrib.cudnn_rnn.CudnnGRU(1, 2, input_mode="skip_input")(tf.zeros([2, 2, 3]))
    with pytest.raises(TypeError, match="expecting tuple"):
        tf.contrib.cudnn_rnn.CudnnGRU(1, 2)(tf.zeros([2, 2, 3]), initial_state=tf.zeros([1, 2, 2]))
