"""What lies between the two ends of a ``VectorDiffeomixture``, at each point of the grid of weights."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape, dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators.addition import add_operators
from jitgraph.linear_operators.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.linear_operators.matrices import LinearOperatorDiag, LinearOperatorLowerTriangular
from jitgraph.ops.arrays.layout import broadcast_dynamic_shape, broadcast_static_shape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import newaxis


def _points(grid: Tensor) -> int:
    count = dimension_value(grid.shape.with_rank_at_least(1)[-1])
    if count is None:
        raise ValueError("Num quadrature grid points must be known prior to graph execution.")
    return count


def interpolated_locs(grid: Tensor, loc: list) -> list:
    """The loc at each point of the grid [..., 2, N]; None for 0.  Raises ValueError if N is not known."""
    count = _points(grid)
    with name_scope("interpolate_loc", values=[grid, loc]):
        if loc[0] is None and loc[1] is None:
            return [None] * count
        weights = grid[..., newaxis, :, :]
        first, second = (None if one is None else one[..., newaxis] for one in loc)
        if first is None:
            found = weights[..., 1, :] * second
        elif second is None:
            found = weights[..., 0, :] * first
        else:
            difference = first - second
            found = weights[..., 0, :] * difference + second
        return [found[..., k] for k in range(count)]


def interpolated_scales(grid: Tensor, scale: Any) -> list[LinearOperator]:
    """The scale at each point of the grid [..., 2, N]."""
    count = _points(grid)
    with name_scope("interpolate_scale", values=[grid]):
        return [add_operators([_weighted(grid[..., k, q], one) for k, one in enumerate(scale)])[0] for q in range(count)]


def _weighted(weight: Tensor, operator: Any) -> LinearOperator:
    with name_scope("linop_scale", values=[weight]):
        hints = {name: getattr(operator, name) for name in ("is_non_singular", "is_self_adjoint", "is_positive_definite")}
        if isinstance(operator, LinearOperatorIdentity):
            return LinearOperatorScaledIdentity(num_rows=operator.range_dimension_tensor(), multiplier=weight, **hints)
        if isinstance(operator, LinearOperatorScaledIdentity):
            multiplier = weight * operator.multiplier
            return LinearOperatorScaledIdentity(num_rows=operator.range_dimension_tensor(), multiplier=multiplier, **hints)
        if isinstance(operator, LinearOperatorDiag):
            return LinearOperatorDiag(diag=weight[..., newaxis] * operator.diag_part(), **hints)
        if isinstance(operator, LinearOperatorLowerTriangular):
            return LinearOperatorLowerTriangular(tril=weight[..., newaxis, newaxis] * operator.to_dense(), **hints)
        raise NotImplementedError(f"Unsupported Linop type ({type(operator).__name__})")


def shapes_of_parts(grid: Tensor, affines: list) -> tuple[Any, Any, Any, Any]:
    """(static shape of the batch, the shape as a tensor, those of an event), to which grid, locs and scales are broadcast."""
    with name_scope(name="determine_batch_event_shapes"):
        batch, batch_tensor = grid.shape[:-2], shape_of(grid)[:-2]
        event: Any = None
        event_tensor: Any = None
        for affine in affines:
            for part in _parts(affine):
                batch = broadcast_static_shape(batch, part[0])
                batch_tensor = broadcast_dynamic_shape(batch_tensor, part[1]())
                its_event, its_tensor = part[2](), part[3]()
                if event is None:
                    event, event_tensor = its_event, its_tensor
                else:
                    event = broadcast_static_shape(event, its_event)
                    event_tensor = broadcast_dynamic_shape(event_tensor, its_tensor)
        return batch, batch_tensor, event, event_tensor


def _parts(affine: Any) -> list:
    """The shapes of the shift and of the scale; those that make nodes as functions."""
    shift, scale = affine.shift, affine.scale
    found: list = []
    if shift is not None:
        found.append((shift.shape[:-1], lambda: shape_of(shift)[:-1], lambda: shift.shape[-1:], lambda: shape_of(shift)[-1:]))
    if scale is not None:
        found.append((scale.batch_shape, scale.batch_shape_tensor, lambda: TensorShape([scale.range_dimension]),
                      lambda: scale.range_dimension_tensor()[newaxis]))
    return found
