"""What becomes of linear operators: which function gives the adjoint, the inverse, the product ... for which classes."""
from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any

from jitgraph.graph.scopes import name_scope


class _Registry:
    """The functions of one operation, by the classes of the operators."""

    def __init__(self, title: str, missing: str):
        self.title, self._missing = title, missing
        self.functions: dict[tuple[type, ...], Callable] = {}

    def __call__(self, *operators: Any, name: str | None = None) -> Any:
        """The result for operators, by the function of the nearest bases of their classes.  ValueError if there is none."""
        ways = [list(enumerate(inspect.getmro(type(operator)))) for operator in operators]
        found = [(sum(step for step, _ in way), self.functions[key]) for way in itertools.product(*ways)
                 if (key := tuple(cls for _, cls in way)) in self.functions]
        if not found:
            raise ValueError(self._missing.format(*map(type, operators)))
        with name_scope(name, self.title):
            return min(found, key=lambda entry: entry[0])[1](*operators)


adjoint = _Registry("Adjoint", "No adjoint registered for {}")
cholesky = _Registry("Cholesky", "No cholesky decomposition registered for {}")
inverse = _Registry("Inverse", "No inverse registered for {}")
matmul = _Registry("Matmul", "No matmul registered for {}.matmul({})")
solve = _Registry("Solve", "No solve registered for {}.solve({})")


class _Register:
    """Decorator of a function that does an operation for classes of operators.  TypeError and ValueError as for RegisterKL."""

    registry: _Registry

    def __init__(self, *classes: type):
        self._key = classes

    def __call__(self, function: Callable) -> Callable:
        title = self.registry.title
        if not callable(function):
            raise TypeError(f"{title.lower()}_fn must be callable, received: {function}")
        if self._key in self.registry.functions:
            raise ValueError(f"{title}({', '.join(cls.__name__ for cls in self._key)}) has already been registered.")
        self.registry.functions[self._key] = function
        return function


class RegisterAdjoint(_Register):
    """``@RegisterAdjoint(cls)``"""

    registry = adjoint


class RegisterCholesky(_Register):
    """``@RegisterCholesky(cls)``"""

    registry = cholesky


class RegisterInverse(_Register):
    """``@RegisterInverse(cls)``"""

    registry = inverse


class RegisterMatmul(_Register):
    """``@RegisterMatmul(cls of the left, cls of the right)``"""

    registry = matmul


class RegisterSolve(_Register):
    """``@RegisterSolve(cls of the operator, cls of the right hand side)``"""

    registry = solve
