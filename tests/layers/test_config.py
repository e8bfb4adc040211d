"""``get_config`` and ``from_config`` of layers and cells: what TensorFlow 1.15 writes, and layers made again from it."""
import numpy as np
import pytest

import jitgraph as tf

ZEROS = {"class_name": "Zeros", "config": {"dtype": "float32"}}
CELL = tf.nn.rnn_cell


def test_config_of_dense_is_plain_data():
    layer = tf.layers.Dense(3, activation=tf.nn.relu, kernel_initializer=tf.random_normal_initializer(stddev=0.1, seed=3),
                            kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1), name="d")
    assert layer.get_config() == {
        "name": "d", "trainable": True, "dtype": None, "units": 3, "activation": "relu", "use_bias": True,
        "kernel_initializer": {"class_name": "RandomNormal", "config": {"mean": 0.0, "stddev": 0.1, "seed": 3, "dtype": "float32"}},
        "bias_initializer": ZEROS, "kernel_regularizer": "l2", "bias_regularizer": None, "activity_regularizer": None,
        "kernel_constraint": None, "bias_constraint": None}


@pytest.mark.parametrize("make", [
    lambda: tf.layers.Dense(3, activation="relu", kernel_initializer="he_normal", kernel_regularizer="l1_l2"),
    lambda: tf.layers.Conv1D(3, 2, activation="hard_sigmoid"), lambda: tf.layers.Conv2D(3, (2, 1), data_format="channels_first"),
    lambda: tf.layers.Conv3D(3, 2, strides=2), lambda: tf.layers.Conv2DTranspose(3, 2, strides=2, output_padding=1),
    lambda: tf.layers.Conv3DTranspose(3, 2), lambda: tf.layers.SeparableConv1D(3, 2), lambda: tf.layers.SeparableConv2D(3, 2),
    lambda: tf.layers.BatchNormalization(axis=[1, 2], renorm=True), lambda: tf.layers.Dropout(0.3, seed=2),
    lambda: tf.layers.Flatten("channels_first"), lambda: tf.layers.MaxPooling1D(2, 2),
    lambda: tf.layers.AveragePooling3D(2, (1, 2, 3), "same"), lambda: CELL.BasicRNNCell(3, activation=tf.sigmoid),
    lambda: CELL.GRUCell(3, kernel_initializer="orthogonal"), lambda: CELL.BasicLSTMCell(3, forget_bias=0.5),
    lambda: CELL.LSTMCell(3, use_peepholes=True, num_proj=2, name="q", dtype=tf.float64)])
def test_layers_come_back_from_their_configuration(make):
    layer = make()
    config = layer.get_config()
    assert len(config) > 3
    assert type(layer).from_config(config).get_config() == config


def test_wrappers_write_the_cell_and_want_one_back():
    cell = CELL.GRUCell(3)
    config = CELL.DropoutWrapper(cell, 0.5, seed=4).get_config()
    assert config["cell"] == {"class_name": "GRUCell", "config": cell.get_config()}
    assert (config["input_keep_prob"], config["seed"], config["variational_recurrent"]) == (0.5, 4, False)
    with pytest.raises(ValueError, match="cannot reconstruct the wrapped cell"):
        CELL.DropoutWrapper.from_config(config)
    again = CELL.DropoutWrapper.from_config({**config, "cell": cell})
    assert again.get_config() == config
    assert CELL.DeviceWrapper(cell, "/cpu:0").get_config()["device"] == "/cpu:0"


def test_functions_of_wrappers_are_written_with_their_code():
    cell, factor = CELL.GRUCell(2, kernel_initializer="zeros"), 3.0
    config = CELL.ResidualWrapper(cell, residual_fn=lambda inputs, outputs, more=2.0: inputs * more * factor).get_config()
    assert config["residual_fn_type"] == "lambda"
    again = CELL.ResidualWrapper.from_config({**config, "cell": cell})
    outputs, _ = again(tf.ones([1, 2]), tf.zeros([1, 2]))
    dropped = CELL.DropoutWrapper(cell, dropout_state_filter_visitor=lambda state: False).get_config()
    assert CELL.DropoutWrapper.from_config({**dropped, "cell": cell})._dropout_state_filter(None) is False
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(outputs), [[6.0, 6.0]])


def test_own_layers_with_arguments_must_say_them():
    class Own(tf.layers.Layer):
        def __init__(self, size, **kwargs):
            super().__init__(**kwargs)
            self.size = size

    class Said(Own):
        def get_config(self):
            return {**super().get_config(), "size": self.size}

    class Cell(CELL.RNNCell):
        def __init__(self, size):
            super().__init__()

    with pytest.raises(NotImplementedError, match="must override `get_config`"):
        Own(3).get_config()
    assert Said(3, name="said").get_config() == {"name": "said", "trainable": True, "dtype": None, "size": 3}
    assert list(Cell(3).get_config()) == ["name", "trainable", "dtype"]


@pytest.mark.parametrize("arguments, match", [
    ({"kernel_initializer": {"class_name": "Nope", "config": {}}}, "Unknown initializer: Nope"),
    ({"kernel_initializer": {"a": 1}}, "Improper config format"),
    ({"kernel_regularizer": {"class_name": "Nope", "config": {}}}, "Unknown regularizer: Nope")])
def test_configurations_that_name_nothing_are_refused(arguments, match):
    with pytest.raises(ValueError, match=match):
        tf.layers.Dense(3, **arguments)


def test_what_has_no_name_cannot_be_written():
    class Start:
        def __call__(self, shape, dtype=None, partition_info=None):
            return tf.zeros(shape, dtype)

    with pytest.raises(ValueError, match="Cannot serialize"):
        tf.layers.Dense(3, kernel_initializer=Start()).get_config()


def test_the_activation_linear_makes_no_node():
    outputs = tf.layers.dense(tf.ones([3, 3]), 2, activation="linear")
    assert outputs.name == "dense/BiasAdd:0"


@pytest.mark.parametrize("padding, spatial", [("valid", (10, 11)), ("same", (8, 9))])
def test_output_padding_lengthens_transposed_convolutions(padding, spatial):
    layer = tf.layers.Conv2DTranspose(2, 3, strides=2, padding=padding, output_padding=(1, 0), kernel_initializer="ones")
    outputs = layer(tf.ones([1, 4, 5, 2]))
    assert outputs.shape.as_list() == [1, *spatial, 2]
    with pytest.raises(ValueError, match="must be greater than output padding"):
        tf.layers.Conv2DTranspose(2, 3, strides=2, output_padding=2)
