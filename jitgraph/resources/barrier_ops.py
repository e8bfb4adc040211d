"""Barriers as nodes; the things themselves are in ``barrier_host``, the class of ``tf`` in ``barriers``."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.resources import barrier_host, shared

_TESTS = "tests/resources/test_barrier.py: a barrier"
_SHARING = 'container: string = "", shared_name: string = ""'

@op(f"Barrier(; component_types: list(type) >= 1, shapes: list(shape) = [], capacity: int = -1, {_SHARING}) -> "
    "handle: &string", shape=shape_rules.scalar, stateful=True, host=True, context=("state", "op"), tested_in=_TESTS)
def barrier(state, op):
    """A barrier: tuples whose components arrive one by one, joined by key."""
    types, stated = op.attrs["component_types"], [tuple(s) for s in op.attrs["shapes"] if s is not None]
    name = op.attrs["shared_name"] or op.name
    return shared(state, op, "barrier",
                  lambda: barrier_host.Barrier(name, types, stated if len(stated) == len(types) else None))


def _inserted(c: Any) -> list:
    keys, values = shape_rules.with_rank(c.shapes[1], 1, "keys"), shape_rules.with_rank_at_least(c.shapes[2], 1, "values")
    if values is not None:
        shape_rules.merge(keys, tuple(values[:1]))
    return []


@op("BarrierInsertMany(handle: &string, keys: string, values: T; component_index: int)", shape=_inserted,
    stateful=True, host=True, context=("state",), tested_in=_TESTS)
def barrier_insert_many(handle, keys, values, component_index, state):
    """Gives each key one of its components."""
    handle[()].insert(keys, values, component_index, state.wait)


def _taken_shapes(c: Any) -> list:
    rows = c.constant(1)
    count = rows.item() if shape_rules.known(rows) and not c.attrs["allow_small_batch"] else None
    stated = c.inputs[0].op.attrs.get("shapes") or []
    if len(stated) != len(c.attrs["component_types"]):
        return [(count,), (count,), *[None] * len(c.attrs["component_types"])]
    return [(count,), (count,), *((count, *shape) for shape in stated)]


@op("BarrierTakeMany(handle: &string, num_elements: int32; component_types: list(type) >= 1, allow_small_batch: bool = "
    "false, wait_for_incomplete: bool = false, timeout_ms: int = -1) -> indices: int64, keys: string, "
    "values: [component_types]", shape=_taken_shapes, stateful=True, host=True, takes=True, context=("state",), tested_in=_TESTS)
def barrier_take_many(handle, num_elements, allow_small_batch, state):
    """Takes complete tuples, waiting until there are enough."""
    indices, keys, *values = handle[()].take(int(num_elements), allow_small_batch, state.wait)
    return indices, keys, values


@op("BarrierClose(handle: &string; cancel_pending_enqueues: bool = false)", shape=shape_rules.no_outputs, stateful=True,
    host=True, context=("state",), tested_in=_TESTS)
def barrier_close(handle, cancel_pending_enqueues, state):
    """Closes a barrier: no new keys from now on."""
    handle[()].close(cancel_pending_enqueues, state.wait)


@op("BarrierReadySize(handle: &string) -> size: int32", shape=shape_rules.scalar, stateful=True, host=True, tested_in=_TESTS)
def barrier_ready_size(handle):
    """How many tuples are complete."""
    return np.array(len(handle[()].ready), np.int32)


@op("BarrierIncompleteSize(handle: &string) -> size: int32", shape=shape_rules.scalar, stateful=True, host=True, tested_in=_TESTS)
def barrier_incomplete_size(handle):
    """How many keys lack a component."""
    return np.array(handle[()].incomplete(), np.int32)
