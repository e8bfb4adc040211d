"""The sum of linear operators as one operator, as simple as it can be."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.scopes import name_scope
from jitgraph.linear_operators.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.linear_operators.matrices import LinearOperatorDiag, LinearOperatorFullMatrix, LinearOperatorLowerTriangular
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.layout import broadcast_static_shape

_IDENTITIES = (LinearOperatorIdentity, LinearOperatorScaledIdentity)
_DIAGONALS = (*_IDENTITIES, LinearOperatorDiag)
_TRIANGLES = (*_DIAGONALS, LinearOperatorLowerTriangular)


def _multiplier(operator: Any) -> Any:
    if isinstance(operator, LinearOperatorScaledIdentity):
        return operator.multiplier
    return ones(operator.batch_shape_tensor(), dtype=operator.dtype)


def _dense(first: Any, second: Any) -> Any:
    if not isinstance(first, _DIAGONALS):
        first, second = second, first           # the one that is added to the other's matrix is the simpler
    return first.add_to_tensor(second.to_dense())


def _identity(first: Any, second: Any, hints: dict) -> LinearOperator:
    of_first, of_second = _multiplier(first), _multiplier(second)
    return LinearOperatorScaledIdentity(num_rows=first.range_dimension_tensor(), multiplier=of_first + of_second, **hints)


# from the simplest on: (the name of the scope, the operators whose sum it is, what makes the sum)
_SUMS: list = [
    ("AddAndReturnScaledIdentity", _IDENTITIES, _identity),
    ("AddAndReturnDiag", _DIAGONALS,
     lambda first, second, hints: LinearOperatorDiag(diag=first.diag_part() + second.diag_part(), **hints)),
    ("AddAndReturnTriL", _TRIANGLES,
     lambda first, second, hints: LinearOperatorLowerTriangular(tril=_dense(first, second), **hints)),
    ("AddAndReturnMatrix", (LinearOperator,),
     lambda first, second, hints: LinearOperatorFullMatrix(matrix=_dense(first, second), **hints))]


def add_operators(operators: Any, operator_name: str | None = None, name: str | None = None) -> list:
    """[the sum of `operators`], a multiple of the identity, a diagonal, triangular or any matrix, whichever it can be.

    Raises ValueError if there is none, or their shapes differ, TypeError for what is no operator.
    """
    left = list(operators)
    if not left:
        raise ValueError(f"Argument 'operators' must contain at least one operator.  Found: {left}")
    if not all(isinstance(one, LinearOperator) for one in left):
        raise TypeError(f"Argument 'operators' must contain only LinearOperator instances.  Found: {left}")
    _check_shapes(left)
    with name_scope(name or "add_operators", values=[parent for one in left for parent in one.graph_parents]):
        for scope, kinds, make in _SUMS:
            left = _added(left, scope, kinds, make, operator_name)
        return left


def _added(left: list, scope: str, kinds: tuple, make: Any, operator_name: str | None) -> list:
    """`left` with all operators of some kinds added up, in the place of the first of them."""
    pending, done = left[::-1], []
    while pending:
        first = pending.pop()
        places = [i for i in range(len(pending) - 1, -1, -1) if isinstance(pending[i], kinds)]
        if not places or not isinstance(first, kinds):
            done.append(first)
            continue
        second = pending.pop(places[0])
        positive = first.is_positive_definite and second.is_positive_definite
        hints = {"is_non_singular": True if positive else None,
                 "is_self_adjoint": first.is_self_adjoint and second.is_self_adjoint, "is_positive_definite": positive,
                 "name": operator_name or f"Add/{first.name}__{second.name}/"}
        with name_scope(scope, values=first.graph_parents + second.graph_parents):
            pending.append(make(first, second, hints))
    return done


def _check_shapes(operators: list) -> None:
    for which in ("domain", "range"):
        sizes = [(one.name, getattr(one, f"{which}_dimension").value) for one in operators]
        sizes = [one for one in sizes if one[1] is not None]
        if len({size for _, size in sizes}) > 1:
            raise ValueError(f"Operators must have the same {which} dimension. Found: {sizes}")
    batch = operators[0].batch_shape
    for one in operators[1:]:
        batch = broadcast_static_shape(batch, one.batch_shape)
