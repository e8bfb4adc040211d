"""What datasets refuse: when they are made, and when their elements are asked for."""
import numpy as np
import pytest


def first(tf, dataset):
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session:
        return session.run(element)


def reduced_by(tf, key):
    adding = tf.data.experimental.Reducer(lambda _: np.int64(0), lambda total, x: total + x, lambda total: total)
    return tf.data.Dataset.range(3).apply(tf.data.experimental.group_by_reducer(key, adding))


@pytest.mark.parametrize("key", [lambda x: "wrong", lambda x: 1, lambda x: 1.5, lambda x: np.int64((0, 0))])
def test_keys_that_are_no_int64_scalars(tf, key):
    with pytest.raises(ValueError, match="must return a single tf.int64 tensor"):
        reduced_by(tf, key)
    assert first(tf, reduced_by(tf, lambda x: x % 2)) == 2


@pytest.mark.parametrize("build, error, match", [
    (lambda tf, x: tf.data.Dataset.range(3).apply(x.dense_to_sparse_batch(4, [-1])), ValueError, "Dimension -1 must be >= 0"),
    (lambda tf, x: tf.data.Dataset.from_tensors([1]).padded_batch(2, [[1]]), ValueError, "must be a 1-D tensor"),
    (lambda tf, x: tf.data.Dataset.range(3).apply(x.latency_stats(["a", "b"])), ValueError, "must have rank 0"),
    (lambda tf, x: tf.data.Dataset.range(3).apply(x.bytes_produced_stats(["a", "b"])), ValueError, "must have rank 0"),
    (lambda tf, x: tf.data.Dataset.from_tensors(([1, 2], [1])).unbatch(), ValueError, "different batch sizes"),
    (lambda tf, x: tf.data.Dataset.from_tensors(([1, 2], [1])).apply(x.unbatch()), ValueError, "different batch sizes"),
    (lambda tf, x: tf.data.Dataset.from_tensors(1.0).apply(x.unique()), TypeError, "only supports inputs with a single"),
])
def test_when_they_are_made(tf, build, error, match):
    with pytest.raises(error, match=match):
        build(tf, tf.data.experimental)


@pytest.mark.parametrize("build, match", [
    (lambda tf: tf.data.Dataset.from_tensors([1]).padded_batch(2, [-2]), "Dimension -2 must be >= -1"),
    (lambda tf: tf.data.TextLineDataset("none", buffer_size=-1), "`buffer_size` must be >= 0"),
    (lambda tf: tf.data.TFRecordDataset("none", buffer_size=-1), "`buffer_size` must be >= 0"),
    (lambda tf: tf.data.FixedLengthRecordDataset("none", 4, buffer_size=-1), "`buffer_size` must be >= 0"),
])
def test_when_elements_are_asked_for(tf, build, match):
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        first(tf, build(tf))


def test_an_iterator_of_another_structure(tf):
    iterator = tf.data.Iterator.from_structure((tf.int64, tf.float64))
    nested = tf.data.Dataset.from_tensors(((tf.constant([1], tf.int64),), (tf.constant([1.0], tf.float64),)))
    with pytest.raises(ValueError, match="same nested structure"):
        iterator.make_initializer(nested)
    with pytest.raises(TypeError, match="Expected output types"):
        iterator.make_initializer(tf.data.Dataset.from_tensors((1.0, 1.0)))


def test_elements_that_are_tensor_arrays(tf):
    """They come out as they went in: of a fixed size."""
    dataset = tf.data.Dataset.range(3).map(lambda x: tf.TensorArray(tf.int64, size=2, element_shape=[]).unstack([x, x + 1]))
    array = tf.data.make_one_shot_iterator(dataset.skip(1)).get_next()
    assert array.dynamic_size is False
    with tf.Session() as session:
        assert session.run(array.stack()).tolist() == [1, 2]
