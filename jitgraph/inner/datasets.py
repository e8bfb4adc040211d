"""Names of ``tensorflow.python.data.ops`` that are not public: the classes by the version of their interface.

Here there is one of each: functions of version 2 differ in their arguments, not in the class they are called on.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.data.dataset import Dataset
from jitgraph.data.readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from jitgraph.data.thread_host import AUTOTUNE  # noqa: F401
from jitgraph.data.transformations import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY

DatasetV1 = DatasetV2 = Dataset
FixedLengthRecordDatasetV1 = FixedLengthRecordDatasetV2 = FixedLengthRecordDataset
TextLineDatasetV1 = TextLineDatasetV2 = TextLineDataset
TFRecordDatasetV1 = TFRecordDatasetV2 = TFRecordDataset
INFINITE, UNKNOWN = INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
TensorDataset, TensorSliceDataset = Dataset.from_tensors, Dataset.from_tensor_slices
ZipDataset, RangeDataset = Dataset.zip, Dataset.range


def MapDataset(input_dataset: Dataset, map_func: Callable, use_inter_op_parallelism: bool = True,
               preserve_cardinality: bool = False, use_legacy_function: bool = False) -> Dataset:
    """``input_dataset.map(map_func)``; how TensorFlow runs it changes nothing in the elements."""
    return input_dataset.map(map_func)


def ParallelMapDataset(input_dataset: Dataset, map_func: Callable, num_parallel_calls: Any, use_inter_op_parallelism: bool = True,
                       preserve_cardinality: bool = False, use_legacy_function: bool = False) -> Dataset:
    """``input_dataset.map(map_func, num_parallel_calls)``."""
    return input_dataset.map(map_func, num_parallel_calls)


def FlatMapDataset(input_dataset: Dataset, map_func: Callable) -> Dataset:
    """``input_dataset.flat_map(map_func)``."""
    return input_dataset.flat_map(map_func)


def InterleaveDataset(input_dataset: Dataset, map_func: Callable, cycle_length: Any, block_length: Any) -> Dataset:
    """``input_dataset.interleave(map_func, cycle_length, block_length)``."""
    return input_dataset.interleave(map_func, cycle_length, block_length)


def ParallelInterleaveDataset(input_dataset: Dataset, map_func: Callable, cycle_length: Any, block_length: Any,
                              num_parallel_calls: Any) -> Dataset:
    """``input_dataset.interleave(map_func, cycle_length, block_length, num_parallel_calls)``."""
    return input_dataset.interleave(map_func, cycle_length, block_length, num_parallel_calls)


def FilterDataset(input_dataset: Dataset, predicate: Callable, use_legacy_function: bool = False) -> Dataset:
    """``input_dataset.filter(predicate)``."""
    return input_dataset.filter(predicate)


def ConcatenateDataset(input_dataset: Dataset, dataset_to_concatenate: Dataset) -> Dataset:
    """``input_dataset.concatenate(dataset_to_concatenate)``."""
    return input_dataset.concatenate(dataset_to_concatenate)


def RepeatDataset(input_dataset: Dataset, count: Any) -> Dataset:
    """``input_dataset.repeat(count)``."""
    return input_dataset.repeat(count)


def TakeDataset(input_dataset: Dataset, count: Any) -> Dataset:
    """``input_dataset.take(count)``."""
    return input_dataset.take(count)


def SkipDataset(input_dataset: Dataset, count: Any) -> Dataset:
    """``input_dataset.skip(count)``."""
    return input_dataset.skip(count)


def ShardDataset(input_dataset: Dataset, num_shards: Any, index: Any) -> Dataset:
    """``input_dataset.shard(num_shards, index)``."""
    return input_dataset.shard(num_shards, index)


def ShuffleDataset(input_dataset: Dataset, buffer_size: Any, seed: Any = None,
                   reshuffle_each_iteration: bool | None = None) -> Dataset:
    """``input_dataset.shuffle(buffer_size, seed, reshuffle_each_iteration)``."""
    return input_dataset.shuffle(buffer_size, seed, reshuffle_each_iteration)


def CacheDataset(input_dataset: Dataset, filename: Any) -> Dataset:
    """``input_dataset.cache(filename)``."""
    return input_dataset.cache(filename)


def PrefetchDataset(input_dataset: Dataset, buffer_size: Any, slack_period: Any = None) -> Dataset:
    """``input_dataset.prefetch(buffer_size)``."""
    return input_dataset.prefetch(buffer_size)


def BatchDataset(input_dataset: Dataset, batch_size: Any, drop_remainder: Any) -> Dataset:
    """``input_dataset.batch(batch_size, drop_remainder)``."""
    return input_dataset.batch(batch_size, drop_remainder)


def PaddedBatchDataset(input_dataset: Dataset, batch_size: Any, padded_shapes: Any, padding_values: Any,
                       drop_remainder: Any) -> Dataset:
    """``input_dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder)``."""
    return input_dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder)


def WindowDataset(input_dataset: Dataset, size: Any, shift: Any, stride: Any, drop_remainder: Any) -> Dataset:
    """``input_dataset.window(size, shift, stride, drop_remainder)``."""
    return input_dataset.window(size, shift, stride, drop_remainder)
