"""Rows combined in groups, by loops that are compiled: one row after the other, all columns of it at once.

`combined_in_order` does the same by NumPy, so that both give the same bits.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare.host_code import HostCode, contiguous

# x0 rows, x1 the rising groups they belong to, x2 what stands for no rows, and for NaN among several; y0 what becomes of the
# groups, y1 how many rows they have, of zeros.  Sizes: groups, columns.  Not 0: the groups are not as they should be
_SORTED = """def sorted_groups(x0, x1, x2, y0, y1, sizes, begin, end):
    groups, cols, before, start = sizes[0], sizes[1], -1, begin
    empty, least = x2[0], x2[1]
    while start < end:
        group = i64(x1[start])
        if (group <= before) | (group < 0) | (group >= groups):
            return 1
        for at in range((before + 1) * cols, group * cols):
            y0[at] = empty
        stop = start + 1
        while stop < end:
            if x1[stop] != x1[start]:
                break
            stop += 1
        y1[group] = stop - start
        if cols == 1:
            total = x0[start]
            if stop > start + 1:
                total = FIRST
            for i in range(start + 1, stop):
                row = x0[i]
                total = CODE(COMBINED)
            y0[group] = total
        else:
            for c in range(cols):
                total = x0[start * cols + c]
                y0[group * cols + c] = select(stop > start + 1, FIRST, total)
            for i in range(start + 1, stop):
                for c in range(cols):
                    total, row = y0[group * cols + c], x0[i * cols + c]
                    y0[group * cols + c] = CODE(COMBINED)
        before, start = group, stop
    return 0
"""

# x0 rows, x1 which of them are gathered, x2 the rising groups they belong to, y0 the sums, of zeros, y1 a sum of float64.  Sizes:
# rows that there are, groups, columns, how a sum is divided (0 not, 1 by the number of its rows, 2 by the root of that).  Not 0:
# the rows or groups are not as they should be
_GATHERED = """def gathered_sums(x0, x1, x2, y0, y1, sizes, begin, end):
    limit, groups, cols, kind, before, start = sizes[0], sizes[1], sizes[2], sizes[3], -1, begin
    for i in range(begin, end):
        group, row = i64(x2[i]), i64(x1[i])
        if (group < before) | (group < 0) | (group >= groups) | (row < 0) | (row >= limit):
            return 1
        if group != before:
            for c in range(cols):
                y1[c] = f64(x0[row * cols + c])
            start = i
        else:
            for c in range(cols):
                y1[c] = y1[c] + f64(x0[row * cols + c])
        before, last = group, True
        if i + 1 < end:
            last = i64(x2[i + 1]) != group
        if last:
            divisor = f64(i + 1 - start)
            if kind == 2:
                divisor = sqrt(divisor)
            if kind == 0:
                divisor = 1.0
            for c in range(cols):
                y0[group * cols + c] = CODE((0.0 + y1[c]) / divisor)
    return 0
"""

# x0 gradients of groups, x1 the rows that were gathered, x2 the groups they belong to; y0 the gradient of the rows, of zeros;
# y1 how many items a group has, of zeros, y2 a group's gradient divided
_SPREAD = """def spread_sums(x0, x1, x2, y0, y1, y2, sizes, begin, end):
    rows, groups, cols, kind = sizes[0], sizes[1], sizes[2], sizes[3]
    for i in range(begin, end):
        group, row = i64(x2[i]), i64(x1[i])
        if (group < 0) | (group >= groups) | (row < 0) | (row >= rows):
            return 1
        y1[group] += 1
    for group in range(groups):
        divisor = f64(larger(y1[group], 1))
        if kind == 2:
            divisor = sqrt(divisor)
        for c in range(cols):
            y2[group * cols + c] = CODE(f64(x0[group * cols + c]) / divisor)
    for i in range(begin, end):
        group, row = i64(x2[i]), i64(x1[i])
        for c in range(cols):
            y0[row * cols + c] = y0[row * cols + c] + y2[group * cols + c]
    return 0
