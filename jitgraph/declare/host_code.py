"""Loops over bytes and numbers that operations run on the host, compiled.

What walks through texts byte by byte takes Python a hundred times as long as a processor.  Such a loop is written in the
part of Python that kernels are written in (`compiler/emit/translate.py`), compiled as they are, and kept in the same store::

    LENGTHS = HostCode("lengths", ("i64", "i64"), '''def lengths(x0, y0, sizes, begin, end):
        for i in range(begin, end):
            y0[i] = i64_at(x0[i] + SIZE)
        return 0
    ''')

    LENGTHS(strings, out, end=strings.size)         # 0, or None: not compiled, do without

There is always a way to do without: where nothing is to be compiled, for the first call, and for what the loop does not know.
Both give the same bits.  For a loop of numbers the way may be Python, which runs the same text: see `HostCode.run`.
"""
from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from .addresses import address_of

# Where CPython keeps the parts of a bytes object, and of any object its type: the head of `object`, then the length, the
# hash, the text and a zero.
_HEAD = object.__basicsize__
LAYOUT = {"KIND": _HEAD - 8, "SIZE": _HEAD, "TEXT": bytes.__basicsize__ - 1}
BYTES = id(bytes)
AT_ONCE = 4096          # so many items are worth compiling at the first call

_WORDS = [ctypes.c_int64 * n for n in range(65)]        # made once: to ask for one costs as much as to fill it

# What the names in a loop of numbers mean to Python.  The elementary functions are then those of C's library, which may differ in
# the last bit from those of kernels.
_IN_PYTHON: dict[str, Any] = {
    "f32": np.float32, "f64": np.float64, "fabs": abs, "maximum": np.maximum, "minimum": np.minimum, "max_step": np.fmax,
    "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "log1p": np.log1p, "tanh": lambda x: np.float64(math.tanh(x))}

compiled: Callable[[HostCode], int] | None = None
"""Gives the address of a function's machine code, 0 if there is to be none; the runtime sets it."""


class HostCode:
    """The function `name(*buffers, sizes, begin, end)` of `source`, whose buffers have these dtype codes.

    A buffer of Python objects is one of "i64", their addresses.  `source` may name KIND, SIZE and TEXT: where in a bytes
    object its type, its length and its text lie.  `at_once`: it is compiled for its first call.
    """

    def __init__(self, name: str, codes: Sequence[str], source: str, at_once: bool = False):
        for word, place in LAYOUT.items():
            source = source.replace(word, str(place))
        self.name, self.codes, self.source, self.at_once = name, list(codes), source, at_once
        self._called = False
        self._function: Callable | None = None

    def __call__(self, *buffers: np.ndarray, sizes: Sequence[int] = (), begin: int = 0, end: int = 0) -> int | None:
        """What it returns for arrays that lie in memory without gaps; None where it is not compiled."""
        if self._function is None and not self._is_ready(end - begin):
            return None
        assert self._function is not None
        return self._function(_WORDS[len(buffers)](*map(address_of, buffers)), _WORDS[len(sizes)](*sizes), begin, end)

    def run(self, *buffers: np.ndarray, sizes: Sequence[int] = (), begin: int = 0, end: int = 0) -> int:
        """The same; where it is not compiled, Python runs the text."""
        result = self(*buffers, sizes=sizes, begin=begin, end=end)
        if result is None:
            with np.errstate(all="ignore"):
                result = int(self._in_python(*(buffer.reshape(-1) for buffer in buffers), sizes, begin, end))
        return result

    @cached_property
    def _in_python(self) -> Callable:
        known = dict(_IN_PYTHON)
        exec(self.source, known)
        return known[self.name]

    def _is_ready(self, count: int) -> bool:
        """Whether it is compiled now: from its second call on, as plans are."""
        first, self._called = not self._called, True
        if compiled is None or (first and not self.at_once and count < AT_ONCE) or sys.implementation.name != "cpython":
            return False
        address = compiled(self)
        if not address:
            return False
        # of those that keep Python's lock: nobody may take texts away meanwhile
        self._function = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64,
                                           ctypes.c_int64)(address)
        return True


def contiguous(array: np.ndarray) -> np.ndarray:
    """The elements in one row without gaps."""
    return array if array.ndim == 1 and array.flags.c_contiguous else np.ascontiguousarray(array).reshape(-1)
