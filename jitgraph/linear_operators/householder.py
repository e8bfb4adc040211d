"""Reflections."""
from __future__ import annotations

from typing import Any

from jitgraph.control.order_ops import no_op
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators.algebra import RegisterAdjoint, RegisterInverse
from jitgraph.linear_operators.arguments import as_parameter
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.ops.arrays.fill import ones, zeros
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.matrix_parts import matrix_diag_part, matrix_set_diag
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import newaxis
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.complex_numbers import conj
from jitgraph.ops.linalg.linalg_functions import adjoint as conjugate_transpose
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.products import norm


class LinearOperatorHouseholder(LinearOperator):
    """The reflections at the planes through 0 that are perpendicular to `reflection_axis` [..., N]: ``I - 2 v v^H``."""

    def __init__(self, reflection_axis: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = None,
                 name: str = "LinearOperatorHouseholder"):
        """Raises ValueError for a scalar, and for hints that cannot be true."""
        with name_scope(name, values=[reflection_axis]):
            self._reflection_axis = as_parameter(reflection_axis, name="reflection_axis")
            shape = self._reflection_axis.shape
            if shape.ndims is not None and shape.ndims < 1:
                raise ValueError(f"Argument reflection_axis must have at least 1 dimension.  Found: {self._reflection_axis}")
            if is_self_adjoint is False:
                raise ValueError("A Householder operator is always self adjoint.")
            if is_positive_definite is True:
                raise ValueError("A Householder operator is always non-positive definite.")
            if is_square is False:
                raise ValueError("A Householder operator is always square.")
            super().__init__(dtype=self._reflection_axis.dtype, graph_parents=[self._reflection_axis],
                             is_non_singular=is_non_singular, is_self_adjoint=True, is_positive_definite=False, is_square=True,
                             name=name)

    @property
    def reflection_axis(self) -> Any:
        """The vectors that become their negatives."""
        return self._reflection_axis

    def _normalized(self, axis: Any) -> Tensor:
        return axis / norm(axis, axis=-1, keepdims=True)

    def _shape(self) -> TensorShape:
        shape = self._reflection_axis.shape
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Any:
        shape = shape_of(self._reflection_axis)
        return concat((shape, [shape[-1]]), 0)

    def _assert_non_singular(self) -> Any:
        return no_op("assert_non_singular")

    def _assert_positive_definite(self) -> Any:
        raise InvalidArgumentError(node_def=None, op=None, message="Householder operators are always non-positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return no_op("assert_self_adjoint")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        axis = convert_to_tensor(self.reflection_axis)
        x = conjugate_transpose(x) if adjoint_arg else x
        column = self._normalized(axis)[..., newaxis]
        along = matmul(column, x, adjoint_a=True)
        return x - 2 * column * along

    def _trace(self) -> Any:
        size = cast(self.domain_dimension_tensor() - 2, self.dtype)
        return size * ones(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _determinant(self) -> Any:
        return -ones(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _log_abs_determinant(self) -> Any:
        return zeros(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _to_dense(self) -> Any:
        column = self._normalized(self.reflection_axis)[..., newaxis]
        matrix = -2 * matmul(column, column, adjoint_b=True)
        return matrix_set_diag(matrix, 1.0 + matrix_diag_part(matrix))

    def _diag_part(self) -> Any:
        axis = self._normalized(self.reflection_axis)
        return 1.0 - 2 * axis * conj(axis)


@RegisterAdjoint(LinearOperatorHouseholder)
def _adjoint(one: LinearOperatorHouseholder) -> LinearOperator:
    return one


@RegisterInverse(LinearOperatorHouseholder)
def _inverse(one: LinearOperatorHouseholder) -> LinearOperator:
    return one
