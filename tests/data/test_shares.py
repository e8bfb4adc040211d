"""Shares of workers and replicas, and Examples that are parsed by one node; elements as TensorFlow 1.15.5 gives them."""
import numpy as np
import pytest

from .draining import drained


def elements(tf, variant, spec):
    iterator = tf.data.experimental.from_variant(variant, spec).make_initializable_iterator()
    return drained(tf, iterator, iterator.initializer)


def of(spec):
    return {"output_types": [spec.dtype], "output_shapes": [spec.shape]}


@pytest.mark.parametrize(("make", "workers", "index", "expected"), [
    (lambda tf: tf.data.Dataset.range(7), 3, 1, [1, 4]),
    (lambda tf: tf.data.Dataset.range(7).map(lambda x: x * 2).repeat(2), 3, 1, [2, 8, 0, 6, 12]),
])
def test_elements_of_a_worker(tf, make, workers, index, expected):
    spec = tf.TensorSpec([], tf.int64)
    variant = tf.raw_ops.AutoShardDataset(input_dataset=make(tf)._variant_tensor, num_workers=workers, index=index, **of(spec))
    assert elements(tf, variant, spec) == expected


@pytest.fixture
def files(tf, tmp_path):
    for k in range(4):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"r{k}")) as writer:
            for j in range(2):
                writer.write(b"%d-%d" % (k, j))
    return [str(tmp_path / f"r{k}") for k in range(4)]


@pytest.mark.parametrize(("make", "expected"), [
    (lambda tf, files: tf.data.TFRecordDataset(files), b"1-0 1-1 3-0 3-1"),
    (lambda tf, files: tf.data.Dataset.from_tensor_slices(files).interleave(tf.data.TFRecordDataset, cycle_length=2).repeat(1),
     b"1-0 3-0 1-1 3-1"),
    (lambda tf, files: tf.data.TFRecordDataset(files[:1]), b""),
])
def test_files_of_a_worker(tf, files, make, expected):
    spec = tf.TensorSpec([], tf.string)
    for kind in ("AutoShardDataset", "ExperimentalAutoShardDataset"):
        variant = getattr(tf.raw_ops, kind)(input_dataset=make(tf, files)._variant_tensor, num_workers=2, index=1, **of(spec))
        assert elements(tf, variant, spec) == expected.split()


def test_workers_share_files_that_are_shuffled(tf, files):
    spec, found = tf.TensorSpec([], tf.string), []
    for index in range(2):
        source = tf.data.Dataset.from_tensor_slices(files).shuffle(4).flat_map(tf.data.TFRecordDataset)
        found += elements(tf, tf.raw_ops.AutoShardDataset(input_dataset=source._variant_tensor, num_workers=2, index=index,
                                                          **of(spec)), spec)
    assert sorted(found) == [b"%d-%d" % (k, j) for k in range(4) for j in range(2)]


@pytest.mark.parametrize(("workers", "index", "message"), [
    (3, 3, "index must be between 0 and 2"), (0, 0, "num_workers must be greater than zero.")])
def test_no_such_worker(tf, workers, index, message):
    spec = tf.TensorSpec([], tf.int64)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        elements(tf, tf.raw_ops.AutoShardDataset(input_dataset=tf.data.Dataset.range(7)._variant_tensor, num_workers=workers,
                                                 index=index, **of(spec)), spec)


@pytest.mark.parametrize(("replicas", "expected"), [
    (2, [[0, 1], [2, 3], [4, 5], [6, 7], [8], [9]]),
    (3, [[0, 1], [2, 3], [], [4, 5], [6, 7], [], [8], [9], []]),
    (5, [[0], [1], [2], [3], [], [4], [5], [6], [7], [], [8], [9], [], [], []]),
])
def test_batches_of_replicas(tf, replicas, expected):
    spec = tf.TensorSpec([None], tf.int64)
    variant = tf.raw_ops.RebatchDataset(input_dataset=tf.data.Dataset.range(10).batch(4)._variant_tensor, num_replicas=replicas,
                                        **of(spec))
    assert [part.tolist() for part in elements(tf, variant, spec)] == expected


@pytest.mark.parametrize(("replicas", "message"), [
    (0, "num_replicas must be greater than zero."), (2, "Component 0 is scalar.")])
def test_what_is_not_cut(tf, replicas, message):
    spec = tf.TensorSpec([], tf.int64)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        elements(tf, tf.raw_ops.RebatchDataset(input_dataset=tf.data.Dataset.range(4)._variant_tensor, num_replicas=replicas,
                                               **of(spec)), spec)


def test_examples_are_parsed_by_the_order_of_their_keys(tf):
    Feature = tf.train.Feature
    made = [tf.train.Example(features=tf.train.Features(feature={
        "b": Feature(int64_list=tf.train.Int64List(value=range(k))), "a": Feature(float_list=tf.train.FloatList(value=[k, 1]))}))
        for k in range(3)]
    source = tf.data.Dataset.from_tensor_slices([one.SerializeToString() for one in made]).batch(2)
    parsed = tf.raw_ops.ParseExampleDataset(
        input_dataset=source._variant_tensor, num_parallel_calls=1, dense_defaults=[np.zeros(0, np.float32), np.array([7])],
        sparse_keys=["b"], dense_keys=["a", "c"], sparse_types=[tf.int64], dense_shapes=[[2], [1]],
        output_types=[tf.float32, tf.variant, tf.int64], output_shapes=[[None, 2], [None, None], [None, 1]])
    spec = (tf.TensorSpec([None, 2], tf.float32), tf.SparseTensorSpec([None, None], tf.int64), tf.TensorSpec([None, 1], tf.int64))
    first, last = elements(tf, parsed, spec)
    assert first[0].tolist() == [[0, 1], [1, 1]]
    assert (first[1].indices.tolist(), first[1].values.tolist(), first[1].dense_shape.tolist()) == ([[1, 0]], [0], [2, 1])
    assert first[2].tolist() == [[7], [7]]
    assert (last[0].tolist(), last[1].values.tolist(), last[2].tolist()) == ([[2, 1]], [0, 1], [[7]])
