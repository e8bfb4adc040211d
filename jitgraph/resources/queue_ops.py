"""Queues as nodes.  The queues themselves are in ``queue_host``, the classes of ``tf`` in ``queues``.

Each op is there twice: ``QueueEnqueueV2`` on a resource handle, and ``QueueEnqueue`` on a reference to a string, as
older graph files have it.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.graph.dtypes import int64
from jitgraph.resources import queue_host, shared

_COMMON = 'component_types: list(type) >= 1, shapes: list(shape) = []'
_TESTS = "tests/resources/test_queues.py: a queue"
_SHARING = 'container: string = "", shared_name: string = ""'


def _queue(state: Any, op: Any, make: Callable[[str, list, Any, int], queue_host.Queue]) -> np.ndarray:
    """The handle of the queue of a node; raises InvalidArgumentError if a queue of that name is of another kind."""

    def new() -> queue_host.Queue:
        types, stated = list(op.attrs["component_types"]), list(op.attrs["shapes"])
        if op.type.startswith("PriorityQueue"):
            types, stated = [int64, *types], [(), *stated]
        shapes = None if len(stated) != len(types) else stated
        return make(op.attrs["shared_name"] or op.name, types, shapes, op.attrs["capacity"])

    return shared(state, op, "queue", new)


def _declare(name: str, attrs: str, make: Callable[..., queue_host.Queue], doc: str) -> tuple[Any, Any]:
    """The two ops that make a kind of queue."""

    def value(state, op):
        return _queue(state, op, lambda *common: make(op.attrs, *common))

    value.__doc__, value.__name__ = doc, name
    declared = []
    for suffix, kind in (("V2", "resource"), ("", "&string")):
        signature = f"{name}{suffix}(; {attrs}, {_SHARING}) -> handle: {kind}"
        declared.append(op(signature, shape=shape_rules.scalar, stateful=True, host=True, lasting=True,
                           context=("state", "op"), tested_in=_TESTS)(value))
    return declared[0], declared[1]


fifo_queue_v2, fifo_queue = _declare(
    "FIFOQueue", f"{_COMMON}, capacity: int = -1", lambda attrs, *common: queue_host.Queue(*common),
    "A queue that gives its elements in the order of arrival.")
padding_fifo_queue_v2, padding_fifo_queue = _declare(
    "PaddingFIFOQueue", f"{_COMMON}, capacity: int = -1", lambda attrs, *common: queue_host.PaddingQueue(*common),
    "A queue whose elements, taken together, are padded to one size.")
random_shuffle_queue_v2, random_shuffle_queue = _declare(
    "RandomShuffleQueue", f"{_COMMON}, capacity: int = -1, min_after_dequeue: int = 0, seed: int = 0, seed2: int = 0",
    lambda attrs, name, types, shapes, capacity: queue_host.ShuffleQueue(
        name, types, shapes, capacity, attrs["min_after_dequeue"], attrs["seed"], attrs["seed2"]),
    "A queue that gives its elements in random order.")
priority_queue_v2, priority_queue = _declare(
    "PriorityQueue", "component_types: list(type) = [], shapes: list(shape), capacity: int = -1",
    lambda attrs, *common: queue_host.PriorityQueue(*common),
    "A queue that gives the element with the smallest first component.")


# -- shapes of what is taken ---------------------------------------------------------------------------------------

def _component_shapes(c: Any) -> list:
    """The shape of each component, as far as the handle's node tells."""
    made = c.inputs[0].op
    while made.type == "Identity":
        made = made.inputs[0].op
    stated = made.attrs.get("shapes") or []
    if made.type.startswith("PriorityQueue"):
        stated = [(), *stated]
    count = len(c.attrs["component_types"])
    return list(stated) if len(stated) == count else [None] * count


def _batch_shapes(c: Any) -> list:
    rows = c.constant(1)
    count = rows.item() if shape_rules.known(rows) else None
    return [None if shape is None else (count, *shape) for shape in _component_shapes(c)]


def _part_shapes(c: Any) -> list:
    return [None if shape is None else (None, *shape) for shape in _component_shapes(c)]


# -- operations on queues ------------------------------------------------------------------------------------------

def _both(signature: str, shape: Any, **fields: Any) -> Callable[[Callable], Any]:
    """Declares an op on a queue in both versions; gives the function of the newer one."""

    def declare(body: Callable) -> Any:
        name, _, rest = signature.partition("(handle: ")
        given = {"context": ("state",), **fields}
        made = [op(f"{name}{suffix}(handle: {kind}{rest}", shape=shape, stateful=True, host=True,
                   tested_in=_TESTS, **given)(body) for suffix, kind in (("V2", "resource"), ("", "&string"))]
        return made[0]

    return declare


@_both("QueueEnqueue(handle: , components: [Tcomponents]; Tcomponents: list(type) >= 1, timeout_ms: int = -1)",
       shape_rules.no_outputs, recurring=True, moves="in", context=("state", "op"))
def queue_enqueue(handle, components, state, op):
    """Adds one element to a queue, waiting until there is room."""
    handle[()].enqueue(tuple(components), state.wait, state.later(op))


@_both("QueueEnqueueMany(handle: , components: [Tcomponents]; Tcomponents: list(type) >= 1, timeout_ms: int = -1)",
       shape_rules.no_outputs, recurring=True, moves="in", context=("state", "op"))
def queue_enqueue_many(handle, components, state, op):
    """Adds each row of the components to a queue, waiting until there is room."""
    handle[()].enqueue_many(list(components), state.wait, state.later(op))


@_both("QueueDequeue(handle: ; component_types: list(type) >= 1, timeout_ms: int = -1) -> components: [component_types]",
       _component_shapes, moves="out")
def queue_dequeue(handle, state):
    """Takes one element from a queue, waiting until there is one."""
    return list(handle[()].dequeue(state.wait))


@_both("QueueDequeueMany(handle: , n: int32; component_types: list(type) >= 1, timeout_ms: int = -1) -> "
       "components: [component_types]", _batch_shapes, moves="out")
def queue_dequeue_many(handle, n, state):
    """Takes `n` elements from a queue, stacked, waiting until there are so many."""
    return handle[()].dequeue_many(int(n), False, state.wait)


@_both("QueueDequeueUpTo(handle: , n: int32; component_types: list(type) >= 1, timeout_ms: int = -1) -> "
       "components: [component_types]", _part_shapes, moves="out")
def queue_dequeue_up_to(handle, n, state):
    """Takes `n` elements from a queue, stacked, or what is left of a closed one."""
    return handle[()].dequeue_many(int(n), True, state.wait)


@_both("QueueClose(handle: ; cancel_pending_enqueues: bool = false)", shape_rules.no_outputs)
def queue_close(handle, cancel_pending_enqueues, state):
    """Closes a queue: no more elements from now on."""
    handle[()].close(cancel_pending_enqueues, state.wait)


@_both("QueueSize(handle: ) -> size: int32", shape_rules.scalar)
def queue_size(handle, state):
    """The number of elements in a queue."""
    with handle[()].condition:
        return np.array(len(handle[()]), np.int32)


@_both("QueueIsClosed(handle: ) -> is_closed: bool", shape_rules.scalar)
def queue_is_closed(handle, state):
    """Whether a queue is closed."""
    return np.array(handle[()].closed)