"""

_COMBINED = {"add": "total + row", "mul": "total * row", "max": "select(row > total, row, total)",
             "min": "select(row < total, row, total)"}
_OF_COMPLEX = {"add": "complex_add(total, row)", "mul": "complex_mul(total, row)"}
_PLAIN: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "add": np.add, "mul": np.multiply, "max": lambda a, b: np.where(b > a, b, a), "min": lambda a, b: np.where(b < a, b, a)}
_CODES = {np.dtype(name): name[0] + str(int(name[1:]) * 8)
          for name in ("f4", "f8", "c8", "c16", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")}


@functools.cache
def _sorted_code(combine: str, code: str, index: str) -> HostCode:
    first = "select(total == total, total, least)" if combine in ("max", "min") else "total"
    text = _SORTED.replace("COMBINED", (_OF_COMPLEX if code[0] == "c" else _COMBINED)[combine]).replace("FIRST", first)
    return HostCode("sorted_groups", (code, index, code, code, "i64"), text.replace("CODE", code))


_FLOATS = {np.dtype("f4"): "f32", np.dtype("f8"): "f64"}
_SUMS = {dtype: HostCode("gathered_sums", (code, "i64", "i64", code, "f64"), _GATHERED.replace("CODE", code))
         for dtype, code in _FLOATS.items()}
_SPREADS = {dtype: HostCode("spread_sums", (code, "i64", "i64", code, "i64", code), _SPREAD.replace("CODE", code))
            for dtype, code in _FLOATS.items()}
_DIVISIONS = {"": 0, "Mean": 1, "SqrtN": 2}


def combined_in_order(combine: str, rows: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """`combine` (add, mul, max or min) over the runs of rows that begin at `starts`, one row after the other: [runs, ...]."""
    counts = np.diff(starts, append=len(rows))
    result = rows[starts]
    for k in range(1, int(counts.max(initial=0))):
        live = np.flatnonzero(counts > k)
        result[live] = _PLAIN[combine](result[live], rows[starts[live] + k])
    return result


def sorted_groups(combine: str, data: np.ndarray, ids: np.ndarray, groups: int, empty: Any,
                  least: Any = 0) -> tuple[np.ndarray, np.ndarray] | None:
    """[groups, ...], what `combine` (add, mul, max or min) makes of the rows with each id, `empty` where there are none; and their
    numbers.  `least`: what counts for NaN among several rows.  None where it is not compiled, and where the ids are no rising ones
    below `groups`."""
    if data.dtype not in _CODES or ids.dtype not in _CODES or not data.size:
        return None
    code = _sorted_code(combine, _CODES[data.dtype], _CODES[ids.dtype])
    out, counts = np.empty((groups, *data.shape[1:]), data.dtype), np.zeros(groups, np.int64)
    found = code(contiguous(data), contiguous(ids), np.array([empty, least], data.dtype), out, counts,
                 sizes=(groups, data.size // len(data)), end=len(ids))
    return (out, counts) if found == 0 else None


def gathered_sums(kind: str, data: np.ndarray, indices: np.ndarray, ids: np.ndarray, groups: int) -> np.ndarray | None:
    """For each of so many groups the sum of the rows of `data` whose group is in `ids`, divided as `kind` says; None where it is
    not compiled, and where NumPy says what is wrong."""
    code = _SUMS.get(data.dtype)
    if code is None or not len(ids) or data.ndim == 0:
        return None
    cols = data[0].size if len(data) else 0
    out = np.zeros((groups, *data.shape[1:]), data.dtype)
    found = code(contiguous(data), _wide(indices), _wide(ids), out, np.empty(cols),
                 sizes=(len(data), groups, cols, _DIVISIONS[kind]), end=len(ids))
    return out if found == 0 else None


def spread_sums(kind: str, grad: np.ndarray, indices: np.ndarray, ids: np.ndarray, rows: int) -> np.ndarray | None:
    """The gradient of the `rows` rows of which groups were gathered, from those of the groups; None as for `gathered_sums`."""
    code = _SPREADS.get(grad.dtype)
    if code is None or not len(ids) or grad.ndim == 0 or not 0 < rows < 1 << 24:
        return None
    cols, groups = grad[0].size if len(grad) else 0, len(grad)
    out = np.zeros((rows, *grad.shape[1:]), grad.dtype)
    found = code(contiguous(grad), _wide(indices), _wide(ids), out, np.zeros(groups, np.int64),
                 np.empty(groups * cols, grad.dtype), sizes=(rows, groups, cols, _DIVISIONS[kind]), end=len(ids))
    return out if found == 0 else None


def _wide(numbers: np.ndarray) -> np.ndarray:
    return contiguous(numbers if numbers.dtype == np.int64 else numbers.astype(np.int64))
