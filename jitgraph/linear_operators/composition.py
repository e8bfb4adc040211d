"""The product of operators, and what all operators made of several share."""
from __future__ import annotations

import functools
from typing import Any

from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators import hints
from jitgraph.linear_operators.algebra import RegisterMatmul, RegisterSolve
from jitgraph.linear_operators.arguments import hint_of_all, list_of_operators
from jitgraph.linear_operators.derived import LinearOperatorInversion
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.layout import broadcast_static_shape
from jitgraph.ops.arrays.shape import shape as shape_of


class Combined(LinearOperator):
    """An operator made of a list of others."""

    _operators: list

    @property
    def operators(self) -> list:
        """The operators of which it is made."""
        return self._operators

    def _static_batch_shape(self) -> TensorShape:
        return functools.reduce(broadcast_static_shape, [operator.batch_shape for operator in self.operators])

    def _summed_batch_shape(self) -> Tensor:
        """The shape of the batch as that of a sum of zeros of all batches."""
        zero = zeros(shape=self.operators[0].batch_shape_tensor())
        for operator in self.operators[1:]:
            zero += zeros(shape=operator.batch_shape_tensor())
        return shape_of(zero)

    def _parents(self) -> list:
        return [parent for operator in self.operators for parent in operator.graph_parents]

    def _determinant(self) -> Any:
        result = self.operators[0].determinant()
        for operator in self.operators[1:]:
            result *= operator.determinant()
        return result

    def _log_abs_determinant(self) -> Any:
        result = self.operators[0].log_abs_determinant()
        for operator in self.operators[1:]:
            result += operator.log_abs_determinant()
        return result


class LinearOperatorComposition(Combined):
    """The product of `operators`: the last of them is applied first."""

    def __init__(self, operators: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = None, name: str | None = None):
        """Raises ValueError for an empty list, TypeError for different dtypes."""
        self._operators = operators = list_of_operators(operators, "Expected a non-empty list of operators.")
        is_non_singular = hint_of_all(operators, "is_non_singular", is_non_singular,
                                      "The composition of non-singular operators is always non-singular.")
        parents = self._parents()
        name = name or "_o_".join(operator.name for operator in operators)
        with name_scope(name, values=parents):
            super().__init__(dtype=operators[0].dtype, graph_parents=parents, is_non_singular=is_non_singular,
                             is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite, is_square=is_square,
                             name=name)

    def _shape(self) -> TensorShape:
        columns = self.operators[0].domain_dimension
        for operator in self.operators[1:]:
            columns.assert_is_compatible_with(operator.range_dimension)
            columns = operator.domain_dimension
        return self._static_batch_shape().concatenate(TensorShape([self.operators[0].range_dimension, columns]))

    def _shape_tensor(self) -> Any:
        matrix_shape = stack([self.operators[0].range_dimension_tensor(), self.operators[-1].domain_dimension_tensor()])
        return concat((self._summed_batch_shape(), matrix_shape), 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        first, *rest = self.operators if adjoint else reversed(self.operators)
        result = first.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in rest:
            result = operator.matmul(result, adjoint=adjoint)
        return result

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        first, *rest = reversed(self.operators) if adjoint else self.operators
        solution = first.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in rest:
            solution = operator.solve(solution, adjoint=adjoint)
        return solution


@RegisterMatmul(LinearOperator, LinearOperator)
def _product(a: LinearOperator, b: LinearOperator) -> LinearOperator:
    return LinearOperatorComposition(operators=[a, b], **hints.of_product(a, b))


@RegisterSolve(LinearOperator, LinearOperator)
def _solution(a: LinearOperator, b: LinearOperator) -> LinearOperator:
    return LinearOperatorComposition(operators=[LinearOperatorInversion(a), b], **hints.of_product(a, b))
