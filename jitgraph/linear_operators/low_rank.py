"""An operator and a matrix of low rank, added."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import Dimension, TensorShape, dimension_at_index, dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators.arguments import as_parameter
from jitgraph.linear_operators.identity import LinearOperatorIdentity
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.linear_operators.matrices import LinearOperatorDiag
from jitgraph.linear_operators.solving import cholesky_solve_broadcast, solve_broadcast
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import broadcast_dynamic_shape, broadcast_static_shape
from jitgraph.ops.arrays.matrix_parts import matrix_diag_part
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.elementary import exp, log
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.matrix_ops import cholesky, matrix_determinant
from jitgraph.ops.reduce.reductions import reduce_sum


class LinearOperatorLowRankUpdate(LinearOperator):
    """``L + U D V^H``: `base_operator`, `u` [..., M, K], the diagonal `diag_update` [..., K] (1 if None), `v` (`u` if None).

    Solutions and determinants are those of L and of a K by K matrix, by the identity of Woodbury and the lemma of the determinant
    (https://en.wikipedia.org/wiki/Woodbury_matrix_identity).
    """

    def __init__(self, base_operator: LinearOperator, u: Any, diag_update: Any = None, v: Any = None,
                 is_diag_update_positive: bool | None = None, is_non_singular: bool | None = None,
                 is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None, is_square: bool | None = None,
                 name: str = "LinearOperatorLowRankUpdate"):
        """Raises ValueError for hints that cannot be true and shapes that do not fit."""
        if diag_update is None:
            if is_diag_update_positive is False:
                raise ValueError("Default diagonal is the identity, which is positive.  However, user set "
                                 "'is_diag_update_positive' to False.")
            is_diag_update_positive = True
        self._use_cholesky = (base_operator.is_positive_definite and base_operator.is_self_adjoint
                              and is_diag_update_positive and v is None)
        if base_operator.is_self_adjoint and v is None and not base_operator.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is self-adjoint, this must "
                                 "be a self-adjoint operator.")
            is_self_adjoint = True
        if self._use_cholesky:
            if is_positive_definite is False or is_self_adjoint is False or is_non_singular is False:
                raise ValueError("Arguments imply this is self-adjoint positive-definite operator.")
            is_positive_definite = is_self_adjoint = True
        with name_scope(name, values=[*base_operator.graph_parents, u, diag_update, v]):
            self._u = as_parameter(u, name="u")
            self._v = self._u if v is None else as_parameter(v, name="v")
            self._diag_update = None if diag_update is None else as_parameter(diag_update, name="diag_update")
            self._base_operator = base_operator
            parents = [p for p in (*base_operator.graph_parents, self._u, self._diag_update, self._v) if p is not None]
            super().__init__(dtype=base_operator.dtype, graph_parents=parents, is_non_singular=is_non_singular,
                             is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite, is_square=is_square,
                             name=name)
            self._diag_operator = self._make_diag_operator(is_diag_update_positive)
            self._is_diag_update_positive = is_diag_update_positive
            self._check_shapes()

    def _make_diag_operator(self, positive: bool | None) -> LinearOperator:
        if self._diag_update is not None:
            return LinearOperatorDiag(self._diag_update, is_positive_definite=positive)
        known = dimension_value(self.u.shape[-1])
        return LinearOperatorIdentity(num_rows=shape_of(self.u)[-1] if known is None else known, dtype=self.dtype)

    def _check_shapes(self) -> None:
        factors = broadcast_static_shape(self.u.shape, self.v.shape)
        batch = broadcast_static_shape(self.base_operator.batch_shape, factors[:-2])
        Dimension(self.base_operator.domain_dimension).assert_is_compatible_with(factors[-2])
        if self._diag_update is not None:
            dimension_at_index(factors, -1).assert_is_compatible_with(self._diag_update.shape[-1])
            broadcast_static_shape(batch, self._diag_update.shape[:-1])

    @property
    def u(self) -> Any:
        """U, [..., M, K]."""
        return self._u

    @property
    def v(self) -> Any:
        """V, [..., N, K]."""
        return self._v

    @property
    def is_diag_update_positive(self) -> bool | None:
        """Whether D is positive, None if that is not known."""
        return self._is_diag_update_positive

    @property
    def diag_update(self) -> Any:
        """The diagonal of D, None for the identity."""
        return self._diag_update

    @property
    def diag_operator(self) -> LinearOperator:
        """D."""
        return self._diag_operator

    @property
    def base_operator(self) -> LinearOperator:
        """L."""
        return self._base_operator

    def _shape(self) -> TensorShape:
        batch = broadcast_static_shape(self.base_operator.batch_shape, self.u.shape[:-2])
        return batch.concatenate(self.base_operator.shape[-2:])

    def _shape_tensor(self) -> Any:
        batch = broadcast_dynamic_shape(self.base_operator.batch_shape_tensor(), shape_of(self.u)[:-2])
        return concat([batch, self.base_operator.shape_tensor()[-2:]], axis=0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        left, right = (self.v, self.u) if adjoint else (self.u, self.v)
        of_base = self.base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner = self.diag_operator.matmul(matmul(right, x, adjoint_a=True, adjoint_b=adjoint_arg), adjoint=adjoint)
        return of_base + matmul(left, inner)

    def _determinant(self) -> Any:
        if self.is_positive_definite:
            return exp(self.log_abs_determinant())
        of_small = matrix_determinant(self._make_capacitance())
        of_diag = self.diag_operator.determinant()
        return of_small * of_diag * self.base_operator.determinant()

    def _log_abs_determinant(self) -> Any:
        of_diag = self.diag_operator.log_abs_determinant()
        of_base = self.base_operator.log_abs_determinant()
        if self._use_cholesky:
            of_small = 2 * reduce_sum(log(matrix_diag_part(cholesky(self._make_capacitance()))), axis=[-1])
        else:
            of_small = log(absolute(matrix_determinant(self._make_capacitance())))
            if self.dtype.is_complex:
                of_small = cast(of_small, dtype=self.dtype)
        return of_small + of_diag + of_base

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        if self.base_operator.is_non_singular is False:
            raise ValueError("Solve not implemented unless this is a perturbation of a non-singular LinearOperator.")
        left, right = (self.v, self.u) if adjoint else (self.u, self.v)
        of_base = self.base_operator.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner = matmul(right, of_base, adjoint_a=True)
        if self._use_cholesky:
            inner = cholesky_solve_broadcast(cholesky(self._make_capacitance()), inner)
        else:
            inner = solve_broadcast(self._make_capacitance(), inner, adjoint=adjoint)
        return of_base - self.base_operator.solve(matmul(left, inner), adjoint=adjoint)

    def _make_capacitance(self) -> Tensor:
        """``D^-1 + V^H L^-1 U``"""
        inner = matmul(self.v, self.base_operator.solve(self.u), adjoint_a=True)
        return self._diag_operator.inverse().add_to_tensor(inner)
