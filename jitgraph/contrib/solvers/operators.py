"""Linear operators as pairs of functions, and norms of vectors."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.clip import l2_loss
from jitgraph.ops.elementwise.complex_numbers import conj
from jitgraph.ops.elementwise.composite_values import sqrt
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.reduce.reductions import reduce_sum


class LinearOperator(NamedTuple):
    """A matrix as what it does: `shape` is a list, or a tensor where it is not known."""

    shape: Any
    dtype: Any
    apply: Callable
    apply_adjoint: Callable


def _shape(matrix: Any) -> Any:
    shape = matrix.get_shape()
    return shape.as_list() if shape.is_fully_defined() else shape_of(matrix)


def create_operator(matrix: Any) -> LinearOperator:
    """The operator that multiplies by `matrix`, or by its adjoint."""
    return LinearOperator(_shape(matrix), matrix.dtype, lambda v: matmul(matrix, v, adjoint_a=False),
                          lambda v: matmul(matrix, v, adjoint_a=True))


def identity_operator(matrix: Any) -> LinearOperator:
    """The operator of the shape and dtype of `matrix` that leaves a vector as it is."""
    return LinearOperator(_shape(matrix), matrix.dtype, lambda v: v, lambda v: v)


def dot(x: Any, y: Any) -> Any:
    """The inner product of `x`, conjugated, and `y`."""
    return reduce_sum(conj(x) * y)


def l2norm_squared(v: Any) -> Any:
    """The square of the length of a vector."""
    return constant(2, dtype=v.dtype.base_dtype) * l2_loss(v)


def l2norm(v: Any) -> Any:
    """The length of a vector."""
    return sqrt(l2norm_squared(v))


def l2normalize(v: Any) -> tuple:
    """(`v` of length one, its length)."""
    norm = l2norm(v)
    return v / norm, norm
