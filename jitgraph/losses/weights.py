"""How weights fit the values that they weigh: a number, or the rank of the values with each size equal or 1."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import no_op
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import counted_as
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import ones_like
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.arithmetic import multiply
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.reduce.reductions import reduce_all

_MISFIT = "weights can not be broadcast to values."


def assert_broadcastable(weights: Any, values: Any) -> Operation:
    """An operation that fails in a run if `weights` do not fit `values`; where shapes are known, nothing is left to a run.

    Raises ValueError if the shapes that are known do not fit; a run raises InvalidArgumentError.
    """
    with name_scope(None, "assert_broadcastable", (weights, values)) as scope:
        weights, weights_shape, weights_rank = _measured(weights, "weights")
        values, values_shape, values_rank = _measured(values, "values")
        own, others = constant_value(weights_rank), constant_value(values_rank)
        if own is not None and others is not None:
            if own == 0:
                return no_op(name="static_scalar_check_success")
            if own != others:
                raise ValueError(f"{_MISFIT} values.rank={others}. weights.rank={own}. values.shape={values.shape}. "
                                 f"weights.shape={weights.shape}.")
            if weights.shape.is_fully_defined() and values.shape.is_fully_defined():
                for axis, (one, size) in enumerate(zip(weights.shape.as_list(), values.shape.as_list())):
                    if one not in (1, size):
                        raise ValueError(f"{_MISFIT} Mismatch at dim {axis}. values.shape={values.shape.as_list()} "
                                         f"weights.shape={weights.shape.as_list()}.")
                return no_op(name="static_dims_check_success")
        is_scalar = equal(0, weights_rank, name="is_scalar")
        fits = cond(is_scalar, lambda: is_scalar,
                    lambda: _fits(weights_rank, weights_shape, values_rank, values_shape), name="is_valid_shape")
        return Assert(fits, (_MISFIT, "weights.shape=", weights.name, weights_shape, "values.shape=", values.name,
                             values_shape, "is_scalar=", is_scalar), name=scope)


def _measured(given: Any, name: str) -> tuple[Tensor, Tensor, Tensor]:
    """(the tensor, its shape, its rank)"""
    with name_scope(None, name, (given,)) as scope:
        tensor = convert_to_tensor(given, name=scope)
        return tensor, shape_of(tensor, name="shape"), rank_of(tensor, name="rank")


def _fits(weights_rank: Tensor, weights_shape: Tensor, values_rank: Tensor, values_shape: Tensor) -> Tensor:
    with name_scope(None, "has_valid_nonscalar_shape", (weights_rank, weights_shape, values_rank, values_shape)) as scope:
        same_rank = equal(values_rank, weights_rank, name="is_same_rank")

        def sizes_fit() -> Tensor:
            with counted_as(17):        # TensorFlow subtracts sets of sizes, which takes the host
                return reduce_all(raw.LogicalOr(equal(weights_shape, 1), equal(weights_shape, values_shape)))

        return cond(same_rank, sizes_fit, lambda: same_rank, name=scope)


def broadcast_weights(weights: Any, values: Any) -> Tensor:
    """`weights` in the shape of `values`.  Raises what ``assert_broadcastable`` does."""
    with name_scope(None, "broadcast_weights", (weights, values)) as scope:
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, values.dtype.base_dtype, name="weights")
        both = weights.shape.is_fully_defined() and values.shape.is_fully_defined()
        if both and weights.shape.is_compatible_with(values.shape):
            return weights
        with control_dependencies((assert_broadcastable(weights, values),)):
            return multiply(weights, ones_like(values), name=scope)
