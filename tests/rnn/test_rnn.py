"""What errors of cells say, how cells are copied and shared, and where TensorFlow's inner modules hold them."""
import copy
import importlib

import numpy as np
import pytest


@pytest.mark.parametrize("build, error, text", [
    (lambda tf, cells: tf.nn.dynamic_rnn(tf.ones, tf.ones([2, 3, 1])), TypeError, "is not an RNNCell: 'output_size' property"),
    (lambda tf, cells: tf.nn.dynamic_rnn(cells.GRUCell(2), tf.ones([2, 3, 1])), ValueError, "you must give a dtype"),
    (lambda tf, cells: tf.nn.dynamic_rnn(cells.GRUCell(2), tf.placeholder(tf.float32, [2, 3, None]), dtype=tf.float32), ValueError,
     r"Input size \(depth of inputs\).*set_shape"),
    (lambda tf, cells: cells.GRUCell(2)(tf.ones([2, 3], tf.int32), tf.ones([2, 2])), ValueError, "floating point.*tf.cast"),
    (lambda tf, cells: cells.LSTMCell(2, name="top")(tf.ones([2, 3, 4]), None), ValueError, "top .*ndim=2, found ndim=3"),
    (lambda tf, cells: cells.DropoutWrapper(cells.GRUCell(2), -0.5), ValueError, "input_keep_prob must be between 0 and 1: -0.5"),
    (lambda tf, cells: cells.DropoutWrapper(cells.GRUCell(2), dropout_state_filter_visitor=1), TypeError, "must be callable")])
def test_errors_say_what_is_wrong(tf, build, error, text):
    with pytest.raises(error, match=text):
        build(tf, tf.nn.rnn_cell)


def test_lengths_that_are_not_as_many_as_examples_fail_in_the_run(tf):
    lengths = tf.placeholder(tf.int32, [None])
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.ones([3, 2, 1]), lengths, dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(outputs, {lengths: [1, 2, 0]}).shape == (3, 2, 2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape for Tensor rnn/sequence_length:0 is"):
            session.run(outputs, {lengths: [1, 2]})


def test_one_plan_serves_sequences_of_any_length(tf):
    rng = np.random.RandomState(0)
    x, lengths = tf.placeholder(tf.float32, [None, None, 2]), tf.placeholder(tf.int32, [None])
    outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(3), x, lengths, dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for batch, steps in ((1, 1), (4, 3), (2, 7)):
            value = rng.randn(batch, steps, 2)
            found, last = session.run([outputs, state], {x: value, lengths: [steps] * batch})
            assert found.shape == (batch, steps, 3)
            np.testing.assert_allclose(found[:, -1], last.h, rtol=1e-6)


def test_a_cell_is_shared_between_loops_and_steps(tf):
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.LSTMCell(2), 0.9) for _ in range(2)])
    _, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 3, 1]), dtype=tf.float32)
    with tf.variable_scope("rnn", reuse=True):
        cell(tf.ones([2, 1]), state)
    assert [v.op.name for v in tf.trainable_variables()] == [
        f"rnn/multi_rnn_cell/cell_{k}/lstm_cell/{name}" for k in range(2) for name in ("kernel", "bias")]


def test_a_copy_of_an_unused_cell_has_variables_of_its_own(tf):
    cell = tf.nn.rnn_cell.GRUCell(2)
    stack = tf.nn.rnn_cell.MultiRNNCell([copy.deepcopy(cell) for _ in range(2)])
    stack(tf.ones([1, 2]), stack.zero_state(1, tf.float32))
    assert len(tf.trainable_variables()) == 8


def test_a_cell_that_is_a_plain_layer_takes_its_state_as_a_list(tf, run):
    class Counter(tf.layers.Layer):
        state_size = output_size = 1

        def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
            return tf.zeros([batch_size, 1], dtype)

        def call(self, inputs, states):
            return states[0] + inputs, [states[0] + inputs]

    expected = [[[1], [3], [6]]]
    x = tf.constant([[[1.0], [2.0], [3.0]]])
    np.testing.assert_array_equal(run(tf.nn.dynamic_rnn(Counter(), x, dtype=tf.float32)[0]), expected)
    _, state = tf.nn.static_rnn(Counter(), tf.unstack(x, axis=1), dtype=tf.float32)
    np.testing.assert_array_equal(run(state), [[6]])


@pytest.mark.parametrize("module, name", [
    ("ops.rnn_cell_impl", "_linear"), ("ops.rnn_cell_impl", "RNNCell"), ("ops.rnn_cell_impl", "LayerRNNCell"),
    ("ops.rnn_cell_impl", "assert_like_rnncell"), ("ops.rnn_cell", "BasicLSTMCell"), ("ops.rnn", "dynamic_rnn"),
    ("ops.rnn", "static_rnn")])
def test_the_inner_modules_of_tensorflow_hold_them(tf, module, name):
    importlib.import_module("jitgraph.compat").install()
    assert callable(getattr(importlib.import_module(f"tensorflow.python.{module}"), name))


def test_the_inner_modules_of_contrib_hold_them(tf):
    importlib.import_module("jitgraph.compat").install()
    module = importlib.import_module("tensorflow.contrib.rnn.python.ops.core_rnn_cell")
    assert callable(module._linear) and module.LSTMCell is tf.nn.rnn_cell.LSTMCell


def test_the_linear_map_of_older_programs(tf, run):
    from jitgraph.rnn.linear import _linear

    with tf.variable_scope("gate", initializer=tf.ones_initializer()):
        y = _linear([tf.ones([1, 2]), tf.constant([[5.0]])], 2, True)
    assert [v.op.name for v in tf.trainable_variables()] == ["gate/kernel", "gate/bias"]
    np.testing.assert_array_equal(run(y), [[7, 7]])
    with pytest.raises(ValueError, match="2D"):
        _linear(tf.ones([2]), 2, True)


def test_older_contrib_names_are_the_same(tf):
    assert tf.contrib.rnn.static_bidirectional_rnn is tf.nn.static_bidirectional_rnn
    assert tf.contrib.rnn.LSTMStateTuple is tf.nn.rnn_cell.LSTMStateTuple
