"""The distinct elements of a vector of numbers, by a loop that is compiled: a hash table with open addressing."""
from __future__ import annotations

import numpy as np

from jitgraph.declare.host_code import HostCode, contiguous

_SOURCE = """def distinct(x0, y0, y1, y2, sizes, begin, end):
    mask, shift, found = sizes[0], sizes[1], 0
    for i in range(begin, end):
        value = VALUE(x0[i])
        h = i64(u64(BITS) * u64(11400714819323198485) >> shift)
        k = i64(y0[h])
        while k >= 0:
            if VALUE(x0[y1[k]]) == value:
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


def _code(kind: str, size: int) -> HostCode:
    """For floats: -0 is 0, and no NaN another."""
    code = f"{kind}{8 * size}"
    value, bits = ("i64", "value") if kind == "i" else (code, f"i64(float_bits(value + {code}(0)))")
    return HostCode("distinct", (code, "i32", "i64", "i64"), _SOURCE.replace("VALUE", value).replace("BITS", bits))


_OF_DTYPE = {np.dtype(f"{kind}{size}"): _code(kind, size) for kind in "if" for size in (4, 8)}


def distinct_numbers(values: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The distinct elements of a vector of int32, int64, float32 or float64 in the order of their first occurrence, and each
    element's place among them; None for others, and where it is not compiled."""
    code = _OF_DTYPE.get(values.dtype)
    if code is None or not values.size < 1 << 30:
        return None
    bits = max(int(values.size).bit_length() + 1, 3)
    table, places, index = np.full(1 << bits, -1, np.int32), np.empty(values.size, np.int64), np.empty(values.size, np.int64)
    values = contiguous(values)
    count = code(values, table, places, index, sizes=((1 << bits) - 1, 64 - bits), end=values.size)
    return None if count is None else (values[places[:count]], index)
