"""The distinct elements of a vector of integers, by a loop that is compiled: a hash table with open addressing."""
from __future__ import annotations

import numpy as np

from jitgraph.declare.host_code import HostCode, contiguous

_SOURCE = """def distinct(x0, y0, y1, y2, sizes, begin, end):
    mask, shift, found = sizes[0], sizes[1], 0
    for i in range(begin, end):
        value = i64(x0[i])
        h = i64(u64(value) * u64(11400714819323198485) >> shift)
        k = i64(y0[h])
        while k >= 0:
            if i64(x0[y1[k]]) == value:
                break
            h = h + 1 & mask
            k = i64(y0[h])
        if k < 0:
            y0[h] = i32(found)
            y1[found] = i
            k = found
            found += 1
        y2[i] = k
    return found
"""
_OF_DTYPE = {np.dtype(f"i{size}"): HostCode("distinct", (f"i{8 * size}", "i32", "i64", "i64"), _SOURCE) for size in (4, 8)}


def distinct_integers(values: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The distinct elements of an int32 or int64 vector in the order of their first occurrence, and each element's place among
    them; None for others, and where it is not compiled."""
    code = _OF_DTYPE.get(values.dtype)
    if code is None or not values.size < 1 << 30:
        return None
    bits = max(int(values.size).bit_length() + 1, 3)
    table, places, index = np.full(1 << bits, -1, np.int32), np.empty(values.size, np.int64), np.empty(values.size, np.int64)
    values = contiguous(values)
    count = code(values, table, places, index, sizes=((1 << bits) - 1, 64 - bits), end=values.size)
    return None if count is None else (values[places[:count]], index)
