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


def test_a_program_may_know_how_many_there_are():
    x = tf.placeholder(tf.float32, [None])
    where = tf.where(tf.not_equal(x, 0.))
    values = tf.gather_nd(x, where)
    values.set_shape([2])
    y = tf.sparse_to_dense(where, tf.shape(x, out_type=tf.int64), values * 2, -1.)
    check(y, {x: np.array([0, 3, 0, 4], np.float32)})


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.bool, tf.complex64, tf.uint8, tf.string])
def test_dtypes_that_kernels_may_not_have(dtype):
    x = tf.placeholder(tf.float32, [None])
    where = tf.where(tf.not_equal(x, 0.))
    elements = tf.as_string(x) if dtype is tf.string else tf.cast(x, dtype)
    default = tf.constant("none") if dtype is tf.string else tf.cast(1, dtype)
    y = tf.sparse_to_dense(where, tf.shape(x, out_type=tf.int64), tf.gather_nd(elements, where), default)
    check(y, {x: np.array([0, 3, 0, 4], np.float32)}, {x: np.zeros(2, np.float32)})


@pytest.mark.parametrize("dtype", [tf.int64, tf.int32, tf.float32, tf.float64])
def test_numbers_and_any_default(dtype):
    x = tf.placeholder(dtype, [None, 4])
    bucket = lambda v: tf.cast(tf.string_to_hash_bucket(tf.as_string(v), 5), dtype)
    y = put_back(x, -1, lambda v: v * v + bucket(v), default=tf.constant(8, dtype))
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
          {x: numbers, where: np.array([[1]]), values: np.float32([6])}, {x: numbers, where.op.inputs[0]: np.array([True, False])})


def sparse(x, ignored, function):
    """`function` of what differs from `ignored`, as a sparse tensor, as feature columns make it."""
    where = tf.where(tf.not_equal(x, ignored))
    return tf.SparseTensor(where, function(tf.gather_nd(x, where)), tf.shape(x, out_type=tf.int64))


def sparse_steps(fetch, *feeds):
    """What a later segment of a compiled program, whose batches have 3 rows, has to do with places."""
    feeds = {t: tuple(3 if d is None else d for d in t.shape.as_list()) for t in feeds}
    program = compile(fetch.graph, [fetch], feeds=feeds, until="specialize")
    return {op.type for op in program.rest} & {"Where", "SparseFillEmptyRows", "SparseReshape"}


@pytest.mark.parametrize("combiner, default", [("sum", None), ("mean", None), ("sqrtn", 3)])
@pytest.mark.parametrize("rows", [6, None])
def test_rows_of_one_id_are_looked_up_in_a_table(rows, combiner, default):
    x = tf.placeholder(tf.string, [rows, 1])
    w = tf.Variable(np.random.RandomState(0).standard_normal((10, 3)).astype(np.float32))
    ids = sparse(x, "", lambda v: tf.string_to_hash_bucket_fast(v, 10) - 2)         # of which some are negative, so invalid
    y = tf.nn.safe_embedding_lookup_sparse([w], ids, combiner=combiner, default_id=default)
    gradient = tf.convert_to_tensor(tf.gradients(tf.square(y), w)[0])
    count = rows or 4
    for fetch in (y, gradient):
        assert not sparse_steps(fetch, x)
        check(fetch, {x: words(count, 1)}, {x: np.full((count, 1), b"", object)}, {x: np.full((count, 1), b"c", object)})


def test_embedded_and_linear_columns_of_words_wait_for_equal_ones_once():
    column = tf.feature_column
    x = {name: tf.placeholder(tf.string, [8, 1]) for name in "abc"}
    words_of = [column.categorical_column_with_hash_bucket(name, 20) for name in "abc"]
    deep = column.input_layer(x, [column.embedding_column(one, 4, initializer=tf.ones_initializer()) for one in words_of])
    y = deep + column.linear_model(x, words_of)
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        session.run(y, {t: words(8, 1) for t in x.values()})
        assert max(len(plan.compiled) for plan in session.plans) == 2
    check(y, {t: words(8, 1) for t in x.values()}, {t: np.full((8, 1), b"", object) for t in x.values()})


def test_crossed_columns_are_columns():
    column = tf.feature_column
    x = {**{name: tf.placeholder(tf.string, [8, 1]) for name in "ab"}, "n": tf.placeholder(tf.float32, [8, 1])}
    ranges = column.bucketized_column(column.numeric_column("n"), [1, 2, 3])
    y = column.linear_model(x, [column.crossed_column(keys, 50) for keys in (["a", "b"], [ranges, "a"], [ranges, "a", "b"])])
    feeds = [{t: words(8, 1) if t.dtype is tf.string else np.arange(8.).reshape(8, 1) for t in x.values()} for _ in range(2)]
    y = tf.gradients(tf.square(y), tf.trainable_variables()) + [y]
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        session.run(y[-1], feeds[0])
        assert max(len(plan.compiled) for plan in session.plans) == 2
    for fetch in map(tf.convert_to_tensor, y):
        check(fetch, *feeds)


def test_a_crossed_column_of_several_words_in_a_row_is_none():
    x = tf.placeholder(tf.string, [4, 2])
    y = tf.feature_column.linear_model({"a": x}, [tf.feature_column.crossed_column(["a", "a"], 50)])
    assert sparse_steps(y, x)
    check(y, {x: words(4, 2)})


def test_what_rows_are_filled_with_is_there_for_others_too():
    x = tf.placeholder(tf.int64, [None, 1])
    filled, empty = tf.sparse_fill_empty_rows(sparse(x, -1, lambda v: v * 3), 7)
    for fetch in (filled.indices, filled.values, empty, tf.segment_max(filled.values, filled.indices[:, 0])):
        assert not sparse_steps(fetch, x)
        check(fetch, {x: np.array([[4], [-1], [0], [-1]])}, {x: np.array([[-1]])}, {x: np.array([[5]])})


def test_rows_of_several_places_are_sparse():
    x = tf.placeholder(tf.int64, [3, 2])
    w = tf.Variable(np.arange(20, dtype=np.float32).reshape(10, 2))
    y = tf.nn.safe_embedding_lookup_sparse([w], sparse(x, -1, lambda v: v), combiner="sum")
    assert sparse_steps(y, x)
    check(y, {x: np.array([[1, -1], [-1, -1], [3, 4]])}, {x: np.full((3, 2), -1)})


def test_where_an_element_went_counts():
    x, scale = tf.placeholder(tf.float32, [None, 1]), tf.Variable(2.)
    filled, _ = tf.sparse_fill_empty_rows(sparse(x, 0., lambda v: v * scale), 1.)
    gradient, = tf.gradients(filled.values, scale)
    check(gradient, {x: np.array([[1], [0], [3]], np.float32)}, {x: np.array([[0]], np.float32)})


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
