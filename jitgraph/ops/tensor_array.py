"""TensorArrays as nodes.

The *flow* of a TensorArray is its value: a host value that a write replaces by another one, which shares storage with
it.  The *handle* says what all its versions have in common, and which elements have been read.  So the order of reads
and writes is that of the flow, and a gradient finds every version that it needs.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph import shape_rules
from jitgraph.graph.errors import InvalidArgumentError, UnimplementedError
from jitgraph.graph.shapes import brackets
from jitgraph.host_values import PersistentList, Zero, added, boxed, unboxed
from jitgraph.op import NOT_DIFFERENTIABLE, op

_UNDEFINED = ("Furthermore, the element shape is not fully defined: {}.  It is possible you are working with a resizeable "
              "TensorArray and stop_gradients is not allowing the gradients to be written.  If you set the full "
              "element_shape property on the forward TensorArray, the proper all-zeros tensor will be returned instead "
              "of incurring this error.")


class Handle:
    """What all versions of one TensorArray of one run share."""

    __slots__ = ("name", "dtype", "element_shape", "dynamic", "clears", "identical", "cleared", "is_gradient")

    def __init__(self, name: str, dtype: Any, element_shape: Any, dynamic: bool, clears: bool, identical: bool,
                 is_gradient: bool = False):
        self.name, self.dtype, self.element_shape = name, dtype, element_shape
        self.dynamic, self.clears, self.identical = dynamic, clears, identical
        self.cleared: set[int] = set()          # elements that may not be read again
        self.is_gradient = is_gradient          # writes to one element add up


class Elements:
    """The value of a flow: the elements, None where nothing was written.  The sum of two adds element by element."""

    __slots__ = ("list", "element_shape")

    def __init__(self, elements: PersistentList, element_shape: Any = None):
        self.list = elements
        self.element_shape = element_shape      # of the elements written so far, where all have the same

    @property
    def size(self) -> int:
        return self.list.size

    def replaced(self, index: int, value: Any) -> Elements:
        """With another element; missing ones before it are not written."""
        elements = self.list
        for k in range(elements.size, index):
            elements = elements.replaced(k, None)
        return Elements(elements.replaced(index, value), np.shape(value))

    def get(self, index: int) -> Any:
        """The element, None if there is none."""
        return self.list[index] if 0 <= index < self.list.size else None

    def zeros(self) -> Elements:
        """As many elements, none of which is written: zeros, as a gradient."""
        return Elements(PersistentList([None] * self.size))

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Zero):
            return self
        few, many = (self, other) if self.written() < other.written() else (other, self)
        total = many
        for index, value in [(k, v) for k, v in enumerate(few.list.items()) if v is not None]:
            total = total.replaced(index, added(total.get(index), value))
        return total

    def written(self) -> int:
        """How many elements are written, or at least an upper limit for it."""
        return sum(1 for value in self.list.items() if value is not None)


class OneElement:
    """A gradient of which a single element is not zero: what arrives from one read of a flow."""

    __slots__ = ("index", "value", "size")

    def __init__(self, index: int, value: Any, size: int):
        self.index, self.value, self.size = index, value, size

    def zeros(self) -> Zero:
        return Zero()

    def get(self, index: int) -> Any:
        return self.value if index == self.index else None

    def full(self) -> Elements:
        """The same as a list of elements."""
        return Elements(PersistentList([None] * self.size)).replaced(self.index, self.value)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Zero):
            return self
        if isinstance(other, OneElement):
            other = other.full()
        return other.replaced(self.index, added(other.get(self.index), self.value))


def _plus(self: Elements, other: Any) -> Any:
    return other + self if isinstance(other, OneElement) else _sum_of_lists(self, other)


_sum_of_lists = Elements.__add__
Elements.__add__ = _plus        # type: ignore[method-assign]
