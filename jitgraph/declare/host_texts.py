"""Texts as stretches of memory, in loops that are compiled: where they lie, and texts of stretches.

A stretch is (start, end), two addresses in texts that the caller holds.
"""
from __future__ import annotations

import ctypes

import numpy as np

from .host_code import BYTES, HostCode, contiguous

_PLACES = HostCode("places", ("i64", "i64", "i64"), """def places(x0, y0, y1, sizes, begin, end):
    kind = sizes[0]
    for i in range(begin, end):
        if i64_at(x0[i] + KIND) != kind:
            return 1
        y0[i] = x0[i] + TEXT
        y1[i] = x0[i] + TEXT + i64_at(x0[i] + SIZE)
    return 0
""", at_once=True)

_TEXTS = HostCode("texts", ("i64", "i64", "i64"), """def texts(x0, x1, y0, sizes, begin, end):
    make = sizes[0]
    for i in range(begin, end):
        y0[i] = called(make, x0[i], x1[i] - x0[i])
        if y0[i] == 0:
            return 1
    return 0
""", at_once=True)


def places(strings: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The stretches of an object array of bytes, in one row; None where that is not compiled or there are others in it.
    It is the caller who holds the array meanwhile."""
    flat = contiguous(strings)
    starts, ends = np.empty(flat.size, np.int64), np.empty(flat.size, np.int64)
    return (starts, ends) if _PLACES(flat, starts, ends, sizes=(BYTES,), end=flat.size) == 0 else None


def texts(starts: np.ndarray, ends: np.ndarray) -> np.ndarray | None:
    """Stretches as an object array of bytes; None where it is not compiled."""
    out = np.empty(starts.size, object)
    make = ctypes.cast(ctypes.pythonapi.PyBytes_FromStringAndSize, ctypes.c_void_p).value
    assert make is not None
    return out if _TEXTS(starts, ends, out, sizes=(make,), end=starts.size) == 0 else None
