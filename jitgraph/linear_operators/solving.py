"""Solutions of systems whose matrices and right hand sides have batches that are broadcast."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import broadcast_dynamic_shape, broadcast_static_shape, broadcast_to, transpose
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_shapes import assert_proper_iterable
from jitgraph.ops.linalg.linalg_functions import adjoint as conjugate_transpose
from jitgraph.ops.linalg.linalg_functions import cholesky_solve
from jitgraph.ops.linalg.matrix_ops import matrix_solve, matrix_triangular_solve


def broadcast_batches(matrices: Any, name: str | None = None) -> list[Tensor]:
    """Matrices [..., m, n] of one batch shape.  Raises ValueError for what has less than two dimensions."""
    with name_scope(name or "broadcast_matrix_batch_dims", values=matrices):
        assert_proper_iterable(matrices)
        matrices = [convert_to_tensor(matrix) for matrix in matrices]
        for matrix in matrices:
            if matrix.shape.ndims is not None and matrix.shape.ndims < 2:
                raise ValueError(f"Expected [batch] matrix to have at least two dimensions.  Found: {matrix}")
        if len(matrices) < 2:
            return matrices
        batch = functools.reduce(broadcast_static_shape, [matrix.shape[:-2] for matrix in matrices])
        if batch.is_fully_defined():
            return [matrix if matrix.shape[:-2] == batch else
                    broadcast_to(matrix, concat([batch.as_list(), shape_of(matrix)[-2:]], axis=0)) for matrix in matrices]
        dynamic = shape_of(matrices[0])[:-2]
        for matrix in matrices[1:]:
            dynamic = broadcast_dynamic_shape(dynamic, shape_of(matrix)[:-2])
        return [broadcast_to(matrix, concat([dynamic, shape_of(matrix)[-2:]], axis=0)) for matrix in matrices]


def cholesky_solve_broadcast(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """``tf.cholesky_solve``, of batches that are broadcast."""
    with name_scope(name, "CholeskySolveWithBroadcast", [chol, rhs]):
        chol, rhs = broadcast_batches([chol, rhs])
        return cholesky_solve(chol, rhs)


def solve_broadcast(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """``tf.matrix_solve``, of batches that are broadcast."""
    with name_scope(name, "MatrixSolveWithBroadcast", [matrix, rhs]):
        matrix = convert_to_tensor(matrix, name="matrix")
        rhs = convert_to_tensor(rhs, name="rhs", dtype=matrix.dtype)
        matrix, rhs, restore, is_transposed = _batch_into_columns(matrix, rhs, adjoint)
        matrix, rhs = broadcast_batches([matrix, rhs])
        return restore(matrix_solve(matrix, rhs, adjoint=adjoint and not is_transposed))


def triangular_solve_broadcast(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False,
                               name: str | None = None) -> Tensor:
    """``tf.matrix_triangular_solve``, of batches that are broadcast."""
    with name_scope(name, "MatrixTriangularSolve", [matrix, rhs]):
        matrix = convert_to_tensor(matrix, name="matrix")
        rhs = convert_to_tensor(rhs, name="rhs", dtype=matrix.dtype)
        matrix, rhs, restore, is_transposed = _batch_into_columns(matrix, rhs, adjoint)
        if is_transposed and adjoint:
            lower = not lower
        matrix, rhs = broadcast_batches([matrix, rhs])
        return restore(matrix_triangular_solve(matrix, rhs, lower=lower, adjoint=adjoint and not is_transposed))


def _batch_into_columns(matrix: Tensor, rhs: Tensor, adjoint_matrix: bool) -> tuple[Tensor, Tensor, Callable, bool]:
    """(matrix, right hand side, what undoes it, whether the matrix is transposed by now).

    If the right hand side has more batch dimensions than the matrix, these become columns where that is cheaper.
    """
    unchanged = matrix, rhs, lambda solution: solution, False
    if matrix.shape.ndims is None or rhs.shape.ndims is None or matrix.shape.ndims >= rhs.shape.ndims:
        return unchanged
    extra = rhs.shape.ndims - matrix.shape.ndims
    _ = shape_of(rhs)[:extra], shape_of(rhs)[extra:]       # TensorFlow makes these nodes here too: default seeds count them
    size, columns = dimension_value(matrix.shape[-2 if adjoint_matrix else -1]), dimension_value(rhs.shape[-1])
    copies = np.prod(rhs.shape[:extra].as_list()) if rhs.shape[:extra].is_fully_defined() else None
    if size is not None and columns is not None and copies is not None and (copies < 2 or size <= columns):
        return unchanged
    if adjoint_matrix:
        matrix = conjugate_transpose(matrix)
    extra_shape, main_shape = shape_of(rhs)[:extra], shape_of(rhs)[extra:]
    order = np.concatenate((np.arange(extra, rhs.shape.ndims), np.arange(0, extra)), 0)
    rhs = reshape(transpose(rhs, perm=order), concat((main_shape[:-1], [-1]), 0))

    def restore(solution: Tensor) -> Tensor:
        apart = reshape(solution, concat((shape_of(solution)[:-1], [main_shape[-1]], extra_shape), 0))
        return transpose(apart, perm=np.argsort(order))

    return matrix, rhs, restore, True
