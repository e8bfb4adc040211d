"""Operators that hold their elements: diagonal, lower triangular and full matrices."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.linear_operators.algebra import RegisterAdjoint, RegisterCholesky, RegisterInverse
from jitgraph.linear_operators.arguments import as_parameter, no_imaginary_part, no_modulus_zero
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.linear_operators.solving import triangular_solve_broadcast
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.matrix_parts import matrix_band_part, matrix_diag, matrix_diag_part, matrix_set_diag
from jitgraph.ops.arrays.shape import expand_dims
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_positive
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.complex_numbers import conj, real
from jitgraph.ops.elementwise.composite_values import sqrt
from jitgraph.ops.elementwise.elementary import log
from jitgraph.ops.linalg.linalg_functions import adjoint as conjugate_transpose
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.matrix_ops import cholesky
from jitgraph.ops.reduce.reductions import reduce_prod, reduce_sum


class LinearOperatorDiag(LinearOperator):
    """Diagonal matrices, of the diagonals `diag` [..., N]."""

    def __init__(self, diag: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = None, name: str = "LinearOperatorDiag"):
        """Raises ValueError for a scalar, and for hints that cannot be true."""
        with name_scope(name, values=[diag]):
            self._diag = as_parameter(diag, name="diag")
            if self._diag.shape.ndims is not None and self._diag.shape.ndims < 1:
                raise ValueError(f"Argument diag must have at least 1 dimension.  Found: {self._diag}")
            if not self._diag.dtype.is_complex:
                if is_self_adjoint is False:
                    raise ValueError("A real diagonal operator is always self adjoint.")
                is_self_adjoint = True
            if is_square is False:
                raise ValueError("Only square diagonal operators currently supported.")
            super().__init__(dtype=self._diag.dtype, graph_parents=[self._diag], is_non_singular=is_non_singular,
                             is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite, is_square=True, name=name)

    @property
    def diag(self) -> Any:
        """The diagonals."""
        return self._diag

    def _shape(self) -> TensorShape:
        shape = self._diag.shape
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Any:
        shape = shape_of(self._diag)
        return concat((shape, [shape[-1]]), 0)

    def _assert_non_singular(self) -> Any:
        return no_modulus_zero(self._diag, message="Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self) -> Any:
        if self.dtype.is_complex:
            message = "Diagonal operator had diagonal entries with non-positive real part, thus was not positive definite."
        else:
            message = "Real diagonal operator had non-positive diagonal entries, thus was not positive definite."
        return assert_positive(real(self._diag), message=message)

    def _assert_self_adjoint(self) -> Any:
        return no_imaginary_part(self._diag, message=(
            "This diagonal operator contained non-zero imaginary values.   Thus it was not self-adjoint."))

    def _term(self, adjoint: bool) -> Any:
        return conj(self._diag) if adjoint else self._diag

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        term = self._term(adjoint)
        x = conjugate_transpose(x) if adjoint_arg else x
        return expand_dims(term, -1) * x

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self._term(adjoint) * x

    def _determinant(self) -> Any:
        return reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self) -> Any:
        determinant = reduce_sum(log(absolute(self._diag)), axis=[-1])
        return cast(determinant, dtype=self.dtype) if self.dtype.is_complex else determinant

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        term = self._term(adjoint)
        rhs = conjugate_transpose(rhs) if adjoint_arg else rhs
        return rhs * expand_dims(1.0 / term, -1)

    def _to_dense(self) -> Any:
        return matrix_diag(self._diag)

    def _diag_part(self) -> Any:
        return self.diag

    def _add_to_tensor(self, x: Any) -> Any:
        return matrix_set_diag(x, self._diag + matrix_diag_part(x))


class LinearOperatorFullMatrix(LinearOperator):
    """Any matrices, [..., M, N]."""

    def __init__(self, matrix: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = None,
                 name: str = "LinearOperatorFullMatrix"):
        """Raises TypeError for what are no floats or complex numbers, ValueError for less than two dimensions."""
        with name_scope(name, values=[matrix]):
            self._matrix = as_parameter(matrix, name="matrix")
            _check_matrix(self._matrix)
            super().__init__(dtype=self._matrix.dtype, graph_parents=[self._matrix], is_non_singular=is_non_singular,
                             is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite, is_square=is_square,
                             name=name)

    def _shape(self) -> TensorShape:
        return self._matrix.shape

    def _shape_tensor(self) -> Any:
        return shape_of(self._matrix)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self) -> Any:
        return self._matrix


def _check_matrix(matrix: Any) -> None:
    allowed = [dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128]
    matrix = convert_to_tensor(matrix, name="matrix")
    if matrix.dtype not in allowed:
        raise TypeError(f"Argument matrix must have dtype in {allowed}.  Found: {matrix.dtype}")
    if matrix.shape.ndims is not None and matrix.shape.ndims < 2:
        raise ValueError(f"Argument matrix must have at least 2 dimensions.  Found: {matrix}")


class LinearOperatorLowerTriangular(LinearOperator):
    """Lower triangular matrices; what stands above the diagonals of `tril` [..., N, N] counts as 0."""

    def __init__(self, tril: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = None,
                 name: str = "LinearOperatorLowerTriangular"):
        """Raises ValueError for less than two dimensions, or if it is said not to be square."""
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        with name_scope(name, values=[tril]):
            self._tril = as_parameter(tril, name="tril")
            if self._tril.shape.ndims is not None and self._tril.shape.ndims < 2:
                raise ValueError(f"Argument tril must have at least 2 dimensions.  Found: {self._tril}")
            super().__init__(dtype=self._tril.dtype, graph_parents=[self._tril], is_non_singular=is_non_singular,
                             is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite, is_square=True, name=name)

    def _get_tril(self) -> Any:
        return matrix_band_part(self._tril, -1, 0)

    def _get_diag(self) -> Any:
        return matrix_diag_part(self._tril)

    def _shape(self) -> TensorShape:
        return self._tril.shape

    def _shape_tensor(self) -> Any:
        return shape_of(self._tril)

    def _assert_non_singular(self) -> Any:
        return no_modulus_zero(self._get_diag(), message="Singular operator:  Diagonal contained zero values.")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return matmul(self._get_tril(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _determinant(self) -> Any:
        return reduce_prod(self._get_diag(), axis=[-1])

    def _log_abs_determinant(self) -> Any:
        return reduce_sum(log(absolute(self._get_diag())), axis=[-1])

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = conjugate_transpose(rhs) if adjoint_arg else rhs
        return triangular_solve_broadcast(self._get_tril(), rhs, lower=True, adjoint=adjoint)

    def _to_dense(self) -> Any:
        return self._get_tril()


@RegisterAdjoint(LinearOperatorDiag)
def _adjoint_diag(operator: LinearOperatorDiag) -> LinearOperator:
    return LinearOperatorDiag(diag=conj(operator.diag) if operator.diag.dtype.is_complex else operator.diag,
                              is_non_singular=operator.is_non_singular, is_self_adjoint=operator.is_self_adjoint,
                              is_positive_definite=operator.is_positive_definite, is_square=True)


@RegisterCholesky(LinearOperatorDiag)
def _cholesky_diag(operator: LinearOperatorDiag) -> LinearOperator:
    return LinearOperatorDiag(sqrt(operator.diag), is_non_singular=True, is_self_adjoint=True, is_positive_definite=True,
                              is_square=True)


@RegisterInverse(LinearOperatorDiag)
def _inverse_diag(operator: LinearOperatorDiag) -> LinearOperator:
    return LinearOperatorDiag(1.0 / operator.diag, is_non_singular=operator.is_non_singular,
                              is_self_adjoint=operator.is_self_adjoint, is_positive_definite=operator.is_positive_definite,
                              is_square=True)


@RegisterCholesky(LinearOperator)
def _cholesky_dense(operator: LinearOperator) -> LinearOperator:
    return LinearOperatorLowerTriangular(cholesky(operator.to_dense()), is_non_singular=True, is_self_adjoint=False,
                                         is_square=True)
