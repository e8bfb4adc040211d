"""The stacks of graph files: what the loops of a gradient take off them, the loops before have pushed.

A file does not say what shape the elements of a stack have; what is pushed tells.  Where that is known before the run, no
stack is needed.
"""
from __future__ import annotations

import functools
from typing import Any

from jitgraph.control.frames.guards import Guards, Source
from jitgraph.control.frames.shapes import wider
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

_SMALL = 64         # elements of a value that is known before the run


class Stack:
    """How many operations push onto a stack, and, of those built so far, the shapes and known values (or None)."""

    def __init__(self) -> None:
        self.pushes = 0
        self.shapes: dict[Operation, Any] = {}
        self.values: dict[Operation, Any] = {}

    def push(self, op: Operation, tensor: Tensor) -> bool:
        """Notes what `op` pushes; tells whether that is known, so that it need not."""
        value = constant_value(tensor)
        self.values[op] = value if value is not None and value.size <= _SMALL else None
        self.shapes[op] = tensor._shape
        return self.value is not None

    @property
    def value(self) -> Any:
        """The value of all elements, None if it is not known."""
        found = list(self.values.values())
        return found[0] if len(found) == self.pushes == 1 else None

    @property
    def shape(self) -> Any:
        """The static shape of the elements."""
        return functools.reduce(wider, self.shapes.values()) if self.shapes else None


class Stacks:
    """The stacks that `ops` push onto and pop from."""

    def __init__(self, ops: list[Operation], guards: Guards):
        self._sources = guards.sources
        self._stacks: dict[Source, Stack] = {}
        for op in ops:
            stack = self.of(op)
            if stack is not None and op.opdef.element == "push":
                stack.pushes += 1

    def of(self, op: Operation) -> Stack | None:
        """The stack that a push or pop works on; None for other operations."""
        if op.opdef is None or op.opdef.element not in ("push", "pop") or op.inputs[0] not in self._sources:
            return None
        return self._stacks.setdefault(self._sources[op.inputs[0]], Stack())
