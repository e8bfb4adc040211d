"""Matrices of zeros."""
from __future__ import annotations

from typing import Any

from jitgraph.control.order_ops import no_op
from jitgraph.graph import dtypes
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators.algebra import RegisterMatmul
from jitgraph.linear_operators.arguments import check_not_reference, shape_as_tensor
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.linear_operators.sized import OfSize
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.linalg.linalg_functions import adjoint as conjugate_transpose


class LinearOperatorZeros(OfSize):
    """`num_rows` rows and `num_columns` columns (as many as rows if None) of zeros, for each of `batch_shape`."""

    def __init__(self, num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = None,
                 is_non_singular: bool = False, is_self_adjoint: bool = True, is_positive_definite: bool = False,
                 is_square: bool = True, assert_proper_shapes: bool = False, name: str = "LinearOperatorZeros"):
        """With `assert_proper_shapes`, sizes are checked when the graph runs.  Raises ValueError, TypeError for wrong sizes."""
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name):
            if not is_self_adjoint and is_square:
                raise ValueError("A zero operator is always self adjoint.")
            if is_non_singular:
                raise ValueError("A zero operator is always singular.")
            if is_positive_definite:
                raise ValueError("A zero operator is always not positive-definite.")
            super().__init__(dtype=dtypes.as_dtype(dtype or dtypes.float32), is_non_singular=is_non_singular,
                             is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite, is_square=is_square,
                             name=name)
            for given, what in ((num_rows, "num_rows"), (num_columns, "num_columns"), (batch_shape, "batch_shape")):
                check_not_reference(given, what)
            self._num_rows = shape_as_tensor(num_rows, name="num_rows")
            self._num_columns = shape_as_tensor(num_rows if num_columns is None else num_columns, name="num_columns")
            self._num_rows, rows = self._checked_size(self._num_rows, "num_rows")
            self._num_columns, columns = self._checked_size(self._num_columns, "num_columns")
            self._num_rows_static, self._num_columns_static = rows, columns
            if rows is not None and columns is not None and is_square and rows != columns:
                raise ValueError(f"LinearOperatorZeros initialized as is_square=True, but got num_rows({rows}) != "
                                 f"num_columns({columns})")
            self._take_batch_shape(batch_shape)

    def _shape(self) -> TensorShape:
        return self._with_batch(TensorShape((self._num_rows_static, self._num_columns_static)))

    def _shape_tensor(self) -> Any:
        return self._with_batch_tensor(stack((self._num_rows, self._num_columns), axis=0))

    def _assert_non_singular(self) -> Any:
        raise InvalidArgumentError(node_def=None, op=None, message="Zero operators are always non-invertible.")

    def _assert_positive_definite(self) -> Any:
        raise InvalidArgumentError(node_def=None, op=None, message="Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return no_op("assert_self_adjoint")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        if self._assert_proper_shapes:
            x = self._asserted(conjugate_transpose(x) if adjoint_arg else x)
        if self.is_square:
            shape = shape_of(x)
            if adjoint_arg:
                shape = concat([shape[:-2], [shape_of(x)[-1], shape_of(x)[-2]]], axis=0)
        else:
            x_shape = shape_of(x)
            rows = self._num_columns if adjoint else self._num_rows
            columns = x_shape[-2] if adjoint_arg else x_shape[-1]
            shape = concat([x_shape[:-2], [rows, columns]], axis=0)
        return self._broadcast_to_batch(zeros(shape=shape, dtype=x.dtype))

    def _determinant(self) -> Any:
        return self._of_batch(zeros)

    def _trace(self) -> Any:
        return self._of_batch(zeros)

    def _diag_part(self) -> Any:
        return self._filled_diagonal(zeros)

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Tensor:       # type: ignore[override]
        """The matrices `mat`, with the batch of the operator."""
        return self._broadcast_to_batch(mat)


def _check_square(zero: LinearOperatorZeros, operator: LinearOperator) -> LinearOperator:
    if not zero.is_square or not operator.is_square:
        raise ValueError("Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not supported at this "
                         "time.")
    return zero


@RegisterMatmul(LinearOperator, LinearOperatorZeros)
def _times_zeros(operator: LinearOperator, zero: LinearOperatorZeros) -> LinearOperator:
    return _check_square(zero, operator)


@RegisterMatmul(LinearOperatorZeros, LinearOperator)
def _zeros_times(zero: LinearOperatorZeros, operator: LinearOperator) -> LinearOperator:
    return _check_square(zero, operator)
