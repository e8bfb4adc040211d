"""``tf.FIFOQueue``, ``tf.RandomShuffleQueue``, ``tf.PaddingFIFOQueue``, ``tf.PriorityQueue``.

A queue lives in a session and is shared by its threads.  An operation that finds no room, or no element, waits until
another run makes some, the queue or the session is closed, or the time of the run is over.
"""
from __future__ import annotations

import functools
import hashlib
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import as_dtype, int64
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.seeds import get_seed
from jitgraph.graph.shapes import TensorShape, raw_shape
from jitgraph.graph.tensor import Tensor


def _listed_types(dtypes: Any) -> list:
    types = [as_dtype(d) for d in (dtypes if isinstance(dtypes, (list, tuple)) else [dtypes])]
    if not types:
        raise ValueError("Attr 'component_types' of a queue's op passed list of length 0 less than minimum 1.")
    return types


def _listed_shapes(shapes: Any, dtypes: list, allow_unknown: bool) -> list[TensorShape]:
    """The shape of each component; unknown ones where none are given."""
    if shapes is None:
        return [TensorShape(None)] * len(dtypes)
    several = isinstance(shapes, (list, tuple)) and shapes and not any(isinstance(size, int) or size is None for size in shapes)
    if allow_unknown and not several:
        raise ValueError(f"When providing partial shapes, a list of shapes must be provided, got {shapes}.")
    if not isinstance(shapes, (list, tuple)) or all(isinstance(size, int) for size in shapes):
        shapes = [shapes]
    found = [TensorShape(shape) for shape in shapes]
    if len(found) != len(dtypes):
        raise ValueError("Queue shapes must have the same length as dtypes")
    if not allow_unknown and not all(shape.is_fully_defined() for shape in found):
        raise ValueError(f"All shapes must be fully defined: {found}")
    return found


def _listed_names(names: Any, dtypes: list) -> list | None:
    if names is None:
        return None
    names = list(names) if isinstance(names, (list, tuple)) else [names]
    if len(names) != len(dtypes):
        raise ValueError("List of names must have the same length as the list of dtypes")
    return names


