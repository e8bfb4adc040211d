"""Datasets by what makes their elements, as programs that look into pipelines find them in TensorFlow's inner modules."""
import numpy as np
import pytest

from .draining import drained


@pytest.fixture
def ops(tf):
    from jitgraph.inner import datasets

    return datasets


def chain(dataset):
    """The kinds of a pipeline, the last step first."""
    while dataset is not None:
        dataset = dataset._dataset
        yield type(dataset).__name__
        dataset = getattr(dataset, "_input_dataset", None)


def elements(tf, ops, dataset):
    return drained(tf, ops.DatasetV1Adapter(dataset).make_one_shot_iterator())


def test_a_pipeline_is_looked_through_step_by_step(tf, ops):
    made = tf.data.Dataset.range(5).map(lambda x: x).batch(2).repeat().shuffle(3).take(1).skip(1).cache().prefetch(1)
    assert list(chain(made)) == ["PrefetchDataset", "CacheDataset", "SkipDataset", "TakeDataset", "ShuffleDataset", "RepeatDataset",
                                 "BatchDataset", "MapDataset", "RangeDataset"]


def test_what_methods_make_is_an_adapter_around_one_of_a_kind(tf, ops):
    made = tf.data.Dataset.range(5).repeat(7)
    assert isinstance(made, ops.DatasetV1Adapter)
    assert not isinstance(made, ops.RepeatDataset)
    assert isinstance(made._dataset, ops.RepeatDataset)
    assert not isinstance(made._dataset, ops.DatasetV1Adapter)
    with tf.Session() as session:
        assert session.run(made._dataset._count) == 7


def test_two_datasets_in_one(tf, ops):
    numbers = tf.data.Dataset.range(2)
    joined = numbers.concatenate(numbers.batch(1).unbatch())._dataset
    assert isinstance(joined, ops.ConcatenateDataset)
    assert joined._input_dataset is numbers
    assert isinstance(tf.data.Dataset.zip((numbers, numbers))._dataset, ops.ZipDataset)
    with pytest.raises(AttributeError, match="'RangeDataset' object has no attribute '_input_dataset'"):
        _ = numbers._dataset._input_dataset


def test_classes_are_made_and_wrapped(tf, ops):
    batches = ops.BatchDataset(tf.data.Dataset.range(5), 2, True)
    assert isinstance(batches, ops.BatchDataset)
    assert [one.tolist() for one in elements(tf, ops, batches)] == [[0, 1], [2, 3]]


def test_programs_derive_from_the_classes(tf, ops):
    class Twice(ops.UnaryUnchangedStructureDataset):
        def __init__(self, input_dataset):
            self._input_dataset = input_dataset
            super().__init__(input_dataset, tf.raw_ops.RepeatDataset(
                input_dataset=input_dataset._variant_tensor, count=np.int64(2), **self._flat_structure))

    class Rows(ops.UnaryDataset):
        def __init__(self, input_dataset, size):
            self._size = size
            super().__init__(input_dataset, tf.raw_ops.BatchDatasetV2(
                input_dataset=input_dataset._variant_tensor, batch_size=np.int64(size), drop_remainder=True,
                **self._flat_structure))

        @property
        def element_spec(self):
            return tf.TensorSpec([self._size], tf.int64)

    numbers = tf.data.Dataset.range(3)
    assert [int(one) for one in elements(tf, ops, Twice(numbers))] == [0, 1, 2, 0, 1, 2]
    assert [one.tolist() for one in elements(tf, ops, Rows(Twice(numbers), 4))] == [[0, 1, 2, 0]]


def test_a_dataset_prints_as_in_tensorflow(tf, ops):
    numbers = tf.data.Dataset.range(3)
    assert repr(numbers.batch(2)) == "<DatasetV1Adapter shapes: (?,), types: tf.int64>"
    assert repr(ops.PrefetchDataset(numbers, 1)) == "<PrefetchDataset shapes: (), types: tf.int64>"
    assert repr(tf.data.TextLineDataset("x")) == "<TextLineDatasetV1 shapes: (), types: tf.string>"
