"""Binomially distributed numbers from a stream of uniform ones."""
from __future__ import annotations

import math
from collections.abc import Callable

from jitgraph.ops.random.philox import Bits, unit_float64

_TAILS = (0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.0207906721037650, 0.0166446911898211, 0.0138761288230707,
          0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287)
_FEW = 10           # expected successes, below which waiting for each of them is faster than rejection


def _tail(k: float) -> float:
    """What Stirling's approximation of log(k!) leaves out."""
    if k <= 9:
        return _TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)


def _by_waiting(count: float, probability: float, unit: Callable[[], float]) -> float:
    """The number of successes in `count` trials, from the trials between one and the next."""
    trials, successes = 0.0, 0
    while True:
        u = unit()
        trials += math.inf if u == 0 else math.ceil(math.log(u) / math.log1p(-probability))
        if trials > count:
            return successes
        successes += 1


def _by_rejection(count: float, probability: float, unit: Callable[[], float]) -> float:
    """Transformed rejection (Hoermann, 1993: The generation of binomial random variates)."""
    deviation = math.sqrt(count * probability * (1 - probability))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * probability
    c = count * probability + 0.5
    inside = 0.92 - 4.2 / b
    odds = probability / (1 - probability)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = math.floor((count + 1) * probability)
    while True:
        u = unit() - 0.5
        v = unit()
        edge = 0.5 - abs(u)
        if edge == 0:
            continue
        k = math.floor((2 * a / edge + b) * u + c)
        if edge >= 0.07 and v <= inside:
            return k
        if k < 0 or k > count or v == 0:
            continue
        limit = ((mode + 0.5) * math.log((mode + 1) / (odds * (count - mode + 1)))
                 + (count + 1) * math.log((count - mode + 1) / (count - k + 1))
                 + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
                 + _tail(mode) + _tail(count - mode) - _tail(k) - _tail(count - k))
        if math.log(v * alpha / (a / (edge * edge) + b)) <= limit:
            return k


class UnitBlocks:
    """Uniform numbers of [0, 1), two from each block of bits; what asks for some begins with a new block."""

    def __init__(self, bits: Bits):
        self._bits, self._block = bits, 0

    def units(self) -> Callable[[], float]:
        """A function that gives the next number at each call."""
        left: list[float] = []

        def unit() -> float:
            nonlocal left
            if not left:
                left = unit_float64(self._bits.blocks([self._block]).reshape(-1)).tolist()
                self._block += 1
            return left.pop()

        return unit


def binomial(count: float, probability: float, unit: Callable[[], float]) -> float:
    """How many of `count` trials succeed, each with `probability`; `unit` gives uniform numbers of [0, 1)."""
    if count <= 0 or probability <= 0:
        return 0.0
    if probability >= 1:
        return count
    rare = min(probability, 1 - probability)
    found = (_by_rejection if count * rare >= _FEW else _by_waiting)(count, rare, unit)
    return found if probability <= 0.5 else count - found
