"""What is known of the product of two operators from what is known of each."""
from __future__ import annotations

from typing import Any

from jitgraph.linear_operators.linear_operator import LinearOperator


def is_square(a: LinearOperator, b: LinearOperator) -> bool | None:
    """Whether the product is square, None if that is not known."""
    if a.is_square and b.is_square:
        return True
    if a.is_square is False and b.is_square is False:
        return a.range_dimension == b.domain_dimension
    return False if a.is_square != b.is_square and a.is_square is not None else None


def non_singular(a: LinearOperator, b: LinearOperator) -> bool | None:
    """Whether the product has an inverse."""
    if a.is_non_singular is False or b.is_non_singular is False:
        return False
    return a.is_non_singular and b.is_non_singular


def of_commuting(a: LinearOperator, b: LinearOperator) -> dict[str, Any]:
    """The hints of the product of two operators that commute."""
    adjoints = {a.is_self_adjoint, b.is_self_adjoint}
    self_adjoint = True if adjoints == {True} else False if adjoints == {True, False} else None
    definite = adjoints == {True} and a.is_positive_definite is True and b.is_positive_definite is True
    return {"is_non_singular": non_singular(a, b), "is_self_adjoint": self_adjoint,
            "is_positive_definite": True if definite else None, "is_square": True}


def of_product(a: LinearOperator, b: LinearOperator) -> dict[str, Any]:
    """The hints of the product of any two operators."""
    square = is_square(a, b)
    if square is False:
        return {"is_non_singular": False, "is_self_adjoint": False, "is_positive_definite": False, "is_square": False}
    return {"is_non_singular": non_singular(a, b) if square else None, "is_square": square}
