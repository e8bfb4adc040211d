"""Records of many files in a random order, over and over: what a RecordInput node keeps between runs.

The order of the files in each epoch, and the places of records in the buffer, are TensorFlow's for a given seed.  There the
threads that read race with each other and with who takes the records; here each record is read when its turn comes.
"""
from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from jitgraph.filesystem import gfile
from jitgraph.formats.records import read_records
from jitgraph.graph import errors
from jitgraph.ops.strings.string_hash import murmur64

_ALL = (1 << 64) - 1
_HELD = 16              # records that a thread reads before it moves the last of them to the buffer


class Twister:
    """The Mersenne Twister of 64 bits (Nishimura, 2000), as C++ begins it."""

    _SIZE, _MIDDLE = 312, 156

    def __init__(self, seed: int):
        self._words = [seed & _ALL]
        for k in range(1, self._SIZE):
            last = self._words[-1]
            self._words.append(6364136223846793005 * (last ^ last >> 62) + k & _ALL)
        self._next = self._SIZE

    def __call__(self) -> int:
        """The next number below 2**64."""
        if self._next == self._SIZE:
            self._turn()
        word = self._words[self._next]
        self._next += 1
        word ^= word >> 29 & 0x5555555555555555
        word ^= word << 17 & 0x71D67FFFEDA60000
        word ^= word << 37 & 0xFFF7EEE000000000
        return word ^ word >> 43

    def _turn(self) -> None:
        words, size = self._words, self._SIZE
        for k in range(size):
            joined = words[k] & 0xFFFFFFFF80000000 | words[(k + 1) % size] & 0x7FFFFFFF
            words[k] = words[(k + self._MIDDLE) % size] ^ joined >> 1 ^ (0xB5026F5AA96619E9 if joined & 1 else 0)
        self._next = 0

    def below(self, count: int) -> int:
        """A number below `count`, each as likely."""
        width = _ALL // count
        while True:
            word = self()
            if word < width * count:
                return word // width

    def shuffle(self, items: list) -> None:
        """Puts `items` into another order, as C++'s ``std::shuffle`` does: two places from each number."""
        at = 1
        if len(items) > 1 and len(items) % 2 == 0:
            self._swap(items, at, self.below(2))
            at += 1
        while at < len(items):
            first, second = divmod(self.below((at + 1) * (at + 2)), at + 2)
            self._swap(items, at, first)
            self._swap(items, at + 1, second)
            at += 2

    def _swap(self, items: list, a: int, b: int) -> None:
        items[a], items[b] = items[b], items[a]


class Records:
    """The records of all files that match a pattern; `attrs` are those of the node."""

    def __init__(self, attrs: dict[str, Any]):
        self._attrs, self._size = attrs, max(1, attrs["file_buffer_size"])
        self._lock = threading.Lock()
        self._records = self._epochs()
        self._failed: errors.OpError | None = None

    def take(self, count: int) -> list[bytes]:
        """The next records.  Raises NotFoundError if there are no files, DataLossError for a damaged one."""
        with self._lock:
            if self._failed is not None:
                raise self._failed
            try:
                return list(itertools.islice(self._records, count))
            except errors.OpError as error:
                self._failed = error
                raise

    def _epochs(self) -> Iterator[bytes]:
        places = Twister(self._attrs["file_random_seed"])
        for epoch in itertools.count(1):
            empty = True
            for record in self._epoch(self._files(epoch), places):
                empty = False
                yield record
            if empty:
                raise errors.InvalidArgumentError(None, None, f"The files at {self._attrs['file_pattern']} have no records")

    def _files(self, epoch: int) -> list[str]:
        """The files in the order of an epoch."""
        pattern = self._attrs["file_pattern"]
        files = [name for one in pattern.split(",") for name in sorted(gfile.Glob(one))]
        if not files:
            raise errors.NotFoundError(None, None, f"Found no files at {pattern}")
        Twister(murmur64(epoch.to_bytes(8, "little"), self._attrs["file_random_seed"] & _ALL)).shuffle(files)
        ratio = np.float32(self._attrs["file_shuffle_shift_ratio"])
        shift = int(ratio * np.float32(len(files))) if 0 <= ratio < 1 else 0
        return files[shift:] + files[:shift]

    def _epoch(self, files: list[str], places: Twister) -> Iterator[bytes]:
        """The records of an epoch.  The buffer gives its last one when it is full, and in the end all."""
        buffer: list[bytes] = []
        parts = self._attrs["file_parallelism"]
        threads = [self._thread(files[k::parts], buffer, places) for k in range(parts)]
        while threads:
            for thread in list(threads):
                if len(buffer) >= self._size:
                    yield buffer.pop()
                if next(thread, True):
                    threads.remove(thread)
        while buffer:
            yield buffer.pop()

    def _thread(self, files: list[str], buffer: list[bytes], places: Twister) -> Iterator[bool]:
        """Moves the records of files into the buffer; gives False whenever it did so, and has to ask for room."""
        held: list[bytes] = []
        for record in itertools.chain.from_iterable(read_records(name, self._attrs["compression_type"]) for name in files):
            held.append(record)
            if len(held) >= _HELD:
                self._add(held, buffer, places)
                yield False
        while held:
            self._add(held, buffer, places)
            yield False

    def _add(self, held: list[bytes], buffer: list[bytes], places: Twister) -> None:
        """As many of the records held as there is room for, the last first; each changes its place with a random one."""
        while held and len(buffer) < self._size:
            place = places() % (len(buffer) + 1)
            buffer.append(held.pop())
            buffer[place], buffer[-1] = buffer[-1], buffer[place]
