"""Datasets that no function of ``tf.data`` makes, or only its optimiser, as nodes; and what they share."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.data import plain_host
from jitgraph.data.declaring import TESTS, dataset_op
from jitgraph.data.file_host import FileCached
from jitgraph.data.simple_host import Slices
from jitgraph.data.source_host import Function
from jitgraph.declare.op import op
from jitgraph.filesystem.gfile import IsDirectory
from jitgraph.graph import errors, shape_rules
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.registry import lookup
from jitgraph.graph.texts import as_text
from jitgraph.resources import handle, shared


@dataset_op("SamplingDataset(input_dataset: variant, rate: float32, seed: int64, seed2: int64; ...)")
def sampling_dataset(input_dataset, rate, seed, seed2):
    """Some of the elements, drawn at random."""
    return plain_host.Sampled(input_dataset, rate, seed, seed2)


@dataset_op("SleepDataset(input_dataset: variant, sleep_microseconds: int64; ...)")
def sleep_dataset(input_dataset, sleep_microseconds):
    """The elements, each after a pause."""
    return plain_host.Slept(input_dataset, sleep_microseconds)


@dataset_op("SlidingWindowDataset(input_dataset: variant, window_size: int64, window_shift: int64, window_stride: int64; ...)")
def sliding_window_dataset(input_dataset, window_size, window_shift, window_stride):
    """Windows of elements, stacked."""
    return plain_host.SlidingBatches(input_dataset, window_size, window_shift, window_stride)


@dataset_op("FilterByLastComponentDataset(input_dataset: variant; ...)", output="output")
def filter_by_last_component_dataset(input_dataset):
    """The elements whose last component holds, without it."""
    return plain_host.KeptByLast(input_dataset)


@dataset_op("MatchingFilesDataset(patterns: string)", stateful=True)
def matching_files_dataset(patterns):
    """The names of the files, not of the folders, that match patterns, for each pattern sorted.

    Raises NotFoundError if there are none.
    """
    matching = lookup("MatchingFiles").value
    found = [name for pattern in np.ravel(patterns) for name in matching(np.array(pattern, object)) if not IsDirectory(name)]
    if not found:
        raise errors.NotFoundError(None, None, "Don't find any matched files")
    return Slices([np.array(found, object)])


@dataset_op("ChooseFastestDataset(input_datasets: N*variant; N: int >= 2, num_experiments: int, "
            "output_types: list(type) >= 1, output_shapes: list(shape) >= 1)")
def choose_fastest_dataset(input_datasets):
    """The elements of one of several datasets of equal elements: here of the first."""
    return input_datasets[0]


@dataset_op("ChooseFastestBranchDataset(input_dataset: variant, ratio_numerator: int64, ratio_denominator: int64, "
            "other_arguments: [Targuments]; num_elements_per_branch: int >= 1, branches: list(func) >= 1, "
            "other_arguments_lengths: list(int) >= 1, ...)")
def choose_fastest_branch_dataset(input_dataset, ratio_numerator, ratio_denominator, num_elements_per_branch, branches,
                                  other_arguments_lengths):
    """What one of several functions that give equal elements makes of the dataset: here the first."""
    for name, value in (("ratio_numerator", ratio_numerator), ("ratio_denominator", ratio_denominator)):
        if value <= 0:
            raise InvalidArgumentError(None, None, f"`{name}` must be greater than zero.")
    if num_elements_per_branch % ratio_denominator:
        raise InvalidArgumentError(None, None, "`num_elements_per_branch` must be divisible by `ratio_denominator`.")
    if len(branches.graph) != len(other_arguments_lengths):
        raise InvalidArgumentError(None, None, "branches and other_arguments_lengths must have the same length.")
    return plain_host.Branched(input_dataset, Function(branches.graph[0], branches.captured[:other_arguments_lengths[0]]))


@dataset_op("NonSerializableDataset(input_dataset: variant; ...)")
def non_serializable_dataset(input_dataset):
    """The elements."""
    return input_dataset


# -- what stands behind a handle ---------------------------------------------------------------------------------------

@op("ThreadPoolHandle(; num_threads: int, max_intra_op_parallelism: int = 1, display_name: string, "
    'container: string = "", shared_name: string = "") -> handle: resource', shape=shape_rules.scalar, stateful=True, host=True,
    context=("state", "op"), tested_in=TESTS)
def thread_pool_handle(state, op):
    """A number of threads; datasets here take threads as they need them."""
    return shared(state, op, "thread_pool", _Threads)


class _Threads:
    def check_same(self, other):
        """All are alike."""


@dataset_op("ThreadPoolDataset(input_dataset: variant, thread_pool: resource; ...)", stateful=True)
def thread_pool_dataset(input_dataset, thread_pool):
    """The elements."""
    return input_dataset


_ANONYMOUS: dict[str, Any] = {"shape": lambda c: [(), ()], "stateful": True, "host": True, "context": ("op",), "tested_in": TESTS}
_DELETED: dict[str, Any] = {"shape": shape_rules.no_outputs, "stateful": True, "host": True, "context": ("op",), "tested_in": TESTS}


@op("AnonymousRandomSeedGenerator(seed: int64, seed2: int64) -> handle: resource, deleter: variant", **_ANONYMOUS)
def anonymous_random_seed_generator(seed, seed2, op):
    """What gives seeds to datasets, and what deletes it."""
    return handle(plain_host.SeedGenerator(int(seed), int(seed2))), handle(None)


@op("DeleteRandomSeedGenerator(handle: resource, deleter: variant)", **_DELETED)
def delete_random_seed_generator(handle, deleter, op):
    """Nothing: a generator ends with what refers to it."""
    return ()


@dataset_op("ShuffleDatasetV2(input_dataset: variant, buffer_size: int64, seed_generator: resource; ...)", stateful=True)
def shuffle_dataset_v2(input_dataset, buffer_size, seed_generator):
    """The elements in random order, another one in each iteration."""
    return plain_host.ShuffledBy(input_dataset, buffer_size, seed_generator)


@op("AnonymousMemoryCache() -> handle: resource, deleter: variant", **_ANONYMOUS)
def anonymous_memory_cache(op):
    """A memory for elements, and what deletes it."""
    return handle(plain_host.Memory()), handle(None)


@op("DeleteMemoryCache(handle: resource, deleter: variant)", **_DELETED)
def delete_memory_cache(handle, deleter, op):
    """Nothing: a memory ends with what refers to it."""
    return ()


@dataset_op("CacheDatasetV2(input_dataset: variant, filename: string, cache: resource; ...)", stateful=True)
def cache_dataset_v2(input_dataset, filename, cache):
    """The elements, computed once and then kept in a memory or in a file."""
    if filename:
        return FileCached(input_dataset, as_text(filename))
    return plain_host.CachedIn(input_dataset, cache)


# -- datasets as values ------------------------------------------------------------------------------------------------

@op("WrapDatasetVariant(input_handle: variant) -> output_handle: variant", shape=shape_rules.scalar, host=True, context=("op",),
    tested_in=TESTS)
def wrap_dataset_variant(input_handle, op):
    """A dataset, as it crosses devices."""
    return input_handle


@op("UnwrapDatasetVariant(input_handle: variant) -> output_handle: variant", shape=shape_rules.scalar, host=True, context=("op",),
    tested_in=TESTS)
def unwrap_dataset_variant(input_handle, op):
    """The dataset that was wrapped."""
    return input_handle


@op("MapDefun(arguments: [Targuments], captured_inputs: [Tcaptured]; Targuments: list(type) >= 1, Tcaptured: list(type) >= 0 = [], "
    "output_types: list(type) >= 1, output_shapes: list(shape) >= 1, f: func, max_intra_op_parallelism: int = 1) -> "
    "output: [output_types]", shape=lambda c: [_rows(c, shape) for shape in c.attrs["output_shapes"]], host=True, hands_on=True,
    context=("state", "op"), tested_in=TESTS)
def map_defun(arguments, captured_inputs, state, op):
    """What a function gives for the slices of tensors along their first dimension, stacked."""
    for argument in arguments:
        if not argument.ndim:
            raise InvalidArgumentError(None, None, "All inputs must have rank at least 1.")
        if len(argument) != len(arguments[0]):
            raise InvalidArgumentError(None, None, "All inputs must have the same dimension 0.")
    call = state.make_function(op.attrs["f"], state)
    rows = [[np.array(part) for part in call([*(argument[k, ...] for argument in arguments), *captured_inputs])]
            for k in range(len(arguments[0]))]
    found = []
    for number, (dtype, shape) in enumerate(zip(op.attrs["output_types"], op.attrs["output_shapes"])):
        parts = [row[number] for row in rows]
        if any(part.shape != parts[0].shape for part in parts):
            raise InvalidArgumentError(None, None, "All outputs of a function have to be of the same shape.")
        own = parts[0].shape if parts else tuple(d or 0 for d in shape or ())
        whole = np.empty((len(rows), *own), dtype.as_numpy_dtype)
        for k, part in enumerate(parts):
            whole[k, ...] = part if part.ndim else part[()]
        found.append(whole)
    return found


def _rows(c, shape):
    first = next((given for given in c.shapes if given), None)
    return None if shape is None else (first[0] if first else None, *shape)
