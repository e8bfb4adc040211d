"""Normal distributions cut off on both sides, with parameters of their own for each row: ParameterizedTruncatedNormal."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import ints
from jitgraph.graph import shape_rules
from jitgraph.graph.dtypes import FLOATS, INDICES
from jitgraph.graph.errors import InternalError
from jitgraph.ops.arrays.shape import stated_sizes
from jitgraph.ops.random import philox
from jitgraph.ops.random.philox import Bits

_NAMES = ("means", "stddevs", "minvals", "maxvals")
_MOST = 1000            # rejections in a row
_NEAR = 1.3             # with a bound this far on the other side, normal numbers are drawn and those outside left out
_TOGETHER = 100         # so many samples of one distribution make a row


class _Draws:
    """Uniform and normal numbers, a block of the sequence at a time: four of them, or two of 64 bits."""

    def __init__(self, bits: Bits, kind: np.dtype):
        self._bits, self._block, self._wide = bits, 0, kind.itemsize == 8

    def _words(self) -> np.ndarray:
        self._block += 1
        return self._bits.blocks([self._block - 1]).reshape(-1)

    def units(self) -> np.ndarray:
        return (philox.unit_float64 if self._wide else philox.unit_float32)(self._words())

    def normals(self) -> np.ndarray:
        return (philox.pairs_float64 if self._wide else philox.pairs_float32)(self._words()).reshape(-1)


def _from_normal(low: Any, high: Any, draws: _Draws) -> Iterator:
    while True:
        for x in draws.normals():
            yield x, low <= x <= high


def _from_uniform(low: Any, high: Any, draws: _Draws) -> Iterator:
    least = low * 0 if low < 0 else low * low
    while True:
        places = draws.units() * (high - low) + low
        heights = np.exp((least - places * places) / 2)
        yield from zip(places, draws.units() <= heights)


def _from_exponential(low: Any, high: Any, draws: _Draws) -> Iterator:
    kind = type(low)
    alpha = (low + np.sqrt(low * low + kind(4))) / kind(2)
    while True:
        pairs = draws.units().reshape(-1, 2)
        for first, second in pairs:
            z = -np.log(first) / alpha + low
            x = alpha - z if low < alpha else low - alpha
            yield z, second <= np.exp(-x * x / kind(2)) and z < high


def _row(count: int, mean: Any, deviation: Any, least: Any, most: Any, draws: _Draws) -> list:
    """So many numbers of one distribution, by rejection from the distribution that wastes least (Robert, 1995)."""
    if not (deviation > 0 and least < most and (np.isfinite(least) or np.isfinite(most))):
        raise invalid("Invalid parameters")
    if (np.isinf(least) and least < 0) or most < mean:
        least, most, deviation = most, least, -deviation
    low, high = (least - mean) / deviation, (most - mean) / deviation
    kind = type(low)
    root = np.sqrt(low * low + kind(4))
    cutoff = kind(2) * np.exp(kind(0.5) + low * (low - root) / kind(4)) / (low + root)
    if low < -_NEAR and high >= 0 or high > _NEAR and low <= 0:
        source = _from_normal(low, high, draws)
    else:
        source = (_from_uniform if high - low < cutoff else _from_exponential)(low, high, draws)
    found: list = []
    refused = 0
    while len(found) < count:
        value, fits = next(source)
        refused = 0 if fits else refused + 1
        if fits:
            found.append(value * deviation + mean)
        elif refused > _MOST:
            raise InternalError(None, None, "TruncatedNormal rejection sampler failed to accept a sample.")
    return found


def _stated_shape(c: Any) -> Any:
    for index in range(1, 5):
        shape_rules.with_rank_at_most(c.shapes[index], 1, "a parameter")
    return shape_rules.shape_from(c, 0)


@op("ParameterizedTruncatedNormal(shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype; seed: int = 0, "
    "seed2: int = 0) -> output: dtype", T=INDICES, dtype=FLOATS, shape=_stated_shape, stateful=True, stream=True,
    grad=NOT_DIFFERENTIABLE, samples=lambda rng, dtype: [
        ([ints(3, 2), *(np.array(x, np.float32) for x in (0.0, [1.0, 2.0, 0.5], [-2.0, -1.0, 3.0], 5.0))],
         {"seed": 7, "seed2": 9})])
def parameterized_truncated_normal(shape, means, stdevs, minvals, maxvals, seed, seed2, stream):
    """Normal numbers between bounds; a parameter is one number, or one for each row of the result.

    A run raises InvalidArgumentError for deviations that are not above 0, bounds that are not in order, and infinite ones.
    Numbers of 16 bits are drawn as those of 32 and rounded.
    """
    sizes = stated_sizes(shape)
    rows, total = sizes[0], int(np.prod(sizes, dtype=np.int64))
    parameters = (means, stdevs, minvals, maxvals)
    for name, given in zip(_NAMES, parameters):
        if given.ndim > 1:
            raise invalid(f"Input {name} should be a scalar or vector, got shape: {list(given.shape)}")
        if given.size not in (1, rows):
            raise invalid(f"Input {name} should have length 1 or shape[0], got shape: {list(given.shape)}")
    each = total // rows if rows else 0
    if all(given.size == 1 for given in parameters):
        rows, each = -(-total // _TOGETHER), _TOGETHER
    kind = means.dtype if means.dtype.itemsize > 2 else np.dtype(np.float32)
    draws = _Draws(Bits.reserve(stream, seed, seed2, rows * 2 * _MOST * (each + 3) // 4), kind)
    flat = [np.broadcast_to(given.reshape(-1).astype(kind), rows) for given in parameters]
    found: list = []
    with np.errstate(over="ignore", divide="ignore"):
        for row in range(rows):
            found += _row(min(each, total - len(found)), *(given[row] for given in flat), draws)
    return np.array(found, kind).astype(means.dtype).reshape(sizes)
