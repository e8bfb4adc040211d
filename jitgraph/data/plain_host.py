"""Sources that TensorFlow's own transformations leave to nodes: what samples, waits, batches sliding windows, looks for files."""
from __future__ import annotations

import time

import numpy as np

from jitgraph.data.order_host import Seeds, Shuffled, words
from jitgraph.data.simple_host import Cached, Listed, Same, Unary, Windowed
from jitgraph.data.source_host import Element, Function, Run, Source, Take, stacked
from jitgraph.graph import errors
from jitgraph.resources import handle


class Sampled(Unary):
    """The elements, each kept with the probability `rate`."""

    def __init__(self, source: Source, rate: float, seed: int, seed2: int):
        super().__init__(source)
        self.rate, self.seeds = rate, Seeds(seed, seed2)

    def iterate(self, run: Run) -> Take:
        take, word = self.source.iterate(run.at("sampling")), words(*self.seeds.at(run))

        def sampled() -> Element:
            while True:
                element = take()
                if _unit(word()) < self.rate:
                    return element

        return sampled


def _unit(word: int) -> np.float32:
    """A float32 in [0, 1) of the lower 23 bits of a word."""
    return np.float32((word & 0x7fffff) / 0x800000)


class Branched(Unary):
    """The elements of the dataset that a function makes of another one."""

    def __init__(self, source: Source, function: Function):
        super().__init__(source)
        self.function = function

    def iterate(self, run: Run) -> Take:
        made = self.function.start(run)((handle(self.source),))[0][()]
        take: Take = made.iterate(run.at("branch").inside(0))
        return take


class Slept(Same):
    """The elements, each after a pause."""

    def __init__(self, source: Source, microseconds: int):
        super().__init__(source)
        self.seconds = microseconds * 1e-6

    def iterate(self, run: Run) -> Take:
        return self.resume(run, 0)

    def resume(self, run: Run, count: int) -> Take:
        take, pause = self.source.resume(run, count), self.seconds

        def slept() -> Element:
            time.sleep(pause)
            return take()

        return slept


class SlidingBatches(Unary):
    """Windows of elements, stacked."""

    def __init__(self, source: Source, size: int, shift: int, stride: int):
        if shift == size and stride == 1:
            import warnings

            warnings.warn("window_shift equals window_size: .batch() gives the same, and faster", stacklevel=2)
        self.windows = Windowed(source, size, shift, stride, drop_remainder=True)
        super().__init__(source)

    def iterate(self, run: Run) -> Take:
        take = self.windows.iterate(run)

        def batched() -> Element:
            parts: list[Listed] = [part[()] for part in take()]
            return stacked([tuple(component for component, in row) for row in zip(*(part.elements for part in parts))])

        return batched


class KeptByLast(Unary):
    """The elements whose last component, a bool, holds, without that component."""

    def iterate(self, run: Run) -> Take:
        take = self.source.iterate(run.at("filter_by_last_component"))

        def kept() -> Element:
            while True:
                element = tuple(take())
                last = element[-1]
                if last.dtype != np.bool_ or last.ndim:
                    raise errors.InvalidArgumentError(None, None, "Last component must be a bool scalar.")
                if last:
                    return element[:-1]

        return kept


class SeedGenerator:
    """Two seeds for each iteration over the datasets that share it."""

    def __init__(self, seed: int, seed2: int):
        self._word = words(*Seeds(seed, seed2).seeds)

    def draw(self) -> tuple[int, int]:
        """The next two seeds."""
        return self._word(), self._word()


class ShuffledBy(Shuffled):
    """The elements in an order of seeds that a generator gives for each iteration."""

    def __init__(self, source: Source, buffer: int, generator: SeedGenerator):
        super().__init__(source, buffer, 1, 1)
        self.generator = generator

    def iterate(self, run: Run) -> Take:
        return self._shuffled(run.at("shuffle"), 1, words(*self.generator.draw()))

    def repeated(self, run: Run, count: int) -> Take:
        return self._shuffled(run.at("shuffle"), count, words(*self.generator.draw()))


class Memory:
    """Elements that several iterations share."""

    def __init__(self) -> None:
        self.kept: list[list[Element]] = []


class CachedIn(Cached):
    """The elements of another source, which the first iteration that comes to its end puts into a memory."""

    def __init__(self, source: Source, memory: Memory):
        super().__init__(source)
        self.memory = memory

    def place(self, run: Run) -> list:
        return self.memory.kept
