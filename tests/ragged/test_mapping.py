"""map_fn over the rows of ragged tensors, which TensorFlow has in an inner module only: the examples of its documentation."""
import pytest

from jitgraph.ragged.mapping import RaggedTensorType, map_fn


def lists(tf, value):
    with tf.Session() as session:
        return session.run(value).to_list() if hasattr(value, "row_splits") else session.run(value).tolist()


def test_rows_become_numbers(tf):
    rows = tf.ragged.constant([[1, 2, 3], [4, 5], [6, 7]])
    assert lists(tf, map_fn(tf.reduce_sum, rows)) == [6, 9, 13]


def test_rows_become_rows(tf):
    rows = tf.ragged.constant([[1, 2, 3], [], [6, 7]], dtype=tf.int64)
    found = map_fn(lambda row: row + 1, rows, dtype=RaggedTensorType(tf.int64, ragged_rank=1), infer_shape=False)
    assert lists(tf, found) == [[2, 3, 4], [], [7, 8]]


def test_rows_of_rows(tf):
    rows = tf.ragged.constant([[[1], [2, 3]], [], [[4]]])
    doubled = map_fn(lambda row: row * 2, rows, dtype=RaggedTensorType(tf.int32, 2), infer_shape=False)
    sums = map_fn(lambda row: tf.reduce_sum(row, 1), rows, dtype=RaggedTensorType(tf.int32, 1), infer_shape=False)
    assert lists(tf, doubled) == [[[2], [4, 6]], [], [[8]]]
    assert lists(tf, sums) == [[1, 5], [], [4]]


def test_two_at_a_time(tf):
    rows = tf.ragged.constant([[1, 2], [3]])
    assert lists(tf, map_fn(lambda x: x[0] + tf.reduce_sum(x[1]), (tf.constant([10, 20]), rows), dtype=tf.int32)) == [13, 23]


def test_what_is_declared_must_come(tf):
    rows = tf.ragged.constant([[1, 2], [3]])
    with pytest.raises(ValueError, match="declared ragged rank"):
        map_fn(lambda row: row, rows, dtype=RaggedTensorType(tf.int32, 2))
    with pytest.raises(ValueError, match="declared dtype"):
        map_fn(lambda row: row, rows, dtype=RaggedTensorType(tf.int64, 1))
    with pytest.raises(TypeError, match="callable"):
        map_fn(None, rows)
