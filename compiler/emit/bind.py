"""bind: the numbers of a plan as functions of its sizes, written out as one Python function each.

`dims(s0, s1, ...)` returns every number that the instruction table needs; `valid(s0, s1, ...)` says whether the plan
holds for these sizes.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .. import sizes


class Numbers:
    """Collects the size expressions of a plan; each distinct one is computed once."""

    def __init__(self) -> None:
        self.sources: dict[str, int] = {}

    def add(self, dim: sizes.Dim) -> int:
        """The position of `dim` in what the compiled function returns."""
        return self.sources.setdefault(sizes.source(dim), len(self.sources))

    def compile(self, symbols: Iterable[str]) -> Callable[..., tuple[int, ...]]:
        """A function of the symbols that returns the tuple of all numbers."""
        text = f"def dims({', '.join(symbols)}):\n    return ({''.join(s + ', ' for s in self.sources)})"
        scope: dict[str, Any] = {}
        exec(text, scope)
        return scope["dims"]


def compile_guards(space: sizes.SizeSpace) -> Callable[..., bool]:
    """A function of the symbols: True where every question the passes asked has the same answer."""
    checks = [f"{s} >= 2" for s in space.symbols] + space.guard_source()
    text = f"def valid({', '.join(space.symbols)}):\n    return {' and '.join(checks) or 'True'}"
    scope: dict[str, Any] = {}
    exec(text, scope)
    return scope["valid"]
