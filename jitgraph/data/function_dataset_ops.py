"""Datasets that call functions, as nodes."""
from __future__ import annotations

import numpy as np

from jitgraph.data import function_host
from jitgraph.data.declaring import TESTS, as_arrays, dataset_op, held
from jitgraph.data.source_host import Function, Run, Session
from jitgraph.data.thread_host import parallel_calls
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op

_MAP = "f: func, ..., use_inter_op_parallelism: bool = true, preserve_cardinality: bool = false"


@dataset_op(f"MapDataset(input_dataset: variant, other_arguments: [Targuments]; {_MAP})")
def map_dataset(input_dataset, f, preserve_cardinality):
    """What a function gives for each element."""
    return function_host.Mapped(input_dataset, f, preserves=preserve_cardinality)


@dataset_op("ParallelMapDataset(input_dataset: variant, other_arguments: [Targuments], num_parallel_calls: int32; f: func, ..., "
            "use_inter_op_parallelism: bool = true, sloppy: bool = false, preserve_cardinality: bool = false)")
def parallel_map_dataset(input_dataset, num_parallel_calls, f, preserve_cardinality):
    """What a function gives for each element, called for several at a time."""
    return function_host.Mapped(input_dataset, f, parallel_calls(num_parallel_calls), preserves=preserve_cardinality)


@dataset_op("MapAndBatchDataset(input_dataset: variant, other_arguments: [Targuments], batch_size: int64, "
            "num_parallel_calls: int64, drop_remainder: bool; f: func, ..., preserve_cardinality: bool = false)")
def map_and_batch_dataset(input_dataset, batch_size, num_parallel_calls, drop_remainder, f, preserve_cardinality):
    """What a function gives for each element, stacked."""
    calls = parallel_calls(num_parallel_calls)
    return function_host.MappedBatches(input_dataset, f, batch_size, calls, drop_remainder, preserve_cardinality)


@dataset_op("FilterDataset(input_dataset: variant, other_arguments: [Targuments]; predicate: func, ...)")
def filter_dataset(input_dataset, predicate):
    """The elements for which a function holds."""
    return function_host.Filtered(input_dataset, predicate)


@dataset_op("TakeWhileDataset(input_dataset: variant, other_arguments: [Targuments]; predicate: func, ...)")
def take_while_dataset(input_dataset, predicate):
    """The elements before the first for which a function does not hold."""
    return function_host.TakenWhile(input_dataset, predicate)


@dataset_op("FlatMapDataset(input_dataset: variant, other_arguments: [Targuments]; f: func, ...)")
def flat_map_dataset(input_dataset, f):
    """The elements of the datasets that a function makes."""
    return function_host.Flattened(input_dataset, f)


@dataset_op("InterleaveDataset(input_dataset: variant, other_arguments: [Targuments], cycle_length: int64, block_length: int64; "
            "f: func, ...)")
def interleave_dataset(input_dataset, cycle_length, block_length, f):
    """The elements of several datasets that a function makes, in turn."""
    return function_host.Interleaved(input_dataset, f, parallel_calls(cycle_length, "cycle_length"), block_length)


@dataset_op("ParallelInterleaveDatasetV2(input_dataset: variant, other_arguments: [Targuments], cycle_length: int64, "
            "block_length: int64, num_parallel_calls: int64; f: func, ..., sloppy: bool = false)")
def parallel_interleave_dataset_v2(input_dataset, cycle_length, block_length, num_parallel_calls, f):
    """InterleaveDataset, for several datasets at a time."""
    parallel_calls(num_parallel_calls)
    if 0 < cycle_length < num_parallel_calls:
        raise invalid("num_parallel_calls must less than or equal to cycle_length. (They are "
                      f"{num_parallel_calls} and {cycle_length})")
    return function_host.Interleaved(input_dataset, f, parallel_calls(cycle_length, "cycle_length"), block_length, True)


