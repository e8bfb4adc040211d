"""A gradient that is given in another shape than the result has: as many elements are reshaped, others are refused."""
import numpy as np
import pytest

BINARY = {"add": lambda tf, a, b: a + b, "sub": lambda tf, a, b: a - b, "mul": lambda tf, a, b: a * b,
          "div": lambda tf, a, b: a / b,
          "maximum": lambda tf, a, b: tf.maximum(a, b), "pow": lambda tf, a, b: a ** b,
          "mod": lambda tf, a, b: tf.math.floormod(a, b),
          "difference": lambda tf, a, b: tf.math.squared_difference(a, b)}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BINARY)
def test_one_element_for_a_scalar(tf, name, dtype):
    a, b = tf.constant(5, dtype), tf.constant(3, dtype)
    y = BINARY[name](tf, a, b)
    plain, stated = tf.gradients(y, [a, b], grad_ys=tf.constant(2, dtype)), tf.gradients(y, [a, b], grad_ys=tf.constant([2], dtype))
    with tf.Session() as session:
        expected, found = session.run([plain, stated])
    assert [g.shape for g in found] == [(), ()]
    np.testing.assert_array_equal(found, expected)


def test_another_number_of_elements_is_refused(tf):
    a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    with pytest.raises(ValueError, match="Cannot reshape a tensor with 3 elements"):
        tf.gradients(a + b, [a], grad_ys=tf.constant([1.0, 2.0, 3.0]))


def test_the_error_of_a_sum_of_losses_as_a_vector_of_one(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    loss = tf.reduce_sum(tf.square(x)) + tf.reduce_sum(x)
    with tf.Session():
        assert tf.test.compute_gradient_error(x, [2, 2], loss, [1]) < 1e-2
