"""What a mask picks and puts back: worked on where it is, with the values of the reference, and only where all of it is so."""
from __future__ import annotations

import numpy as np
import pytest

import jitgraph as tf
from jitgraph.compiler import compile


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


WORDS = np.array([b"a", b"b", b"c", b"", b"else"], object)


def put_back(x, ignored, function=lambda values: values, default=-1, mask=None, shape=None):
    """`function` of what differs from `ignored`, made dense as feature columns do it."""
    where = tf.where(tf.not_equal(x, ignored) if mask is None else mask)
    values = function(tf.gather_nd(x, where))
    return tf.sparse_to_dense(where, tf.shape(x, out_type=tf.int64) if shape is None else shape, values, default)


def table():
    return tf.contrib.lookup.index_table_from_tensor(["a", "b", "c"], default_value=-5)


def is_whole(fetch, *feeds):
    """Whether a compiled program has one segment, though its graph has a `tf.where`."""
    feeds = {t: tuple(3 if d is None else d for d in t.shape.as_list()) for t in feeds}
    program = compile(fetch.graph, [fetch], feeds=feeds, until="lower")
    return not program.rest and all(op.type != "Where" for op in program.ops)


def runs(fetch, feeds):
    """Values of runs of the same fetch, compiled and by the reference."""
    found = []
    for jit in ("always", "off"):
        with tf.Session(graph=fetch.graph, jit=jit) as session, fetch.graph.as_default():
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            found.append([session.run(fetch, feed) for feed in feeds])
    return zip(*found)


def check(fetch, *feeds):
    for have, want in runs(fetch, feeds):
        assert have.dtype == want.dtype and have.shape == want.shape
        np.testing.assert_array_equal(have, want)


def words(*shape):
    return WORDS[np.random.RandomState(len(shape)).randint(0, len(WORDS), shape)]


@pytest.mark.parametrize("shape", [(7,), (None,), (None, 1), (2, 3), (None, 3, 2)])
@pytest.mark.parametrize("function", [lambda v: table().lookup(v), lambda v: tf.string_to_hash_bucket_fast(v, 10),
                                      lambda v: 2 * tf.string_to_hash_bucket(v, 10) + table().lookup(v)])
def test_words_are_looked_up_where_they_are(shape, function):
    x = tf.placeholder(tf.string, shape)
    y = put_back(x, "", function)
    assert is_whole(y, x)
    sizes = [tuple(n if d is None else d for d in shape) for n in (5, 1, 0)]
    check(y, *({x: words(*size)} for size in sizes), {x: np.full(sizes[0], b"", object)}, {x: np.full(sizes[0], b"a", object)})


@pytest.mark.parametrize("dtype", [tf.int64, tf.int32, tf.float32, tf.float64])
def test_numbers_and_any_default(dtype):
    x = tf.placeholder(dtype, [None, 4])
    y = put_back(x, -1, lambda v: v * v + 3, default=tf.constant(8, dtype))
    assert is_whole(y, x)
    check(y, {x: np.array([[1, -1, 2, -1], [0, 5, -1, 9]], dtype.as_numpy_dtype)}, {x: np.zeros((0, 4), dtype.as_numpy_dtype)})


def test_an_indicator_column_is_one_segment():
    x = tf.placeholder(tf.string, [None])
    column = tf.feature_column.categorical_column_with_vocabulary_list("x", ["a", "b"], num_oov_buckets=2)
    y = tf.feature_column.input_layer({"x": x}, [tf.feature_column.indicator_column(column)])
    assert is_whole(y, x)
    check(y, {x: words(6)}, {x: words(1)}, {x: words(0)})


def test_the_mask_may_come_from_an_earlier_segment():
    x = tf.placeholder(tf.string, [None])
    mask = tf.not_equal(x, "")
    count = tf.size(tf.unique(x)[0])                    # its size ends a segment, whatever stands after it waits
    with tf.control_dependencies([mask]):
        length = tf.reduce_sum(tf.range(count))
    y = put_back(x, "", lambda v: tf.string_to_hash_bucket(v, 10) + tf.cast(length, tf.int64), mask=mask)
    check(y, {x: words(9)}, {x: words(4)}, {x: words(1)})


