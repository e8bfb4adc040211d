"""Transposed operands, turned block by block: whole blocks, edges, every width of element."""
import numpy as np
import pytest


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int16, np.bool_, np.int64])
@pytest.mark.parametrize("shape, axes", [
    ((67, 45), (1, 0)), ((64, 96), (1, 0)), ((3, 40, 50), (0, 2, 1)), ((40, 3, 50), (2, 1, 0)), ((2, 33, 34, 35), (0, 3, 1, 2)),
    ((2, 33, 34, 35), (0, 2, 3, 1)), ((5, 3), (1, 0)), ((0, 9), (1, 0)),
])
def test_transposed(tf, shape, axes, dtype):
    x = (np.random.RandomState(0).standard_normal(shape) * 3).astype(dtype)
    fed = tf.placeholder(dtype, [None] * len(shape))
    turned = tf.transpose(fed, axes)
    other = np.arange(x.size).reshape(x.transpose(axes).shape).astype(dtype)
    both = tf.logical_xor(turned, other) if dtype == np.bool_ else turned + other
    with tf.Session(jit="always") as session:
        found = session.run([turned, both], {fed: x})
    np.testing.assert_array_equal(found[0], x.transpose(axes))
    np.testing.assert_array_equal(found[1], x.transpose(axes) ^ other if dtype == np.bool_ else x.transpose(axes) + other)


def test_an_operand_that_lies_along_and_one_that_lies_across(tf):
    x, y = np.arange(70 * 50).reshape(70, 50).astype(np.float32), np.ones((50, 70), np.float32)
    a, b = tf.placeholder(tf.float32, [None, 50]), tf.placeholder(tf.float32, [50, None])
    with tf.Session(jit="always") as session:
        np.testing.assert_array_equal(session.run(tf.nn.relu(tf.transpose(a) * 2.0 - b), {a: x, b: y}),
                                      np.maximum(x.T * 2 - y, 0))
