"""What an operation depends on, step by step."""
from __future__ import annotations

from collections.abc import Callable, Container, Iterable

from jitgraph.graph.operation import Operation


def reaches(start: Operation, goals: Container[Operation], before: Callable[[Operation], Iterable[Operation]]) -> bool:
    """Whether `before`, which gives the operations that come just before one, leads from `start` to one of `goals`."""
    pending, seen = [start], set()
    while pending:
        op = pending.pop()
        if op in goals:
            return True
        if op not in seen:
            seen.add(op)
            pending.extend(before(op))
    return False
