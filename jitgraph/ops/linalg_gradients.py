"""The gradients of the ops of linear algebra.

Formulas: M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008);
J. Townsend, "Differentiating the singular value decomposition" (2016); I. Murray, "Differentiation of the Cholesky
decomposition" (2016).
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.tensor import Tensor


def _matmul(a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False) -> Tensor:
    from jitgraph.ops.matmul import matmul

    return matmul(a, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)


def _adjoint(a: Any) -> Tensor:
    from jitgraph.ops.matrix_parts import matrix_transpose

    return matrix_transpose(a, conjugate=True)


def _eye_like(a: Tensor) -> Tensor:
    """Identity matrices of the shape of square matrices `a`."""
    return raw.MatrixSetDiag(raw.ZerosLike(a), raw.OnesLike(raw.MatrixDiagPart(a)))


def _triangle(a: Any, lower: bool = True) -> Tensor:
    return raw.MatrixBandPart(a, -1, 0) if lower else raw.MatrixBandPart(a, 0, -1)


def _half_diagonal(a: Tensor) -> Tensor:
    return raw.MatrixSetDiag(a, raw.MatrixDiagPart(a) * 0.5)


def _as_factors(x: Tensor) -> Tensor:
    """One number per matrix, as a factor of the matrix."""
    return raw.ExpandDims(raw.ExpandDims(x, -1), -1)


def cholesky(op: Any, grad: Any) -> Tensor:
    """L^-H (half of the lower triangle of L^H grad) L^-1, made self-adjoint."""
    factor = op.outputs[0]
    inverse = raw.MatrixTriangularSolve(factor, _eye_like(factor))
    middle = _triangle(_half_diagonal(_matmul(factor, grad, adjoint_a=True)))
    found = _matmul(_matmul(inverse, middle, adjoint_a=True), inverse)
    return (found + _adjoint(found)) * 0.5


def inverse(op: Any, grad: Any) -> Tensor:
    found = op.outputs[0]
    if op.get_attr("adjoint"):
        return -_matmul(found, _matmul(grad, found, adjoint_a=True), adjoint_b=False) if _is_real(found) else \
            -_matmul(found, _matmul(grad, found, adjoint_a=True))
    return -_matmul(found, _matmul(grad, found, adjoint_b=True), adjoint_a=True)


def _is_real(x: Tensor) -> bool:
    return not x.dtype.is_complex


def determinant(op: Any, grad: Any) -> Tensor:
    return _as_factors(grad * _conj(op.outputs[0])) * raw.MatrixInverse(op.inputs[0], adjoint=True)


def _conj(x: Tensor) -> Tensor:
    from jitgraph.ops.complex_numbers import conj

    return conj(x)


def log_determinant(op: Any, _: Any, grad: Any) -> Tensor:
    return _as_factors(grad) * raw.MatrixInverse(op.inputs[0], adjoint=True)


def exponential(op: Any, grad: Any) -> Tensor:
    """The upper right block of the exponential of [[A^H, grad], [0, A^H]]."""
    from jitgraph.ops.join import concat

    a = _adjoint(op.inputs[0])
    block = concat([concat([a, grad], -1), concat([raw.ZerosLike(a), a], -1)], -2)
    n = raw.Shape(a)[-1]
    return raw.MatrixExponential(block)[..., :n, n:]


def square_root(op: Any, grad: Any) -> Tensor:
    """The solution of ``R^H X + X R^H = grad`` for the root R, as one linear system of the Kronecker sum."""
    root = _adjoint(op.outputs[0])
    eye = _eye_like(root)
    shape = raw.Shape(root)
    n = shape[-1]
    batch = shape[:-2]
    left = raw.ExpandDims(raw.ExpandDims(root, -2), -1) * raw.ExpandDims(raw.ExpandDims(eye, -3), -2 - 1 + 1)
    return _solve_sylvester(root, eye, grad, shape, n, batch) if left is not None else grad


def _solve_sylvester(root: Tensor, eye: Tensor, grad: Any, shape: Tensor, n: Tensor, batch: Tensor) -> Tensor:
    from jitgraph.ops.join import concat

    def kronecker(a: Tensor, b: Tensor) -> Tensor:
        a = raw.Reshape(a, concat([batch, [n, 1, n, 1]], 0))
        b = raw.Reshape(b, concat([batch, [1, n, 1, n]], 0))
        return raw.Reshape(a * b, concat([batch, [n * n, n * n]], 0))

    from jitgraph.ops.matrix_parts import matrix_transpose

    # rows of X one after the other: R X is kron(R, 1), X R is kron(1, R^T)
    system = kronecker(root, eye) + kronecker(eye, matrix_transpose(root))
    solved = raw.MatrixSolve(system, raw.Reshape(grad, concat([batch, [n * n, 1]], 0)))
    return raw.Reshape(solved, shape)
