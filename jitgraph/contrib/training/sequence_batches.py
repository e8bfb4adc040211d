"""``batch_sequences_with_states``: batches of segments of sequences, taken by threads."""
from __future__ import annotations

import numbers
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.contrib.training.state_saver import NextQueuedSequenceBatch, SequenceQueueingStateSaver
from jitgraph.graph import dtypes, errors
from jitgraph.graph.composite import SparseTensor, SparseTensorValue, convert_to_tensor_or_sparse_tensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import fill
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, logical_and, not_equal
from jitgraph.ops.random.draws import random_uniform
from jitgraph.ops.reduce.reductions import reduce_max
from jitgraph.ops.sparse.sparse_functions import sparse_reshape
from jitgraph.ops.strings.string_split import string_join
from jitgraph.ops.strings.strings import as_string
from jitgraph.summary.summaries import scalar
from jitgraph.train.queue_runner import QueueRunner, add_queue_runner

_OF_CONTEXT = "_context_in_seq_"
_SPARSE = (SparseTensor, SparseTensorValue)


def batch_sequences_with_states(input_key: Any, input_sequences: dict, input_context: dict, input_length: Any, initial_states: dict,
                                num_unroll: int, batch_size: Any, num_threads: int = 3, capacity: int = 1000,
                                allow_small_batch: bool = True, pad: bool = True, make_keys_unique: bool = False,
                                make_keys_unique_seed: int | None = None, name: str | None = None) -> NextQueuedSequenceBatch:
    """Batches of segments of `num_unroll` steps, of one example at a time that threads take; see SequenceQueueingStateSaver.

    `pad`: fills sequences up to a multiple of `num_unroll`; `input_length` may be None then.  `make_keys_unique` appends a random
    number to `input_key`.  Sequences and context may be sparse.  Raises TypeError and ValueError for arguments that do not suit.
    """
    given = [*input_sequences.values(), *input_context.values(), *initial_states.values()]
    with name_scope(name, "batch_sequences_with_states", given):
        if pad:
            length, input_sequences = padded(input_sequences, num_unroll)
            input_length = length if input_length is None else input_length
        else:
            input_sequences = {key: _checked(key, value, num_unroll) for key, value in input_sequences.items()}
        context, sequences = _sparse_as_sequences(input_context, input_sequences, num_unroll)
        sequences, maps = _stored(sequences)
        if make_keys_unique:
            number = random_uniform((), minval=0, maxval=100000000, dtype=dtypes.int32, seed=make_keys_unique_seed)
            input_key = string_join([input_key, as_string(number)])
        saver = SequenceQueueingStateSaver(
            batch_size, num_unroll, input_length=input_length, input_key=input_key, input_sequences=sequences,
            input_context=context, initial_states=initial_states, capacity=capacity, allow_small_batch=allow_small_batch)
        scalar(f"queue/{saver.barrier.name}/ready_segment_batches_", cast(saver.barrier.ready_size(), dtypes.float32))
        add_queue_runner(QueueRunner(saver, [saver.prefetch_op] * num_threads,
                                     queue_closed_exception_types=(errors.OutOfRangeError, errors.CancelledError)))
        batch = saver.next_batch
        for key, store in maps.items():
            batch.sequences[key] = _restored(batch.sequences[key], store, batch_size, num_unroll)
        for key in sorted(key for key in batch.sequences if key.startswith(_OF_CONTEXT)):
            batch.context[key.removeprefix(_OF_CONTEXT)] = _without_time(batch.sequences.pop(key))
        return batch


def padded(sequences: Any, num_unroll: Any) -> tuple[Any, dict[str, Any]]:
    """(the length, the sequences filled up to a multiple of `num_unroll`).  Raises ValueError or TypeError for other arguments."""
    if not isinstance(num_unroll, numbers.Integral):
        raise ValueError(f"Unsupported num_unroll expected int, got: {num_unroll}")
    if not isinstance(sequences, dict):
        raise TypeError(f"Unsupported sequences expected dict, got: {sequences}")
    for key in sequences:
        if not isinstance(key, str):
            raise TypeError(f"Unsupported sequences key expected string, got: {key}")
    if not sequences:
        return 0, {}
    held = {key: convert_to_tensor_or_sparse_tensor(value) for key, value in sorted(sequences.items())}
    length = _common_length(list(held.values()))
    unroll = constant(num_unroll)
    whole = length + ((unroll - (length % unroll)) % unroll)
    found: dict[str, Any] = {}
    for key, value in held.items():
        if isinstance(value, SparseTensor):
            shape = concat([[cast(whole, dtypes.int64)], value.dense_shape[1:]], 0)
            found[key] = SparseTensor(value.indices, value.values, shape)
        else:
            missing = concat(([whole - shape_of(value)[0]], shape_of(value)[1:]), 0)
            nothing = constant("" if value.dtype == dtypes.string else 0, dtype=value.dtype)
            found[key] = concat([value, fill(missing, nothing)], 0)
    return length, found


