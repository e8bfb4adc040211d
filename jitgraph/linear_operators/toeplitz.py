"""Toeplitz matrices: the same element along each diagonal."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape, dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators.circulant import LinearOperatorCirculant
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.ops.arrays.fill import ones, zeros_like
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import broadcast_dynamic_shape, broadcast_static_shape, reverse
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_equal
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.linalg.linalg_functions import adjoint as conjugate_transpose
from jitgraph.ops.signal.fft import fft


class LinearOperatorToeplitz(LinearOperator):
    """Matrices of the first column `col` [..., N] and the first row `row` [..., N]; products are those of a circulant matrix."""

    def __init__(self, col: Any, row: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = None, name: str = "LinearOperatorToeplitz"):
        """Raises ValueError for scalars and different sizes."""
        with name_scope(name, values=[row, col]):
            self._row = convert_to_tensor(row, name="row")
            self._col = convert_to_tensor(col, name="col")
            for what, tensor in (("row", self._row), ("col", self._col)):
                if tensor.shape.ndims is not None and tensor.shape.ndims < 1:
                    raise ValueError(f"Argument {what} must have at least 1 dimension.  Found: {tensor}")
            sizes = dimension_value(self._row.shape[-1]), dimension_value(self._col.shape[-1])
            if None not in sizes and sizes[0] != sizes[1]:
                raise ValueError("Expected square matrix, got row and col with mismatched dimensions.")
            column = concat([self._col, zeros_like(self._col[..., 0:1]), reverse(self._row[..., 1:], axis=[-1])], axis=-1)
            wide = self._row.dtype in (dtypes.float64, dtypes.complex128)
            spectrum = fft(cast(column, dtypes.complex128 if wide else dtypes.complex64))
            self._circulant = LinearOperatorCirculant(spectrum, input_output_dtype=self._row.dtype)
            if is_square is False:
                raise ValueError("Only square Toeplitz operators currently supported.")
            super().__init__(dtype=self._row.dtype, graph_parents=[self._row, self._col], is_non_singular=is_non_singular,
                             is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite, is_square=True, name=name)

    @property
    def col(self) -> Tensor:
        """The first columns."""
        return self._col

    @property
    def row(self) -> Tensor:
        """The first rows."""
        return self._row

    def _shape(self) -> TensorShape:
        shape = broadcast_static_shape(self.row.shape, self.col.shape)
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Any:
        shape = broadcast_dynamic_shape(shape_of(self.row), shape_of(self.col))
        return concat((shape, [shape[-1]]), 0)

    def _assert_self_adjoint(self) -> Any:
        return assert_equal(self.row, self.col, message="row and col are not the same, and so this operator is not self-adjoint.")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = conjugate_transpose(x) if adjoint_arg else x
        result = self._circulant.matmul(concat([x, zeros_like(x)], axis=-2), adjoint=adjoint, adjoint_arg=False)
        return cast(result[..., :self.domain_dimension_tensor(), :], self.dtype)

    def _trace(self) -> Any:
        return cast(self.domain_dimension_tensor(), dtype=self.dtype) * self.col[..., 0]

    def _diag_part(self) -> Any:
        first = self.col[..., 0:1]
        return first * ones([self.domain_dimension_tensor()], self.dtype)