class QueueBase:
    """What all queues can do; make one of the subclasses.

    `dtypes` and `shapes` are lists with an entry for each component of an element; with `names`, elements are
    dictionaries.  `queue_ref` is the handle, a tensor.
    """

    def __init__(self, dtypes: list, shapes: Any, names: list | None, queue_ref: Tensor):
        self._dtypes = dtypes
        if shapes is not None and len(shapes) != len(dtypes):
            raise ValueError("Queue shapes must have the same length as dtypes, "
                             f"received len(shapes)={len(shapes)}, len(dtypes)={len(dtypes)}")
        self._shapes = [TensorShape(None)] * len(dtypes) if shapes is None else [TensorShape(s) for s in shapes]
        if names is not None and len(names) != len(dtypes):
            raise ValueError("Queue names must have the same length as dtypes")
        self._names = names
        self._queue_ref = queue_ref
        self._name = queue_ref.op.name.split("/")[-1]

    @staticmethod
    def from_list(index: Any, queues: Any) -> QueueBase:
        """The queue of the list `queues` (of the same dtypes and names) that the int scalar `index` picks at run time.

        Raises TypeError for a list of other things, or for queues of different dtypes or names.
        """
        if not queues or not isinstance(queues, list) or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if not all(first.dtypes == other.dtypes for other in queues[1:]):
            raise TypeError("Queues do not have matching component dtypes.")
        if not all(first.names == other.names for other in queues[1:]):
            raise TypeError("Queues do not have matching component names.")
        merged = [functools.reduce(TensorShape.most_specific_compatible_shape, [q.shapes[k] for q in queues])
                  for k in range(len(first.dtypes))]
        handles = raw.Pack([q.queue_ref for q in queues], axis=0, name="stack")
        chosen = raw.GatherV2(handles, index, 0)
        return QueueBase(first.dtypes, merged, first.names, chosen)

    @property
    def queue_ref(self) -> Tensor:
        """The handle of the queue."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name of the node that makes the queue."""
        return self._queue_ref.op.name

    @property
    def dtypes(self) -> list:
        """The dtype of each component."""
        return self._dtypes

    @property
    def shapes(self) -> list:
        """The TensorShape of each component."""
        return self._shapes

    @property
    def names(self) -> list | None:
        """The name of each component, or None."""
        return self._names

    # -- filling

    def _components(self, values: Any) -> list:
        """The components of an element as tensors, in order."""
        if isinstance(values, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(values, key=str):
                raise ValueError("Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                                 f"({sorted(values)}), Queue: ({sorted(self._names)})")
            values = [values[name] for name in self._names]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a Queue with names")
            if not isinstance(values, (list, tuple)):
                values = [values]
        return [convert_to_tensor(value, dtype, f"component_{i}")
                for i, (value, dtype) in enumerate(zip(values, self._dtypes))]

    def enqueue(self, vals: Any, name: str | None = None) -> Operation:
        """An operation that adds one element: a list of tensors, one tensor, or a dictionary if the queue has names.

        It waits while the queue is full.  A run raises CancelledError if the queue is or gets closed.
        """
        values = [*vals.values()] if isinstance(vals, dict) else vals if isinstance(vals, (list, tuple)) else [vals]
        with name_scope(name, f"{self._name}_enqueue", list(values)) as scope:
            vals = self._components(vals)
            for value, shape in zip(vals, self._shapes):
                value.shape.assert_is_compatible_with(shape)
            return raw.QueueEnqueueV2(self._queue_ref, vals, name=scope)

    def enqueue_many(self, vals: Any, name: str | None = None) -> Operation:
        """An operation that adds the rows of `vals` (tensors with one more dimension than the elements) one by one.

        It waits while the queue is full.  A run raises CancelledError if the queue is or gets closed.
        """
        values = [*vals.values()] if isinstance(vals, dict) else vals if isinstance(vals, (list, tuple)) else [vals]
        with name_scope(name, f"{self._name}_EnqueueMany", list(values)) as scope:
            vals = self._components(vals)
            count = vals[0].shape.with_rank_at_least(1)[0]
            for value, shape in zip(vals, self._shapes):
                count = count.merge_with(value.shape.with_rank_at_least(1)[0])
                value.shape[1:].assert_is_compatible_with(shape)
            return raw.QueueEnqueueManyV2(self._queue_ref, vals, name=scope)

    # -- taking

    def _element(self, tensors: Any, shapes: list) -> Any:
        """What a dequeue operation gives, as callers get it: a tensor, a list, or a dictionary."""
        tensors = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
        for tensor, shape in zip(tensors, shapes):
            tensor.set_shape(shape)
        if self._names:
            return dict(zip(self._names, tensors))
        return tensors[0] if len(tensors) == 1 else tensors

    def dequeue(self, name: str | None = None) -> Any:
        """The oldest element (of this kind of queue: the next one), removed from the queue.

        It waits while the queue is empty.  A run raises OutOfRangeError if the queue is closed and empty.
        """
        name = name or f"{self._name}_Dequeue"
        return self._element(raw.QueueDequeueV2(self._queue_ref, component_types=self._dtypes, name=name), self._shapes)

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """The next `n` elements stacked along a new first dimension; it waits until there are so many.

        A run raises OutOfRangeError if the queue is closed and has less, InvalidArgumentError if its shapes are unknown.
        """
        name = name or f"{self._name}_DequeueMany"
        taken = raw.QueueDequeueManyV2(self._queue_ref, n, component_types=self._dtypes, name=name)
        op = (taken[0] if isinstance(taken, list) else taken).op
        count = constant_value(op.inputs[1])
        rows = TensorShape([None if count is None else int(count)])
        return self._element(taken, [rows.concatenate(shape) for shape in self._shapes])

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """As ``dequeue_many``, but a closed queue that has less than `n` elements gives those it has."""
        name = name or f"{self._name}_DequeueUpTo"
        taken = raw.QueueDequeueUpToV2(self._queue_ref, n, component_types=self._dtypes, name=name)
        return self._element(taken, [TensorShape([None]).concatenate(shape) for shape in self._shapes])

    # -- state

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """An operation after which no element can be added; what is there can be taken.

        Operations waiting for room are finished first, or, with `cancel_pending_enqueues`, raise CancelledError.
        """
        return raw.QueueCloseV2(self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues,
                                name=name or f"{self._name}_Close")

    def is_closed(self, name: str | None = None) -> Tensor:
        """A bool scalar: whether the queue is closed."""
        return raw.QueueIsClosedV2(self._queue_ref, name=name or f"{self._name}_Is_Closed")

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements, an int32 scalar."""
        return raw.QueueSizeV2(self._queue_ref, name=name or f"{self._name}_Size")


def _raw_shapes(shapes: Any, found: list[TensorShape]) -> list:
    """The shapes attribute of a queue: empty if none were given."""
    return [] if shapes is None else [raw_shape(shape) for shape in found]


def _container() -> str:
    return get_default_graph()._container


class FIFOQueue(QueueBase):
    """A queue that gives its elements in the order of arrival.

    `capacity`: how many elements it holds, without limit if negative; `dtypes`, `shapes`, `names`: one entry per
    component (or a single one).  Queues of one `shared_name` are one queue.
    """

    def __init__(self, capacity: int, dtypes: Any, shapes: Any = None, names: Any = None,
                 shared_name: str | None = None, name: str = "fifo_queue"):
        types = _listed_types(dtypes)
        found = _listed_shapes(shapes, types, False)
        names = _listed_names(names, types)
        ref = raw.FIFOQueueV2(component_types=types, shapes=_raw_shapes(shapes, found), capacity=capacity,
                              container=_container(), shared_name=_shared(shared_name), name=name)
        super().__init__(types, found, names, ref)


class RandomShuffleQueue(QueueBase):
    """A queue that gives a random one of its elements.

    `min_after_dequeue`: elements that stay in it, to choose from, as long as it is not closed; `seed`: see
    ``tf.set_random_seed``.  The rest as in ``FIFOQueue``.
    """

    def __init__(self, capacity: int, min_after_dequeue: int, dtypes: Any, shapes: Any = None, names: Any = None,
                 seed: int | None = None, shared_name: str | None = None, name: str = "random_shuffle_queue"):
        types = _listed_types(dtypes)
        found = _listed_shapes(shapes, types, False)
        names = _listed_names(names, types)
        first, second = get_seed(seed)
        if first is not None and seed is None and shared_name is not None:
            # all nodes of the name describe the same queue, wherever in the graph they are made
            digest = hashlib.md5((str(first) + shared_name).encode(), usedforsecurity=False).hexdigest()
            second = int(digest[:8], 16) & 0x7FFFFFFF
        ref = raw.RandomShuffleQueueV2(component_types=types, shapes=_raw_shapes(shapes, found), capacity=capacity,
                                       min_after_dequeue=min_after_dequeue, seed=first or 0, seed2=second or 0,
                                       container=_container(), shared_name=_shared(shared_name), name=name)
        super().__init__(types, found, names, ref)


class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue whose `shapes` may have unknown sizes (None): elements taken together are padded with zeros.

    Raises ValueError without `shapes`, or if one is of unknown rank.
    """

    def __init__(self, capacity: int, dtypes: Any, shapes: Any, names: Any = None, shared_name: str | None = None,
                 name: str = "padding_fifo_queue"):
        types = _listed_types(dtypes)
        if shapes is None:
            raise ValueError("When providing partial shapes, a list of shapes must be provided.")
        found = _listed_shapes(shapes, types, True)
        if any(shape.ndims is None for shape in found):
            raise ValueError("PaddingFIFOQueue needs the rank of every component; give sizes that vary as None.")
        names = _listed_names(names, types)
        ref = raw.PaddingFIFOQueueV2(component_types=types, shapes=_raw_shapes(shapes, found), capacity=capacity,
                                     container=_container(), shared_name=_shared(shared_name), name=name)
        super().__init__(types, found, names, ref)


class PriorityQueue(QueueBase):
    """A queue that gives the element with the smallest priority, an int64 scalar that precedes the components."""

    def __init__(self, capacity: int, types: Any, shapes: Any = None, names: Any = None, shared_name: str | None = None,
                 name: str = "priority_queue"):
        kinds = _listed_types(types)
        found = _listed_shapes(shapes, kinds, False)
        ref = raw.PriorityQueueV2(component_types=kinds, shapes=_raw_shapes(shapes, found), capacity=capacity,
                                  container=_container(), shared_name=_shared(shared_name), name=name)
        kinds = [int64, *kinds]
        names = ["priority", *_listed_names(names, kinds[1:])] if names is not None else None  # type: ignore[misc]
        super().__init__(kinds, [TensorShape([]), *found] if shapes is not None else None, names, ref)


def _shared(shared_name: str | None) -> str:
    return shared_name or ""


