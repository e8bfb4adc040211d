"""Memory as the lanes of `lanes` see it: buffers, shared arrays, registers, and the words of a kernel's sizes.

No array that was given out is changed: what a thread has read stays what it was.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .simt_memory import SimulationError

if TYPE_CHECKING:
    from .lanes import Lanes

# a moment: the thread in 11 bits, the number of barriers that it has passed in 29, the block
THREAD, BLOCK = 11, 40
OTHERS = (1 << THREAD) - 1      # stands for several threads of a block
NOBODY, MANY = -1, -2           # and this for threads of several blocks


class Table:
    """The `sizes` argument from a word on: Python ints, and by-value scalars by their bits."""

    def __init__(self, array: np.ndarray, start: int = 0) -> None:
        self.array, self.start = np.ascontiguousarray(array, np.int64), start

    def get(self, lanes: Lanes, slot: Any) -> Any:
        return int(self.array[self.start + slot])

    def scalar(self, slot: int, dtype: np.dtype) -> np.generic:
        return self.array[self.start + slot:self.start + slot + 1].view(dtype)[0]

    def onwards(self, slot: int) -> Table:
        return Table(self.array, self.start + slot)


class Pointer:
    """A typed pointer to an array, which it does not leave; writable memory remembers who touched it.

    `base`: where each lane's own part of the array begins, which has `limit` elements.  Of each element the last moment is kept at
    which it was written, and at which it was read since.
    """

    def __init__(self, array: np.ndarray, name: str, base: Any = 0, limit: int | None = None) -> None:
        if not array.flags.c_contiguous:
            raise ValueError(f"{name} is not contiguous")
        self.array, self.name, self.base = array.reshape(-1), name, base
        self.limit = self.array.size if limit is None else limit
        self.notes: tuple[np.ndarray, np.ndarray] | None = None         # (written, read), once there is something to note

    # a place is an array of indices, [lanes] or [elements, lanes]; `mask` says which lanes are meant, None for all
    def read(self, lanes: Lanes, place: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
        """What lies at a place, and zeros for lanes that are not meant."""
        there = self._checked(lanes, place, mask, "reads")
        if not self.limit:
            return np.zeros(place.shape, self.array.dtype)
        if self.array.flags.writeable:
            self._note_read(lanes, there, mask)
        found = self.array[there]
        return found if mask is None else np.where(mask, found, found.dtype.type(0))

    def write(self, lanes: Lanes, place: np.ndarray, value: np.ndarray, mask: np.ndarray | None) -> None:
        if mask is not None and not mask.any():
            return
        there = self._checked(lanes, place, mask, "writes")
        if not self.array.flags.writeable:
            k = 0 if mask is None else int(mask.argmax())
            place = place.reshape(-1, lanes.number)
            raise lanes.wrong(k, f"writes element {place[0, k]} of {self.name}, which is read-only")
        who = np.broadcast_to(np.arange(lanes.number), there.shape)
        if mask is not None:
            there, value, who = (a[..., mask] for a in (there, value, who))
        there, value, who = there.ravel(), value.astype(self.array.dtype).ravel(), who.ravel()
        self._note_write(lanes, there, value, who)

    def get(self, lanes: Lanes, index: Any) -> Any:
        if isinstance(index, np.ndarray) and index.ndim:
            return self.read(lanes, index, lanes.mask)
        if self.array.flags.writeable or isinstance(self.base, np.ndarray):
            return self.read(lanes, np.full(lanes.number, int(index)), lanes.mask)
        if not 0 <= index < self.limit:
            self._refuse(lanes, np.full(lanes.number, int(index)), lanes.mask, "reads")
        return self.array[int(index)]

    def put(self, lanes: Lanes, index: Any, value: Any) -> None:
        place, value = (np.broadcast_to(a, lanes.number) for a in (index, value))
        self.write(lanes, place, value, lanes.mask)

    def _checked(self, lanes: Lanes, place: np.ndarray, mask: np.ndarray | None, verb: str) -> np.ndarray:
        """A place in the array.  Lanes that are not meant have one anywhere in it."""
        if mask is not None:
            place = np.where(mask, place, 0)
        if (not self.limit or place.min() < 0 or place.max() >= self.limit) and (mask is None or mask.any()):
            self._refuse(lanes, place, mask, verb)
        return place + self.base

    def _refuse(self, lanes: Lanes, place: np.ndarray, mask: np.ndarray | None, verb: str) -> None:
        wrong = (place < 0) | (place >= self.limit)
        wrong = wrong if mask is None else wrong & mask
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise lanes.wrong(at[-1], f"{verb} element {place[at]} of {self.name}, which has {self.limit}")

    # races -------------------------------------------------------------------------------------------------------------
    def _notes(self) -> tuple[np.ndarray, np.ndarray]:
        if self.notes is None:
            self.notes = np.full(self.array.size, NOBODY), np.full(self.array.size, NOBODY)
        return self.notes

    def _note_read(self, lanes: Lanes, there: np.ndarray, mask: np.ndarray | None) -> None:
        written, read = self._notes()
        who = np.broadcast_to(np.arange(lanes.number), there.shape)
        if mask is not None:
            there, who = there[..., mask], who[..., mask]
        there, who = there.ravel(), who.ravel()
        now = _moments(lanes)[who]
        self._refuse_races(lanes, there, who, _unordered(written[there], now), "reads", "wrote", written)
        before = read[there]
        read[there] = now
        among = read[there] ^ now               # where other lanes read the same element
        crowd, foreign = _unordered(before, now) | (among != 0), _foreign(before, now) | (among >> BLOCK != 0)
        if crowd.any():
            read[there[crowd]] = now[crowd] | OTHERS
            read[there[foreign]] = MANY

    def _note_write(self, lanes: Lanes, there: np.ndarray, value: np.ndarray, who: np.ndarray) -> None:
        written, read = self._notes()
        now = _moments(lanes)[who]
        self._refuse_races(lanes, there, who, _unordered(read[there], now), "writes", "read", read)
        changed = _unordered(written[there], now) & ~_same(self.array[there], value)
        self._refuse_races(lanes, there, who, changed, "writes", "wrote", written)
        self.array[there] = value
        read[there], written[there] = NOBODY, now
        lost = ~_same(self.array[there], value)         # another lane has written something else there
        self._refuse_races(lanes, there, who, lost, "writes", "wrote", written)

    def _refuse_races(self, lanes: Lanes, there: np.ndarray, who: np.ndarray, wrong: np.ndarray, verb: str, did: str,
                      notes: np.ndarray) -> None:
        if not wrong.any():
            return
        k = int(wrong.argmax())
        moment = int(notes[there[k]])
        thread = moment & OTHERS
        other = "others" if thread == OTHERS or moment == MANY else f"thread {thread} of block {moment >> BLOCK}"
        element = there[k] - (self.base[who[k]] if isinstance(self.base, np.ndarray) else self.base)
        what = f"{verb} element {element} of {self.name}, which {other} {did} with no barrier between"
        raise lanes.wrong(int(who[k]), what, "race: ")


def shared(dtype: np.dtype, count: int, row: np.ndarray, name: str) -> Pointer:
    """An array of shared memory: `count` elements for each block, `row` being the block of each lane; NaN at first."""
    empty = np.full((int(row[-1]) + 1) * count * dtype.itemsize, 0x5A, np.uint8).view(dtype)
    if dtype.kind == "f":
        empty[:] = np.nan
    return Pointer(empty, name, row * count, count)


def _moments(lanes: Lanes) -> np.ndarray:
    return (lanes.block << BLOCK) | (lanes.epoch << THREAD) | lanes.thread


def _unordered(moment: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Whether nothing orders moments: they are of two blocks, or of two threads between two barriers."""
    apart = moment ^ now
    return (moment != NOBODY) & (apart != 0) & ((apart >> BLOCK != 0) | (apart >> THREAD == 0))


