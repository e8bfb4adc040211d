"""Lists of tensors with a size of their own and elements that are not set yet: what TensorListReserve and its kin hold."""
from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.shapes import TensorShape
from jitgraph.tensor_arrays.host_values import PersistentList, Stack, Zero, added, unboxed
from jitgraph.tensor_arrays.tensor_array_values import rows_of


class TensorList:
    """Arrays of one dtype, None where none is set, whose shapes all suit `shape` (sizes, None for unknown, or None).

    ``most``: how many elements may be pushed, -1 for any number.
    Every version stays as it is; setting an element of the newest one takes constant time.
    """

    __slots__ = ("entries", "dtype", "shape", "most")

    def __init__(self, entries: Iterable[Any] | PersistentList, dtype: Any, shape: tuple | None, most: int = -1):
        self.entries = entries if isinstance(entries, PersistentList) else PersistentList(list(entries))
        self.dtype, self.shape, self.most = dtype, shape, most

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.entries.size

    def with_entries(self, entries: Iterable[Any] | PersistentList) -> TensorList:
        """A list like this one of other elements."""
        return TensorList(entries, self.dtype, self.shape, self.most)

    def set(self, position: int, value: np.ndarray) -> TensorList:
        """This list with another element.  Raises InvalidArgumentError for a position that there is not, and another dtype."""
        if not 0 <= position < self.size:
            raise _invalid(f"Trying to modify element {position} in a list with {self.size} elements.")
        self.check(value, "Tried to set a tensor with incompatible shape at a list index. Item element shape")
        return self.with_entries(self.entries.replaced(position, value))

    def push(self, value: np.ndarray) -> TensorList:
        """This list with one more element at its end.  Raises InvalidArgumentError if it is full."""
        self.check(value, "Tried to append a tensor with incompatible shape to a list. Op element shape")
        if 0 <= self.most <= self.size:
            raise _invalid(f"Tried to push item into a full list list size: {self.size} max_num_elements: {self.most}")
        return self.with_entries(self.entries.replaced(self.size, value))

    def push_all(self, values: Iterable[np.ndarray]) -> TensorList:
        """This list with many more elements, one after the other."""
        return functools.reduce(TensorList.push, rows_of(values) if isinstance(values, np.ndarray) else values, self)

    def pop(self) -> tuple[TensorList, Any]:
        """(the list without its last element, that element).  Raises IndexError if it is empty."""
        rest, (last,) = self.pop_all(1)
        return rest, last

    def pop_all(self, count: int) -> tuple[TensorList, list[Any]]:
        """(the list without its `count` last elements, these from the end on).  Raises IndexError if there are fewer."""
        if count > self.size:
            raise IndexError("Trying to pop from an empty list.")
        entries = list(self.entries.items())
        rest = len(entries) - count
        return self.with_entries(entries[:rest]), [self.zeros_of(self.shape) if e is None else e for e in entries[rest:][::-1]]

    def check(self, value: np.ndarray, what: str) -> None:
        """Raises InvalidArgumentError if an array cannot be an element."""
        if self.dtype is not None and value.dtype != self.dtype.as_numpy_dtype:
            raise _invalid(f"Invalid data types; op elements {value.dtype} but list elements {_name(self.dtype)}")
        if not _fits(self.shape, value.shape):
            raise _invalid(f"{what}: {_text(value.shape)} list shape: {_text(self.shape)}")

    def element_shape(self, given: tuple | None) -> tuple | None:
        """The shape of elements, of what is known of the list, asked for and set."""
        shape = merged(self.shape, given)
        if _known(shape):
            return shape
        for entry in self.entries.items():
            if entry is not None:
                shape = merged(shape, entry.shape)
        return shape

    def zeros_of(self, shape: tuple | None) -> np.ndarray:
        """Zeros in the place of an element that is not set.  Raises InvalidArgumentError if its shape is not known."""
        if not _known(shape):
            raise _invalid("Trying to read an uninitialized tensor but element_shape is not fully defined: "
                           f"{_text(shape)} and no list element is set.")
        return _zeros(shape, self.dtype)

    def zeros(self) -> TensorList:
        """The gradient of a list through which nothing flows."""
        return self.with_entries([None if entry is None else np.zeros_like(entry) for entry in self.entries.items()])

    def __add__(self, other: Any) -> Any:
        other = unboxed(other)
        if isinstance(other, Zero):
            return self
        mine, theirs = list(self.entries.items()), list(as_list(other, self.dtype).entries.items())
        return self.with_entries([added(a, b) for a, b in zip(mine, theirs)])

    __radd__ = __add__


