"""Single random numbers of the Philox sequence one after the other, as TensorFlow's ops draw them that loop."""
from __future__ import annotations

import numpy as np

from jitgraph.ops.random.philox import Bits, unit_float32, unit_float64


class SimplePhilox:
    """The 32-bit outputs of a sequence in order, and numbers made of them.  An op of a stream reserves blocks beforehand."""

    def __init__(self, bits: Bits):
        self._bits = bits
        self._words = np.empty(0, np.uint32)
        self._used = 0

    def word(self) -> int:
        """The next 32 random bits."""
        if self._used == len(self._words):
            self._words = self._bits.words(max(64, 2 * len(self._words)))
        self._used += 1
        return int(self._words[self._used - 1])

    def unit(self) -> np.float32:
        """A float32 in [0, 1)."""
        return unit_float32(np.array([self.word()], np.uint32))[0]

    def double(self) -> np.float64:
        """A float64 in [0, 1)."""
        return unit_float64(np.array([self.word(), self.word()], np.uint32))[0]

    def below(self, n: int) -> int:
        """An integer in [0, n), without bias; n fits in 32 bits."""
        if n & (n - 1) == 0:
            return self.word() & (n - 1)
        least = 0xFFFFFFFF % n + 1
        while (drawn := self.word()) < least:
            pass
        return drawn % n

    def below_64(self, n: int) -> int:
        """An integer in [0, n), without bias, of 64 bits drawn at once."""
        least = 0 if n & (n - 1) == 0 else (2 ** 64 - 1) % n + 1
        while (drawn := self.word() | self.word() << 32) < least:
            pass
        return drawn % n
