"""Blocks of memory: aligned to 64 bytes, with their addresses known, handed out again once nobody holds them."""
from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from jitgraph.compiler.place import assign_offsets
from jitgraph.declare.addresses import address_of

ALIGNMENT = 64
KEPT = 2                # blocks of one size that a plan keeps for reuse
ARRANGED = 4            # arrangements that a program keeps
EMPTIEST = 2            # times as large as what lies in them
POOLED = 1 << 18        # results from this many bytes on are worth reusing: fresh pages cost more than the kernel


def aligned_empty(nbytes: int, dtype: Any = np.uint8) -> np.ndarray:
    """An uninitialised 1-D array of `nbytes` bytes, aligned to 64."""
    raw = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -address_of(raw) % ALIGNMENT
    return raw[start:start + nbytes].view(dtype)


class Elsewhere:
    """An array that does not lie in the host's memory, as those of devices: it has `shape`, `dtype`, `ndim`, `nbytes`, `copy()` and
    rows as NumPy's have, and gives its value to whoever asks ``numpy.asarray`` for it, who waits for it then."""

    address: int            # in that memory
    base: Any = None        # whose memory it is a part of, as NumPy says it


def on_host(array: Any) -> Any:
    """The array in the host's memory, if it is elsewhere."""
    return np.asarray(array) if isinstance(array, Elsewhere) else array


class Arenas:
    """Memory for the temporaries of runs, as (array, address): what one run leaves serves the next, of whatever sizes."""

    def __init__(self) -> None:
        self.idle: list[tuple[np.ndarray, int]] = []

    def take(self, nbytes: int) -> tuple[np.ndarray, int]:
        """`nbytes` bytes or more for one run; a smaller arena that lies idle is given up for it."""
        try:
            arena = self.idle.pop()
        except IndexError:
            return self._new(nbytes)
        return arena if len(arena[0]) >= nbytes else self._new(nbytes)

    def _new(self, nbytes: int) -> tuple[np.ndarray, int]:
        step = max(1 << 12, 1 << max(nbytes.bit_length() - 3, 0))       # room for somewhat larger runs
        array = aligned_empty(-(-max(nbytes, 1) // step) * step)
        return array, address_of(array)

    def give(self, arena: tuple[np.ndarray, int]) -> None:
        self.idle.append(arena)


class Arrangements:
    """Where the temporaries of a program lie in an arena, for one set of sizes after another.

    A set that fits into the places of an earlier one, without leaving most of them empty, takes those: programs whose sizes change
    with every run, as the number of different words in a batch, need few arrangements.  `lives`: the first and last step of each.
    """

    def __init__(self, lives: list[tuple[int, int]]) -> None:
        self.lives = lives
        self.known: list[tuple[np.ndarray, list[int], int]] = []        # (sizes, offsets, bytes in all), the latest first

    def offsets(self, sizes: list[int]) -> tuple[list[int], int]:
        """(the offset of each, bytes in all) for temporaries of so many bytes."""
        wanted = np.array(sizes, np.int64)
        for places, offsets, total in self.known:
            if (wanted <= places).all() and EMPTIEST * wanted.sum() >= places.sum():
                return offsets, total
        offsets, total = assign_offsets([(size, *life) for size, life in zip(sizes, self.lives)])
        self.known = [(wanted, offsets, total), *self.known[:ARRANGED - 1]]
        return offsets, total


class ResultPool:
    """Result arrays of one shape and dtype.  A large block that the user has dropped (no reference but ours) is handed
    out again; one that is still held anywhere, also through a view, never is: NumPy's views all refer to the block
    that owns the memory, so its reference count says whether anyone is left.  `kept`: blocks kept for reuse."""

    def __init__(self, shape: Iterable[int], dtype: Any, kept: int = KEPT) -> None:
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize
        self.blocks: list[np.ndarray] = []
        self.kept = kept

    def take(self) -> tuple[np.ndarray, int]:
        """(array, address) of memory that nobody else uses."""
        if self.nbytes < POOLED:
            array = np.empty(self.shape, self.dtype)
            return array, address_of(array)
        for block in self.blocks:
            if sys.getrefcount(block) <= FREE_COUNT:
                return self._view(block)
        block = np.empty(self.nbytes + ALIGNMENT, np.uint8)
        if len(self.blocks) < self.kept:
            self.blocks.append(block)
        return self._view(block)

    def _view(self, block: np.ndarray) -> tuple[np.ndarray, int]:
        address = address_of(block)
        start = -address % ALIGNMENT
        return block[start:start + self.nbytes].view(self.dtype).reshape(self.shape), address + start


FREE_COUNT = 3      # the list's reference, the loop's and that of getrefcount's own argument
if not hasattr(sys, "getrefcount") or not getattr(sys, "_is_gil_enabled", lambda: True)():
    FREE_COUNT = -1     # no reliable reference counts: never reuse
