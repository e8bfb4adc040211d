"""The adjoint and the inverse of another operator."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.linear_operators.algebra import RegisterAdjoint, RegisterInverse, RegisterSolve
from jitgraph.linear_operators.arguments import combined_hint
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.elementwise.complex_numbers import conj
from jitgraph.ops.linalg.linalg_functions import adjoint as conjugate_transpose


def _hints(operator: LinearOperator, given: dict[str, Any], what: str) -> dict[str, Any]:
    """The hints that an operator and its adjoint or inverse share.  Raises ValueError if they contradict each other."""
    found = {}
    for name, hint in given.items():
        said = name.removeprefix("is_").replace("_", "-")
        found[name] = combined_hint(operator, name, hint, f"An operator is {said} if and only if its {what} is {said}.")
    return found


class _Derived(LinearOperator):
    """What an operator determines, as it is: singular, self-adjoint or positive definite if and only if the operator is."""

    def __init__(self, operator: LinearOperator, what: str, name: str, hints: dict[str, Any]):
        self._operator = operator
        hints = _hints(operator, hints, what)
        with name_scope(name, values=operator.graph_parents):
            super().__init__(dtype=operator.dtype, graph_parents=operator.graph_parents, name=name, **hints)

    @property
    def operator(self) -> LinearOperator:
        """The operator that it is derived from."""
        return self._operator

    def _assert_non_singular(self) -> Any:
        return self.operator.assert_non_singular()

    def _assert_positive_definite(self) -> Any:
        return self.operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Any:
        return self.operator.assert_self_adjoint()


class LinearOperatorAdjoint(_Derived):
    """The conjugate transpose of `operator`."""

    def __init__(self, operator: LinearOperator, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = None, name: str | None = None):
        """Raises ValueError for hints that contradict those of the operator."""
        super().__init__(operator, "adjoint", name or f"{operator.name}_adjoint",
                         {"is_square": is_square, "is_non_singular": is_non_singular, "is_self_adjoint": is_self_adjoint,
                          "is_positive_definite": is_positive_definite})

    def _shape(self) -> TensorShape:
        shape = self.operator.shape
        return shape[:-2].concatenate([shape[-1], shape[-2]])

    def _shape_tensor(self) -> Any:
        shape = self.operator.shape_tensor()
        return concat([shape[:-2], [shape[-1], shape[-2]]], axis=-1)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self.operator.matvec(x, adjoint=not adjoint)

    def _determinant(self) -> Any:
        determinant = self.operator.determinant()
        return determinant if self.is_self_adjoint else conj(determinant)

    def _log_abs_determinant(self) -> Any:
        return self.operator.log_abs_determinant()

    def _trace(self) -> Any:
        trace = self.operator.trace()
        return trace if self.is_self_adjoint else conj(trace)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return self.operator.solvevec(rhs, adjoint=not adjoint)

    def _to_dense(self) -> Any:
        dense = self.operator.to_dense()
        return dense if self.is_self_adjoint else conjugate_transpose(dense)


class LinearOperatorInversion(_Derived):
    """The inverse of `operator`: products with it are solutions of that."""

    def __init__(self, operator: LinearOperator, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = None, name: str | None = None):
        """Raises ValueError for hints that contradict those of the operator, and if it is singular or not square."""
        for hint, given in (("is_non_singular", is_non_singular), ("is_square", is_square)):
            known = getattr(operator, hint)
            if known is False or given is False:
                raise ValueError(f"operator and supplied hints must have `{hint}` equal to `True` or `None`.  Found {known}, "
                                 f"{given}")
        super().__init__(operator, "inverse", name or f"{operator.name}_inv",
                         {"is_square": is_square, "is_non_singular": is_non_singular, "is_self_adjoint": is_self_adjoint,
                          "is_positive_definite": is_positive_definite})

    def _shape(self) -> TensorShape:
        return self.operator.shape

    def _shape_tensor(self) -> Any:
        return self.operator.shape_tensor()

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Any:
        return 1.0 / self.operator.determinant()

    def _log_abs_determinant(self) -> Any:
        return -1.0 * self.operator.log_abs_determinant()

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)


def _hints_of(operator: LinearOperator) -> dict[str, Any]:
    return {name: getattr(operator, name) for name in ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")}


@RegisterAdjoint(LinearOperator)
def _adjoint(operator: LinearOperator) -> LinearOperator:
    return LinearOperatorAdjoint(operator, **_hints_of(operator))


@RegisterAdjoint(LinearOperatorAdjoint)
def _adjoint_of_adjoint(operator: LinearOperatorAdjoint) -> LinearOperator:
    return operator.operator


@RegisterInverse(LinearOperator)
def _inverse(operator: LinearOperator) -> LinearOperator:
    return LinearOperatorInversion(operator, **_hints_of(operator))


@RegisterInverse(LinearOperatorInversion)
def _inverse_of_inverse(operator: LinearOperatorInversion) -> LinearOperator:
    return operator.operator


@RegisterSolve(LinearOperatorInversion, LinearOperator)
def _inverse_solved(a: LinearOperatorInversion, b: LinearOperator) -> LinearOperator:
    return a.operator.matmul(b)
