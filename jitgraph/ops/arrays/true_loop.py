"""Where the elements of an array are true, by a loop that is compiled."""
from __future__ import annotations

import functools

import numpy as np

from jitgraph.declare.host_code import AT_ONCE, HostCode, contiguous

MOST_AXES = 6


@functools.cache
def _loop(axes: int) -> HostCode:
    """Of arrays of so many axes.  Each element is written where the next one that is true stands: without a branch, which a
    processor would guess wrongly."""
    others = range(axes - 1)
    lines = ["def true_elements(x0, y0, sizes, begin, end):", f"    columns, found = sizes[{axes - 1}], 0"]
    lines += [f"    i{k} = 0" for k in others]
    lines += ["    for row in range(begin, end):", "        for column in range(columns):"]
    lines += [f"            y0[{axes} * found + {k}] = {f'i{k}' if k in others else 'column'}" for k in range(axes)]
    lines += ["            found = found + i64(x0[row * columns + column])"]
    indent = " " * 8
    for k in reversed(others):
        lines += [f"{indent}i{k} = i{k} + 1", f"{indent}if i{k} == sizes[{k}]:", f"{indent}    i{k} = 0"]
        indent += "    "
    return HostCode("true_elements", ("u8", "i64"), "\n".join([*lines, "    return found", ""]), at_once=True)


def true_elements(array: np.ndarray) -> np.ndarray | None:
    """The coordinates [count, axes] of the elements of an array that are true, in row-major order; None for other arrays, for
    few elements, and where it is not compiled."""
    if not 1 < array.ndim <= MOST_AXES or array.dtype != bool or array.size < AT_ONCE:
        return None
    found = np.empty((np.count_nonzero(array) + 1, array.ndim), np.int64)
    count = _loop(array.ndim)(contiguous(array).view(np.uint8), found, sizes=array.shape, end=array.size // array.shape[-1])
    return None if count is None else found[:count]
