"""Sums over groups of rows that indices pick, by loops that are compiled.

They add in the order in which ``numpy.add.reduceat`` does, so that both give the same bits: to the first row what the
others come to, and those, from eight on, in eight sums side by side.  Groups for which NumPy would halve the rows are its own.
"""
from __future__ import annotations

import numpy as np

from jitgraph.declare.host_code import HostCode, contiguous

HALVED = 129            # NumPy halves what comes after the first row if it is more than 128 rows

# The sum of the rows start <= k < stop of a group in column c, where ITEM is the element of row k.
_SUM = """\
        count = stop - start - 1
        whole = count & -8
        for c in range(cols):
            rest = FLOAT(0)
            if count < 8:
                whole = 0
            else:
                LANES
                for first in range(start + 9, start + 1 + whole, 8):
                    STEPS
                rest = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
            for k in range(start + 1 + whole, stop):
                rest = rest + ITEM(k)
            total = ITEM(start)
            if count > 0:
                total = total + rest
            STORE
"""

# x0 rows, x1 which of them are gathered, x2 the rising groups they belong to, y0 the sums, of zeros.  Sizes: rows that there are,
# groups, columns, how a sum is divided (0 not, 1 by the number of its rows, 2 by the root of that).  Not 0: left to NumPy
_GATHERED = """def gathered_sums(x0, x1, x2, y0, sizes, begin, end):
    limit, groups, cols, kind, before = sizes[0], sizes[1], sizes[2], sizes[3], 0
    for i in range(begin, end):
        if (x2[i] < before) | (x2[i] >= groups) | (x1[i] < 0) | (x1[i] >= limit):
            return 1
        before = x2[i]
    start = begin
    while start < end:
        group = x2[start]
        stop = start + 1
        while stop < end:
            if x2[stop] != group:
                break
            stop += 1
        if stop - start > MOST:
            return 2
        divisor = f64(stop - start)
        if kind == 2:
            divisor = sqrt(divisor)
SUM
        start = stop
    return 0
"""

# x0 gradients of groups, x1 the rows that were gathered, x2 the groups they belong to; y0 the gradient of the rows, of zeros;
# y1 where the items of a row begin, y2 the items in the order of their rows, y3 how many items a group has, of zeros both,
# y4 a group's gradient divided
_SPREAD = """def spread_sums(x0, x1, x2, y0, y1, y2, y3, y4, sizes, begin, end):
    rows, groups, cols, kind = sizes[0], sizes[1], sizes[2], sizes[3]
    for i in range(begin, end):
        if (x2[i] < 0) | (x2[i] >= groups) | (x1[i] < 0) | (x1[i] >= rows):
            return 1
        y1[x1[i]] += 1
        y3[x2[i]] += 1
    for group in range(groups):
        divisor = f64(y3[group])
        if y3[group] < 1:
            divisor = 1.0
        if kind == 2:
            divisor = sqrt(divisor)
        for c in range(cols):
            y4[group * cols + c] = FLOAT(f64(x0[group * cols + c]) / divisor)
    place = 0
    for row in range(rows):
        count = y1[row]
        if count > MOST:
            return 2
        y1[row] = place
        place += count
    for i in range(begin, end):
        at = y1[x1[i]]
        y2[at] = x2[i]
        y1[x1[i]] = at + 1
    start = 0
    for row in range(rows):
        stop = y1[row]
        if stop > start:
SUM
        start = stop
    return 0
"""


def _with_sum(source: str, number: str, item: str, store: str, indent: str = "") -> str:
    steps = [f"r{n} = r{n} + ITEM(first + {n})" for n in range(8)]
    text = _SUM.replace("LANES", f"\n{' ' * 16}".join(f"r{n} = ITEM(start + {n + 1})" for n in range(8)))
    text = text.replace("STEPS", f"\n{' ' * 20}".join(steps)).replace("STORE", store)
    for place in ("start", "k", *(f"start + {n + 1}" for n in range(8)), *(f"first + {n}" for n in range(8))):
        text = text.replace(f"ITEM({place})", item.replace("PLACE", place))
    text = "\n".join(indent + line if line else line for line in text.rstrip().splitlines())
    return source.replace("SUM", text).replace("FLOAT", number).replace("MOST", str(HALVED))


_DIVIDED = """value = 0.0 + total
            if kind != 0:
                value = value / divisor
            y0[group * cols + c] = {}(value)"""
_NUMBERS = {np.dtype("f4"): "f32", np.dtype("f8"): "f64"}
_SUMS = {dtype: HostCode("gathered_sums", (name, "i64", "i64", name), _with_sum(
    _GATHERED, "f64", "f64(x0[x1[PLACE] * cols + c])", _DIVIDED.format(name))) for dtype, name in _NUMBERS.items()}
_SPREADS = {dtype: HostCode("spread_sums", (name, "i64", "i64", name, "i64", "i64", "i64", name), _with_sum(
    _SPREAD, name, "y4[y2[PLACE] * cols + c]", f"y0[row * cols + c] = {name}(0) + total", "    "))
    for dtype, name in _NUMBERS.items()}
_DIVISIONS = {"": 0, "Mean": 1, "SqrtN": 2}


def gathered_sums(kind: str, data: np.ndarray, indices: np.ndarray, ids: np.ndarray, groups: int) -> np.ndarray | None:
    """For each of so many groups the sum of the rows of `data` whose group is in `ids`, divided as `kind` says; None where it is
    not compiled, and where NumPy does it, or says what is wrong."""
    code = _SUMS.get(data.dtype)
    if code is None or not len(ids) or data.ndim == 0:
        return None
    cols = data[0].size if len(data) else 0
    out = np.zeros((groups, *data.shape[1:]), data.dtype)
    found = code(contiguous(data), _wide(indices), _wide(ids), out, sizes=(len(data), groups, cols, _DIVISIONS[kind]), end=len(ids))
    return out if found == 0 else None


def spread_sums(kind: str, grad: np.ndarray, indices: np.ndarray, ids: np.ndarray, rows: int) -> np.ndarray | None:
    """The gradient of the `rows` rows of which groups were gathered, from those of the groups; None as for `gathered_sums`."""
    code = _SPREADS.get(grad.dtype)
    if code is None or not len(ids) or grad.ndim == 0 or not 0 < rows < 1 << 24:
        return None
    cols, groups = grad[0].size if len(grad) else 0, len(grad)
    out = np.zeros((rows, *grad.shape[1:]), grad.dtype)
    found = code(contiguous(grad), _wide(indices), _wide(ids), out, np.zeros(rows, np.int64), np.zeros(len(ids), np.int64),
                 np.zeros(groups, np.int64), np.empty(groups * cols, grad.dtype),
                 sizes=(rows, groups, cols, _DIVISIONS[kind]), end=len(ids))
    return out if found == 0 else None


def _wide(numbers: np.ndarray) -> np.ndarray:
    return contiguous(numbers if numbers.dtype == np.int64 else numbers.astype(np.int64))
