"""Where the elements of a matrix are true, by a loop that is compiled."""
from __future__ import annotations

import numpy as np

from jitgraph.declare.host_code import AT_ONCE, HostCode, contiguous

# Each element is written where the next one that is true stands: without a branch, which a processor would guess wrongly.
_TRUE = HostCode("true_elements", ("u8", "i64"), """def true_elements(x0, y0, sizes, begin, end):
    found = 0
    for row in range(begin, end):
        for column in range(sizes[0]):
            y0[2 * found], y0[2 * found + 1] = row, column
            found = found + i64(x0[row * sizes[0] + column])
    return found
""", at_once=True)


def true_elements(array: np.ndarray) -> np.ndarray | None:
    """The rows and columns [count, 2] of the elements of a matrix that are true, in row-major order; None for other arrays, for
    few elements, and where it is not compiled."""
    if array.ndim != 2 or array.dtype != bool or array.size < AT_ONCE:
        return None
    found = np.empty((np.count_nonzero(array) + 1, 2), np.int64)
    count = _TRUE(contiguous(array).view(np.uint8), found, sizes=array.shape[1:], end=len(array))
    return None if count is None else found[:count]
