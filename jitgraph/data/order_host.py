"""Sources that shuffle, repeat and mix the elements of others, in TensorFlow's order for the same seeds."""
from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.data.simple_host import Same, Unary
from jitgraph.data.source_host import INFINITE, UNKNOWN, Element, Run, Source, Take
from jitgraph.graph import errors


def words(seed: int, seed2: int) -> Callable[[], int]:
    """A function that gives the 32-bit words of a generator with these seeds, random ones if both are 0."""
    from jitgraph.ops.random.philox import Bits, Reader, Stream

    return Reader(Bits.reserve(Stream(), seed, seed2, 0), ahead=64).word


class Seeds:
    """Two seeds of a source; others are drawn where both are 0."""

    def __init__(self, seed: int, seed2: int):
        self.drawn = not (seed or seed2)
        word = words(seed, seed2)
        self.seeds = (word() | 1, word()) if self.drawn else (seed, seed2)

    def at(self, run: Run) -> tuple[int, int]:
        """The seeds at a place of an iteration, which may have begun in another session."""
        return run.session.drawn.setdefault(repr(run.path), self.seeds) if self.drawn else self.seeds


class Repeated(Unary):
    """The elements again and again: `count` times, for ever if it is negative."""

    orders = True

    def __init__(self, source: Source, count: int):
        super().__init__(source)
        self.count = count

    def iterate(self, run: Run) -> Take:
        # repeating once is left out before
        if run.fused and self.count != 1 and isinstance(self.source, Shuffled) and self.source.again:
            return self.source.repeated(run, self.count)
        inner = run.at("repeat")
        epochs, take, fresh = 1, self.source.iterate(inner) if self.count else _ended, True

        def repeated() -> Element:
            nonlocal epochs, take, fresh
            while True:
                try:
                    element = take()
                    fresh = False
                    return element
                except StopIteration:
                    if fresh and self.count < 0 or 0 <= self.count <= epochs:
                        raise
                    epochs, fresh = epochs + 1, True
                    take = self.source.iterate(inner)

        return repeated

    def size(self) -> int:
        size = self.source.size()
        return size if size == 0 or size == UNKNOWN else INFINITE if self.count < 0 or size == INFINITE else size * self.count


def _ended() -> Element:
    raise StopIteration


class Shuffled(Unary):
    """The elements in random order, each chosen from the next `buffer` ones.

    `again`: whether each iteration has an order of its own, of seeds that a generator with these seeds gives; `count`:
    how often the elements are repeated, as a part of this.
    """

    orders = True

    def __init__(self, source: Source, buffer: int, seed: int, seed2: int, again: bool = True, count: int | None = None):
        if buffer < 1:
            raise errors.InvalidArgumentError(None, None, "buffer_size must be greater than zero.")
        super().__init__(source)
        self.buffer, self.again, self.count = buffer, again, count
        self.seeds = Seeds(seed, seed2)

    def iterate(self, run: Run) -> Take:
        if self.count is not None:
            return self.repeated(run, self.count)
        seeds = self.seeds.at(run)
        if self.again:
            draw = run.session.keep(("seeds", run.path), lambda: words(*seeds))
            seeds = draw(), draw()
        return self._shuffled(run.at("shuffle"), 1, words(*seeds))

    def repeated(self, run: Run, count: int) -> Take:
        """The elements `count` times; a new epoch may come into the buffer before the one before it is used up."""
        return self._shuffled(run.at("shuffle"), count, words(*self.seeds.at(run)))

    def _shuffled(self, run: Run, count: int, word: Callable[[], int]) -> Take:
        newest: list = []
        epochs = collections.deque([newest])        # what is in the buffer, by epoch
        begin = held = epoch = 0                    # where those of the first epoch begin; how many there are of all
        take: Take | None = None
        begun, fresh = False, True                  # whether the source was asked; whether nothing came yet from this epoch

        def begin_epoch() -> None:
            nonlocal take, fresh, newest, epoch
            epoch += 1
            enough = 0 <= count <= epoch
            if enough or fresh and count < 0:
                take = None
                if enough and _reshuffles(self.source):
                    # TensorFlow begins one more iteration before it sees that it has enough: orders below are drawn for it
                    self.source.iterate(run)
            else:
                take, fresh, newest = self.source.iterate(run), True, []
                epochs.append(newest)

        def shuffled() -> Element:
            nonlocal begin, held, begun, fresh, take
            if not begun:                           # as late as in TensorFlow: orders below are drawn then
                begun, take = True, self.source.iterate(run) if count else None
            while take is not None and held < self.buffer:
                try:
                    newest.append(take())
                except StopIteration:
                    begin_epoch()
                    continue
                fresh = False
                held += 1
                if len(epochs) > _MOST_EPOCHS:
                    break
            if not held:
                raise StopIteration
            while not epochs[0]:
                epochs.popleft()
            first = epochs[0]
            # what comes first in the ring buffer takes the place of what is taken out
            place = begin + word() % (len(first) - begin)
            chosen = first[place]
            first[place], first[begin] = first[begin], _GONE
            begin += 1
            held -= 1
            if begin == len(first):
                first.clear()
                begin = 0
            elif begin > self.buffer:
                del first[:begin]
                begin = 0
            return chosen

        return shuffled

    def size(self) -> int:
        size = self.source.size()
        if self.count is None or size in (0, UNKNOWN):
            return size
        return INFINITE if self.count < 0 or size == INFINITE else size * self.count


