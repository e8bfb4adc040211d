"""Queues that repeat their input: ``tf.train.string_input_producer``, ``slice_input_producer`` and their kin.

Each adds a QueueRunner to the default graph; ``tf.train.start_queue_runners`` starts it.
"""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.composite import IndexedSlices, convert_to_tensor_or_indexed_slices
from jitgraph.graph.convert import convert_to_tensor, is_tensor_like
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import shape, size
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.random.draws import random_shuffle
from jitgraph.resources.queues import FIFOQueue, QueueBase
from jitgraph.summary.summaries import scalar
from jitgraph.train.queue_runner import QueueRunner, add_queue_runner
from jitgraph.variables.variable import Variable


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Any:
    """`tensor`, which can be evaluated `num_epochs` times; then a run raises OutOfRangeError.

    The count is a local variable ``epochs``: run ``tf.local_variables_initializer()`` first.  None: no limit.  Raises
    ValueError unless `num_epochs` is positive.
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        epochs = Variable(constant(0, dtype=dtypes.int64), name="epochs", trainable=False,
                          collections=[GraphKeys.LOCAL_VARIABLES])
        with control_dependencies([epochs.count_up_to(num_epochs)]):
            return identity(tensor, name=scope)


def input_producer(input_tensor: Any, element_shape: Any = None, num_epochs: int | None = None, shuffle: bool = True,
                   seed: int | None = None, capacity: int = 32, shared_name: str | None = None,
                   summary_name: str | None = None, name: str | None = None, cancel_op: Any = None) -> QueueBase:
    """A queue of the rows of `input_tensor`, again and again, or `num_epochs` times.

    `shuffle`: in another order each time, by `seed`; `capacity`: of the queue; `element_shape`: of a row, if the shape
    of the tensor does not tell.  Raises ValueError if neither does.
    """
    with name_scope(name, "input_producer", [input_tensor]):
        input_tensor = convert_to_tensor(input_tensor, name="input_tensor")
        row = input_tensor.shape[1:].merge_with(TensorShape(element_shape))
        if not row.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined shape or `element_shape` must be specified")
        if shuffle:
            input_tensor = random_shuffle(input_tensor, seed=seed)
        input_tensor = limit_epochs(input_tensor, num_epochs)
        queue = FIFOQueue(capacity, dtypes=[input_tensor.dtype.base_dtype], shapes=[row], shared_name=shared_name,
                          name=name)    # type: ignore[arg-type]
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([input_tensor])], cancel_op=cancel_op))
        if summary_name is not None:
            scalar(summary_name, cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        return queue


def string_input_producer(string_tensor: Any, num_epochs: int | None = None, shuffle: bool = True,
                          seed: int | None = None, capacity: int = 32, shared_name: str | None = None,
                          name: str | None = None, cancel_op: Any = None) -> QueueBase:
    """A queue of strings, often the names of files, for a reader; see ``input_producer``.

    Raises ValueError for an empty list; a run raises InvalidArgumentError if the tensor turns out empty.
    """
    complaint = "string_input_producer requires a non-null input tensor"
    if not is_tensor_like(string_tensor) and len(string_tensor) == 0:
        raise ValueError(complaint)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        strings = convert_to_tensor(string_tensor, dtypes.string)
        with control_dependencies([Assert(size(strings) > 0, [complaint])]):
            strings = identity(strings)
        return input_producer(strings, [], num_epochs, shuffle, seed, capacity, shared_name,
                              f"fraction_of_{capacity}_full", scope, cancel_op)


def range_input_producer(limit: Any, num_epochs: int | None = None, shuffle: bool = True, seed: int | None = None,
                         capacity: int = 32, shared_name: str | None = None, name: str | None = None) -> QueueBase:
    """A queue of the integers from 0 to `limit` - 1; see ``input_producer``."""
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(range_of(limit), [], num_epochs, shuffle, seed, capacity, shared_name,
                              f"fraction_of_{capacity}_full", scope)


def slice_input_producer(tensor_list: Any, num_epochs: int | None = None, shuffle: bool = True, seed: int | None = None,
                         capacity: int = 32, shared_name: str | None = None, name: str | None = None) -> list:
    """One row of each tensor of a list, the same row of all, another one at each run; see ``input_producer``.

    Raises ValueError for an empty list.
    """
    with name_scope(name, "input_producer", list(tensor_list)):
        tensors = [convert_to_tensor_or_indexed_slices(tensor) for tensor in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        first = tensors[0].values if isinstance(tensors[0], IndexedSlices) else tensors[0]
        queue = range_input_producer(shape(first)[0], num_epochs, shuffle, seed, capacity, shared_name)
        index = queue.dequeue()
        return [gather(tensor, index) for tensor in tensors]


def match_filenames_once(pattern: Any, name: str | None = None) -> Variable:
    """A local variable with the names of the files that match a glob pattern, looked up when it is initialized."""
    from jitgraph.ops.files.file import matching_files

    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return Variable(matching_files(pattern), name=scope, trainable=False, validate_shape=False,
       collections=[GraphKeys.LOCAL_VARIABLES])
