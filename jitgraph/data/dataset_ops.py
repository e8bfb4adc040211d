"""Datasets made of datasets, without functions, as nodes."""
from __future__ import annotations

import numpy as np

from jitgraph.data import order_host, share_host, simple_host, thread_host
from jitgraph.data.declaring import TESTS, dataset_op
from jitgraph.data.example_host import ParsedExamples
from jitgraph.data.file_host import FileCached
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import TypeSet
from jitgraph.graph.texts import as_text

_FEATURES = TypeSet(dtypes.float32, dtypes.int64, dtypes.string)


@dataset_op("TakeDataset(input_dataset: variant, count: int64; ...)")
def take_dataset(input_dataset, count):
    """The first elements of a dataset."""
    return simple_host.Taken(input_dataset, count)


@dataset_op("SkipDataset(input_dataset: variant, count: int64; ...)")
def skip_dataset(input_dataset, count):
    """The elements after the first ones."""
    return simple_host.Skipped(input_dataset, count)


@dataset_op("ShardDataset(input_dataset: variant, num_shards: int64, index: int64; require_non_empty: bool = false, ...)")
def shard_dataset(input_dataset, num_shards, index, require_non_empty):
    """One of `num_shards` parts of a dataset."""
    return simple_host.Sharded(input_dataset, num_shards, index, require_non_empty)


@dataset_op("RepeatDataset(input_dataset: variant, count: int64; ...)")
def repeat_dataset(input_dataset, count):
    """A dataset again and again."""
    return order_host.Repeated(input_dataset, count)


@dataset_op("ConcatenateDataset(input_dataset: variant, another_dataset: variant; ...)")
def concatenate_dataset(input_dataset, another_dataset):
    """One dataset after the other."""
    return simple_host.Joined(input_dataset, another_dataset)


@dataset_op("ZipDataset(input_datasets: N*variant; output_types: list(type) >= 1, output_shapes: list(shape) >= 1)")
def zip_dataset(input_datasets):
    """Datasets side by side."""
    return simple_host.Zipped(list(input_datasets))


@dataset_op("BatchDataset(input_dataset: variant, batch_size: int64; ...)")
def batch_dataset(input_dataset, batch_size):
    """BatchDatasetV2 that keeps what is left at the end."""
    return simple_host.Batched(input_dataset, batch_size, False)


@dataset_op("BatchDatasetV2(input_dataset: variant, batch_size: int64, drop_remainder: bool; parallel_copy: bool = false, ...)")
def batch_dataset_v2(input_dataset, batch_size, drop_remainder):
    """Elements stacked."""
    return simple_host.Batched(input_dataset, batch_size, drop_remainder)


def _padded(input_dataset, batch_size, padded_shapes, padding_values, drop_remainder):
    shapes = [np.atleast_1d(shape).tolist() if np.ndim(shape) else [shape] for shape in padded_shapes]
    values = [value if isinstance(value, np.ndarray) else np.array(value, object) for value in padding_values]
    return simple_host.Padded(input_dataset, batch_size, shapes, values, drop_remainder)


@dataset_op("PaddedBatchDataset(input_dataset: variant, batch_size: int64, padded_shapes: N*int64, "
            "padding_values: [Toutput_types]; Toutput_types: list(type) >= 1, output_shapes: list(shape) >= 1, N: int >= 1)")
def padded_batch_dataset(input_dataset, batch_size, padded_shapes, padding_values):
    """PaddedBatchDatasetV2 that keeps what is left at the end."""
    return _padded(input_dataset, batch_size, padded_shapes, padding_values, False)


@dataset_op("PaddedBatchDatasetV2(input_dataset: variant, batch_size: int64, padded_shapes: N*int64, "
            "padding_values: [Toutput_types], drop_remainder: bool; parallel_copy: bool = false, Toutput_types: list(type) >= 1, "
            "output_shapes: list(shape) >= 1, N: int >= 1)")
def padded_batch_dataset_v2(input_dataset, batch_size, padded_shapes, padding_values, drop_remainder):
    """Elements padded and stacked."""
    return _padded(input_dataset, batch_size, padded_shapes, padding_values, drop_remainder)


@dataset_op("UnbatchDataset(input_dataset: variant; ...)")
def unbatch_dataset(input_dataset):
    """The slices of each element."""
    return simple_host.Unbatched(input_dataset)


@dataset_op("ShuffleDataset(input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64; "
            "reshuffle_each_iteration: bool = true, ...)")
def shuffle_dataset(input_dataset, buffer_size, seed, seed2, reshuffle_each_iteration):
    """The elements in random order."""
    return order_host.Shuffled(input_dataset, buffer_size, seed, seed2, reshuffle_each_iteration)


@dataset_op("ShuffleAndRepeatDataset(input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64; ...)")
def shuffle_and_repeat_dataset(input_dataset, buffer_size, seed, seed2, count):
    """The elements in random order, again and again."""
    if count < 1 and count != -1:
        raise invalid("count must be greater than zero or equal to -1.")
    return order_host.Shuffled(input_dataset, buffer_size, seed, seed2, True, count)


@dataset_op("CacheDataset(input_dataset: variant, filename: string; ...)")
def cache_dataset(input_dataset, filename):
    """The elements, computed once and then kept in memory or in a file."""
    if not filename:
        return simple_host.Cached(input_dataset)
    return FileCached(input_dataset, as_text(filename))