def test_several_masks_and_results_of_one():
    x, z = tf.placeholder(tf.string, [None]), tf.placeholder(tf.float32, [None])
    where = tf.where(tf.not_equal(x, ""))
    ids = tf.string_to_hash_bucket(tf.gather_nd(x, where), 5)
    shape = tf.shape(x, out_type=tf.int64)
    first, second = (tf.sparse_to_dense(where, shape, v, 0) for v in (ids, ids * ids))
    y = tf.stack([tf.cast(first + second, tf.float32), put_back(z, 0., tf.square, 1.)])
    assert is_whole(y, x, z)
    check(y, {x: words(5), z: np.array([0, 1, 2, 0, -1], np.float32)})


def test_what_is_asked_for_besides_stays_what_it_is():
    x = tf.placeholder(tf.float32, [None])
    where = tf.where(tf.not_equal(x, 0.))
    values = tf.gather_nd(x, where)
    y = tf.sparse_to_dense(where, tf.shape(x, out_type=tf.int64), values * 2, -1.)
    feed = {x: np.array([0, 3, 0, 4], np.float32)}
    for more in (where, values, tf.reduce_sum(values), tf.size(where)):
        with tf.Session(jit="always") as session:
            for _ in range(2):
                have, other = session.run([y, more], feed)
                np.testing.assert_array_equal(have, [-1, 6, -1, 8])
        with tf.Session(jit="off") as session:
            np.testing.assert_array_equal(other, session.run(more, feed))


def test_a_fed_part_of_it_counts():
    x = tf.placeholder(tf.float32, [None])
    where = tf.where(tf.not_equal(x, 0.))
    values = tf.gather_nd(x, where)
    y = tf.sparse_to_dense(where, tf.shape(x, out_type=tf.int64), values, -1.)
    numbers = np.array([0, 3, 0, 4], np.float32)
    check(y, {x: numbers, values: np.float32([7, 8])}, {x: numbers, where: np.array([[0], [2]])},
          {x: numbers, where: np.array([[1]]), values: np.float32([6])})


@pytest.mark.parametrize("build", [
    lambda x: put_back(x, 0., lambda v: v - tf.reduce_sum(v)),
    lambda x: put_back(x, 0., tf.cumsum),
    lambda x: put_back(x, 0., lambda v: v[::-1]),
    lambda x: put_back(x, 0., mask=tf.not_equal(tf.reverse(x, [0]), 0.), shape=tf.shape(x, out_type=tf.int64) + 1),
    lambda x: put_back(x, 0., lambda v: tf.gather_nd(x * 2, tf.where(tf.equal(x, 3.)))[:1] + v),
    lambda x: put_back(x, 0., lambda v: tf.cast(7 // tf.cast(v, tf.int32), tf.float32)),       # which fails for what is left out
], ids=["sum", "cumulative", "reverse", "other shape", "other mask", "failing"])
def test_what_is_not_element_by_element_has_its_segments(build):
    x = tf.placeholder(tf.float32, [None])
    y = build(x)
    assert not is_whole(y, x)
    check(y, {x: np.array([0, 3, 0, 5], np.float32)}, {x: np.array([3, 1], np.float32)})


def test_a_table_of_reserved_keys_is_not_asked_for_them():
    x = tf.placeholder(tf.string, [None])
    kept = tf.contrib.lookup.MutableDenseHashTable(tf.string, tf.int64, -1, empty_key="", deleted_key="\0")
    y = put_back(x, "", kept.lookup)
    assert not is_whole(y, x)
    check(y, {x: words(8)})


def test_effects_that_wait_for_the_indices_come_after_them():
    x, v = tf.placeholder(tf.float32, [None]), tf.Variable(0., name="v")
    where = tf.where(tf.not_equal(x, 0.))
    with tf.control_dependencies([where]):
        count = tf.assign_add(v, 1.)
    y = tf.sparse_to_dense(where, tf.shape(x, out_type=tf.int64), tf.gather_nd(x, where), -1.) + count
    check(y, {x: np.array([0, 3], np.float32)}, {x: np.array([0, 3], np.float32)})
