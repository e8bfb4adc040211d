"""Accumulators as nodes; the things themselves are in ``accumulator_host``, the classes of ``tf`` in ``accumulators``."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.graph.dtypes import NUMBERS
from jitgraph.resources import accumulator_host, shared

_TESTS = "tests/train/test_optimizers.py: an accumulator"
_SHARING = 'container: string = "", shared_name: string = ""'

_ATTRS = f'dtype: type, shape: shape, {_SHARING}, reduction_type: string {{"MEAN", "SUM"}} = "MEAN"'


def _accumulator(name: str, kind: str, make_sum: Callable[[Any], Any], doc: str) -> Any:
    def value(state, op):
        attrs = op.attrs
        return shared(state, op, "accumulator", lambda: accumulator_host.Accumulator(
            attrs["shared_name"] or op.name, attrs["reduction_type"] == "MEAN", lambda: make_sum(attrs["shape"])))

    value.__doc__, value.__name__ = doc, name
    return op(f"{name}(; {_ATTRS}) -> handle: {kind}", dtype=NUMBERS, shape=shape_rules.scalar, stateful=True, host=True,
              context=("state", "op"), tested_in=_TESTS)(value)


for _name, _kind in (("ConditionalAccumulator", "&string"), ("ResourceConditionalAccumulator", "resource")):
    _accumulator(_name, _kind, accumulator_host.DenseSum, "Adds up gradients until enough of them are there.")
_accumulator("SparseConditionalAccumulator", "&string", accumulator_host.SparseSum,
             "Adds up sparse gradients until enough of them are there.")


def _dense_shape(c: Any) -> Any:
    made_by = c.inputs[0].op
    return made_by.attrs.get("shape") if made_by.type.endswith("ConditionalAccumulator") else None


def _declare(prefix: str, kind: str) -> None:
    """The ops on accumulators, for one kind of handle."""

    @op(f"{prefix}AccumulatorApplyGradient(handle: {kind}, local_step: int64, gradient: dtype)", dtype=NUMBERS,
        shape=shape_rules.no_outputs, stateful=True, host=True, tested_in=_TESTS)
    def apply_gradient(handle, local_step, gradient):
        """Adds a gradient, unless it was computed at an older step."""
        handle[()].apply(gradient, int(local_step))

    @op(f"{prefix}AccumulatorTakeGradient(handle: {kind}, num_required: int32; dtype: type) -> average: dtype",
        dtype=NUMBERS, shape=_dense_shape, stateful=True, host=True, takes=True, context=("state",), tested_in=_TESTS)
    def take_gradient(handle, num_required, state):
        """The mean of the gradients, once there are enough."""
        return handle[()].take(int(num_required), state.wait)

    @op(f"{prefix}AccumulatorNumAccumulated(handle: {kind}) -> num_accumulated: int32", shape=shape_rules.scalar,
        stateful=True, host=True, tested_in=_TESTS)
    def num_accumulated(handle):
        """How many gradients were added."""
        return np.array(handle[()].count, np.int32)

    @op(f"{prefix}AccumulatorSetGlobalStep(handle: {kind}, new_global_step: int64)", shape=shape_rules.no_outputs,
        stateful=True, host=True, tested_in=_TESTS)
    def set_global_step(handle, new_global_step):
        """Gradients of older steps are dropped from now on."""
        handle[()].set_step(int(new_global_step))


_declare("", "&string")
_declare("Resource", "resource")


@op("SparseAccumulatorApplyGradient(handle: &string, local_step: int64, gradient_indices: int64, gradient_values: dtype, "
    "gradient_shape: int64; has_known_shape: bool)", dtype=NUMBERS, shape=shape_rules.no_outputs, stateful=True, host=True,
    tested_in=_TESTS)
def sparse_accumulator_apply_gradient(handle, local_step, gradient_indices, gradient_values, gradient_shape,
                                      has_known_shape):
    """Adds a sparse gradient, unless it was computed at an older step."""
    shape = np.array(gradient_shape) if has_known_shape else None
    handle[()].apply((np.array(gradient_indices), np.array(gradient_values), shape), int(local_step))


def _sparse_shapes(c: Any) -> list:
    return [(None,), None, (None,)]         # gradients may have more dimensions than the accumulator states


@op("SparseAccumulatorTakeGradient(handle: &string, num_required: int32; dtype: type) -> indices: int64, values: dtype, "
    "shape: int64", dtype=NUMBERS, shape=_sparse_shapes, stateful=True, host=True, dynamic=True, context=("state",),
    takes=True, tested_in=_TESTS)
def sparse_accumulator_take_gradient(handle, num_required, state):
    """The mean of the sparse gradients, once there are enough."""
    return handle[()].take(int(num_required), state.wait)
