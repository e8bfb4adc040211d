"""Batches of examples that go into the same bucket, above all of sequences of similar lengths."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from jitgraph.control.conditionals import cond, smart_cond
from jitgraph.control.order_ops import group, no_op
from jitgraph.graph import dtypes, errors
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, less, less_equal, logical_and
from jitgraph.ops.reduce.reductions import reduce_min
from jitgraph.resources.queues import FIFOQueue, PaddingFIFOQueue
from jitgraph.summary.summaries import scalar
from jitgraph.train.batching import (
    as_list,
    checked_keep_input,
    converted,
    shapes_of,
    sparse_restored,
    sparse_stored,
    taken_like,
    types_of,
)
from jitgraph.train.queue_runner import QueueRunner, add_queue_runner

_ENDED = (errors.OutOfRangeError, errors.CancelledError)


def bucket(tensors: Any, which_bucket: Any, batch_size: Any, num_buckets: int, num_threads: int = 1, capacity: int = 32,
           bucket_capacities: list | None = None, shapes: Any = None, dynamic_pad: bool = False,
           allow_smaller_final_batch: bool = False, keep_input: Any = True, shared_name: str | None = None,
           name: str | None = None) -> tuple:
    """(the number of a bucket, a batch of examples from it): each example goes into the bucket `which_bucket`, int32.

    `tensors`: a list or dictionary; `batch_size`: a number, or a list with one for each bucket; `capacity`: of the queue of
    batches, and of the buckets unless `bucket_capacities` says other.  The rest is as of ``tf.train.batch``.  Raises ValueError
    for lists that have not `num_buckets` elements, and if shapes are not known.
    """
    sizes_differ = isinstance(batch_size, (list, tuple))
    sizes = list(batch_size) if sizes_differ else [batch_size] * num_buckets
    if len(sizes) != num_buckets:
        raise ValueError("If batch_size is a list it must have num_buckets elements")
    capacities = [capacity] * num_buckets if bucket_capacities is None else bucket_capacities
    if len(capacities) != num_buckets:
        raise ValueError(f"The list bucket_capacities ({capacities}) must have exactly num_buckets ({num_buckets}) elements.")
    given = list(as_list(tensors))
    with name_scope(name, "bucket", given):
        examples = converted(given, "bucket")
        keep_input = checked_keep_input(keep_input, False)
        (examples,), info = sparse_stored([examples], False, keep_input)
        sizes = [_number(size) for size in sizes]
        types, shapes = types_of([examples]), shapes_of([examples], shapes, False)
        which_bucket = convert_to_tensor(which_bucket, dtype=dtypes.int32, name="which_bucket")
        kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        buckets = [kind(capacity=size, dtypes=types, shapes=shapes, shared_name=shared_name and f"{shared_name}_{k}",
                        name=f"bucket_queue_{k}") for k, size in enumerate(capacities)]
        known = None if allow_smaller_final_batch or sizes_differ or isinstance(sizes[0], Tensor) else sizes[0]
        batch_shapes = [TensorShape([known]).concatenate(shape) for shape in buckets[0].shapes]
        top = PaddingFIFOQueue(capacity=capacity, dtypes=[dtypes.int32, *types], shapes=[TensorShape([]), *batch_shapes],
                               shared_name=shared_name, name="top_queue")
        enqueue = _filling(buckets, examples, which_bucket, keep_input)
        _move(buckets, sizes, top, allow_smaller_final_batch)
        add_queue_runner(QueueRunner(
            top, [enqueue] * num_threads, close_op=group(*[queue.close() for queue in buckets]),
            queue_closed_exception_types=_ENDED,
            cancel_op=group(*[queue.close(cancel_pending_enqueues=True) for queue in buckets])))
        for queue in buckets:
            scalar(f"bucket/{queue.name}/size", cast(top.size(), dtypes.float32))
        scalar(f"bucket/{top.name}/fraction_of_{capacity}_full", cast(top.size(), dtypes.float32) * (1.0 / capacity))
        number, *taken = top.dequeue(name="dequeue_top")
        return number, taken_like(tensors, sparse_restored(taken[0] if len(taken) == 1 else taken, info))


def _number(size: Any) -> Any:
    tensor = convert_to_tensor(size, dtype=dtypes.int32, name="batch_size")
    known = constant_value(tensor)
    return tensor if known is None else known


def _filling(buckets: list, examples: list, which: Any, keep_input: Any) -> Any:
    """The operation that puts an example into its bucket."""
    def enqueued() -> Any:
        return group(*[cond(equal(which, k), functools.partial(queue.enqueue, examples), no_op)
                       for k, queue in enumerate(buckets)], name="group_enqueues")

    return smart_cond(keep_input, enqueued, no_op)


def _move(buckets: list, sizes: list, top: Any, partial: bool) -> None:
    """Adds a thread for each bucket that moves full batches to the queue of batches."""
    moves = []
    for k, (queue, size) in enumerate(zip(buckets, sizes)):
        taken = (queue.dequeue_up_to if partial else queue.dequeue_many)(size, name=f"read_bucket_{k}")
        taken = list(taken) if isinstance(taken, (list, tuple)) else [taken]
        moves.append(top.enqueue([constant(k), *taken], name=f"enqueue_from_bucket_{k}"))
    add_queue_runner(QueueRunner(buckets[0], moves, close_op=top.close(), cancel_op=top.close(cancel_pending_enqueues=True),
                                 queue_closed_exception_types=_ENDED))


def bucket_by_sequence_length(input_length: Any, tensors: Any, batch_size: Any, bucket_boundaries: Any, num_threads: int = 1,
                              capacity: int = 32, bucket_capacities: list | None = None, shapes: Any = None,
                              dynamic_pad: bool = False, allow_smaller_final_batch: bool = False, keep_input: Any = True,
                              shared_name: str | None = None, name: str | None = None) -> tuple:
    """(lengths [batch], a batch of examples of similar lengths): a bucket below each of `bucket_boundaries`, one above.

    `input_length`: the int32 length of an example; boundaries are ints that rise.  The rest is as of ``bucket``.  Raises
    TypeError or ValueError for other boundaries.
    """
    given = list(as_list(tensors))
    if not isinstance(bucket_boundaries, (list, tuple)):
        raise TypeError(f"bucket_boundaries must be a list or tuple, but received: {bucket_boundaries}")
    if not bucket_boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for low, high in zip(bucket_boundaries, bucket_boundaries[1:]):
        if not isinstance(low, int) or not isinstance(high, int):
            raise TypeError(f"bucket boundaries must be integers, but saw: {low} and {high}")
        if low >= high:
            raise ValueError(f"Buckets must contain sequential increasing lengths, but saw: {low} before {high}")
    with name_scope(name, "bucket_by_sequence_length", [input_length, *given]):
        input_length = convert_to_tensor(input_length, dtype=dtypes.int32, name="input_length")
        ends = np.iinfo(np.int32)
        inside = logical_and(less_equal([ends.min, *bucket_boundaries], input_length),
                             less(input_length, [*bucket_boundaries, ends.max]))
        which = cast(reduce_min(where_v2(inside)), dtypes.int32)
        if shapes is not None:
            shapes = [TensorShape([]), *shapes]
        _, taken = bucket([input_length, *given], which, batch_size, len(bucket_boundaries) + 1, num_threads, capacity,
                          bucket_capacities, shapes, dynamic_pad, allow_smaller_final_batch, keep_input, shared_name)
        return taken[0], taken_like(tensors, taken[1:])
