"""What TensorArrays hold at run time: a handle that all versions share, and elements, one value per version."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.shapes import brackets
from jitgraph.tensor_arrays.host_values import ZERO, Column, PersistentList, Zero, added, element, unboxed

_UNDEFINED = ("Could not read from TensorArray index {}.  Furthermore, the element shape is not fully defined: {}.  It is "
              "possible you are working with a resizeable TensorArray and stop_gradients is not allowing the gradients "
              "to be written.  If you set the full element_shape property on the forward TensorArray, the proper "
              "all-zeros tensor will be returned instead of incurring this error.")


FEW = 256               # numbers that are compared sooner one by one than by NumPy


class Handle:
    """What all versions of one TensorArray of one run share, and which of its elements may not be read again."""

    __slots__ = ("name", "dtype", "element_shape", "dynamic", "clears", "identical", "cleared", "is_gradient")

    def __init__(self, name: str, attrs: dict[str, Any], is_gradient: bool = False):
        self.name = attrs["tensor_array_name"] or name
        self.dtype = attrs["dtype"]
        self.element_shape = attrs["element_shape"]
        self.dynamic, self.clears = attrs["dynamic_size"], attrs["clear_after_read"]
        self.identical = attrs["identical_element_shapes"]
        self.cleared: set[int] = set()
        self.is_gradient = is_gradient

    def gradient(self, outer: tuple = ()) -> Handle:
        """The handle of a TensorArray for the gradients of this one's elements: writes to one element add up.

        Each has the dimensions `outer` before those of the element.
        """
        shape = None if self.element_shape is None else (*outer, *self.element_shape)
        attrs = {"tensor_array_name": self.name + "@gradients", "dtype": self.dtype, "identical_element_shapes": False,
                 "element_shape": shape, "dynamic_size": self.dynamic, "clear_after_read": False}
        return Handle("", attrs, True)

    def error(self, text: str) -> InvalidArgumentError:
        return InvalidArgumentError(None, None, f"TensorArray {self.name}: {text}")

    def write(self, elements: Elements, index: int, value: np.ndarray, replays: bool = False) -> Elements:
        """The elements with `value` (which they keep) at `index`.  Raises InvalidArgumentError as TensorFlow does."""
        if value.dtype != self.dtype.as_numpy_dtype:
            raise InvalidArgumentError(None, None, f"TensorArray dtype is {self.dtype.name} but Op is trying to write "
                                                   f"dtype {value.dtype.name}.")
        if index < 0 or index >= elements.size and not self.dynamic:
            raise self.error(f"Tried to write to index {index} but array is not resizeable and size is: {elements.size}")
        if index in self.cleared and not replays:
            raise self.error(f"Could not write to TensorArray index {index} because it has already been read.")
        before = elements.get(index)
        if before is not None:
            if not self.is_gradient:
                raise self.error(f"Could not write to TensorArray index {index} because it has already been written to.")
            value = added(before, value)
        if self.identical and not _fits(self._shape(elements), value.shape):
            raise self.error(f"Could not write to TensorArray index {index} because the value shape is "
                             f"{list(value.shape)} which is incompatible with the TensorArray's inferred element shape: "
                             f"{brackets(self._shape(elements))} (consider setting infer_shape=False).")
        return elements.replaced(index, value)

    def read(self, elements: Elements, index: int, replays: bool = False) -> np.ndarray:
        """The element at `index`, zeros if it was not written and the shape is known."""
        size = elements.size
        if not 0 <= index < size:
            raise InvalidArgumentError(None, None, f"Tried to read from index {index} but array size is: {size}")
        if not replays and self.clears:
            if index in self.cleared:
                raise self.error(f"Could not read index {index} twice because it was cleared after a previous read "
                                 "(perhaps try setting clear_after_read = false?).")
            self.cleared.add(index)
        value = elements.get(index)
        if value is None:
            value = self._zero(elements)
            if value is None:
                shape = self._shape(elements)
                shown = "<unknown>" if shape is None else brackets(shape)
                raise self.error(_UNDEFINED.format(index, shown))
        return value

    def _zero(self, elements: Elements) -> np.ndarray | None:
        """What stands for an element that was not written, if its shape is known."""
        shape = self._shape(elements)
        if shape is None or None in shape:
            return None
        return np.full(shape, b"", object) if self.dtype.name == "string" else np.zeros(shape, self.dtype.as_numpy_dtype)

    def write_rows(self, elements: Elements, indices: Any, rows: Any, replays: bool = False) -> Elements:
        """The elements with every row at its index; `rows`, one array or many, are kept.  Raises what writing one by one does."""
        if isinstance(rows, np.ndarray):
            if len(rows) and not self.cleared and rows.dtype == self.dtype.as_numpy_dtype and is_whole(indices, elements.size) \
                    and elements.is_empty() and (not self.identical or _fits(self._shape(elements), rows.shape[1:])):
                return Elements.of_rows(rows)           # a new array, all at once
            rows = rows_of(rows)
        rows = list(rows)
        if len(rows) > 1 and self._may_write(elements, indices, rows):
            items = list(elements.list.items())
            for index, row in zip(indices, rows):
                items[index] = row
            return Elements(PersistentList(items), rows[0].shape)
        for index, row in zip(indices, rows):
            elements = self.write(elements, int(index), row, replays)
        return elements

    def _may_write(self, elements: Elements, indices: list[int], rows: list[np.ndarray]) -> bool:
        """Whether all rows are of one shape and may go, each once, where nothing was written yet."""
        first, dtype, size = rows[0].shape, self.dtype.as_numpy_dtype, elements.size
        if len({*indices}) < len(indices) or self.cleared.intersection(indices):
            return False
        items = list(elements.list.items())
        return all(0 <= k < size and items[k] is None for k in indices) \
            and all(row.shape == first and row.dtype == dtype for row in rows) \
            and (not self.identical or _fits(self._shape(elements), first))

    def read_rows(self, elements: Elements, indices: Any, replays: bool = False) -> Column:
        """The elements at these indices, in one array where they lie in one.  Raises what reading one by one does."""
        numbers = indices.tolist() if isinstance(indices, np.ndarray) else indices
        found = elements.part(indices) if replays or not self.cleared or self.cleared.isdisjoint(numbers) else None
        if found is None:
            return [self.read(elements, index, replays) for index in numbers]
        if self.clears and not replays:
            self.cleared.update(numbers)
        return found

    def _shape(self, elements: Elements) -> Any:
        written = elements.element_shape if self.identical else None
        return self.element_shape if written is None else written


def is_whole(indices: Any, size: int) -> bool:
    """Whether indices are those of all elements of an array, in their order."""
    if isinstance(indices, range):
        return indices == range(size)
    return len(indices) == size and (not size or span(indices, size) == slice(0, size, 1))


def span(indices: Any, size: int) -> slice | None:
    """The part of an array of `size` elements at `indices`, if these follow one another, upwards or downwards."""
    found = by_equal_steps(indices)
    if not isinstance(found, range) or found.step not in (1, -1):
        return None
    first, last = found[0], found[-1]
    if min(first, last) < 0 or max(first, last) >= size:
        return None
    return slice(first, found.stop if found.stop >= 0 else None, found.step)


def by_equal_steps(numbers: Any) -> Any:
    """Whole numbers as a range where they go up or down by equal steps: what is asked of it takes no look at each.  Else as they
    are; () if there are none."""
    if not len(numbers):
        return ()
    if isinstance(numbers, range):
        return numbers
    first = int(numbers[0])
    step = int(numbers[1]) - first if len(numbers) > 1 else 1
    found = range(first, first + step * len(numbers), step) if step else ()
    if len(numbers) > FEW and isinstance(numbers, np.ndarray):
        return found if len(found) and found[-1] == numbers[-1] and (numbers[1:] - numbers[:-1] == step).all() else numbers
    listed = numbers.tolist() if isinstance(numbers, np.ndarray) else numbers
    return found if listed == [*found] else numbers


def rows_of(array: Any) -> Any:
    """The elements of an array along its first axis, each an array."""
    return array if array.ndim > 1 or not isinstance(array, np.ndarray) else [element(array, k) for k in range(len(array))]


def _fits(stated: Any, shape: tuple) -> bool:
    return stated is None or len(stated) == len(shape) and all(a is None or a == b for a, b in zip(stated, shape))


class Elements:
    """The value of a flow: the elements, None where nothing was written.  As a gradient, None is zero."""

    __slots__ = ("_list", "_rows", "element_shape")

    def __init__(self, elements: PersistentList | None, element_shape: Any = None, rows: np.ndarray | None = None):
        self._list, self._rows = elements, rows
        self.element_shape = element_shape      # of the element written last, None where none is

    @staticmethod
    def missing(size: int) -> Elements:
        """`size` elements, none of which is written."""
        return Elements(PersistentList([None] * size))

    @staticmethod
    def of_rows(rows: np.ndarray) -> Elements:
        """The rows of an array, which nobody may write any more: a list of them is made where one is needed."""
        if isinstance(rows, np.ndarray):
            return Elements(None, rows.shape[1:], rows)
        return Elements(PersistentList(list(rows)), rows.shape[1:])

    @property
    def list(self) -> PersistentList:
        if self._list is None:
            self._list = PersistentList([*rows_of(self._rows)])
        return self._list

    @property
    def size(self) -> int:
        return self.list.size if self._rows is None else len(self._rows)

    def is_empty(self) -> bool:
        """Whether nothing was written."""
        return self.element_shape is None

    def part(self, indices: Any, zero: np.ndarray | None = None) -> Any:
        """The elements at indices that follow one another, a list or a part of one array, `zero` for those that were not written;
        None where there is none."""
        where = span(indices, self.size)
        if where is None:
            return None
        if self._rows is not None:
            return self._rows[where]
        found = [zero if e is None else e for e in list(self.list.items())[where]]
        return None if any(e is None for e in found) else found

    def replaced(self, index: int, value: Any) -> Elements:
        """With another element; missing ones before it stay unwritten."""
        elements = self.list
        for k in range(elements.size, index):
            elements = elements.replaced(k, None)
        return Elements(elements.replaced(index, value), np.shape(value))

    def get(self, index: int) -> Any:
        """The element, None if there is none."""
        if not 0 <= index < self.size:
            return None
        return self.list[index] if self._rows is None else element(self._rows, index)

    def zeros(self) -> Zero:
        return ZERO

    def __add__(self, other: Any) -> Any:
        other = unboxed(other)
        if isinstance(other, Zero):
            return self
        if isinstance(other, OneElement):
            return other + self
        total = self
        for index, value in [(k, v) for k, v in enumerate(other.list.items()) if v is not None]:
            total = total.replaced(index, added(total.get(index), value))
        return total


class OneElement:
    """A gradient of which one element is not zero: what arrives from one read of a flow."""

    __slots__ = ("index", "value", "size")

    def __init__(self, index: int, value: Any, size: int):
        self.index, self.value, self.size = index, value, size

    def zeros(self) -> Zero:
        return ZERO

    def get(self, index: int) -> Any:
        return self.value if index == self.index else None

    def __add__(self, other: Any) -> Any:
        other = unboxed(other)
        if isinstance(other, Zero):
            return self
        if isinstance(other, OneElement):
            other = Elements.missing(max(self.size, other.size)).replaced(other.index, other.value)
        return other.replaced(self.index, added(other.get(self.index), self.value))


def with_gradients(total: Any, indices: Any, found: Column, size: int) -> Any:
    """The gradient `total` of an array of `size` elements, with those `found` for elements at `indices` added one after the
    other; an array of them is kept."""
    if not len(found):
        return total
    if isinstance(total, Zero) and isinstance(found, np.ndarray):
        where = span(indices, size)
        if where is not None and len(found) == size:
            return Elements.of_rows(found[::where.step])
    items = list(total.list.items()) if isinstance(total, Elements) else []
    if isinstance(total, OneElement):
        size = max(size, total.size, total.index + 1)
    items += [None] * (max(size, *(int(k) + 1 for k in indices)) - len(items))
    if isinstance(total, OneElement):
        items[total.index] = total.value
    for number, index in enumerate(indices):
        items[index] = added(items[index], element(found, number))
    return Elements(PersistentList(items), np.shape(items[index]))


def elements_of(flow: Any) -> Any:
    """The value of a flow.  A number, as graph files hold for a flow without elements, is zero."""
    value = unboxed(flow)
    return value if isinstance(value, (Elements, OneElement, Zero)) else ZERO


def gradient_of(flow: Any, index: int, like: Any) -> Any:
    """The element of a gradient, zeros in the shape of `like` where nothing arrived."""
    value = elements_of(flow)
    found = None if isinstance(value, Zero) else value.get(index)
    return np.zeros_like(like) if found is None else found
