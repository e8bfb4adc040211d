"""Arrays of one element where programs give a number: NumPy 2.4 does not take them for one any more."""
import numpy as np
import pytest


@pytest.mark.parametrize("build, shape", [
    (lambda tf, n: tf.TensorShape([n, None]), [3, None]), (lambda tf, n: tf.TensorShape([tf.Dimension(n)]), [3]),
    (lambda tf, n: tf.placeholder(tf.float32, [None, n]).shape, [None, 3]),
    (lambda tf, n: tf.get_variable("v", [n, 2]).shape, [3, 2]),
    (lambda tf, n: tf.layers.dense(tf.ones([4, 6]), n).shape, [4, 3]),
    (lambda tf, n: tf.layers.conv2d(tf.ones([1, 5, 5, 1]), n, 3).shape, [1, 3, 3, 3]),
    (lambda tf, n: tf.nn.rnn_cell.LSTMCell(n)(tf.ones([2, 3]), [tf.ones([2, 3])] * 2)[0].shape, [2, 3]),
    (lambda tf, n: tf.image.central_crop(tf.ones([4, 4, 1]), n / 6.0).shape, [2, 2, 1])])
@pytest.mark.parametrize("number", [np.array([3]), np.array([[3]])])
def test_the_element_is_the_number(tf, build, shape, number):
    assert build(tf, number).as_list() == shape


def test_seeds_are_numbers_too(tf):
    with tf.Session() as session:
        one, other = session.run([tf.random_uniform([4], seed=np.array([7])), tf.random_uniform([4], seed=7)])
    np.testing.assert_array_equal(one, other)


def test_several_elements_are_no_number(tf):
    with pytest.raises(TypeError):
        tf.Dimension(np.array([3, 4]))
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        tf.argmax(tf.ones([2, 3]), np.array([1]))