@dataset_op("ParallelInterleaveDataset(input_dataset: variant, other_arguments: [Targuments], cycle_length: int64, "
            "block_length: int64, sloppy: bool, buffer_output_elements: int64, prefetch_input_elements: int64; f: func, ...)")
def parallel_interleave_dataset(input_dataset, cycle_length, block_length, sloppy, buffer_output_elements,
                                prefetch_input_elements, f):
    """InterleaveDataset, whose datasets are fetched ahead."""
    return function_host.InterleavedAhead(input_dataset, f, cycle_length, block_length)


@dataset_op("ScanDataset(input_dataset: variant, initial_state: [Tstate], other_arguments: [Targuments]; f: func, "
            "Tstate: list(type) >= 1, ..., preserve_cardinality: bool = false)")
def scan_dataset(input_dataset, initial_state, f, preserve_cardinality):
    """What a function gives for its state and each element."""
    return function_host.Scanned(input_dataset, as_arrays(initial_state), f, preserve_cardinality)


@dataset_op("GroupByWindowDataset(input_dataset: variant, key_func_other_arguments: [Tkey_func_other_arguments], "
            "reduce_func_other_arguments: [Treduce_func_other_arguments], "
            "window_size_func_other_arguments: [Twindow_size_func_other_arguments]; key_func: func, reduce_func: func, "
            "window_size_func: func, ...)")
def group_by_window_dataset(input_dataset, key_func, reduce_func, window_size_func):
    """Elements of equal keys, so many at a time."""
    return function_host.WindowsByKey(input_dataset, key_func, reduce_func, window_size_func)


@dataset_op("ExperimentalGroupByReducerDataset(input_dataset: variant, key_func_other_arguments: [Tkey_func_other_arguments], "
            "init_func_other_arguments: [Tinit_func_other_arguments], "
            "reduce_func_other_arguments: [Treduce_func_other_arguments], "
            "finalize_func_other_arguments: [Tfinalize_func_other_arguments]; key_func: func, init_func: func, "
            "reduce_func: func, finalize_func: func, ...)", stateful=True)
def group_by_reducer_dataset(input_dataset, key_func, init_func, reduce_func, finalize_func):
    """What functions make of all elements of equal keys."""
    return function_host.ReducedByKey(input_dataset, key_func, init_func, reduce_func, finalize_func)


@dataset_op("GeneratorDataset(init_func_other_args: [Tinit_func_args], next_func_other_args: [Tnext_func_args], "
            "finalize_func_other_args: [Tfinalize_func_args]; init_func: func, next_func: func, finalize_func: func, ...)",
            stateful=True)
def generator_dataset(init_func, next_func, finalize_func):
    """What a function gives at each call."""
    return function_host.Generated(init_func, next_func, finalize_func)


@dataset_op("DenseToSparseBatchDataset(input_dataset: variant, batch_size: int64, row_shape: int64; ...)")
def dense_to_sparse_batch_dataset(input_dataset, batch_size, row_shape):
    """Elements of different shapes, stacked into sparse tensors."""
    return function_host.SparseBatches(input_dataset, batch_size, np.atleast_1d(row_shape))


@op("ReduceDataset(input_dataset: variant, initial_state: [Tstate], other_arguments: [Targuments]; f: func, "
    "Tstate: list(type) >= 1, output_types: list(type) >= 1, output_shapes: list(shape) >= 1, "
    "use_inter_op_parallelism: bool = true) -> "
    "components: [output_types]", shape=lambda c: list(c.attrs["output_shapes"]), host=True, stateful=True, hands_on=True,
    takes=True, grad=NOT_DIFFERENTIABLE, context=("state", "op"), tested_in=TESTS)
def reduce_dataset(input_dataset, initial_state, other_arguments, state, op):
    """The state of a function after it has taken in all elements."""
    session = Session(state)
    function = Function(op.attrs["f"], [held(array) for array in other_arguments])
    try:
        return function_host.reduced(input_dataset[()], [np.array(part) for part in initial_state], function, Run(session))
    finally:
        session.close()
