"""The CudnnRNN ops of graph files beside the same stacks of nodes, and beside the cells of ``tf.nn``."""
import numpy as np
import pytest

from jitgraph.contrib.cudnn_rnn.equations import Layout, forward

TIME, BATCH, DEPTH, UNITS, LAYERS = 4, 3, 5, 5, 2
LENGTHS = np.array([4, 1, 3], np.int32)


def _inputs(layout, kind=np.float64):
    rng = np.random.default_rng(0)
    states = (LAYERS * layout.num_dirs, BATCH, UNITS)
    return [rng.normal(size=shape).astype(kind) * 0.5 for shape in ((TIME, BATCH, DEPTH), states, states, (layout.size(),))]


def _beside(tf, layout, found, wanted, inputs):
    """Both, and their gradients for all inputs of a sum of squares."""
    found, wanted = [one for one in found if one is not None], [one for one in wanted if one is not None]

    used = inputs if layout.mode == "lstm" else [inputs[0], inputs[1], inputs[3]]
    mine, theirs = (tf.gradients(sum(tf.reduce_sum(one * one * (k + 1)) for k, one in enumerate(results)), used)
                    for results in (found, wanted))
    with tf.Session() as session:
        for got, right in zip(*session.run([[*found, *mine], [*wanted, *theirs]])):
            np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-10)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("direction", ["unidirectional", "bidirectional"])
@pytest.mark.parametrize("input_mode", ["linear_input", "skip_input"])
@pytest.mark.parametrize("mode", ["lstm", "gru", "rnn_tanh", "rnn_relu"])
def test_they_are_the_stacks_of_nodes(tf, mode, input_mode, direction):
    layout = Layout(mode, LAYERS, UNITS, DEPTH, input_mode, direction)
    inputs = [tf.constant(one) for one in _inputs(layout)]
    how = {"rnn_mode": mode, "input_mode": input_mode, "direction": direction}
    found = tf.raw_ops.CudnnRNNV3(*inputs, LENGTHS, **how)
    wanted = forward(layout, *inputs, sequence_lengths=LENGTHS)
    assert found.output.shape.as_list() == [TIME, BATCH, UNITS * layout.num_dirs]
    _beside(tf, layout, [found.output, found.output_h, found.output_c if mode == "lstm" else None], wanted, inputs)


@pytest.mark.parametrize("name", ["CudnnRNN", "CudnnRNNV2"])
def test_the_versions_without_lengths(tf, name):
    layout = Layout("lstm", LAYERS, UNITS, DEPTH, "linear_input", "bidirectional")
    inputs = [tf.constant(one) for one in _inputs(layout)]
    found = getattr(tf.raw_ops, name)(*inputs, direction="bidirectional")
    _beside(tf, layout, found[:3], forward(layout, *inputs), inputs)


def test_the_batch_may_come_first(tf):
    layout = Layout("lstm", LAYERS, UNITS, DEPTH, "linear_input", "unidirectional")
    x, h, c, params = [tf.constant(one) for one in _inputs(layout)]
    turned = [tf.transpose(one, [1, 0, 2]) for one in (x, h, c)]
    found = tf.raw_ops.CudnnRNNV3(*turned, params, LENGTHS, time_major=False)
    _beside(tf, layout, [tf.transpose(one, [1, 0, 2]) for one in found[:3]], forward(layout, x, h, c, params, LENGTHS),
            [x, h, c, params])