def _common_length(values: list) -> Any:
    lengths = [shape_of(value)[0] for value in values if isinstance(value, Tensor)]
    if not lengths:
        return reduce_max(cast([value.dense_shape[0] for value in values], dtypes.int32))
    said = "All sequence lengths must match, but received lengths: "
    checks = [Assert(equal(one, lengths[0]), [string_join([said, as_string(lengths)])]) for one in lengths]
    with control_dependencies(checks):
        return identity(lengths[0])


def _checked(key: str, value: Any, num_unroll: int) -> Any:
    """A sequence after a check that its time is a multiple of `num_unroll`."""
    sparse = isinstance(value, _SPARSE)
    if not sparse:
        try:
            value = convert_to_tensor(value)
        except TypeError:
            raise TypeError(f"Unsupported input_sequences expected Tensor or SparseTensor values, got: {type(value)} for key "
                            f"{key}") from None
    length = value.dense_shape[0] if sparse else shape_of(value)[0]
    said = string_join([f"{'Sparse' if sparse else ''}Tensor {key} first dimension should be a multiple of: ",
                        as_string(num_unroll), ", but saw value: ", as_string(length), ". Consider setting pad=True."])
    with control_dependencies([Assert(logical_and(equal(length % num_unroll, 0), not_equal(length, 0)), [said])]):
        if sparse:
            return SparseTensor(*(identity(part, name="multiple_of_checked")
                                  for part in (value.indices, value.values, value.dense_shape)))
        return identity(value, name="multiple_of_checked")


# -- sparse tensors: each step's goes through the barrier as a handle ---------------------------------------------------

def _sparse_as_sequences(context: dict, sequences: dict, num_unroll: int) -> tuple[dict, dict]:
    """(the context without its sparse tensors, the sequences with them, once for each segment)."""
    context, sequences = dict(context), dict(sequences)
    first = next(iter(sequences.values()), None)
    length = constant(1) if first is None else shape_of(first)[0] if isinstance(first, Tensor) else first.dense_shape[0]
    length = cast(length, dtypes.int64)
    for key in sorted(key for key in context if isinstance(context[key], _SPARSE)):
        sequences[_OF_CONTEXT + key] = _once_a_segment(context.pop(key), length, num_unroll)
    return context, sequences


def _once_a_segment(tensor: Any, length: Any, num_unroll: int) -> SparseTensor:
    """A sparse tensor with a new first dimension, at every `num_unroll`-th step of it."""
    count = cast(length // num_unroll, dtypes.int32)
    indices = tile(expand_dims(tensor.indices, 0), stack([count, 1, 1]))
    rows, width = shape_of(tensor.indices)[0], shape_of(tensor.indices)[1]
    steps = expand_dims(expand_dims(range_of(0, length, num_unroll), 1), 2)
    whole = concat([tile(cast(steps, dtypes.int64), [1, rows, 1]), indices], 2)
    return SparseTensor(reshape(whole, [rows * count, width + 1]), tile(tensor.values, expand_dims(count, 0)),
                        concat([expand_dims(length, 0), tensor.dense_shape], 0))


def _stored(sequences: dict) -> tuple[dict, dict]:
    """(the sequences with handles of int64 [time] for sparse ones, {key: (name of the map, dtype)} of these)."""
    held, maps = dict(sequences), {}
    for key in sorted(key for key in sequences if isinstance(sequences[key], _SPARSE)):
        tensor = sequences[key]
        held[key] = raw.AddManySparseToTensorsMap(tensor.indices, tensor.values, tensor.dense_shape)
        maps[key] = (held[key].op.name, tensor.values.dtype)
    return held, maps


def _restored(handles: Any, store: tuple, batch_size: Any, num_unroll: int) -> SparseTensor:
    """The sparse tensor [batch, num_unroll, ...] of handles [batch, num_unroll]."""
    name, dtype = store
    indices, values, shape = raw.TakeManySparseFromTensorsMap(reshape(handles, [-1]), dtype=dtype, shared_name=name)
    rows = indices[:, 0]
    places = concat([expand_dims(rows // num_unroll, 1), expand_dims(rows % num_unroll, 1), indices[:, 1:]], axis=1)
    sizes = [[cast(batch_size, dtypes.int64)], [cast(num_unroll, dtypes.int64)], shape[1:]]
    return SparseTensor(places, values, concat(sizes, axis=0))


def _without_time(tensor: SparseTensor) -> SparseTensor:
    batch, rest = [tensor.dense_shape[0]], tensor.dense_shape[2:]
    first_step = SparseTensor(tensor.indices, tensor.values, concat([batch, [1], rest], 0))
    return sparse_reshape(first_step, concat([batch, rest], 0))
