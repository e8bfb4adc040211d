"""Parameters of stacks as those of cells that run everywhere, in checkpoints and one by one."""
import numpy as np
import pytest

CELLS = {"LSTM": "CudnnCompatibleLSTMCell", "GRU": "CudnnCompatibleGRUCell", "RNNTanh": None, "RNNRelu": None}


def _cell(tf, kind):
    if CELLS[kind]:
        return getattr(tf.contrib.cudnn_rnn, CELLS[kind])(3)
    return tf.nn.rnn_cell.BasicRNNCell(3, activation=tf.nn.relu if kind == "RNNRelu" else tf.tanh)


@pytest.mark.parametrize("kind", CELLS)
def test_cells_restore_what_a_stack_has_learned(tf, tmp_path, kind):
    x = np.random.RandomState(0).randn(5, 2, 4).astype("f")
    uniform = tf.random_uniform_initializer(-0.5, 0.5, seed=1)
    stack = getattr(tf.contrib.cudnn_rnn, f"Cudnn{kind}")(2, 3, kernel_initializer=uniform, bias_initializer=uniform, name="net")
    outputs, _ = stack(tf.constant(x))
    assert tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS) == [stack.saveable]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        wanted = session.run(outputs)
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
        session.run(stack.kernel.assign(tf.zeros_like(stack.kernel)))
        tf.train.Saver().restore(session, path)
        np.testing.assert_allclose(session.run(outputs), wanted, atol=1e-6)
    with tf.Graph().as_default(), tf.variable_scope("net"):
        cell = tf.nn.rnn_cell.MultiRNNCell([_cell(tf, kind) for _ in range(2)])
        found, _ = tf.nn.dynamic_rnn(cell, tf.constant(x), time_major=True, dtype=tf.float32)
        with tf.Session() as session:
            tf.train.Saver().restore(session, path)
            np.testing.assert_allclose(session.run(found), wanted, atol=1e-6)


def test_both_directions_have_names_of_their_own(tf):
    stack = tf.contrib.cudnn_rnn.CudnnGRU(1, 2, direction="bidirectional")
    stack(tf.zeros([3, 1, 2]))
    names = [spec.name for spec in stack.saveable.specs]
    cell = "cudnn_gru/stack_bidirectional_rnn/cell_0/bidirectional_rnn/{}/cudnn_compatible_gru_cell/"
    assert names[:3] == [cell.format("fw") + name for name in (
        "gates/kernel", "candidate/input_projection/kernel", "candidate/hidden_projection/kernel")]
    assert names[-1] == cell.format("bw") + "candidate/hidden_projection/bias"


@pytest.mark.parametrize("direction", ["unidirectional", "bidirectional"])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "Tanh", "Relu"])
def test_parameters_come_back_from_cells(tf, kind, direction):
    converter = getattr(tf.contrib.cudnn_rnn, f"CudnnParamsFormatConverter{kind}")(2, 3, 4, direction=direction)
    size = converter._layout.size()
    opaque = tf.constant(np.arange(size), tf.float64)
    kernels, biases = converter.opaque_to_tf_canonical(opaque)
    again = converter.opaque_to_tf_canonical(converter.tf_canonical_to_opaque(kernels + biases))
    with tf.Session() as session:
        first, second = session.run([kernels + biases, again[0] + again[1]])
    for one, two in zip(first, second):
        np.testing.assert_allclose(one, two)
    with pytest.raises(ValueError, match="num_proj"):
        tf.contrib.cudnn_rnn.CudnnParamsFormatConverterLSTM(1, 2, 3, num_proj=2)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNNTanh", "RNNRelu"])
def test_stacks_with_a_vector_of_their_own_give_what_the_layers_give(tf, kind):
    from jitgraph.contrib.cudnn_rnn import opaque as cudnn_rnn_ops

    x = tf.constant(np.random.RandomState(0).randn(5, 2, 4), tf.float32)
    layer = getattr(tf.contrib.cudnn_rnn, f"Cudnn{kind}")(2, 3, direction="bidirectional")
    wanted, states = layer(x)
    stack = getattr(cudnn_rnn_ops, f"Cudnn{kind}")(2, 3, 4, direction="bidirectional")
    zeros = [tf.zeros([4, 2, 3])] * len(states)
    outputs, *last = stack(x, *zeros, layer.kernel)
    turned, *_ = stack(tf.transpose(x, [1, 0, 2]), *[tf.zeros([2, 4, 3])] * len(states), layer.kernel, time_major=False)
    weights, biases = stack.params_to_canonical(layer.kernel)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(stack.params_size()) == layer.kernel.shape[0]
        found, expected, one, other, turned = session.run([outputs, wanted, last, list(states), turned])
        np.testing.assert_allclose(found, expected)
        np.testing.assert_allclose(turned.transpose(1, 0, 2), expected, atol=1e-6)
        np.testing.assert_allclose(one, other)
        np.testing.assert_array_equal(*session.run([stack.canonical_to_params(weights, biases), layer.kernel]))
