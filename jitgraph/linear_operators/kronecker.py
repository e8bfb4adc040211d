"""The Kronecker product of operators."""
from __future__ import annotations

import functools
import operator
from typing import Any

from jitgraph.control.order_ops import group
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators.algebra import RegisterAdjoint, RegisterCholesky, RegisterInverse
from jitgraph.linear_operators.arguments import hint_of_all, list_of_operators
from jitgraph.linear_operators.composition import Combined
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.ops.arrays.fill import ones_like, zeros
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import broadcast_dynamic_shape, broadcast_static_shape, transpose
from jitgraph.ops.arrays.matrix_parts import matrix_transpose
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import newaxis
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.linalg.linalg_functions import adjoint as conjugate_transpose


def _vec(x: Tensor) -> Tensor:
    """The columns of matrices one below the other."""
    return reshape(matrix_transpose(x), concat([shape_of(x)[:-2], [-1]], axis=0))


def _unvec(y: Tensor, columns: Any) -> Tensor:
    """Matrices of so many columns; the inverse of `_vec`."""
    return matrix_transpose(reshape(y, concat([shape_of(y)[:-1], [columns, -1]], axis=0)))


def _rotate_last(x: Tensor, to_front: bool = False) -> Tensor:
    """`x` with its last dimension first, or its first dimension last."""
    rank = rank_of(x)
    if to_front:
        return transpose(x, concat([[rank - 1], range_of(0, rank - 1)], axis=0))
    return transpose(x, concat([range_of(1, rank), [0]], axis=0))


