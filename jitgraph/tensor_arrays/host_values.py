"""What tensors of dtype variant hold at run time: immutable values of the host, each in a 0-d object array.

An operation that "changes" such a value makes a new one that shares storage with the old, in constant time.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

_OBJECT = np.dtype(object)

Column = Sequence[Any] | np.ndarray         # many arrays: a list of them, or one array, whose rows they are


def boxed(value: Any) -> np.ndarray:
    """A host value as the 0-d object array that stands for it in a run."""
    array = np.empty((), object)
    array[()] = value
    return array


def unboxed(array: Any) -> Any:
    """The host value in a 0-d object array."""
    return array[()] if isinstance(array, np.ndarray) and array.dtype is _OBJECT else array


class PersistentList:
    """A list of which every version stays usable; reading and writing the newest one takes constant time.

    One version owns the array; each of the others knows by which element it differs from a newer one.  Asking an old
    version turns the differences on the way around (Baker's trick), so that going back through the versions one by
    one, as a gradient does, costs constant time per step too.
    """

    __slots__ = ("_items", "_next", "_change")

    def __init__(self, items: list):
        self._items: list | None = items            # only of the version that owns the array
        self._next: PersistentList | None = None    # else: the version from which it differs ...
        self._change: tuple[int, Any] = (-1, None)  # ... by this element (position, value); -1: one element fewer

    def _own(self) -> list:
        """Makes this version the owner of the array."""
        if self._items is not None:
            return self._items
        path = []
        version: PersistentList = self
        while version._items is None:
            path.append(version)
            assert version._next is not None
            version = version._next
        items = version._items
        for target in reversed(path):
            position, value = target._change
            version._change = _turned(items, position, value)
            version._items, version._next = None, target
            target._items, target._next = items, None
            version = target
        return items

    def __getitem__(self, position: int) -> Any:
        items = self._items
        return (self._own() if items is None else items)[position]

    @property
    def size(self) -> int:
        """The number of elements."""
        items = self._items
        return len(self._own() if items is None else items)

    def items(self) -> Iterator:
        """The elements; use them before another version is asked."""
        return iter(self._own())

    def replaced(self, position: int, value: Any) -> PersistentList:
        """This list with another element at `position`; one past the end, with one more element."""
        items = self._own()
        newer = PersistentList(items)
        self._change = _turned(items, position, value) if position < len(items) else (-1, None)
        if self._change[0] < 0:
            items.append(value)
        self._items, self._next = None, newer
        return newer


def _turned(items: list, position: int, value: Any) -> tuple[int, Any]:
    """Applies a difference to the array; returns the one that undoes it."""
    if position < 0:
        return len(items) - 1, items.pop()
    if position == len(items):
        items.append(value)
        return -1, None
    before, items[position] = items[position], value
    return position, before


class Stack:
    """A stack of arrays, immutable: pushing and popping give other stacks.  The sum of two adds entry by entry,
    from the top."""

    __slots__ = ("_entries", "_count", "_below", "size")

    def __init__(self, entries: Column = (), count: int = 0, below: Stack | None = None):
        self._entries, self._count, self._below = entries, count, below     # the first `count` entries lie on `below`
        self.size: int = count if below is None else below.size + count

    def push(self, value: Any) -> Stack:
        """This stack with `value` on top."""
        return Stack((value,), 1, self)

    def push_all(self, values: Column) -> Stack:
        """This stack with many values on top, the last uppermost; an array, which is kept, gives its rows."""
        return Stack(values, len(values), self) if len(values) else self

    def pop(self) -> tuple[Stack, Any]:
        """(the stack without its top, the top).  Raises IndexError if it is empty."""
        count = self._count
        if not count:
            raise IndexError("Trying to pop from an empty list.")
        return self._without(1), element(self._entries, count - 1)

    def pop_all(self, count: int) -> tuple[Stack, Column]:
        """(the stack without its `count` uppermost entries, these from the top on, in one array where they lie in one).
        Raises IndexError if there are fewer."""
        if self._count >= count:
            return self._without(count), self._entries[self._count - count:self._count][::-1]
        rest, found = self, []
        for _ in range(count):
            rest, value = rest.pop()
            found.append(value)
        return rest, found

    def _without(self, count: int) -> Stack:
        if count < self._count or self._below is None:
            return Stack(self._entries, self._count - count, self._below)
        return self._below

    def zeros(self) -> Zero:
        """The gradient of a stack through which nothing flows."""
        return ZERO

    def __add__(self, other: Any) -> Any:
        other = unboxed(other)
        if isinstance(other, Zero):
            return self
        pairs = []
        a: Stack = self
        b: Stack = other
        while a.size and b.size:
            (a, x), (b, y) = a.pop(), b.pop()
            pairs.append(added(x, y))
        total = a if a.size else b         # below the end of the shorter one are zeros
        for value in reversed(pairs):
            total = total.push(value)
        return total


def element(entries: Column, number: int) -> Any:
    """One entry of a sequence, or of an array along its first axis, as an array."""
    if isinstance(entries, np.ndarray) and entries.ndim == 1:
        return entries[number:number + 1].reshape(())
    return entries[number]


class Zero:
    """The gradient of any host value through which nothing flows."""

    def zeros(self) -> Zero:
        return self

    def pop(self) -> tuple[Zero, Any]:
        return self, None

    def pop_all(self, count: int) -> tuple[Zero, Column]:
        return self, [None] * count

    def push(self, value: Any) -> Stack:
        return Stack().push(value)

    def push_all(self, values: Column) -> Stack:
        return Stack().push_all(values)

    def __add__(self, other: Any) -> Any:
        return unboxed(other)

    __radd__ = __add__


ZERO = Zero()


def copied(array: Any) -> Any:
    """The array in memory of its own, where it lies: on the host or on a device; there its rows lie one behind the other."""
    return np.array(array, order="C") if isinstance(array, (np.ndarray, np.generic)) else array.copy()


def added(a: Any, b: Any) -> Any:
    """The sum of two gradients, arrays or host values; None is zero."""
    if a is None or b is None:
        return b if a is None else a
    a, b = unboxed(a), unboxed(b)
    total = a + b
    return total if isinstance(total, (np.ndarray, np.generic)) else boxed(total)
