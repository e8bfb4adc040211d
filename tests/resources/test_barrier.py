"""Barriers and accumulators: what is joined, what is averaged, who waits."""

import numpy as np
import pytest

from jitgraph.resources.barriers import Barrier

FIRST = -2 ** 63


@pytest.fixture(params=["always", "off"], autouse=True)
def jit(request, monkeypatch):
    monkeypatch.setenv("JITGRAPH_JIT", request.param)


def limited(tf, session, fetch):
    return session.run(fetch, options=tf.RunOptions(timeout_in_ms=100))


def test_tuples_are_ready_when_they_have_all_components(tf):
    b = Barrier([tf.float32, tf.string], shapes=[[], []])
    k, v, w = tf.placeholder(tf.string), tf.placeholder(tf.float32), tf.placeholder(tf.string)
    first, second = b.insert_many(0, k, v), b.insert_many(1, k, w)
    sizes = [b.ready_size(), b.incomplete_size()]
    with tf.Session() as session:
        session.run(first, {k: ["a", "b", "c"], v: [1, 2, 3]})
        session.run(second, {k: ["c", "a"], w: ["z", "x"]})
        assert session.run(sizes) == [2, 1]
        indices, keys, (numbers, words) = session.run(b.take_many(2))
        assert indices.tolist() == [FIRST, FIRST] and keys.tolist() == [b"c", b"a"]
        assert numbers.tolist() == [3, 1] and words.tolist() == [b"z", b"x"]
        with pytest.raises(tf.errors.InvalidArgumentError, match="already has a value for component 0"):
            session.run(first, {k: ["b"], v: [9]})
        with pytest.raises(tf.errors.DeadlineExceededError):
            limited(tf, session, b.take_many(1))


def test_a_closed_barrier_completes_what_it_has(tf):
    b = Barrier([tf.float32, tf.float32], shapes=[[], []])
    with tf.Session() as session:
        session.run(b.insert_many(0, ["a"], [1.0]))
        session.run(b.close())
        with pytest.raises(tf.errors.CancelledError, match="brand new key: n"):
            session.run(b.insert_many(0, ["n"], [1.0]))
        session.run(b.insert_many(1, ["a"], [2.0]))
        assert session.run(b.take_many(5, allow_small_batch=True)).keys.tolist() == [b"a"]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(b.take_many(1))
        with pytest.raises(tf.errors.CancelledError, match="already closed"):
            session.run(b.close())


def test_dense_accumulator(tf):
    a = tf.ConditionalAccumulator(tf.float32, shape=[2])
    g, step = tf.placeholder(tf.float32), tf.placeholder(tf.int64)
    apply, take, count = a.apply_grad(g, step), a.take_grad(2), a.num_accumulated()
    with tf.Session() as session:
        session.run(apply, {g: [1, 2], step: 0})
        with pytest.raises(tf.errors.DeadlineExceededError):
            limited(tf, session, take)
        session.run(apply, {g: [3, 4], step: 0})
        assert session.run(take).tolist() == [2, 3]
        session.run(apply, {g: [9, 9], step: 0})            # the accumulator is at step 1
        assert session.run(count) == 0
        session.run(a.set_global_step(5))
        session.run(apply, {g: [9, 9], step: 4})
        session.run(apply, {g: [9, 9], step: 5})
        assert session.run(count) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="Shape mismatch"):
            session.run(apply, {g: [1, 2, 3], step: 5})
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
            session.run(a.take_grad(0))


def test_sum_and_wrong_kind(tf):
    a = tf.ConditionalAccumulator(tf.float32, reduction_type="SUM")
    with tf.Session() as session:
        session.run([a.apply_grad([1.0, 2.0]), a.apply_grad([3.0, 4.0])])
        assert session.run(a.take_grad(2)).tolist() == [4, 6]
    with pytest.raises(ValueError, match="reduction_type"):
        tf.ConditionalAccumulator(tf.float32, reduction_type="MEDIAN")


def test_sparse_accumulator_averages_rows(tf):
    a = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 2])
    with tf.Session() as session:
        session.run(a.apply_grad(grad_indices=[0, 2], grad_values=[[1.0, 1.0], [2.0, 2.0]], grad_shape=[4, 2]))
        session.run(a.apply_indexed_slices_grad(tf.IndexedSlices(tf.constant([[5.0, 5.0]]), tf.constant([2], tf.int64))))
        indices, values, shape = session.run(a.take_grad(2))
        assert indices.tolist() == [0, 2] and values.tolist() == [[1, 1], [3.5, 3.5]] and shape.tolist() == [4, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="expected shape dim 0 to be 4"):
            session.run(a.apply_grad(grad_indices=[1], grad_values=[[1.0, 1.0]], grad_shape=[3, 2], local_step=1))


@pytest.mark.parametrize("shape, dense", [((), [-1, 2]), (None, [-1, 2]), ([3, 2], [3, 2])])
def test_the_shape_of_slices_may_be_unknown(tf, shape, dense):
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=shape)
    put = accumulator.apply_indexed_slices_grad(tf.IndexedSlices(tf.ones([1, 2]), tf.constant([1], tf.int64)))
    taken = accumulator.take_indexed_slices_grad(1)
    with tf.Session() as session:
        session.run(put)
        slices = session.run(taken)
    assert slices.values.tolist() == [[1, 1]] and slices.dense_shape.tolist() == dense


def test_components_of_no_elements(tf):
    with pytest.raises(ValueError, match="Empty tensors are not supported"):
        Barrier((tf.float32, tf.float32), shapes=((1,), (0,)))
    barrier = Barrier((tf.float32, tf.float32))
    with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal"):
        barrier.insert_many(0, [b"a", b"b"], [1.0])
    with tf.Session() as session:
        session.run(barrier.insert_many(0, [], []))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Tensors with no elements are not supported"):
            session.run(barrier.insert_many(0, [b"a", b"b"], np.zeros([2, 0], np.float32)))
