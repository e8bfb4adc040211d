"""IndexedSlices and SparseTensor."""
import pytest


def test_sparse_tensors_check_their_parts(tf):
    s = tf.SparseTensor([[0, 1], [2, 3]], [1.0, 2.0], [3, 4])
    assert s.shape.as_list() == [3, 4] and s.dtype == tf.float32 and s.indices.dtype == tf.int64
    assert s.indices.op.name == "SparseTensor/indices"
    for indices, values, shape in [([0, 1], [1.0], [2]), ([[0, 1]], [1.0, 2.0], [3, 4]), ([[0, 1]], [1.0], [3])]:
        with pytest.raises(ValueError):
            tf.SparseTensor(indices, values, shape)
    assert tf.SparseTensor.from_value(s).shape.as_list() == [3, 4]
    with pytest.raises(TypeError, match="Neither a SparseTensor nor SparseTensorValue"):
        tf.SparseTensor.from_value(1)


def test_sparse_tensors_with_unknown_sizes(tf):
    n = tf.placeholder(tf.int64, [])
    s = tf.SparseTensor(tf.placeholder(tf.int64, [None, 2]), tf.placeholder(tf.int32, [None]), [n, 7])
    assert s.get_shape().as_list() == [None, 7]


def test_indexed_slices(tf):
    x = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 4]), tf.constant([10, 3]))
    assert x.shape.as_list() == [10, 3] and x.dtype == tf.float32 and (-x).values.op.type == "Neg"
    assert tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 4])).shape.ndims is None
    with pytest.raises(ValueError, match="without dense_shape"):
        tf.convert_to_tensor(tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 4])))
    with tf.control_dependencies([x]):
        assert tf.no_op().control_inputs == [x.op]