def test_one_layer_is_a_lstm_cell(tf):
    layout = Layout("lstm", 1, UNITS, DEPTH, "linear_input", "unidirectional")
    rng = np.random.default_rng(1)
    x, params = (tf.constant(rng.normal(size=shape).astype(np.float32)) for shape in ((TIME, BATCH, DEPTH), (layout.size(),)))
    zeros = tf.zeros([1, BATCH, UNITS])
    found = tf.raw_ops.CudnnRNN(x, zeros, zeros, params)
    weights, biases = tf.raw_ops.CudnnRNNParamsToCanonical(1, UNITS, DEPTH, params, num_params=8)
    # gates of the cell: input, candidate, forget, output; its weights [depth + units, 4 units]
    order = (0, 2, 1, 3)
    kernel = tf.concat([tf.concat([weights[k], weights[4 + k]], 1) for k in order], 0)
    bias = tf.concat([biases[k] + biases[4 + k] for k in order], 0)
    cell = tf.nn.rnn_cell.LSTMCell(UNITS, forget_bias=0.0)
    outputs, last = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, time_major=True)
    with tf.Session() as session:
        made = session.run([kernel, bias])
        for variable, value in zip(cell.variables, made):
            variable.load(np.reshape(value, variable.shape.as_list()) if value.ndim == 1 else value.T, session)
        for got, right in zip(*session.run([[found.output, found.output_c[0]], [outputs, last.c]])):
            np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("version", ["", "V2"])
def test_parameters_one_by_one_and_back(tf, version):
    layout = Layout("gru", LAYERS, UNITS, 7, "linear_input", "bidirectional")
    params = np.arange(layout.size(), dtype=np.float32)
    how = {"rnn_mode": "gru", "direction": "bidirectional"}
    counts = {"num_params_weights": 24, "num_params_biases": 24} if version else {"num_params": 24}
    sizes = (LAYERS, UNITS, 7)
    weights, biases = getattr(tf.raw_ops, f"CudnnRNNParamsToCanonical{version}")(*sizes, params, **counts, **how)
    back = getattr(tf.raw_ops, f"CudnnRNNCanonicalToParams{version}")(*sizes, weights, biases, **how)
    size = tf.raw_ops.CudnnRNNParamsSize(*sizes, T=tf.float32, S=tf.int64, **how)
    with tf.Session() as session:
        assert [list(w.shape) for w in session.run(weights)] == [list(shape) for shape in layout.all_weight_shapes()]
        np.testing.assert_array_equal(session.run(back), params)
        assert session.run(size) == layout.size()
        with pytest.raises(tf.errors.InvalidArgumentError, match="Number of params mismatch"):
            few = dict.fromkeys(counts, 12)
            session.run(getattr(tf.raw_ops, f"CudnnRNNParamsToCanonical{version}")(*sizes, params, **few, **how)[0])


def test_dropout_between_layers_is_that_of_the_gradient(tf):
    """The outputs are linear in the last layer's inputs where nothing is squashed: differences give the gradient."""
    layout = Layout("rnn_relu", LAYERS, UNITS, DEPTH, "linear_input", "unidirectional")
    x, h, c, params = _inputs(layout)
    given = tf.placeholder(tf.float64, x.shape)
    found = tf.raw_ops.CudnnRNN(given, h, c, params, rnn_mode="rnn_relu", dropout=0.5, seed=3, seed2=4)
    grad = tf.gradients(tf.reduce_sum(found.output), given)[0]
    with tf.Session() as session:
        kept, slope = session.run([found.reserve_space, grad], {given: x})
    assert set(kept.tolist()) == {0.0, 2.0} and kept.size == TIME * BATCH * UNITS
    step = np.zeros_like(x)
    step[1, 2, 3] = 1e-6

    def total(at):
        with tf.Session() as session:               # a session of its own draws the same
            return session.run(found.output, {given: at}).sum()

    assert slope[1, 2, 3] == pytest.approx((total(x + step) - total(x - step)) / 2e-6, rel=1e-5, abs=1e-8)


def test_what_is_refused(tf):
    layout = Layout("lstm", LAYERS, UNITS, DEPTH, "linear_input", "unidirectional")
    x, h, c, params = _inputs(layout)
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid params size"):
            session.run(tf.raw_ops.CudnnRNN(x, h, c, params[1:]).output)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid input_h shape"):
            session.run(tf.raw_ops.CudnnRNN(x, h[:, 1:], c, params).output)
        with pytest.raises(tf.errors.UnimplementedError, match="num_proj"):
            session.run(tf.raw_ops.CudnnRNNV3(x, h, c, params, LENGTHS, num_proj=2).output)
    given = tf.constant(x)
    with pytest.raises(ValueError, match="is_training must be set to True"):
        tf.gradients(tf.raw_ops.CudnnRNN(given, h, c, params, is_training=False).output, given)