@dataset_op("PrefetchDataset(input_dataset: variant, buffer_size: int64; slack_period: int = 0, legacy_autotune: bool = true, ...)")
def prefetch_dataset(input_dataset, buffer_size):
    """The elements, some of them fetched ahead."""
    return thread_host.Prefetched(input_dataset, buffer_size)


@dataset_op("WindowDataset(input_dataset: variant, size: int64, shift: int64, stride: int64, drop_remainder: bool; ...)")
def window_dataset(input_dataset, size, shift, stride, drop_remainder):
    """Stretches of elements as datasets."""
    return simple_host.Windowed(input_dataset, size, shift, stride, drop_remainder)


@dataset_op("DirectedInterleaveDataset(selector_input_dataset: variant, data_input_datasets: N*variant; "
            "output_types: list(type) >= 1, output_shapes: list(shape) >= 1)")
def directed_interleave_dataset(selector_input_dataset, data_input_datasets):
    """Elements of several datasets, chosen by one of numbers."""
    return order_host.Directed(selector_input_dataset, list(data_input_datasets))


@dataset_op("UniqueDataset(input_dataset: variant; ...)")
def unique_dataset(input_dataset):
    """The elements that were not there before."""
    return order_host.Distinct(input_dataset)


@dataset_op("IgnoreErrorsDataset(input_dataset: variant; ...)")
def ignore_errors_dataset(input_dataset):
    """The elements that raise no errors."""
    return order_host.Undisturbed(input_dataset)


@dataset_op("ParseExampleDataset(input_dataset: variant, num_parallel_calls: int64, dense_defaults: [Tdense]; "
            "sparse_keys: list(string) >= 0, dense_keys: list(string) >= 0, sparse_types: list(type) >= 0, "
            "Tdense: list(type) >= 0, dense_shapes: list(shape) >= 0, ..., sloppy: bool = false)",
            sparse_types=_FEATURES, Tdense=_FEATURES)
def parse_example_dataset(input_dataset, num_parallel_calls, dense_defaults, sparse_keys, dense_keys, sparse_types, Tdense,
                          dense_shapes):
    """The features of batches of serialized Examples, by the order of their keys."""
    attrs = {"sparse_types": sparse_types, "Tdense": Tdense, "dense_shapes": dense_shapes}
    return ParsedExamples(input_dataset, list(map(as_text, sparse_keys)), list(map(as_text, dense_keys)),
                          [np.asarray(one, dtype.as_numpy_dtype) for one, dtype in zip(dense_defaults, Tdense)], attrs)


# -- what changes how, not what: these hand the elements on -----------------------------------------------------------

@dataset_op("OptimizeDataset(input_dataset: variant, optimizations: string; ..., optimization_configs: list(string) = [])")
def optimize_dataset(input_dataset, optimizations):
    """The elements as TensorFlow's optimiser leaves them: a shuffle that is repeated becomes one with its repetition."""
    names = {name.decode() for name in np.ravel(optimizations).tolist()}
    return order_host.Optimized(input_dataset, "shuffle_and_repeat_fusion" in names)


@dataset_op("ModelDataset(input_dataset: variant; algorithm: int = 0, cpu_budget: int = 0, ...)")
def model_dataset(input_dataset):
    """The elements."""
    return input_dataset


@dataset_op("MaxIntraOpParallelismDataset(input_dataset: variant, max_intra_op_parallelism: int64; ...)")
def max_intra_op_parallelism_dataset(input_dataset, max_intra_op_parallelism):
    """The elements."""
    return input_dataset


@dataset_op("PrivateThreadPoolDataset(input_dataset: variant, num_threads: int64; ...)")
def private_thread_pool_dataset(input_dataset, num_threads):
    """The elements."""
    return input_dataset


@op("DatasetCardinality(input_dataset: variant) -> cardinality: int64", shape=shape_rules.scalar, host=True,
    context=("op",), tested_in=TESTS)
def dataset_cardinality(input_dataset, op):
    """How many elements a dataset has: -1 without end, -2 if it is not known."""
    return np.array(input_dataset[()].size(), np.int64)


@op("DatasetToTFRecord(input_dataset: variant, filename: string, compression_type: string)", shape=shape_rules.no_outputs,
    stateful=True, host=True, context=("state",), tested_in=TESTS)
def dataset_to_tf_record(input_dataset, filename, compression_type, state):
    """Writes the elements of a dataset of strings to a TFRecord file."""
    from jitgraph.data.source_host import Run, Session
    from jitgraph.formats.records import TFRecordWriter

    session = Session(state)
    try:
        take = input_dataset[()].iterate(Run(session))
        with TFRecordWriter(filename[()].decode(), compression_type[()].decode() or None) as file:
            while True:
                try:
                    file.write(take()[0][()])
                except StopIteration:
                    return
    finally:
        session.close()


# -- shares of workers and replicas ------------------------------------------------------------------------------------

@dataset_op("AutoShardDataset(input_dataset: variant, num_workers: int64, index: int64; ...)")
def auto_shard_dataset(input_dataset, num_workers, index):
    """A worker's share of the files that a dataset reads, or of its elements."""
    return share_host.of_worker(input_dataset, num_workers, index)


@dataset_op("RebatchDataset(input_dataset: variant, num_replicas: int64; ..., use_fallback: bool = true)")
def rebatch_dataset(input_dataset, num_replicas):
    """Batches, each cut into one for every replica."""
    return share_host.Rebatched(input_dataset, num_replicas)
