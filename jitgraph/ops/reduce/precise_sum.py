"""Sums in NumPy that lose no more than a kernel's."""
from __future__ import annotations

from typing import Any

import numpy as np


def precise_sum(x: np.ndarray, axes: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
    """The sum over `axes` (None: all), in the dtype of `x`; integers wrap around.

    NumPy adds in pairs only what lies side by side.  It adds whole rows one after another, where a float32 loses a digit in
    some thousand rows and stops counting at 2**24: there, and for half floats, the sum is made in a wider dtype.
    """
    if x.dtype.kind in "iub" or x.dtype.itemsize > 2 and x.flags.c_contiguous and _are_innermost(axes, x.ndim):
        return np.sum(x, axis=axes, keepdims=keepdims, dtype=x.dtype)
    wider = np.complex128 if x.dtype.kind == "c" else np.float64
    return np.asarray(np.sum(x, axis=axes, keepdims=keepdims, dtype=wider), x.dtype)


def _are_innermost(axes: int | tuple[int, ...] | None, rank: int) -> bool:
    if axes is None or isinstance(axes, int):
        return axes in (None, -1, rank - 1)
    return not axes or min(axes) == rank - len(axes)