def _foreign(moment: np.ndarray, now: np.ndarray) -> np.ndarray:
    return (moment != NOBODY) & ((moment ^ now) >> BLOCK != 0)


def _same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether elements have the same bits, or are NaN: a GPU has one NaN for all."""
    bits = f"u{a.dtype.itemsize}"
    equal = a.view(bits) == b.view(bits)
    return equal | (a != a) & (b != b) if a.dtype.kind == "f" else equal


class Registers:
    """Elements of each thread's own, 0 at first: [elements, lanes]."""

    def __init__(self, lanes: Lanes, dtype: np.dtype, count: int) -> None:
        self.array = np.zeros((count, lanes.number), dtype)

    def where(self, mask: np.ndarray, other: Registers) -> Registers:
        found = object.__new__(Registers)
        found.array = np.where(mask, self.array, other.array)
        return found

    def get(self, lanes: Lanes, index: Any) -> np.ndarray:
        return self.array[index] if not isinstance(index, np.ndarray) else self.array[self._place(index), np.arange(lanes.number)]

    def put(self, lanes: Lanes, index: Any, value: Any) -> None:
        value = np.broadcast_to(value, lanes.number)[None]
        if isinstance(index, np.ndarray) and index.ndim:
            new = self.array.copy()
            new[self._place(index), np.arange(lanes.number)] = value
            self.array = new if lanes.mask is None else np.where(lanes.mask, new, self.array)
        else:
            self.fill(index, value, lanes.mask)

    def fill(self, start: int, values: np.ndarray, mask: np.ndarray | None) -> None:
        """Sets elements from `start` on to `values` [elements, lanes]."""
        if not 0 <= start <= len(self.array) - len(values):
            raise SimulationError(f"element {start + len(values) - 1} of {len(self.array)} in registers")
        new = self.array.copy()
        new[start:start + len(values)] = values if mask is None else np.where(mask, values, new[start:start + len(values)])
        self.array = new

    def part(self, start: int, count: int) -> np.ndarray:
        return self.array[start:start + count]

    def _place(self, index: np.ndarray) -> np.ndarray:
        if index.min() < 0 or index.max() >= len(self.array):
            raise SimulationError(f"element {int(index.max())} of {len(self.array)} in registers")
        return index
