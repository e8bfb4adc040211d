"""TensorArrays and stacks that operations change in place, as those of graph files do: what stands behind a handle."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.tensor_arrays.host_values import unboxed
from jitgraph.tensor_arrays.tensor_array_values import Elements, Handle


class ArrayInPlace:
    """A TensorArray, and those for the gradients of its elements, by their sources.

    A gradient may repeat what was done to an array before (`replays`): elements that are there already then stay as they
    are, and may be read once more.
    """

    def __init__(self, handle: Handle, size: int, shapes: list | None = None):
        self.handle = handle
        self.elements = Elements.missing(size)
        self.gradients: dict[str, ArrayInPlace] = {}
        self._shapes = shapes           # of a gradient: the shapes of the elements that it is the gradient of

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.elements.size

    def gradient(self, source: str) -> ArrayInPlace:
        """The array for the gradients that are called `source`; writes to one element of it add up."""
        if self.handle.is_gradient:
            return self
        found = self.gradients.get(source)
        if found is None:
            shapes = [None if one is None else np.shape(one) for one in self.elements.list.items()]
            found = self.gradients[source] = ArrayInPlace(self.handle.gradient(), len(shapes), shapes)
        return found

    def write(self, index: int, value: np.ndarray, replays: bool = False) -> None:
        """Puts `value`, which is kept, at `index`.  Raises InvalidArgumentError as TensorFlow does."""
        if replays and self.elements.get(index) is not None:
            return
        self.elements = self.handle.write(self.elements, index, value)

    def read(self, index: int, replays: bool = False) -> np.ndarray:
        """The element at `index`; zeros where no gradient arrived."""
        if self._shapes is not None and 0 <= index < len(self._shapes) and self.elements.get(index) is None:
            shape = self._shapes[index]
            if shape is not None:
                return np.zeros(shape, self.handle.dtype.as_numpy_dtype)
        return self.handle.read(self.elements, index, replays)


class StackInPlace:
    """A stack of at most `limit` arrays, any number if that is negative."""

    def __init__(self, name: str, limit: int):
        self.name, self.limit = name, limit
        self.items: list[np.ndarray] = []

    def push(self, value: np.ndarray) -> None:
        """Puts `value`, which is kept, on top.  Raises InvalidArgumentError if the stack is full."""
        if 0 <= self.limit <= len(self.items):
            raise InvalidArgumentError(None, None, f"Stack[{self.name}] overflowed its max_size ({self.limit})")
        self.items.append(value)

    def pop(self) -> np.ndarray:
        """Takes the top off.  Raises InvalidArgumentError if there is none."""
        if not self.items:
            raise InvalidArgumentError(None, None, f"Stack[{self.name}] is empty when calling Pop().")
        return self.items.pop()


def array_behind(handle: Any) -> ArrayInPlace:
    """The TensorArray of a handle.  Raises InvalidArgumentError for handles of other things."""
    found = unboxed(handle)
    if not isinstance(found, ArrayInPlace):
        raise InvalidArgumentError(None, None, "The handle is not that of a TensorArray.")
    return found


def stack_behind(handle: Any) -> StackInPlace:
    """The stack of a handle.  Raises InvalidArgumentError for handles of other things."""
    found = unboxed(handle)
    if not isinstance(found, StackInPlace):
        raise InvalidArgumentError(None, None, "The handle is not that of a stack.")
    return found
