"""What queues keep of their elements: each stands behind a token, and queues put tokens in their order."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

Row = tuple[np.ndarray, ...]


class Tuples:
    """Elements of any shapes, as tuples of arrays, which are their own tokens.

    `types`: the DType of each component; `shapes`: the shape of each, in which sizes may be None, or None.
    """

    def __init__(self, types: list, shapes: list | None):
        self.types, self.shapes = types, shapes

    def keep(self, columns: list[np.ndarray], count: int) -> list[Row]:
        """The tokens of the rows of `columns`, arrays with one more dimension than the elements."""
        columns = [np.array(column) for column in columns]
        return [tuple([column[i:i + 1].reshape(column.shape[1:]) for column in columns]) for i in range(count)]

    def keep_one(self, row: Row) -> Row:
        """The token of an element."""
        return tuple([np.array(array) for array in row])

    def element(self, token: Row) -> Row:
        """The element behind a token, which is kept no longer."""
        return token

    def stacked(self, tokens: list[Row]) -> list[np.ndarray]:
        """These elements along a new first dimension, padded where sizes may differ; they are kept no longer."""
        return [self._stacked(k, [token[k] for token in tokens]) for k in range(len(self.types))]

    def _stacked(self, component: int, arrays: list[np.ndarray]) -> np.ndarray:
        assert self.shapes is not None
        sizes = [max((array.shape[d] for array in arrays), default=0) if size is None else size
                 for d, size in enumerate(self.shapes[component])]
        dtype = np.dtype(self.types[component].as_numpy_dtype)
        out = np.full((len(arrays), *sizes), b"", object) if dtype == object else np.zeros((len(arrays), *sizes), dtype)
        for i, array in enumerate(arrays):
            out[i, ...][tuple(slice(size) for size in array.shape)] = array if array.ndim else array[()]
        return out

    def forget(self, tokens: Iterable[Row]) -> None:
        """These elements are kept no longer."""


class Columns:
    """Elements of the same shapes: one array for each component, in which a token is the place of an element.

    What is put in and taken out together is copied by one call of NumPy for each component.
    """

    def __init__(self, types: list, shapes: list):
        self.arrays = [np.empty((0, *shape), dtype.as_numpy_dtype) for dtype, shape in zip(types, shapes)]
        self.objects = [k for k, own in enumerate(self.arrays) if own.dtype == object]
        self.free: list[int] = []

    def keep(self, columns: list[np.ndarray], count: int) -> list[int]:
        """See ``Tuples.keep``."""
        if len(self.free) < count:
            self._grow(count)
        places = self.free[len(self.free) - count:]
        del self.free[len(self.free) - count:]
        at = np.array(places, np.intp)
        for own, column in zip(self.arrays, columns):
            own[at] = column
        return places

    def keep_one(self, row: Row) -> int:
        """See ``Tuples.keep_one``."""
        if not self.free:
            self._grow(1)
        place = self.free.pop()
        for own, array in zip(self.arrays, row):
            own[place, ...] = array
        return place

    def _grow(self, count: int) -> None:
        present = len(self.arrays[0])
        size = max(2 * present, present + count)
        for k, own in enumerate(self.arrays):
            self.arrays[k] = np.empty((size, *own.shape[1:]), own.dtype)
            self.arrays[k][:present] = own
        self.free.extend(range(present, size))

    def element(self, token: int) -> Row:
        """See ``Tuples.element``."""
        found = tuple([own[token, ...].copy() for own in self.arrays])
        self.forget((token,))
        return found

    def stacked(self, tokens: list[int]) -> list[np.ndarray]:
        """See ``Tuples.stacked``."""
        at = np.array(tokens, np.intp)
        found = [own.take(at, axis=0) for own in self.arrays]
        for k in self.objects:
            self.arrays[k][at] = None
        self.free.extend(tokens)
        return found

    def forget(self, tokens: Iterable[int]) -> None:
        """See ``Tuples.forget``."""
        places = list(tokens)
        for k in self.objects:
            self.arrays[k][places] = None
        self.free.extend(places)


def rows_of(types: list, shapes: list | None) -> Any:
    """What keeps elements of these types and shapes."""
    if shapes is None or any(None in shape for shape in shapes):
        return Tuples(types, shapes)
    return Columns(types, shapes)
