"""Square operators along the diagonal of a larger one."""
from __future__ import annotations

import functools
import operator
from typing import Any

from jitgraph.control.order_ops import group
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape, dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators.algebra import RegisterAdjoint, RegisterCholesky, RegisterInverse
from jitgraph.linear_operators.arguments import hint_of_all, list_of_operators
from jitgraph.linear_operators.composition import Combined
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.linear_operators.solving import broadcast_batches
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.join import concat, split, stack
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.shape import squeeze
from jitgraph.ops.arrays.slicing import newaxis


class LinearOperatorBlockDiag(Combined):
    """The block diagonal matrix of square `operators`."""

    def __init__(self, operators: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = True, name: str | None = None):
        """Raises ValueError for an empty list and operators that are not square, TypeError for different dtypes."""
        self._operators = operators = list_of_operators(operators, "Expected a non-empty list of operators.")
        is_non_singular = hint_of_all(operators, "is_non_singular", is_non_singular,
                                      "The direct sum of non-singular operators is always non-singular.")
        is_self_adjoint = hint_of_all(operators, "is_self_adjoint", is_self_adjoint,
                                      "The direct sum of self-adjoint operators is always self-adjoint.")
        is_positive_definite = hint_of_all(operators, "is_positive_definite", is_positive_definite,
                                           "The direct sum of positive definite operators is always positive definite.")
        if not (is_square and all(operator.is_square for operator in operators)):
            raise ValueError("Can only represent a block diagonal of square matrices.")
        parents = self._parents()
        name = name or "_ds_".join(operator.name for operator in operators)
        with name_scope(name, values=parents):
            super().__init__(dtype=operators[0].dtype, graph_parents=parents, is_non_singular=is_non_singular,
                             is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite, is_square=True, name=name)

    def _shape(self) -> TensorShape:
        rows = functools.reduce(operator.add, [one.range_dimension for one in self.operators])
        columns = functools.reduce(operator.add, [one.domain_dimension for one in self.operators])
        return self._static_batch_shape().concatenate(TensorShape([columns, rows]))

    def _shape_tensor(self) -> Any:
        columns, rows = self.operators[0].domain_dimension_tensor(), self.operators[0].range_dimension_tensor()
        for one in self.operators[1:]:
            columns += one.domain_dimension_tensor()
            rows += one.range_dimension_tensor()
        matrix_shape = stack([columns, rows])
        return concat((self._summed_batch_shape(), matrix_shape), 0)

    def _blocks(self, x: Any, axis: int) -> list[Tensor]:
        if self.shape.is_fully_defined():
            sizes = [dimension_value(one.domain_dimension) for one in self.operators]
        else:
            sizes = [one.domain_dimension_tensor() for one in self.operators]
        return split(x, sizes, axis=axis)

    def _each(self, method: str, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        blocks = self._blocks(x, -1 if adjoint_arg else -2)
        results = [getattr(one, method)(block, adjoint=adjoint, adjoint_arg=adjoint_arg)
                   for one, block in zip(self.operators, blocks)]
        return concat(broadcast_batches(results), axis=-2)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._each("matmul", x, adjoint, adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._each("solve", rhs, adjoint, adjoint_arg)

    def _diag_part(self) -> Any:
        parts = [one.diag_part()[..., newaxis] for one in self.operators]
        return squeeze(concat(broadcast_batches(parts), axis=-2), axis=-1)

    def _trace(self) -> Any:
        result = self.operators[0].trace()
        for one in self.operators[1:]:
            result += one.trace()
        return result

    def _to_dense(self) -> Any:
        columns: Any = 0
        rows = []
        for block in broadcast_batches([one.to_dense() for one in self.operators]):
            height = shape_of(block)[:-1]
            before = zeros(shape=concat([height, [columns]], axis=-1), dtype=block.dtype)
            columns += shape_of(block)[-1]
            after = zeros(shape=concat([height, [self.domain_dimension_tensor() - columns]], axis=-1), dtype=block.dtype)
            rows.append(concat([before, block, after], axis=-1))
        dense = concat(rows, axis=-2)
        dense.set_shape(self.shape)
        return dense

    def _assert_non_singular(self) -> Any:
        return group([one.assert_non_singular() for one in self.operators])

    def _assert_self_adjoint(self) -> Any:
        return group([one.assert_self_adjoint() for one in self.operators])

    def _assert_positive_definite(self) -> Any:
        return group([one.assert_positive_definite() for one in self.operators])


@RegisterAdjoint(LinearOperatorBlockDiag)
def _adjoint(one: LinearOperatorBlockDiag) -> LinearOperator:
    return LinearOperatorBlockDiag([block.adjoint() for block in one.operators], is_non_singular=one.is_non_singular,
                                   is_self_adjoint=one.is_self_adjoint, is_positive_definite=one.is_positive_definite)


@RegisterCholesky(LinearOperatorBlockDiag)
def _cholesky(one: LinearOperatorBlockDiag) -> LinearOperator:
    return LinearOperatorBlockDiag([block.cholesky() for block in one.operators], is_non_singular=True, is_self_adjoint=False)


@RegisterInverse(LinearOperatorBlockDiag)
def _inverse(one: LinearOperatorBlockDiag) -> LinearOperator:
    return LinearOperatorBlockDiag([block.inverse() for block in one.operators], is_non_singular=one.is_non_singular,
                                   is_self_adjoint=one.is_self_adjoint, is_positive_definite=one.is_positive_definite)
