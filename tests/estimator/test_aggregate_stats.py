"""Sums of gradients by node, feature and bucket, beside what TensorFlow 1.15 gave."""
import numpy as np


def test_sums_by_node_feature_and_bucket(tf):
    gradients, hessians = np.array([[1, 2], [3, 4], [5, 6]], np.float32), np.array([[0.1], [0.2], [0.3]], np.float32)
    stats = tf.raw_ops.BoostedTreesAggregateStats([0, 1, 0], gradients, hessians, [[0, 2], [1, -1], [0, 1]], max_splits=2,
                                                  num_buckets=3)
    none = [0, 0, 0]
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(stats), [
            [[[6, 8, 0.4], none, none, none], [none, [5, 6, 0.3], [1, 2, 0.1], none]],
            [[none, [3, 4, 0.2], none, none], [none, none, none, [3, 4, 0.2]]]], rtol=1e-6)


def test_rows_and_columns_that_a_sparse_tensor_has(tf):
    gradients, hessians = np.array([[1, 2], [3, 4], [5, 6]], np.float32), np.array([[0.1], [0.2], [0.3]], np.float32)
    found = tf.raw_ops.BoostedTreesSparseAggregateStats(
        [0, 1, 0], gradients, hessians, [[0, 1], [1, 0], [2, 0], [2, 1]], [2, 1, 0, 1], [3, 2], max_splits=2, num_buckets=3)
    with tf.Session() as session:
        indices, values, shape = session.run(list(found))
    assert shape.tolist() == [2, 2, 4, 3] and indices[::3, :3].tolist() == [
        [0, 0, 0], [0, 0, 3], [0, 1, 1], [0, 1, 2], [1, 0, 1], [1, 1, 3]]
    first, second, third = [5, 6, 0.3], [1, 2, 0.1], [3, 4, 0.2]
    np.testing.assert_allclose(values.reshape(-1, 3), [first, second, first, second, third, third], rtol=1e-6)