class LinearOperatorKronecker(Combined):
    """The Kronecker product of `operators`: a matrix of blocks, each an element of the first times the product of the rest."""

    def __init__(self, operators: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = None, name: str | None = None):
        """Raises ValueError for an empty list, TypeError for different dtypes."""
        self._operators = operators = list_of_operators(operators, "Expected a list of >=1 operators.")
        is_non_singular = hint_of_all(operators, "is_non_singular", is_non_singular,
                                      "The Kronecker product of non-singular operators is always non-singular.")
        is_self_adjoint = hint_of_all(operators, "is_self_adjoint", is_self_adjoint,
                                      "The Kronecker product of self-adjoint operators is always self-adjoint.")
        is_positive_definite = hint_of_all(operators, "is_positive_definite", is_positive_definite,
                                           "The Kronecker product of positive-definite operators is always positive-definite.")
        parents = self._parents()
        name = name or "_x_".join(operator.name for operator in operators)
        with name_scope(name, values=parents):
            super().__init__(dtype=operators[0].dtype, graph_parents=parents, is_non_singular=is_non_singular,
                             is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite, is_square=is_square,
                             name=name)

    def _shape(self) -> TensorShape:
        columns = functools.reduce(operator.mul, [one.domain_dimension for one in self.operators])
        rows = functools.reduce(operator.mul, [one.range_dimension for one in self.operators])
        return self._static_batch_shape().concatenate(TensorShape([rows, columns]))

    def _shape_tensor(self) -> Any:
        columns = self.operators[0].domain_dimension_tensor()
        for one in self.operators[1:]:
            columns *= one.domain_dimension_tensor()
        rows = self.operators[0].range_dimension_tensor()
        for one in self.operators[1:]:
            rows *= one.range_dimension_tensor()
        batch = self.operators[0].batch_shape_tensor()
        for one in self.operators[1:]:
            batch = broadcast_dynamic_shape(batch, one.batch_shape_tensor())
        return concat((batch, [rows, columns]), 0)

    def _each(self, method: str, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        """The product or the solution, by applying one operator after the other to its own dimension of `x`."""
        if adjoint_arg:
            x = conjugate_transpose(x)
        x += zeros(concat([ones_like(self.batch_shape_tensor()), [1, 1]], 0), dtype=x.dtype.base_dtype)
        output = _rotate_last(x, to_front=True)[newaxis, ...]
        for one in self.operators[:-1]:
            columns = one.range_dimension_tensor() if adjoint else one.domain_dimension_tensor()
            output = matrix_transpose(_unvec(output, columns))
            output = matrix_transpose(getattr(one, f"{method}")(output, adjoint=adjoint, adjoint_arg=False))
            output = _rotate_last(_vec(_rotate_last(output)), to_front=True)
        last = self.operators[-1]
        output = (last.matvec if method == "matmul" else last.solvevec)(output, adjoint=adjoint)
        output = _rotate_last(_vec(_rotate_last(output)))
        if x.shape.is_fully_defined():
            batch = broadcast_static_shape(x.shape[:-2], self.batch_shape)
            output.set_shape(batch.concatenate([self.domain_dimension if adjoint else self.range_dimension, x.shape[-1]]))
        return output

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._each("matmul", x, adjoint, adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._each("solve", rhs, adjoint, adjoint_arg)

    def _determinant(self) -> Any:
        total = self.domain_dimension_tensor()
        result: Any = 1.0
        for one in self.operators:
            result *= one.determinant() ** cast(total / one.domain_dimension_tensor(), dtype=one.dtype)
        return result

    def _log_abs_determinant(self) -> Any:
        total = self.domain_dimension_tensor()
        result: Any = 0.0
        for one in self.operators:
            result += one.log_abs_determinant() * cast(total / one.domain_dimension_tensor(), dtype=one.dtype)
        return result

    def _trace(self) -> Any:
        result: Any = 1.0
        for one in self.operators:
            result *= one.trace()
        return result

    def _diag_part(self) -> Any:
        result = self.operators[0].diag_part()
        for one in self.operators[1:]:
            result = result[..., :, newaxis]
            result *= one.diag_part()[..., newaxis, :]
            result = reshape(result, shape=concat([shape_of(result)[:-2], [-1]], axis=0))
        wide = self.range_dimension > self.domain_dimension
        result.set_shape(self.batch_shape.concatenate(self.domain_dimension if wide else self.range_dimension))
        return result

    def _to_dense(self) -> Any:
        product = self.operators[0].to_dense()
        for one in self.operators[1:]:
            product = product[..., :, newaxis, :, newaxis]
            product *= one.to_dense()[..., newaxis, :, newaxis, :]
            product = reshape(product, shape=concat([
                shape_of(product)[:-4], [shape_of(product)[-4] * shape_of(product)[-3],
                                         shape_of(product)[-2] * shape_of(product)[-1]]], axis=0))
        product.set_shape(self.shape)
        return product

    def _check_square(self, what: str) -> None:
        if not all(one.is_square for one in self.operators):
            raise InvalidArgumentError(node_def=None, op=None,
                                       message=f"All Kronecker factors must be square for the product to be {what}.")

    def _assert_non_singular(self) -> Any:
        self._check_square("invertible")
        return group([one.assert_non_singular() for one in self.operators])

    def _assert_self_adjoint(self) -> Any:
        self._check_square("self adjoint")
        return group([one.assert_self_adjoint() for one in self.operators])


@RegisterAdjoint(LinearOperatorKronecker)
def _adjoint(one: LinearOperatorKronecker) -> LinearOperator:
    return LinearOperatorKronecker([factor.adjoint() for factor in one.operators], is_non_singular=one.is_non_singular,
                                   is_self_adjoint=one.is_self_adjoint, is_positive_definite=one.is_positive_definite,
                                   is_square=True)


@RegisterCholesky(LinearOperatorKronecker)
def _cholesky(one: LinearOperatorKronecker) -> LinearOperator:
    return LinearOperatorKronecker([factor.cholesky() for factor in one.operators], is_non_singular=True, is_self_adjoint=False,
                                   is_square=True)


@RegisterInverse(LinearOperatorKronecker)
def _inverse(one: LinearOperatorKronecker) -> LinearOperator:
    return LinearOperatorKronecker([factor.inverse() for factor in one.operators], is_non_singular=one.is_non_singular,
                                   is_self_adjoint=one.is_self_adjoint, is_positive_definite=one.is_positive_definite,
                                   is_square=True)
