"""Where rows of indices lie in a flat tensor, by a loop that is compiled and checks them."""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from jitgraph.declare.host_code import HostCode, contiguous

LARGEST = 1 << 62       # elements of a tensor, for which no number overflows

# sizes: the rank, whether the places have to rise.  1: an index is outside, or a place does not rise
_PLACES = HostCode("places_of_indices", ("i64", "i64", "i64"), """def places_of_indices(x0, x1, y0, sizes, begin, end):
    rank, rising, before = sizes[0], sizes[1], -1
    for i in range(begin, end):
        place = 0
        for d in range(rank):
            index = x0[i * rank + d]
            if (index < 0) | (index >= x1[d]):
                return 1
            place = place * x1[d] + index
        if (rising != 0) & (place <= before):
            return 1
        before = place
        y0[i] = place
    return 0
""")


def places(indices: np.ndarray, shape: Sequence[int], rising: bool = False) -> np.ndarray | None:
    """Where rows [n, rank] of indices lie in a flat tensor of `shape`; None if one is outside or, where they have to be `rising`,
    not behind the one before, and where it is not compiled."""
    if indices.dtype != np.int64:
        indices = indices.astype(np.int64)
    if indices.shape[1:] != (len(shape),) or not 0 < math.prod(shape) < LARGEST:
        return None
    out = np.empty(len(indices), np.int64)
    failed = _PLACES(contiguous(indices), np.array(shape, np.int64), out, sizes=(len(shape), rising), end=len(indices))
    return out if failed == 0 else None
