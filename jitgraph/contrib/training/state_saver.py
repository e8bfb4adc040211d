"""Long sequences cut into segments, whose states are kept from one segment to the next."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.training.sequence_checks import (
    SequenceInputs,
    check_defined,
    check_names,
    multiple_of,
    of_rank,
    of_shape,
    of_sizes,
)
from jitgraph.control.order_ops import group
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import colocate_with, control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, reshape, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.checks.check_values import assert_greater_equal
from jitgraph.ops.elementwise.arithmetic import div, maximum, minimum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import less_equal, logical_not
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.ops.strings.string_split import string_join
from jitgraph.ops.strings.strings import as_string
from jitgraph.resources.barriers import Barrier
from jitgraph.resources.queues import FIFOQueue

_TOKEN = 21051976       # what the queue of examples holds for each; its value says nothing
_FIELDS = ("length", "total_length", "next_key", "sequence", "sequence_count")


class NextQueuedSequenceBatch:
    """A batch of segments, as ``SequenceQueueingStateSaver.next_batch`` gives it.

    ``length`` and ``total_length``: int32 [batch], of the segments and of the whole examples; ``key`` and ``next_key``: strings
    [batch], "00001_of_00003:" and the key of the example, and what the next segment's will be; ``sequence`` and
    ``sequence_count``: int32 [batch], the number of the segment and how many there are; ``insertion_index``: int64 [batch], in
    which order examples came; ``batch_size``; ``context`` {name: [batch, ...]} and ``sequences`` {name: [batch, num_unroll, ...]}.
    """

    def __init__(self, state_saver: SequenceQueueingStateSaver):
        self._saver = state_saver
        reads = state_saver._barrier.take_many(state_saver.batch_size, state_saver._allow_small_batch, name="BarrierTakeMany")
        self.insertion_index, self.key, values = reads
        received = dict(zip(state_saver._fields, values))
        self.length, self.total_length, self.next_key, self.sequence, self.sequence_count = (received[name,] for name in _FIELDS)
        self.context = {name: received["context", name] for name in state_saver._context}
        self.sequences = {name: received["sequence", name] for name in state_saver._sequences}
        self.batch_size = squeeze(shape_of(self.length))
        self._is_done = self.sequence + 1 >= self.sequence_count
        tokens = state_saver._capacity_queue.dequeue_many(reduce_sum(cast(self._is_done, dtypes.int32)))
        with control_dependencies([tokens]):
            self._states = {name: identity(received["state", name]) for name in state_saver._states}

    def state(self, state_name: str) -> Tensor:
        """The states [batch, ...] that the segments before have saved, or the initial ones.  Raises KeyError for other names."""
        return self._states[state_name]

    def save_state(self, state_name: str, value: Any, name: str | None = None) -> Any:
        """An operation that saves the states `value` [batch, ...] for the next segments; it must run for each batch.

        Raises KeyError for other names.
        """
        if state_name not in self._states:
            raise KeyError(f"state was not declared: {state_name}")
        with name_scope(name, "InputQueueingStateSaver_SaveState", values=[value]):
            with colocate_with(self._saver._capacity_queue.queue_ref):
                going_on = reshape(where_v2(logical_not(self._is_done)), [-1])
                keys = gather(self.next_key, going_on)
                value = of_shape(identity(value, name=f"convert_{state_name}"), shape_of(self._states[state_name]))
                return self._saver._insert(("state", state_name), keys, gather(value, going_on), f"BarrierInsertState_{state_name}")


class SequenceQueueingStateSaver:
    """Takes one example at a time, cuts its sequences into segments of `num_unroll` steps and batches segments of many examples.

    `input_length`: int32, the length of the example before padding; `input_key`: a string that is unique; `input_sequences`
    {name: [time, ...]}, whose time is a multiple of `num_unroll`; `input_context` {name: tensor}, which all segments get;
    `initial_states` {name: value}.  Shapes other than the time must be known.  ``prefetch_op`` takes an example (a QueueRunner
    runs it), ``next_batch`` gives segments; each batch has to save its states, else no segment follows.  `capacity`: how many
    examples are held; `allow_small_batch`: whether the last batches after ``close()`` may be smaller.  Raises TypeError and
    ValueError for arguments that do not suit.
    """

    def __init__(self, batch_size: Any, num_unroll: int, input_length: Any, input_key: Any, input_sequences: dict,
                 input_context: dict, initial_states: dict, capacity: int | None = None, allow_small_batch: bool = False,
                 name: str | None = None):
        if capacity is not None:
            input_key = _after_capacity_check(capacity, batch_size, input_key)
        self._batch_size, self._num_unroll, self._allow_small_batch = batch_size, num_unroll, allow_small_batch
        # one token for each example: how many segments it has is not known before
        self._capacity_queue = FIFOQueue(capacity=-1 if capacity is None else capacity, dtypes=[dtypes.int32], shapes=[[]])
        with colocate_with(self._capacity_queue.queue_ref):
            if not isinstance(initial_states, dict):
                raise TypeError("initial_states must be a dictionary")
            if not initial_states:
                raise ValueError("initial_states may not be empty: at least one state variable is required to properly enqueue "
                                 "split sequences to run in separate iterations")
            check_names(initial_states, "state name")
            given = [input_length, input_key, *input_sequences.values(), *input_context.values()]
            with name_scope(name, "InputQueueingStateSaver", given) as scope:
                self._name = scope
                self._take(SequenceInputs(input_length, input_key, input_sequences, input_context), initial_states)
                self._barrier = self._made_barrier()
        self._prefetch_op: Any = None
        self._next_batch: NextQueuedSequenceBatch | None = None

    def _take(self, inputs: SequenceInputs, initial_states: dict) -> None:
        states = {name: convert_to_tensor(value, name=f"state_{name}") for name, value in initial_states.items()}
        check_defined("state", states)
        check_defined("context", inputs.context)
        check_defined("sequence", inputs.sequences, but_first=True)
        self._states, self._context = dict(sorted(states.items())), dict(sorted(inputs.context.items()))
        length, self._key = of_rank(inputs.length, 0), of_rank(inputs.key, 0)
        if length.dtype != dtypes.int32:
            raise TypeError(f"length dtype must be int32, but received: {length.dtype}")
        if self._key.dtype != dtypes.string:
            raise TypeError(f"key dtype must be string, but received: {self._key.dtype}")
        sequences = dict(sorted(inputs.sequences.items()))
        steps = identity(shape_of(next(iter(sequences.values())))[0], name="padded_length")
        self._padded_length = multiple_of(steps, self._num_unroll)
        self._sequences = {name: of_sizes(value, [self._padded_length], f"sorted_sequences_{name}")
                           for name, value in sequences.items()}
        fits = Assert(less_equal(length, self._padded_length), ["Input length should be <= than length from sequences:", length,
                                                                " vs. ", self._padded_length])
        with control_dependencies([fits]):
            self._length = identity(length)

    def _made_barrier(self) -> Barrier:
        kinds = (("sequence", self._sequences), ("context", self._context), ("state", self._states))
        self._fields: list[tuple] = [*((name,) for name in _FIELDS), *((kind, name) for kind, held in kinds for name in held)]
        tensors = [tensor for _, held in kinds for tensor in held.values()]
        shapes = [[self._num_unroll, *tensor.get_shape().as_list()[1:]] for tensor in self._sequences.values()]
        shapes += [tensor.get_shape().as_list() for held in (self._context, self._states) for tensor in held.values()]
        types = [dtypes.int32, dtypes.int32, dtypes.string, dtypes.int32, dtypes.int32, *(tensor.dtype for tensor in tensors)]
        return Barrier(types=types, shapes=[()] * len(_FIELDS) + shapes)

    @property
    def name(self) -> str:
        """The name scope."""
        return self._name

    @property
    def barrier(self) -> Barrier:
        """The barrier that holds segments until they are complete."""
        return self._barrier

    @property
    def batch_size(self) -> Any:
        """The size of batches."""
        return self._batch_size

    @property
    def num_unroll(self) -> int:
        """The length of segments."""
        return self._num_unroll

    @property
    def prefetch_op(self) -> Any:
        """The operation that takes one example; it waits while there are `capacity`."""
        if self._prefetch_op is None:
            with name_scope(None), name_scope(self._name, values=[self._barrier.barrier_ref]):
                self._prefetch_op = self._prefetch()
        return self._prefetch_op

    @property
    def next_batch(self) -> NextQueuedSequenceBatch:
        """The batch of segments."""
        if self._next_batch is None:
            self.prefetch_op    # noqa: B018  (its nodes stand before)
            with name_scope(None), name_scope(self._name, values=[self._barrier.barrier_ref]):
                self._next_batch = NextQueuedSequenceBatch(self)
        return self._next_batch

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """The operation after which no more examples come; with `cancel_pending_enqueues` those that are begun end too."""
        with name_scope(name, "SQSSClose", [self._prefetch_op]) as name:
            of_barrier = self._barrier.close(cancel_pending_enqueues, "BarrierClose")
            of_queue = self._capacity_queue.close(cancel_pending_enqueues, "FIFOClose")
            return group(of_barrier, of_queue, name=name)

    def _insert(self, field: tuple, keys: Any, values: Any, name: str) -> Any:
        return self._barrier.insert_many(self._fields.index(field), keys, values, name=name)

    def _prefetch(self) -> Any:
        count = div(self._padded_length, self._num_unroll)
        every = ones(expand_dims(count, 0), dtype=dtypes.int32)
        sequence = range_of(count)
        length = minimum(self._num_unroll, maximum(0, self._length - self._num_unroll * sequence))
        keys = string_join([as_string(sequence, width=5, fill="0"), "_of_", as_string(count, width=5, fill="0"), ":", self._key],
                           name="StringJoinCurrentKeys")
        stop = expand_dims(string_join(["STOP:", self._key], name="StringJoinStop"), 0)
        next_keys = concat([slice_of(keys, [1], [-1]), stop], 0, name="concat_next_keys")
        sequences = {name: self._cut(name, value, count) for name, value in self._sequences.items()}
        context = {name: _repeated(name, value, count) for name, value in self._context.items()}
        inserts = [self._insert((field,), keys, value, f"BarrierInsert{label}") for field, value, label in (
            ("sequence", sequence, "Sequence"), ("sequence_count", count * every, "SequenceCount"),
            ("next_key", next_keys, "NextKey"), ("length", length, "Length"),
            ("total_length", self._length * every, "TotalLength"))]
        inserts += [self._insert(("context", name), keys, value, f"BarrierInsertContext_{name}") for name, value in context.items()]
        inserts += [self._insert(("sequence", name), keys, value, f"BarrierInsertSequences_{name}")
                    for name, value in sequences.items()]
        token = self._capacity_queue.enqueue((_TOKEN,))
        # first all segments of the example, so that they are of one index
        with control_dependencies([inserts[0], token]):
            begun = [self._insert(("state", name), stack([keys[0]]), stack([value]), f"BarrierInitialInsertState_{name}")
                     for name, value in self._states.items()]
        return group(token, *inserts, *begun, name="StateSaverPrefetchGroup")

    def _cut(self, name: str, value: Tensor, count: Tensor) -> Tensor:
        rest = value.get_shape().as_list()[1:]
        shape = concat([expand_dims(count, 0), expand_dims(self._num_unroll, 0), rest] if rest else
                       [expand_dims(count, 0), expand_dims(self._num_unroll, 0)], 0, name=f"concat_sequences_{name}")
        return of_sizes(reshape(value, shape, name=f"reshape_sequences_{name}"), [count, self._num_unroll, *rest],
                        f"reshaped_sequences_{name}")


def _repeated(name: str, value: Tensor, count: Tensor) -> Tensor:
    ones = [1] * len(value.get_shape().as_list())
    times = [expand_dims(count, 0)] + ([ones] if ones else [])
    every = tile(expand_dims(value, 0), concat(times, 0, name=f"concat_context_{name}"), name=f"tile_context_{name}")
    return of_sizes(every, [count, *value.get_shape().as_list()], f"expanded_context_{name}")


def _after_capacity_check(capacity: int, batch_size: Any, input_key: Any) -> Any:
    if not isinstance(batch_size, Tensor):
        if capacity < batch_size:
            raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}")
        return input_key
    enough = assert_greater_equal(cast(capacity, dtype=dtypes.int64), cast(batch_size, dtype=dtypes.int64),
                                  message="capacity needs to be >= batch_size.")
    with control_dependencies([enough]):
        return identity(input_key)