def as_list(value: Any, dtype: Any = None) -> TensorList:
    """The list behind a handle: of a stack, its elements; of the gradient through which nothing flows, none.

    Raises InvalidArgumentError for a list of another dtype.
    """
    value = unboxed(value)
    if isinstance(value, TensorList):
        if dtype is not None and value.dtype is not None and value.dtype is not dtype:
            raise _invalid(f"Invalid data types; op elements {_name(dtype)} but list elements {_name(value.dtype)}")
        return value
    entries = []
    while isinstance(value, Stack) and value.size:
        value, last = value.pop()
        entries.append(last)
    return TensorList(entries[::-1], dtype, None)


def _name(dtype: Any) -> str:
    """A dtype as TensorFlow's messages name it."""
    return {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)


def _known(shape: tuple | None) -> bool:
    return shape is not None and None not in shape


def _fits(shape: tuple | None, own: tuple) -> bool:
    return shape is None or len(shape) == len(own) and all(a is None or a == b for a, b in zip(shape, own))


def merged(one: tuple | None, other: tuple | None) -> tuple | None:
    """What two shapes have in common.  Raises InvalidArgumentError if they contradict each other."""
    if one is None or other is None:
        return other if one is None else one
    try:
        return tuple(TensorShape(one).merge_with(TensorShape(other)).as_list())
    except ValueError:
        raise _invalid(f"PartialTensorShape: Incompatible shapes during merge: {_text(one)} vs. {_text(other)}") from None


def _zeros(shape: Any, dtype: Any) -> np.ndarray:
    made = np.zeros(shape, dtype.as_numpy_dtype)
    if made.dtype == object:
        made[...] = b""
    return made


def _text(shape: tuple | None) -> str:
    return "<unknown>" if shape is None else "[" + ",".join("?" if d is None else str(d) for d in shape) + "]"


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)


# -- whole lists -------------------------------------------------------------------------------------------------------

def item(held: TensorList, position: int, given: tuple | None) -> np.ndarray:
    """One element.  Raises InvalidArgumentError for a position that there is not."""
    if not 0 <= position < held.size:
        raise _invalid(f"Trying to access element {position} in a list with {held.size} elements.")
    found = held.entries[position]
    if found is None:
        return held.zeros_of(held.element_shape(given))
    merged(given, found.shape)
    return found


def stacked(held: TensorList, given: tuple | None, dtype: Any, count: int = -1) -> np.ndarray:
    """All elements along a new first dimension, `count` if that is not negative."""
    if count >= 0 and held.size != count:
        raise _invalid(f"Operation expected a list with {count} elements but got a list with {held.size} elements.")
    shape = held.element_shape(given)
    if not _known(shape):
        what = "elements of an empty list with non-fully-defined" if not held.size else \
            "list which only contains uninitialized tensors and has a non-fully-defined"
        raise _invalid(f"Tried to stack {what} element_shape: {_text(shape)}")
    whole = _zeros((held.size, *(shape or ())), dtype)
    for number, entry in enumerate(held.entries.items()):
        if entry is not None:
            if entry.shape != shape:
                raise _invalid(f"Tried to stack tensors of shapes {_text(shape)} and {_text(entry.shape)}")
            whole[number, ...] = entry if entry.ndim else entry[()]
    return whole
