"""The lowered graph: tensors computed by primitives.

A `Node` is one primitive applied to `Value`s; its kind is declared in `primitives`, and `builder.Builder` makes it.

Values trace: scalar expressions of `jitgraph.declare.prim` applied to a Value append map nodes through the Builder.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.declare import prim

from . import sizes

if TYPE_CHECKING:
    from jitgraph.graph.dtypes import DType
    from jitgraph.graph.operation import Operation

    from .builder import Builder
    from .primitives.kind import Kind


class Value(prim.Operators):
    """One tensor of the lowered graph."""

    __slots__ = ("node", "index", "shape", "dtype", "builder", "_axes")

    def __init__(self, node: Node, index: int, shape: Iterable[sizes.Dim], dtype: DType, builder: Builder) -> None:
        self.node, self.index, self.dtype, self.builder = node, index, dtype, builder
        self.shape: tuple[Any, ...] = tuple(shape)      # a `sizes.Dim` each; numbers, where sizes are bound
        self._axes: tuple[int, ...] | None = None

    def __prim__(self, name: str, args: Sequence[Any]) -> Value:
        return self.builder.map(name, args)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def axes(self) -> tuple[int, ...]:
        """Its dimensions by number, -1 for those of size 1."""
        if self._axes is None:
            self._axes = tuple([-1 if sizes.is_one(d) else k for k, d in enumerate(self.shape)])
        return self._axes

    @property
    def is_input(self) -> bool:
        """Whether it comes from outside: a feed, or a value of an earlier segment."""
        return self.node.kind.is_given and not self.node.kind.is_known

    @property
    def constant(self) -> np.ndarray | None:
        """The value as an ndarray where it is known now (elements may be symbolic sizes), else None."""
        return self.node.attrs.get("array") if self.node.kind.is_known else None

    def __repr__(self) -> str:
        return f"%{self.node.id}.{self.index}:{self.dtype.name}{list(self.shape)}"


class Node:
    """One primitive; `op` is the graph operation it came from, `position` that operation's place in the order."""

    __slots__ = ("id", "kind", "inputs", "attrs", "outputs", "op", "position", "after")

    def __init__(self, id: int, kind: Kind, inputs: list[Value], attrs: dict[str, Any], op: Operation | None,
                 position: int) -> None:
        self.id, self.inputs, self.attrs, self.op, self.position = id, inputs, attrs, op, position
        self.kind: Any = kind           # of a view, and of what is fused, passes ask more than a Kind answers
        self.outputs: list[Value] = []
        self.after: list[Node] = []

    @property
    def out(self) -> Value:
        return self.outputs[0]

    @property
    def variable(self) -> Operation | None:
        """The variable whose buffer its value is, or None."""
        return self.attrs["variable"] if self.kind.is_state else None

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v}" for k, v in self.attrs.items() if k != "array")
        return f"{self.outputs} = {self.kind}({', '.join(map(str, self.inputs))}) {shown}"


def broadcast_shapes(shapes: Sequence[Sequence[sizes.Dim]]) -> sizes.Shape:
    """NumPy's broadcasting rule over known or symbolic sizes.  Raises ValueError where the sizes do not go together."""
    rank = max((len(s) for s in shapes), default=0)
    out = []
    for k in range(-rank, 0):
        size: sizes.Dim = 1
        for s in shapes:
            if len(s) >= -k:
                d = s[k]
                if not isinstance(d, sizes.Size) and d == 1:
                    continue
                if not isinstance(size, sizes.Size) and size == 1:
                    size = d
                elif not sizes.same(size, d) and size != d:
                    raise ValueError(f"shapes {' and '.join(str(list(s)) for s in shapes)} do not broadcast")
        out.append(size)
    return tuple(out)


def shape_key(shape: Iterable[sizes.Dim]) -> tuple[sizes.Terms | int, ...]:
    return tuple(d.terms if isinstance(d, sizes.Size) else int(d) for d in shape)


def alike(a: Iterable[sizes.Dim], b: Iterable[sizes.Dim]) -> bool:
    """Whether shapes are the same for the sizes at hand, which asks nothing of others."""
    return numbers(a) == numbers(b)


def numbers(shape: Iterable[sizes.Dim]) -> list[int]:
    """The sizes of a shape as they are now, for messages."""
    return [sizes.hint_of(d) for d in shape]


def same_shape(a: Sequence[sizes.Dim], b: Sequence[sizes.Dim]) -> bool:
    return len(a) == len(b) and all(sizes.same(x, y) for x, y in zip(a, b))
