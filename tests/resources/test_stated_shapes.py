"""Shapes that are stated for barriers, sparse accumulators and sparse placeholders."""
import numpy as np
import pytest

from jitgraph.resources.barriers import Barrier


def test_a_barrier_of_numbers_and_of_vectors(tf):
    scalars, vectors = Barrier(tf.float32, shapes=()), Barrier(tf.float32, shapes=[2])
    with tf.Session() as session:
        for barrier, values in ((scalars, [1.0]), (vectors, [[1.0, 2.0]])):
            session.run(barrier.insert_many(0, [b"a"], values))
            _, keys, taken = session.run(barrier.take_many(1))
            assert keys.tolist() == [b"a"] and taken[0].tolist() == values
    with pytest.raises(ValueError, match="must be fully defined"):
        Barrier(tf.float32, shapes=[[None]])


@pytest.mark.parametrize("shape, values, taken", [
    ((), [[0.0, 1.0], [3.0, 0.0]], [-1, 2]), ([2, None], [[[[1.0, 2.0], [3.0, 4.0]]]] * 2, [2, 1, 2, 2]),
    ([None, 2], [[1.0, 2.0], [3.0, 4.0]], [-1, 2]), ([3, 3], [[1.0, 2.0, 3.0]] * 2, [3, 3])])
def test_what_a_sparse_accumulator_says_of_its_shape(tf, shape, values, taken):
    """The first size is the stated one, the others are those of the slices."""
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=shape)
    with tf.Session() as session:
        session.run(accumulator.apply_grad([0, 2], np.array(values, np.float32)))
        found = session.run(accumulator.take_indexed_slices_grad(1))
    assert found.dense_shape.tolist() == taken and found.indices.tolist() == [0, 2]
    np.testing.assert_array_equal(found.values, values)


@pytest.mark.parametrize("indices, values, shape, message", [
    ([[0, 1], [1, 0]], [1.0, 2.0], None, r"should be vector but received shape: \[2,2\]"),
    ([0], 1.0, None, "cannot be 0-dimensional"),
    ([0, 1], [[1.0, 2.0, 3.0]], None, "Expected 2 non-empty input values, got 1"),
    ([0], [1.0], None, "expected values rank at least 2, got 1"), ([0], [[1.0, 2.0]], None, "expected values dim 1 to be 3, got 2"),
    ([0], [[1.0, 2.0, 3.0]], [3], "expected shape rank at least 2, got 1"),
    ([0], [[1.0, 2.0, 3.0]], [4, 3], "expected shape dim 0 to be 3, got 4")])
def test_slices_that_a_sparse_accumulator_refuses(tf, indices, values, shape, message):
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[3, 3])
    fed = {tf.placeholder(tf.int64): indices, tf.placeholder(tf.float32): values}
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(accumulator.apply_grad(*fed, grad_shape=shape), fed)


def test_a_sparse_placeholder_of_a_shape_that_is_known_in_part(tf):
    placeholder = tf.sparse_placeholder(tf.float32, [None, 47], name="p")
    assert placeholder.dense_shape.op.type == "Placeholder" and placeholder.dense_shape.name == "p/shape:0"
    assert placeholder.get_shape().as_list() == [None, None] and placeholder.indices.shape.as_list() == [None, 2]
    whole = tf.sparse_placeholder(tf.float32, tf.TensorShape([10, 47]))
    assert whole.get_shape().as_list() == [10, 47] and whole.dense_shape.op.type == "Const"
    with tf.Session() as session:
        fed = tf.SparseTensorValue([[0, 1]], [5.0], [1, 2])
        assert session.run(tf.sparse_tensor_to_dense(placeholder), {placeholder: fed}).tolist() == [[0, 5]]
