"""Shapes of elements that are stated, and those that the first element tells."""
import pytest


def test_elements_of_a_shape_stated_in_part(tf):
    """With infer_shape=False the first element says nothing of the others."""
    array = tf.TensorArray(tf.float32, 2, infer_shape=False, element_shape=[None, 3])
    array = array.write(0, tf.ones([5, 3])).write(1, tf.ones([1, 3]))
    assert array.element_shape.as_list() == [None, 3]
    with tf.Session() as session:
        assert [one.shape for one in session.run([array.read(0), array.read(1)])] == [(5, 3), (1, 3)]
    with pytest.raises(ValueError, match="Inconsistent shapes"):
        array.write(1, tf.ones([1, 4]))
