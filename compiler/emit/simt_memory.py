"""Memory as the threads of `simt` see it: buffers, shared arrays, registers, the words of a kernel's sizes; and what they move."""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ..kernel import CODES
from .cuda_intrinsics import WARP

Moment = tuple[int, int, int]               # block, thread, number of barriers that it has passed

TYPES = {code: np.dtype(name) for name, code in CODES.items()}
SECTOR = 32                                 # bytes that memory gives at least


class SimulationError(AssertionError):
    """A kernel did what is wrong on a GPU, whether or not one would notice; says which thread did it, and in which line."""


class Words:
    """The `sizes` argument: Python ints, and by-value scalars by their bits."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = np.ascontiguousarray(array, np.int64)

    def __getitem__(self, slot: int) -> int:
        return int(self.array[slot])

    def scalar(self, slot: int, dtype: np.dtype) -> np.generic:
        return self.array[slot:slot + 1].view(dtype)[0]

    def onwards(self, slot: int) -> Words:
        return Words(self.array[slot:])


class Pointer:
    """A typed pointer to an array, which it does not leave; writable memory remembers who touched it.

    `at` is the simulator's note of who runs: block, thread, and the number of barriers passed (`epoch`).
    """

    def __init__(self, array: np.ndarray, name: str, at: SimpleNamespace) -> None:
        if not array.flags.c_contiguous:
            raise ValueError(f"{name} is not contiguous")
        self.array, self.name, self.at = array.reshape(-1), name, at
        self.written: dict[int, Moment] = {}             # element: who wrote it last
        self.read: dict[int, set[Moment]] = {}           # element: who has read it since
        self.traffic: Traffic | None = None
        self.number = 0                                  # of the buffer

    def _place(self, index: int, verb: str) -> int:
        if not 0 <= index < self.array.size:
            raise SimulationError(f"{self._who()} {verb} element {index} of {self.name}, which has {self.array.size}")
        return int(index)

    def _who(self) -> str:
        return f"thread {self.at.thread} of block {self.at.block}"

    def _me(self) -> tuple[int, int, int]:
        return self.at.block, self.at.thread, self.at.epoch

    def moves(self, index: int, count: int, wrote: bool) -> None:
        """Notes that an instruction moves so many elements, from `index` on."""
        if self.traffic is not None:
            self.traffic.note(self, index, count, wrote)

    def __getitem__(self, index: int) -> np.generic:
        self.moves(index, 1, False)
        return self.get(index)

    def __setitem__(self, index: int, value: Any) -> None:
        self.moves(index, 1, True)
        self.put(index, value)

    def get(self, index: int) -> np.generic:
        index = self._place(index, "reads")
        if self.array.flags.writeable:
            me, writer = self._me(), self.written.get(index)
            if writer is not None and _unordered(writer, me):
                self._race("reads", index, "wrote", writer)
            self.read.setdefault(index, set()).add(me)
        return self.array[index]

    def put(self, index: int, value: Any) -> None:
        index = self._place(index, "writes")
        if not self.array.flags.writeable:
            raise SimulationError(f"{self._who()} writes element {index} of {self.name}, which is read-only")
        me, before, writer = self._me(), self.array[index:index + 1].copy(), self.written.get(index)
        self.array[index] = value
        if writer is not None and _unordered(writer, me) and not _same_value(self.array[index:index + 1], before):
            self._race("writes", index, "wrote", writer)
        for reader in self.read.pop(index, ()):
            if _unordered(reader, me):
                self._race("writes", index, "read", reader)
        self.written[index] = me

    def _race(self, verb: str, index: int, did: str, other: tuple[int, int, int]) -> None:
        raise SimulationError(f"race: {self._who()} {verb} element {index} of {self.name}, which thread {other[1]} of "
                              f"block {other[0]} {did} with no barrier between")


class Traffic:
    """What the threads of a launch move to and from its buffers."""

    def __init__(self) -> None:
        self.notes: dict[tuple[int, bool], list[tuple[int, int, int, int]]] = {}

    def note(self, pointer: Pointer, index: int, count: int, wrote: bool) -> None:
        at, size = pointer.at, pointer.array.itemsize
        self.notes.setdefault((pointer.number, wrote), []).append((at.block, at.thread, index * size, count * size))

    def nbytes(self, buffer: int, wrote: bool = False) -> int:
        """How many bytes of a buffer the threads have read, or written."""
        return sum(count for *_, count in self.notes.get((buffer, wrote), ()))

    def sectors(self, buffer: int, wrote: bool = False) -> int:
        """How many sectors of 32 bytes that takes, if each instruction of a warp takes a sector once: that all its threads'
        n-th accesses are of one instruction is assumed."""
        turns: dict[tuple[int, int], int] = {}
        found: set[tuple[int, ...]] = set()
        for block, thread, place, count in self.notes.get((buffer, wrote), ()):
            turn = turns[block, thread] = turns.get((block, thread), 0) + 1
            sectors = range(place // SECTOR, (place + count - 1) // SECTOR + 1)
            found.update((block, thread // WARP, turn, sector) for sector in sectors)
        return len(found)


class Registers:
    """Elements of a thread's own, 0 at first."""

    def __init__(self, dtype: np.dtype, count: int) -> None:
        self.array = np.zeros(count, dtype)

    def get(self, index: int) -> np.generic:
        return self.array[self._place(index)]

    def put(self, index: int, value: Any) -> None:
        self.array[self._place(index)] = value

    __getitem__, __setitem__ = get, put

    def moves(self, index: int, count: int, wrote: bool) -> None:
        """Registers are not memory."""

    def _place(self, index: int) -> int:
        if not 0 <= index < self.array.size:
            raise SimulationError(f"element {index} of {self.array.size} in registers")
        return int(index)


Memory = Pointer | Registers


def _same_value(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two elements have the same bits, or are NaN: a GPU has one NaN for all."""
    return a.tobytes() == b.tobytes() or bool((a != a).all() and (b != b).all())


def _unordered(a: tuple[int, int, int], b: tuple[int, int, int]) -> bool:
    """Whether nothing orders the accesses of two (block, thread, epoch)."""
    return a[0] != b[0] or (a[2] == b[2] and a[1] != b[1])
