"""Batches from single examples: ``tf.train.batch``, ``shuffle_batch`` and their kin.

Threads of a QueueRunner, which is added to the default graph, put examples into a queue; the batch is taken from it.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.control.order_ops import no_op
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.partition import dynamic_partition
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.resources import sparse_map_ops
from jitgraph.resources.queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from jitgraph.summary.summaries import scalar
from jitgraph.train.queue_runner import QueueRunner, add_queue_runner

# -- examples ------------------------------------------------------------------------------------------------------

def as_list(tensors: Any) -> list:
    return [tensors[key] for key in sorted(tensors, key=str)] if isinstance(tensors, dict) else tensors


def taken_like(tensors: Any, taken: Any) -> Any:
    """What was taken from the queue in the form of the arguments: a dictionary for a dictionary."""
    if not isinstance(tensors, dict):
        return taken
    taken = taken if isinstance(taken, list) else [taken]
    return dict(zip(sorted(tensors, key=str), taken))


def converted(tensors: Any, function: str) -> list:
    found = [value if isinstance(value, SparseTensor) else convert_to_tensor(value) for value in tensors]
    if not found:
        raise ValueError(f"Expected at least one tensor in {function}().")
    return found


def _checked_lists(tensors_list: Any, function: str) -> list[list]:
    """The examples of a join: lists (from dictionaries, in the order of their keys) of equal length."""
    tensors_list = list(tensors_list)
    if not tensors_list:
        raise ValueError(f"Expected at least one set of tensors in {function}().")
    if isinstance(tensors_list[0], dict):
        keys = set(tensors_list[0])
        for tensors in tensors_list:
            if not isinstance(tensors, dict):
                raise TypeError("values must be a list of dictionaries")
            if set(tensors) != keys:
                raise ValueError("dictionaries must have the same keys: {} and {}".format(
                    *(sorted(map(str, d)) for d in (tensors_list[0], tensors))))
        return [as_list(tensors) for tensors in tensors_list]
    if any(isinstance(tensors, dict) or not hasattr(tensors, "__iter__") for tensors in tensors_list):
        raise TypeError("values must be a sequence.")
    return tensors_list


def checked_keep_input(keep_input: Any, enqueue_many: bool) -> Tensor:
    keep_input = convert_to_tensor(keep_input)
    rank = keep_input.shape.ndims
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and rank == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep_input


def types_of(lists: list[list]) -> list:
    for other in lists[1:]:
        for a, b in zip(lists[0], other):
            if a.dtype.base_dtype != b.dtype.base_dtype:
                raise TypeError(f"Expected types to be consistent: {', '.join(t.dtype.base_dtype.name for t in lists[0])} "
                                f"vs. {', '.join(t.dtype.base_dtype.name for t in other)}.")
    return [tensor.dtype.base_dtype for tensor in lists[0]]


def shapes_of(lists: list[list], shapes: Any, enqueue_many: bool) -> Any:
    """The shape of each component: given, or what the examples have in common."""
    if shapes is not None:
        return shapes
    for tensors in lists:
        for tensor in tensors:
            if tensor.shape.ndims is None:
                raise ValueError(f"Cannot infer Tensor's rank: {tensor}")
    merged = []
    for k in range(len(lists[0])):
        of_one = [tensors[k].shape for tensors in lists]
        if enqueue_many:
            of_one = [shape.with_rank_at_least(1)[1:] for shape in of_one]
        for shape in of_one[1:]:
            of_one[0].merge_with(shape)
        merged.append(of_one[0])
    return merged


# -- sparse tensors travel as handles ------------------------------------------------------------------------------

def sparse_stored(lists: list[list], enqueue_many: bool, keep_input: Tensor) -> tuple[list[list], list]:
    """The examples with a handle in place of each sparse tensor; per component the map it is kept in and its rank.

    Raises TypeError if a component is sparse in some examples only.
    """
    if not any(isinstance(tensor, SparseTensor) for tensors in lists for tensor in tensors):
        return lists, [None] * len(lists[0])
    result: list[list] = [[] for _ in lists]
    info: list = []
    for k in range(len(lists[0])):
        column = [tensors[k] for tensors in lists]
        if len({isinstance(tensor, SparseTensor) for tensor in column}) > 1:
            raise TypeError("each element of tensors_list must have the same components sparse")
        info.append(None)
        for tensors, tensor in zip(result, column):
            if not isinstance(tensor, SparseTensor):
                tensors.append(tensor)
                continue
            shared = info[k].map_name if info[k] else None
            handle, map_name = sparse_map_ops.store(tensor, enqueue_many, keep_input, shared)
            info[k] = info[k] or sparse_map_ops.Kept(map_name, tensor.dtype, tensor.dense_shape.shape[0].value, enqueue_many)
            tensors.append(handle)
    return result, info


def sparse_restored(taken: Any, info: list) -> Any:
    if not any(info):
        return taken
    listed = taken if isinstance(taken, list) else [taken]
    found = [tensor if kept is None else sparse_map_ops.restore(tensor, kept) for tensor, kept in zip(listed, info)]
    return found if isinstance(taken, list) else found[0]


# -- through the queue ---------------------------------------------------------------------------------------------

def _enqueued(queue: QueueBase, tensors: list, enqueue_many: bool, keep_input: Tensor) -> Any:
    """The operation that puts an example (or several) into the queue, if `keep_input` says so."""
    from jitgraph.control.conditionals import cond

    enqueue = queue.enqueue_many if enqueue_many else queue.enqueue
    if keep_input.shape.ndims == 1:
        chosen = cast(keep_input, dtypes.int32)
        return enqueue([dynamic_partition(tensor, chosen, num_partitions=2)[1] for tensor in tensors])
    known = constant_value(keep_input)
    if known is not None:
        return enqueue(tensors) if known else no_op()
    return cond(keep_input, lambda: enqueue(tensors), no_op)


def _batched(function: str, tensors: Any, lists: Callable[[], list[list]], make: Callable[[list, Any], QueueBase],
             batch_size: Any, keep_input: Any, threads: int, show: Callable[[QueueBase], None], enqueue_many: bool,
             shapes: Any, partial: bool, name: str | None) -> Any:
    """What all functions of this module do: examples into a queue that `make` makes, batches out of it."""
    flat = as_list(tensors) if isinstance(tensors, dict) else list(tensors)
    with name_scope(name, function, [*flat, keep_input]) as scope:
        examples = lists()
        keep_input = checked_keep_input(keep_input, enqueue_many)
        examples, info = sparse_stored(examples, enqueue_many, keep_input)
        queue = make(types_of(examples), shapes_of(examples, shapes, enqueue_many))
        ops = [_enqueued(queue, example, enqueue_many, keep_input) for example in examples]
        add_queue_runner(QueueRunner(queue, ops * threads))
        show(queue)
        take = queue.dequeue_up_to if partial else queue.dequeue_many
        return sparse_restored(take(batch_size, name=scope), info)


def _fifo(capacity: int, dynamic_pad: bool, shared_name: str | None) -> Callable[[list, Any], QueueBase]:
    kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    return lambda types, shapes: kind(capacity=capacity, dtypes=types, shapes=shapes, shared_name=shared_name)


def _fill(capacity: int) -> Callable[[QueueBase], Any]:
    return lambda queue: scalar(f"fraction_of_{capacity}_full",
                                cast(queue.size(), dtypes.float32) * (1.0 / capacity))


def _shuffling(capacity: int, minimum: int, seed: Any, shared_name: str | None) -> Callable[[list, Any], QueueBase]:
    return lambda types, shapes: RandomShuffleQueue(capacity=capacity, min_after_dequeue=minimum, seed=seed, dtypes=types,
                                                    shapes=shapes, shared_name=shared_name)


def _fill_over(capacity: int, minimum: int) -> Callable[[QueueBase], Any]:
    def show(queue: QueueBase) -> None:
        full = cast(maximum(0, queue.size() - minimum), dtypes.float32) * (1.0 / (capacity - minimum))
        scalar(f"fraction_over_{minimum}_of_{capacity - minimum}_full", full)

    return show


# -- public --------------------------------------------------------------------------------------------------------

def batch(tensors: Any, batch_size: Any, num_threads: int = 1, capacity: int = 32, enqueue_many: bool = False,
          shapes: Any = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
          shared_name: str | None = None, name: str | None = None) -> Any:
    """Batches of `batch_size` examples: `tensors` (a list or dictionary) evaluated that many times, stacked.

    `num_threads` threads evaluate them into a queue for `capacity` examples.  With `enqueue_many` each tensor holds
    several examples along its first dimension.  `shapes`: of an example, where they are not known;  `dynamic_pad`
    allows sizes that vary (padded with zeros), `allow_smaller_final_batch` a rest at the end of the input.  Raises
    ValueError if shapes are not known.
    """
    return maybe_batch(tensors, True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad,
                       allow_smaller_final_batch, shared_name, name)


def maybe_batch(tensors: Any, keep_input: Any, batch_size: Any, num_threads: int = 1, capacity: int = 32,
                enqueue_many: bool = False, shapes: Any = None, dynamic_pad: bool = False,
                allow_smaller_final_batch: bool = False, shared_name: str | None = None, name: str | None = None) -> Any:
    """As ``batch``, of those examples for which `keep_input` (bool; a vector with `enqueue_many`) is true."""
    taken = _batched("batch", tensors, lambda: [converted(as_list(tensors), "batch")],
                     _fifo(capacity, dynamic_pad, shared_name), batch_size, keep_input, num_threads, _fill(capacity),
                     enqueue_many, shapes, allow_smaller_final_batch, name)
    return taken_like(tensors, taken)


def batch_join(tensors_list: Any, batch_size: Any, capacity: int = 32, enqueue_many: bool = False, shapes: Any = None,
               dynamic_pad: bool = False, allow_smaller_final_batch: bool = False, shared_name: str | None = None,
               name: str | None = None) -> Any:
    """As ``batch``, of examples from several sources: a list of lists or dictionaries, each with a thread of its own."""
    return maybe_batch_join(tensors_list, True, batch_size, capacity, enqueue_many, shapes, dynamic_pad,
                            allow_smaller_final_batch, shared_name, name)


def maybe_batch_join(tensors_list: Any, keep_input: Any, batch_size: Any, capacity: int = 32, enqueue_many: bool = False,
                     shapes: Any = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
                     shared_name: str | None = None, name: str | None = None) -> Any:
    """As ``batch_join``, of those examples for which `keep_input` is true."""
    lists = _checked_lists(tensors_list, "batch_join")
    taken = _batched("batch_join", [t for tensors in lists for t in tensors],
                     lambda: [converted(tensors, "batch_join") for tensors in lists],
                     _fifo(capacity, dynamic_pad, shared_name), batch_size, keep_input, 1, _fill(capacity), enqueue_many,
                     shapes, allow_smaller_final_batch, name)
    return taken_like(tensors_list[0], taken)


def shuffle_batch(tensors: Any, batch_size: Any, capacity: int, min_after_dequeue: int, num_threads: int = 1,
                  seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                  allow_smaller_final_batch: bool = False, shared_name: str | None = None, name: str | None = None) -> Any:
    """As ``batch``, the examples drawn at random from a queue that keeps `min_after_dequeue` of them.

    Raises ValueError unless `capacity` is greater.
    """
    return maybe_shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, True, num_threads, seed, enqueue_many,
                               shapes, allow_smaller_final_batch, shared_name, name)


def maybe_shuffle_batch(tensors: Any, batch_size: Any, capacity: int, min_after_dequeue: int, keep_input: Any,
                        num_threads: int = 1, seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                        allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                        name: str | None = None) -> Any:
    """As ``shuffle_batch``, of those examples for which `keep_input` is true."""
    if capacity <= min_after_dequeue:
        raise ValueError(f"shuffle_batch: capacity {capacity} must be bigger than min_after_dequeue {min_after_dequeue}.")
    taken = _batched("shuffle_batch", tensors, lambda: [converted(as_list(tensors), "shuffle_batch")],
                     _shuffling(capacity, min_after_dequeue, seed, shared_name), batch_size, keep_input, num_threads,
                     _fill_over(capacity, min_after_dequeue), enqueue_many, shapes, allow_smaller_final_batch, name)
    return taken_like(tensors, taken)


def shuffle_batch_join(tensors_list: Any, batch_size: Any, capacity: int, min_after_dequeue: int,
                       seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                       allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                       name: str | None = None) -> Any:
    """As ``batch_join``, the examples drawn at random from a queue that keeps `min_after_dequeue` of them."""
    return maybe_shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, True, seed, enqueue_many,
                                    shapes, allow_smaller_final_batch, shared_name, name)


def maybe_shuffle_batch_join(tensors_list: Any, batch_size: Any, capacity: int, min_after_dequeue: int, keep_input: Any,
                             seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                             allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                             name: str | None = None) -> Any:
    """As ``shuffle_batch_join``, of those examples for which `keep_input` is true."""
    lists = _checked_lists(tensors_list, "shuffle_batch_join")
    taken = _batched("shuffle_batch_join", [t for tensors in lists for t in tensors],
                     lambda: [converted(tensors, "shuffle_batch_join") for tensors in lists],
                     _shuffling(capacity, min_after_dequeue, seed, shared_name), batch_size, keep_input, 1,
                     _fill_over(capacity, min_after_dequeue), enqueue_many, shapes, allow_smaller_final_batch, name)
    return taken_like(tensors_list[0], taken)
