"""Layers as programs use them: shared, copied, subclassed, imported from TensorFlow's inner modules; what errors say."""
import copy
import importlib
import inspect
import subprocess
import sys

import numpy as np
import pytest


def test_importing_jitgraph_does_not_import_the_rooms_of_layers():
    loaded = subprocess.run([sys.executable, "-c", "import sys, jitgraph; print([m for m in sys.modules if m.startswith("
                             "('jitgraph.layers', 'jitgraph.losses', 'jitgraph.rnn', 'jitgraph.metrics'))])"],
                            capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


@pytest.mark.parametrize("module, name", [
    ("base", "Layer"), ("base", "InputSpec"), ("core", "Dense"), ("core", "dense"), ("convolutional", "Conv2D"),
    ("convolutional", "conv2d_transpose"), ("normalization", "BatchNormalization"), ("pooling", "max_pooling2d"),
    ("layers", "dense"), ("utils", "smart_cond"), ("utils", "normalize_tuple")])
def test_the_inner_modules_of_tensorflow_hold_them(tf, module, name):
    importlib.import_module("jitgraph.compat").install()
    found = getattr(importlib.import_module(f"tensorflow.python.layers.{module}"), name)
    assert found is getattr(tf.layers, name, found) and callable(found)


def test_a_functional_form_has_the_parameters_of_its_class(tf):
    of_function = list(inspect.signature(tf.layers.conv2d).parameters)
    of_class = list(inspect.signature(tf.layers.Conv2D).parameters)
    assert of_function == ["inputs", *of_class[:-1], "reuse"]
    assert list(inspect.signature(tf.layers.max_pooling2d).parameters)[-1] == "name"


@pytest.mark.parametrize("build, error, text", [
    (lambda tf: tf.layers.dense(tf.placeholder(tf.float32, [3, None]), 3, name="fc"), ValueError, "fc .*set_shape"),
    (lambda tf: tf.layers.conv2d(tf.ones([2, 3]), 3, 3, name="c"), ValueError, "layer c .*expected ndim=4, found ndim=2.*[2, 3]"),
    (lambda tf: tf.layers.dense(tf.ones([2, 3], tf.int32), 3, name="fc"), TypeError, "fc .*tf.cast"),
    (lambda tf: tf.layers.dense(tf.ones([2, 3]), 3, activation="rel"), ValueError, "rel; known are relu"),
    (lambda tf: tf.layers.dense(tf.ones([2, 3]), 3, kernels=1), TypeError, "dense.*kernels"),
    (lambda tf: tf.layers.Dense(3, kernel_size=1), TypeError, "kernel_size")])
def test_errors_say_which_layer_and_what_to_do(tf, build, error, text):
    with pytest.raises(error, match=text):
        build(tf)


def test_weights_are_got_and_set_in_the_default_session(tf):
    layer = tf.layers.Dense(2)
    outputs = layer(tf.constant([[1.0, 2.0]]))
    with pytest.raises(ValueError, match="with tf.Session"):
        layer.get_weights()
    with tf.Session() as session:
        layer.set_weights([np.float32([[1, 2], [3, 4]]), np.float32([10, 20])])
        np.testing.assert_array_equal(layer.get_weights()[0], [[1, 2], [3, 4]])
        np.testing.assert_array_equal(session.run(outputs), [[17, 30]])
        with pytest.raises(ValueError, match="expecting 2 weights"):
            layer.set_weights([np.zeros([2, 2])])
        with pytest.raises(ValueError, match="not compatible"):
            layer.set_weights([np.zeros([3, 2]), np.zeros(2)])


def test_a_copy_of_a_built_layer_shares_its_variables(tf):
    layer = tf.layers.Dense(2)
    x = tf.ones([1, 3])
    layer(x)
    other = copy.deepcopy(layer)
    other(x)
    assert other.kernel is layer.kernel and other.units == 2 and len(tf.trainable_variables()) == 2
    other._trainable_weights.clear()
    assert len(layer.trainable_weights) == 2


def test_a_layer_in_a_loop_makes_its_variables_outside(tf, run):
    layer = tf.layers.Dense(3, kernel_initializer=tf.ones_initializer())
    _, y = tf.while_loop(lambda i, _: i < 2, lambda i, a: (i + 1, layer(a)), [0, tf.ones([1, 3])])
    assert [v.op.name for v in tf.trainable_variables()] == ["dense/kernel", "dense/bias"]
    gradient = tf.gradients(y, layer.kernel)[0]
    value, slope = run([y, gradient])
    np.testing.assert_array_equal(value, [[9, 9, 9]])
    np.testing.assert_array_equal(slope, np.full([3, 3], 6.0))


def test_a_sparse_input_is_multiplied_as_it_is(tf, run):
    x = tf.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
    layer = tf.layers.Dense(1, kernel_initializer=tf.constant_initializer([[1.0], [10.0]]), use_bias=False)
    layer.build(tf.TensorShape([2, 2]))
    np.testing.assert_array_equal(run(layer.apply(x)), [[20], [3]])


def test_training_reaches_the_layers_inside_unless_they_are_told(tf, run):
    class Block(tf.layers.Layer):
        def __init__(self):
            super().__init__()
            self.inner = tf.layers.Dropout(0.999999)

        def call(self, inputs, training=False):
            return self.inner(inputs), self.inner(inputs, training=False)

    x = tf.ones([50])
    kept, told = run(Block()(x, training=True))
    assert not kept.any() and told.all()
    assert all(one.all() for one in run(Block()(x)))


def test_moving_averages_follow_the_batches_that_a_training_step_sees(tf):
    x, training = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.bool, [])
    y = tf.layers.batch_normalization(x, momentum=0.5, training=training)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    mean, variance = tf.global_variables()[2:]
    batch = np.float32([[1, 10], [3, 30]])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(updates, {x: batch, training: True})
        np.testing.assert_allclose(session.run(mean), [1, 10])
        np.testing.assert_allclose(session.run(variance), [1, 50.5])
        session.run(updates, {x: batch, training: False})
        np.testing.assert_allclose(session.run(mean), [1, 10])
        np.testing.assert_allclose(session.run(y, {x: batch, training: False}), (batch - [1, 10]) / np.sqrt([1.001, 50.501]), 1e-5)


@pytest.mark.parametrize("make", ["conv3d", "conv3d_transpose"])
def test_volumes_with_channels_first_are_those_with_channels_last(tf, run, rng, make):
    volumes = rng.randn(2, 4, 3, 5, 2).astype(np.float32)
    found = []
    for layout in ("channels_last", "channels_first"):
        given = tf.constant(volumes if layout == "channels_last" else volumes.transpose(0, 4, 1, 2, 3))
        layer = getattr(tf.layers, make)(given, 3, 2, data_format=layout, name="c", reuse=tf.AUTO_REUSE,
                                         bias_initializer=tf.constant_initializer([1.0, 20.0, 300.0]))
        found.append(layer if layout == "channels_last" else tf.transpose(layer, [0, 2, 3, 4, 1]))
    last, first = run(found)
    np.testing.assert_allclose(first, last, rtol=1e-5, atol=1e-4)


def test_helpers_of_layers(tf):
    utils = importlib.import_module("jitgraph.layers.arguments")
    assert [utils.deconv_output_length(4, 3, padding, 2) for padding in ("same", "valid", "full")] == [8, 9, 5]
    five, two = (lambda: tf.constant(5)), (lambda: tf.constant(2))
    assert utils.constant_value(utils.smart_cond(True, five, two)) == 5
    assert utils.constant_value(tf.constant(True)) is True
    assert utils.constant_value(tf.placeholder_with_default(5, ())) is None
