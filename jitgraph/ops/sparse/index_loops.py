"""Loops over the indices of sparse tensors that are compiled."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jitgraph.declare.host_code import HostCode, contiguous
from jitgraph.ops.arrays.place_loop import LARGEST

_RESHAPE = HostCode("reshaped_indices", ("i64", "i64", "i64", "i64"), """def reshaped_indices(x0, x1, x2, y0, sizes, begin, end):
    rank, size, total = sizes[0], sizes[1], sizes[2]
    for i in range(begin, end):
        place = 0
        for d in range(rank):
            place += x0[i * rank + d] * x1[d]
        if (place < 0) | (place >= total):
            return 1
        for d in range(size):
            index = quotient(place, x2[d])
            y0[i * size + d] = index
            place -= index * x2[d]
    return 0
""")

# y0: for each row, where its next element goes; y1: where elements went; y2: the new indices; y3: which rows were empty
_FILL = HostCode("filled_rows", ("i64", "i64", "i64", "i64", "u8"), """def filled_rows(x0, y0, y1, y2, y3, sizes, begin, end):
    rows, rank = sizes[0], sizes[1]
    for i in range(begin, end):
        row = x0[i * rank]
        if (row < 0) | (row >= rows):
            return -1
        y0[row] += 1
    place = 0
    for row in range(rows):
        count = y0[row]
        y0[row] = place
        y3[row] = 0
        if count == 0:
            y3[row] = 1
            y2[place * rank] = row
            for d in range(1, rank):
                y2[place * rank + d] = 0
            count = 1
        place += count
    for i in range(begin, end):
        row = x0[i * rank]
        at = y0[row]
        y0[row] = at + 1
        y1[i] = at
        for d in range(rank):
            y2[at * rank + d] = x0[i * rank + d]
    return place
""")


def _strides(shape: Sequence[int]) -> tuple[np.ndarray, int]:
    strides, stride = [], 1
    for size in reversed(shape):
        strides.append(stride)
        stride *= size
    return np.array(strides[::-1], np.int64), stride


def reshaped(indices: np.ndarray, shape: Sequence[int], new_shape: Sequence[int]) -> np.ndarray | None:
    """Indices [n, rank] of elements in another shape of as many; None if one is outside, or where it is not compiled."""
    (before, total), (after, _) = _strides(shape), _strides(new_shape)
    if not 0 < total < LARGEST or indices.shape[1:] != (len(shape),):
        return None
    out = np.empty((len(indices), len(new_shape)), np.int64)
    found = _RESHAPE(contiguous(indices), before, after, out, sizes=(len(shape), len(new_shape), total), end=len(indices))
    return out if found == 0 else None


def with_rows_filled(indices: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """(indices in the order of their rows with column 0 of each empty row, where each went, which rows were empty); None if one
    is outside, or where it is not compiled."""
    count, rank = indices.shape
    if not rank:
        return None
    position, empty = np.empty(count, np.int64), np.empty(rows, bool)
    out = np.empty((count + rows, rank), np.int64)
    total = _FILL(contiguous(indices), np.zeros(rows, np.int64), position, out, empty, sizes=(rows, rank), end=count)
    return None if total is None or total < 0 else (out[:total], position, empty)
