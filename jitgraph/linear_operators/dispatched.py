"""``tf.matmul``, ``tf.linalg.inv`` and their like, of linear operators."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dispatch
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.ops.arrays.matrix_parts import matrix_diag_part
from jitgraph.ops.linalg.linalg_functions import adjoint as conjugate_transpose
from jitgraph.ops.linalg.linalg_functions import logdet
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.matrix_ops import cholesky, matrix_determinant, matrix_inverse, matrix_solve
from jitgraph.ops.linalg.products import trace


def _inverse(input: LinearOperator, adjoint: bool = False, name: Any = None) -> LinearOperator:
    inverse = input.inverse(name)
    return inverse.adjoint() if adjoint else inverse


def _logdet(matrix: LinearOperator, name: Any = None) -> Tensor:
    if matrix.is_positive_definite and matrix.is_self_adjoint:
        return matrix.log_abs_determinant(name)
    raise ValueError("Expected matrix to be self-adjoint positive definite.")


def _matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
            adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False, name: Any = None) -> Any:
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time.")
    if a_is_sparse or b_is_sparse:
        raise ValueError("Sparse methods not supported at this time.")
    if not isinstance(a, LinearOperator):
        return conjugate_transpose(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a, name=name))
    return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b, name=name)


def _solve(matrix: Any, rhs: Any, adjoint: bool = False, name: Any = None) -> Any:
    if not isinstance(matrix, LinearOperator):
        raise ValueError("Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported.")
    return matrix.solve(rhs, adjoint=adjoint, name=name)


for _function, _form in (
    (conjugate_transpose, lambda matrix, name=None: matrix.adjoint(name)),
    (cholesky, lambda input, name=None: input.cholesky(name)),
    (matrix_diag_part, lambda input, name="diag_part", k=0, padding_value=0: input.diag_part(name)),
    (matrix_determinant, lambda input, name=None: input.determinant(name)),
    (matrix_inverse, _inverse), (logdet, _logdet), (matmul, _matmul), (matrix_solve, _solve),
    (trace, lambda x, name=None: x.trace(name)),
):
    dispatch.register(_function, LinearOperator, _form)
