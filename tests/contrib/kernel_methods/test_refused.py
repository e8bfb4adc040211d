"""Shapes that a mapper refuses: TensorFlow's error is a class of its own."""
import pytest


def test_refused(tf):
    mapper = tf.contrib.kernel_methods.RandomFourierFeatureMapper(3, 5)
    with pytest.raises(ValueError, match="shape of the tensor should be 2"):
        mapper.map(tf.zeros([3]))
    with pytest.raises(ValueError, match="expected 3 input features"):
        mapper.map(tf.zeros([2, 4]))
