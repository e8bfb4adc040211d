"""The number of operations of a graph that default seeds are made of."""
from __future__ import annotations

from typing import Any


class Ids:
    """The count of one graph, which the functions of its conditionals and loops share.

    ``shapes``: those for which TensorFlow keeps what gradients computed from them, and does not compute it again.
    """

    __slots__ = ("last", "shapes")

    def __init__(self, shapes: set | None = None) -> None:
        self.last = 0
        self.shapes: set = set() if shapes is None else shapes

    def first_of(self, shapes: Any) -> bool:
        """Whether these shapes are new here; from now on they are not."""
        new = shapes not in self.shapes
        self.shapes.add(shapes)
        return new
