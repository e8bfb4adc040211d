"""Products and solutions that are diagonal or triangular because one of the operators is diagonal."""
from __future__ import annotations

from typing import Any

from jitgraph.linear_operators import hints
from jitgraph.linear_operators.algebra import RegisterMatmul, RegisterSolve
from jitgraph.linear_operators.identity import LinearOperatorScaledIdentity
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.linear_operators.matrices import LinearOperatorDiag, LinearOperatorLowerTriangular


@RegisterMatmul(LinearOperatorDiag, LinearOperatorDiag)
def _diagonals(a: LinearOperatorDiag, b: LinearOperatorDiag) -> LinearOperator:
    return LinearOperatorDiag(diag=a.diag * b.diag, **hints.of_commuting(a, b))


@RegisterMatmul(LinearOperatorDiag, LinearOperatorScaledIdentity)
def _diagonal_and_scaled(a: LinearOperatorDiag, b: LinearOperatorScaledIdentity) -> LinearOperator:
    return LinearOperatorDiag(diag=a.diag * b.multiplier, **hints.of_commuting(a, b))


@RegisterMatmul(LinearOperatorScaledIdentity, LinearOperatorDiag)
def _scaled_and_diagonal(a: LinearOperatorScaledIdentity, b: LinearOperatorDiag) -> LinearOperator:
    return LinearOperatorDiag(diag=b.diag * a.multiplier, **hints.of_commuting(a, b))


def _triangular(tril: Any, a: LinearOperator, b: LinearOperator) -> LinearOperator:
    """The operator of a product; TensorFlow takes its hints as if the two commuted."""
    return LinearOperatorLowerTriangular(tril=tril, **{**hints.of_commuting(a, b), "is_positive_definite": None,
                                                       "is_square": True})


@RegisterMatmul(LinearOperatorDiag, LinearOperatorLowerTriangular)
def _diagonal_and_triangular(a: LinearOperatorDiag, b: LinearOperatorLowerTriangular) -> LinearOperator:
    return _triangular(a.diag[..., None] * b.to_dense(), a, b)


@RegisterMatmul(LinearOperatorLowerTriangular, LinearOperatorDiag)
def _triangular_and_diagonal(a: LinearOperatorLowerTriangular, b: LinearOperatorDiag) -> LinearOperator:
    return _triangular(a.to_dense() * b.diag, a, b)


@RegisterSolve(LinearOperatorDiag, LinearOperatorDiag)
def _diagonals_solved(a: LinearOperatorDiag, b: LinearOperatorDiag) -> LinearOperator:
    return LinearOperatorDiag(diag=b.diag / a.diag, **hints.of_commuting(a, b))


@RegisterSolve(LinearOperatorDiag, LinearOperatorScaledIdentity)
def _scaled_solved(a: LinearOperatorDiag, b: LinearOperatorScaledIdentity) -> LinearOperator:
    return LinearOperatorDiag(diag=b.multiplier / a.diag, **hints.of_commuting(a, b))


@RegisterSolve(LinearOperatorScaledIdentity, LinearOperatorDiag)
def _diagonal_solved(a: LinearOperatorScaledIdentity, b: LinearOperatorDiag) -> LinearOperator:
    return LinearOperatorDiag(diag=b.diag / a.multiplier, **hints.of_commuting(a, b))


@RegisterSolve(LinearOperatorDiag, LinearOperatorLowerTriangular)
def _triangular_solved(a: LinearOperatorDiag, b: LinearOperatorLowerTriangular) -> LinearOperator:
    return _triangular(b.to_dense() / a.diag[..., None], a, b)
