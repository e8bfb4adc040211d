"""The identity, and multiples of it."""
from __future__ import annotations

from typing import Any

from jitgraph.control.order_ops import no_op
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators.algebra import RegisterAdjoint, RegisterCholesky, RegisterInverse, RegisterMatmul, RegisterSolve
from jitgraph.linear_operators.arguments import as_parameter, check_not_reference
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.linear_operators.sized import OfSize
from jitgraph.ops.arrays.fill import ones, zeros, zeros_like
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.matrix_parts import matrix_diag_part, matrix_set_diag
from jitgraph.ops.arrays.shape import expand_dims
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import newaxis
from jitgraph.ops.checks.check_values import assert_equal, assert_positive
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.complex_numbers import conj, imag, real
from jitgraph.ops.elementwise.composite_values import sqrt
from jitgraph.ops.elementwise.elementary import log
from jitgraph.ops.linalg.linalg_functions import adjoint as conjugate_transpose
from jitgraph.ops.reduce.reductions import reduce_min


class LinearOperatorIdentity(OfSize):
    """The identity of `num_rows` rows, one for each of `batch_shape`."""

    def __init__(self, num_rows: Any, batch_shape: Any = None, dtype: Any = None, is_non_singular: bool = True,
                 is_self_adjoint: bool = True, is_positive_definite: bool = True, is_square: bool = True,
                 assert_proper_shapes: bool = False, name: str = "LinearOperatorIdentity"):
        """With `assert_proper_shapes`, sizes are checked when the graph runs.  Raises ValueError, TypeError for wrong sizes."""
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name):
            for hint, what in ((is_self_adjoint, "self adjoint"), (is_non_singular, "non-singular"),
                               (is_positive_definite, "positive-definite"), (is_square, "square")):
                if not hint:
                    raise ValueError(f"An identity operator is always {what}.")
            super().__init__(dtype=dtypes.as_dtype(dtype or dtypes.float32), is_non_singular=is_non_singular,
                             is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite, is_square=is_square,
                             name=name)
            check_not_reference(num_rows, "num_rows")
            check_not_reference(batch_shape, "batch_shape")
            self._num_rows, self._num_rows_static = self._checked_size(num_rows, "num_rows")
            self._take_batch_shape(batch_shape)

    def _shape(self) -> TensorShape:
        return self._with_batch(TensorShape((self._num_rows_static, self._num_rows_static)))

    def _shape_tensor(self) -> Any:
        return self._with_batch_tensor(stack((self._num_rows, self._num_rows), axis=0))

    def _assert_non_singular(self) -> Any:
        return no_op("assert_non_singular")

    def _assert_positive_definite(self) -> Any:
        return no_op("assert_positive_definite")

    def _assert_self_adjoint(self) -> Any:
        return no_op("assert_self_adjoint")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._broadcast_to_batch(self._asserted(conjugate_transpose(x) if adjoint_arg else x))

    def _determinant(self) -> Any:
        return ones(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _log_abs_determinant(self) -> Any:
        return zeros(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _trace(self) -> Any:
        one = self._of_batch(ones)
        known = self._smaller_size()
        return known * one if known is not None else cast(reduce_min(self.shape_tensor()[-2:]), self.dtype) * one

    def _diag_part(self) -> Any:
        return self._filled_diagonal(ones)

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Tensor:       # type: ignore[override]
        """The sum with the matrices `mat`."""
        with self._name_scope(name):
            mat = convert_to_tensor(mat, name="mat")
            return matrix_set_diag(mat, 1 + matrix_diag_part(mat))


class LinearOperatorScaledIdentity(OfSize):
    """`multiplier` times the identity of `num_rows` rows; the shape of the multiplier is that of the batch."""

    def __init__(self, num_rows: Any, multiplier: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool = True, assert_proper_shapes: bool = False,
                 name: str = "LinearOperatorScaledIdentity"):
        """Raises ValueError for hints that cannot be true."""
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name, values=[multiplier, num_rows]):
            self._multiplier = as_parameter(multiplier, name="multiplier")
            if not self._multiplier.dtype.is_complex:
                if is_self_adjoint is False:
                    raise ValueError("A real diagonal operator is always self adjoint.")
                is_self_adjoint = True
            if not is_square:
                raise ValueError("A ScaledIdentity operator is always square.")
            check_not_reference(num_rows, "num_rows")
            super().__init__(dtype=self._multiplier.dtype.base_dtype, is_non_singular=is_non_singular,
                             is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite, is_square=is_square,
                             name=name)
            self._num_rows, self._num_rows_static = self._checked_size(num_rows, "num_rows")
            self._num_rows_cast_to_dtype = cast(self._num_rows, self.dtype)
            self._num_rows_cast_to_real_dtype = cast(self._num_rows, self.dtype.real_dtype)

    @property
    def multiplier(self) -> Any:
        """The factor."""
        return self._multiplier

    def _shape(self) -> TensorShape:
        return self.multiplier.shape.concatenate(TensorShape((self._num_rows_static, self._num_rows_static)))

    def _shape_tensor(self) -> Any:
        matrix_shape = stack((self._num_rows, self._num_rows), axis=0)
        return concat((shape_of(self.multiplier), matrix_shape), 0)

    def _assert_non_singular(self) -> Any:
        return assert_positive(absolute(self.multiplier), message="LinearOperator was singular")

    def _assert_positive_definite(self) -> Any:
        return assert_positive(real(self.multiplier), message="LinearOperator was not positive definite.")

    def _assert_self_adjoint(self) -> Any:
        imaginary = imag(self.multiplier)
        return assert_equal(zeros_like(imaginary), imaginary, message="LinearOperator was not self-adjoint")

    def _factor(self, conjugate: bool) -> Tensor:
        factor = expand_dims(expand_dims(self.multiplier, -1), -1)
        return conj(factor) if conjugate else factor

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._asserted(conjugate_transpose(x) if adjoint_arg else x) * self._factor(conjugate=adjoint)

    def _determinant(self) -> Any:
        return self.multiplier**self._num_rows_cast_to_dtype

    def _log_abs_determinant(self) -> Any:
        return self._num_rows_cast_to_real_dtype * log(absolute(self.multiplier))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._asserted(conjugate_transpose(rhs) if adjoint_arg else rhs) / self._factor(conjugate=adjoint)

    def _trace(self) -> Any:
        one = self._of_batch(ones)
        known = self._smaller_size()
        rows = known if known is not None else cast(reduce_min(self.shape_tensor()[-2:]), self.dtype)
        return self.multiplier * rows * one

    def _diag_part(self) -> Any:
        return self._filled_diagonal(ones) * self.multiplier[..., newaxis]

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Tensor:       # type: ignore[override]
        """The sum with the matrices `mat`."""
        with self._name_scope(name):
            diagonal = expand_dims(self.multiplier, -1)
            mat = convert_to_tensor(mat, name="mat")
            return matrix_set_diag(mat, diagonal + matrix_diag_part(mat))


@RegisterAdjoint(LinearOperatorIdentity)
def _adjoint_identity(operator: LinearOperatorIdentity) -> LinearOperator:
    return operator


@RegisterAdjoint(LinearOperatorScaledIdentity)
def _adjoint_scaled(operator: LinearOperatorScaledIdentity) -> LinearOperator:
    multiplier = operator.multiplier
    return LinearOperatorScaledIdentity(
        num_rows=operator._num_rows, multiplier=conj(multiplier) if multiplier.dtype.is_complex else multiplier,
        is_non_singular=operator.is_non_singular, is_self_adjoint=operator.is_self_adjoint,
        is_positive_definite=operator.is_positive_definite, is_square=True)


@RegisterCholesky(LinearOperatorIdentity)
def _cholesky_identity(operator: LinearOperatorIdentity) -> LinearOperator:
    return LinearOperatorIdentity(num_rows=operator._num_rows, batch_shape=operator.batch_shape, dtype=operator.dtype,
                                  is_non_singular=True, is_self_adjoint=True, is_positive_definite=True, is_square=True)


@RegisterCholesky(LinearOperatorScaledIdentity)
def _cholesky_scaled(operator: LinearOperatorScaledIdentity) -> LinearOperator:
    return LinearOperatorScaledIdentity(num_rows=operator._num_rows, multiplier=sqrt(operator.multiplier), is_non_singular=True,
                                        is_self_adjoint=True, is_positive_definite=True, is_square=True)


@RegisterInverse(LinearOperatorIdentity)
def _inverse_identity(operator: LinearOperatorIdentity) -> LinearOperator:
    return operator


@RegisterInverse(LinearOperatorScaledIdentity)
def _inverse_scaled(operator: LinearOperatorScaledIdentity) -> LinearOperator:
    return LinearOperatorScaledIdentity(num_rows=operator._num_rows, multiplier=1.0 / operator.multiplier,
                                        is_non_singular=operator.is_non_singular, is_self_adjoint=True,
                                        is_positive_definite=operator.is_positive_definite, is_square=True)


@RegisterMatmul(LinearOperatorIdentity, LinearOperator)
def _identity_times(identity: LinearOperatorIdentity, operator: LinearOperator) -> LinearOperator:
    return operator


@RegisterMatmul(LinearOperator, LinearOperatorIdentity)
def _times_identity(operator: LinearOperator, identity: LinearOperatorIdentity) -> LinearOperator:
    return operator


@RegisterSolve(LinearOperatorIdentity, LinearOperator)
def _identity_solved(identity: LinearOperatorIdentity, operator: LinearOperator) -> LinearOperator:
    return operator
