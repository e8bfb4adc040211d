"""What is known of values while the graph is built."""
import numpy as np
import pytest

from jitgraph.graph.constant_value import constant_value, constant_value_as_shape


@pytest.fixture
def x(tf):
    return tf.placeholder(tf.float32, [None, 4, 6])


def test_shape_arithmetic_keeps_what_is_known(tf, x):
    n = tf.shape(x)[0]
    assert constant_value(n) is None
    assert constant_value(tf.shape(x)[1]) == 4
    assert constant_value_as_shape(tf.stack([n, 24])).as_list() == [None, 24]
    assert constant_value_as_shape(tf.concat([tf.shape(x)[:2], [7]], 0)).as_list() == [None, 4, 7]
    assert constant_value_as_shape(tf.shape(x) * [1, 2, 2]).as_list() == [None, 8, 12]
    assert constant_value(tf.reduce_prod(tf.shape(x)[1:])) == 24
    assert constant_value(tf.shape(x)) is None and constant_value(tf.shape(x), partial=True).tolist() == [None, 4, 6]


def test_reshaped_by_its_own_sizes(tf, x):
    n, h, w = tf.unstack(tf.shape(x))
    assert tf.reshape(x, [n, h * w]).shape.as_list() == [None, 24]
    assert tf.reshape(x, tf.stack([-1, h * w])).shape.as_list() == [None, 24]
    assert tf.zeros(tf.shape(x)).shape.as_list() == [None, 4, 6]


def test_plain_values(tf):
    assert constant_value(tf.cast([1.5, 2.5], tf.int32)).tolist() == [1, 2]
    assert constant_value(tf.fill([2, 2], 3)).tolist() == [[3, 3], [3, 3]]
    assert constant_value(tf.range(4)).tolist() == [0, 1, 2, 3]
    assert constant_value(tf.size(tf.zeros([2, 3]))) == 6 and constant_value(tf.rank(tf.zeros([2, 3]))) == 2
    assert constant_value(tf.constant(["a"])).tolist() == [b"a"]
    assert constant_value(np.arange(2)).tolist() == [0, 1]


def test_large_and_unknown_values_are_left_alone(tf):
    assert constant_value(tf.zeros([100, 100]) + 1.0) is None
    assert constant_value(tf.placeholder_with_default([1], [1])) is None
    assert constant_value(tf.Variable(1)) is None
    assert constant_value_as_shape(tf.placeholder(tf.int32, [3])).as_list() == [None] * 3
    assert constant_value_as_shape(tf.placeholder(tf.int32)).ndims is None


def test_a_value_that_raises_is_not_known(tf):
    assert constant_value(tf.constant(1) // tf.constant(0)) is None


@pytest.mark.parametrize("combine, links", [
    (lambda tf, y: y + y, 30), (lambda tf, y: tf.stack([y, y])[0], 12), (lambda tf, y: tf.concat([y, y], 0)[1:], 12)])
def test_what_is_used_twice_is_looked_at_once(tf, combine, links):
    """A chain of 30 sums of a value with itself took 4 ** 30 steps."""
    size = tf.constant([1])
    for _ in range(links):
        size = combine(tf, size)
    assert tf.fill(tf.minimum(size, 1), 0).shape == [1]


def test_a_partition_of_constants(tf):
    parts = tf.dynamic_partition([5, 6, 7], [1, 0, 1], 2)
    assert tf.fill(parts[1], 0).shape == [5, 7]
    assert tf.fill(tf.shape(parts[1]), 0).shape == [2]
    assert tf.fill(tf.dynamic_stitch([[1], [0]], [[2], [3]]), 0).shape == [3, 2]


def test_shapes_that_follow_from_values_of_constants(tf):
    """tf.shape of what segments and unique values give; the results themselves keep the shape that TensorFlow states."""
    top, distinct = tf.segment_max(tf.ones([3, 2]), [0, 0, 1]), tf.unique([1, 1, 2])[0]
    x = tf.placeholder(tf.float32, [None, None])
    assert [top.shape.as_list(), distinct.shape.as_list()] == [[None, 2], [None]]
    assert tf.tensordot(top, x, [[1], [0]]).shape.as_list() == [2, None]
    assert tf.range(tf.size(distinct)).shape.as_list() == [2]
    assert tf.zeros(tf.shape(tf.one_hot(tf.segment_prod([4], [0]), 3))).shape == [1, 3]
    assert tf.zeros(tf.cast(tf.sqrt([4.0, 9.0]), tf.int32)).shape == [2, 3]
    given = tf.placeholder_with_default([1, 1, 2], [3])
    assert tf.range(tf.size(tf.unique(given)[0])).shape.as_list() == [None]


def test_shapes_are_known_in_part_where_one_size_is_made_of_constants(tf):
    """The other size is fed."""
    n, count = tf.placeholder(tf.int32, []), tf.size(tf.unique([1, 1, 2])[0])
    rows = tf.shape(tf.dynamic_partition(tf.ones([3, 5]), [0, 0, 2], 3)[0])
    assert tf.zeros(tf.stack([count, n])).shape.as_list() == [2, None]
    assert tf.reshape(tf.placeholder(tf.float32), tf.concat([rows[:1], [n]], 0)).shape.as_list() == [2, None]


def test_the_gradient_of_picking_columns_has_the_shape_of_folded_values(tf):
    """The static shape of a dynamic partition does not say its rows, but its value is that of constants."""
    part = tf.dynamic_partition(tf.ones([3, 5]), [0, 0, 2], 3)[0]
    picked = tf.gather(part, tf.placeholder(tf.int64, [5, None]), axis=-1)
    assert part.shape.as_list() == [None, 5] and tf.gradients(picked, part)[0].shape.as_list() == [2, 5]


@pytest.mark.parametrize("function", [
    lambda tf, x: x * 2, lambda tf, x: tf.square(x * 2), lambda tf, x: 2 - x, lambda tf, x: x / [1.0, 2.0, 3.0],
    lambda tf, x: tf.maximum(x, 0.5), lambda tf, x: x ** 2, lambda tf, x: tf.reduce_prod(x, 0)])
def test_gradients_of_folded_values_have_their_shape(tf, function):
    """TensorFlow's way leads through a reshape, which knows one row where the static shape does not."""
    top = tf.segment_max(tf.ones([5, 3]), [0] * 5)
    assert top.shape.as_list() == [None, 3] and tf.gradients(function(tf, top), top)[0].shape.as_list() == [1, 3]
