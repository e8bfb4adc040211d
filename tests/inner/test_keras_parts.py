"""Initializers and regularizers of tf.keras, which programs give to tf.layers."""
import numpy as np
import pytest


def test_regularizers_of_layers(tf):
    x = tf.ones([2, 3])
    tf.layers.dense(x, 4, kernel_initializer=tf.keras.initializers.ones(), kernel_regularizer=tf.keras.regularizers.l2(0.1),
                    bias_initializer=tf.keras.initializers.constant(2.0),
                    bias_regularizer=tf.keras.regularizers.l1_l2(0.5, 0.25))
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(losses), [12 * 0.1, 4 * 2 * 0.5 + 4 * 4 * 0.25], rtol=1e-6)


def test_a_regularizer_without_factors_makes_a_constant(tf):
    """The nodes are those of TensorFlow 1.15."""
    x = tf.constant([1.0, -2.0])
    tf.keras.regularizers.l2(0.1)(x)
    tf.keras.regularizers.L1L2()(x)
    assert [(node.name, node.op) for node in tf.get_default_graph().as_graph_def().node][1:] == [
        ("Square", "Square"), ("Const_1", "Const"), ("Sum", "Sum"), ("mul/x", "Const"), ("mul", "Mul"), ("add/x", "Const"),
        ("add", "AddV2"), ("Const_2", "Const")]
    made = tf.keras.regularizers.L1L2.from_config(tf.keras.regularizers.l1(0.5).get_config())
    assert isinstance(made, tf.keras.regularizers.Regularizer) and (float(made.l1), float(made.l2)) == (0.5, 0.0)


@pytest.mark.parametrize("name, spread", [("RandomNormal", 0.05), ("normal", 0.05), ("TruncatedNormal", 0.044),
                                          ("random_uniform", 0.1 / 12 ** 0.5), ("glorot_uniform", (2 / 200) ** 0.5),
                                          ("he_normal", (2 / 100) ** 0.5)])
def test_initializers_draw_as_keras_has_it(tf, name, spread):
    value = tf.Session().run(getattr(tf.keras.initializers, name)(seed=1)([100, 100]))
    assert abs(value.std() / spread - 1) < 0.05 and abs(value.mean()) < spread / 20


def test_the_rest_of_keras_is_refused(tf):
    with pytest.raises(NotImplementedError, match=r"tf.keras.initializers.get is not part of jitgraph"):
        tf.keras.initializers.get("zeros")
    assert not hasattr(tf.keras.initializers, "glorot_uniform_initializer") and hasattr(tf.keras.layers, "Dense")
