"""Barriers and accumulators as nodes; the things themselves are in ``jitgraph.resources``."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.graph import shape_rules
from jitgraph.graph.dtypes import NUMBERS
from jitgraph.op import op
from jitgraph.resources import accumulators, barriers, shared

_SHARING = 'container: string = "", shared_name: string = ""'


# -- barriers ------------------------------------------------------------------------------------------------------

@op(f"Barrier(; component_types: list(type) >= 1, shapes: list(shape) = [], capacity: int = -1, {_SHARING}) -> "
    "handle: &string", shape=shape_rules.scalar, stateful=True, host=True, context=("state", "op"))
def barrier(state, op):
    """A barrier: tuples whose components arrive one by one, joined by key."""
    types, stated = op.attrs["component_types"], [tuple(s) for s in op.attrs["shapes"] if s is not None]
    name = op.attrs["shared_name"] or op.name
    return shared(state, op, "barrier",
                  lambda: barriers.Barrier(name, types, stated if len(stated) == len(types) else None))


@op("BarrierInsertMany(handle: &string, keys: string, values: T; component_index: int)", shape=shape_rules.no_outputs,
    stateful=True, host=True, context=("state",))
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
    "values: [component_types]", shape=_taken_shapes, stateful=True, host=True, context=("state",))
def barrier_take_many(handle, num_elements, allow_small_batch, state):
    """Takes complete tuples, waiting until there are enough."""
    indices, keys, *values = handle[()].take(int(num_elements), allow_small_batch, state.wait)
    return indices, keys, values


@op("BarrierClose(handle: &string; cancel_pending_enqueues: bool = false)", shape=shape_rules.no_outputs, stateful=True,
    host=True, context=("state",))
def barrier_close(handle, cancel_pending_enqueues, state):
    """Closes a barrier: no new keys from now on."""
    handle[()].close(cancel_pending_enqueues, state.wait)


@op("BarrierReadySize(handle: &string) -> size: int32", shape=shape_rules.scalar, stateful=True, host=True)
def barrier_ready_size(handle):
    """How many tuples are complete."""
    return np.array(len(handle[()].ready), np.int32)


@op("BarrierIncompleteSize(handle: &string) -> size: int32", shape=shape_rules.scalar, stateful=True, host=True)
def barrier_incomplete_size(handle):
    """How many keys lack a component."""
    return np.array(handle[()].incomplete(), np.int32)


# -- accumulators --------------------------------------------------------------------------------------------------

_ATTRS = f'dtype: type, shape: shape, {_SHARING}, reduction_type: string {{"MEAN", "SUM"}} = "MEAN"'


def _accumulator(name: str, kind: str, make_sum: Callable[[Any], Any], doc: str) -> Any:
    def value(state, op):
        attrs = op.attrs
        return shared(state, op, "accumulator", lambda: accumulators.Accumulator(
            attrs["shared_name"] or op.name, attrs["reduction_type"] == "MEAN", lambda: make_sum(attrs["shape"])))

    value.__doc__, value.__name__ = doc, name
    return op(f"{name}(; {_ATTRS}) -> handle: {kind}", dtype=NUMBERS, shape=shape_rules.scalar, stateful=True, host=True,
              context=("state", "op"))(value)


for _name, _kind in (("ConditionalAccumulator", "&string"), ("ResourceConditionalAccumulator", "resource")):
    _accumulator(_name, _kind, accumulators.DenseSum, "Adds up gradients until enough of them are there.")
_accumulator("SparseConditionalAccumulator", "&string", accumulators.SparseSum,
             "Adds up sparse gradients until enough of them are there.")


def _dense_shape(c: Any) -> Any:
    return c.inputs[0].op.attrs.get("shape")


def _declare(prefix: str, kind: str) -> None:
    """The ops on accumulators, for one kind of handle."""

    @op(f"{prefix}AccumulatorApplyGradient(handle: {kind}, local_step: int64, gradient: dtype)", dtype=NUMBERS,
        shape=shape_rules.no_outputs, stateful=True, host=True)
    def apply_gradient(handle, local_step, gradient):
        """Adds a gradient, unless it was computed at an older step."""
        handle[()].apply(gradient, int(local_step))

    @op(f"{prefix}AccumulatorTakeGradient(handle: {kind}, num_required: int32; dtype: type) -> average: dtype",
        dtype=NUMBERS, shape=_dense_shape, stateful=True, host=True, context=("state",))
    def take_gradient(handle, num_required, state):
        """The mean of the gradients, once there are enough."""
        return handle[()].take(int(num_required), state.wait)

    @op(f"{prefix}AccumulatorNumAccumulated(handle: {kind}) -> num_accumulated: int32", shape=shape_rules.scalar,
        stateful=True, host=True)
    def num_accumulated(handle):
        """How many gradients were added."""
        return np.array(handle[()].count, np.int32)

    @op(f"{prefix}AccumulatorSetGlobalStep(handle: {kind}, new_global_step: int64)", shape=shape_rules.no_outputs,
        stateful=True, host=True)
    def set_global_step(handle, new_global_step):
        """Gradients of older steps are dropped from now on."""
        handle[()].set_step(int(new_global_step))


_declare("", "&string")
_declare("Resource", "resource")


@op("SparseAccumulatorApplyGradient(handle: &string, local_step: int64, gradient_indices: int64, gradient_values: dtype, "
    "gradient_shape: int64; has_known_shape: bool)", dtype=NUMBERS, shape=shape_rules.no_outputs, stateful=True, host=True)
def sparse_accumulator_apply_gradient(handle, local_step, gradient_indices, gradient_values, gradient_shape,
                                      has_known_shape):
    """Adds a sparse gradient, unless it was computed at an older step."""
    shape = np.array(gradient_shape) if has_known_shape else None
    handle[()].apply((np.array(gradient_indices), np.array(gradient_values), shape), int(local_step))


def _sparse_shapes(c: Any) -> list:
    stated = c.inputs[0].op.attrs.get("shape")
    return [(None,), None if stated is None else (None, *stated[1:]), (None if stated is None else len(stated),)]


@op("SparseAccumulatorTakeGradient(handle: &string, num_required: int32; dtype: type) -> indices: int64, values: dtype, "
    "shape: int64", dtype=NUMBERS, shape=_sparse_shapes, stateful=True, host=True, dynamic=True, context=("state",))
def sparse_accumulator_take_gradient(handle, num_required, state):
    """The mean of the sparse gradients, once there are enough."""
    return handle[()].take(int(num_required), state.wait)