def _reshuffles(source: Source) -> bool:
    """Whether elements come through a shuffling that draws an order for each iteration."""
    return isinstance(source, Shuffled) and source.again or any(map(_reshuffles, source.inputs))


_GONE: Any = None
_MOST_EPOCHS = 3        # no more of them fill a buffer that is larger than the dataset: nothing is chosen from them yet


class Randoms(Source):
    """int64 random numbers of 32 bits, without end."""

    def __init__(self, seed: int, seed2: int):
        self.seeds = Seeds(seed, seed2)

    def iterate(self, run: Run) -> Take:
        word = words(*self.seeds.at(run))
        return lambda: (np.array(word(), np.int64),)

    def size(self) -> int:
        return INFINITE


class Directed(Source):
    """Elements of several sources; another source says by numbers which one is next."""

    def __init__(self, selector: Source, sources: list[Source]):
        self.inputs = selector, *sources

    def iterate(self, run: Run) -> Take:
        select = self.inputs[0].iterate(run.at("selector"))
        takes: list[Take | None] = [source.iterate(run.at(("choice", k))) for k, source in enumerate(self.inputs[1:])]

        def directed() -> Element:
            while any(takes):
                number = int(select()[0])
                if not 0 <= number < len(takes):
                    raise errors.InvalidArgumentError(None, None, f"Selector index out of range: {number} >= {len(takes)}")
                take = takes[number]
                if take is not None:
                    try:
                        return take()
                    except StopIteration:
                        takes[number] = None
            raise StopIteration

        return directed


class Distinct(Unary):
    """The elements that were not there before."""

    def iterate(self, run: Run) -> Take:
        take, seen = self.source.iterate(run.at("unique")), set()

        def distinct() -> Element:
            while True:
                element = take()
                key = element[0].tobytes() if element[0].dtype != object else repr(element[0].tolist())
                if key not in seen:
                    seen.add(key)
                    return element

        return distinct


class Undisturbed(Unary):
    """The elements without those in whose place an error is raised."""

    def iterate(self, run: Run) -> Take:
        take = self.source.iterate(run.at("ignore_errors"))

        def undisturbed() -> Element:
            while True:
                try:
                    return take()
                except errors.CancelledError:
                    raise
                except errors.OpError:
                    continue

        return undisturbed


class Optimized(Same):
    """The elements, with what TensorFlow's optimiser does to their order."""

    orders = True

    def __init__(self, source: Source, fuses: bool):
        super().__init__(source)
        self.fuses = fuses

    def iterate(self, run: Run) -> Take:
        return self.resume(run, 0)

    def resume(self, run: Run, count: int) -> Take:
        return self.source.resume(run.with_(fused=self.fuses), count)
