"""Gamma and Poisson distributed numbers: every sample draws from a stretch of its own until one is accepted."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import INDICES, TypeSet, as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.fill import zeros_like
from jitgraph.ops.arrays.shape import stated_sizes
from jitgraph.ops.random.draws import seeds
from jitgraph.ops.random.normal_loops import gammas
from jitgraph.ops.random.philox import RESERVED, Bits, pairs_float64, unit_float64
from jitgraph.ops.random.poisson_loop import poissons

_GAMMA_TYPES = TypeSet(dtypes.float16, dtypes.float32, dtypes.float64)
_RATES = TypeSet(dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, default=dtypes.float64)


class _Pairs:
    """The uniform numbers of one sample: they come in pairs from a block each, the second one first."""

    __slots__ = ("_bits", "_block", "_units")

    def __init__(self, bits: Bits, block: int):
        self._bits, self._block = bits, block
        self._units: list[float] = []

    def _next(self) -> np.ndarray:
        words = self._bits.blocks([self._block]).reshape(-1)
        self._block += 1
        return words

    def unit(self) -> float:
        if not self._units:
            self._units = unit_float64(self._next()).tolist()
        return self._units.pop()


class _AllPairs:
    """The uniform and normal numbers of many samples, as ``_Pairs``; sample `k` begins at block ``RESERVED * k``."""

    def __init__(self, bits: Bits, count: int):
        self._bits = bits
        self._block = np.arange(count) * RESERVED
        self._left = {unit_float64: np.full(count, np.nan), pairs_float64: np.full(count, np.nan)}     # NaN: nothing is

    def units(self, samples: np.ndarray) -> np.ndarray:
        """A uniform number for each of some samples."""
        return self._next(samples, unit_float64)

    def normals(self, samples: np.ndarray) -> np.ndarray:
        """A normal number for each of some samples."""
        return self._next(samples, pairs_float64)

    def _next(self, samples: np.ndarray, made_of: Any) -> np.ndarray:
        left = self._left[made_of]
        found = left[samples]
        without = np.isnan(found)
        fresh = samples[without]
        left[samples] = np.nan
        if len(fresh):
            pairs = made_of(self._bits.blocks(self._block[fresh]).reshape(-1)).reshape(-1, 2)
            self._block[fresh] += 1
            left[fresh], found[without] = pairs[:, 0], pairs[:, 1]
        return found


def _gammas(alphas: np.ndarray, draw: _AllPairs) -> np.ndarray:
    """Numbers of the gamma distributions with shapes `alphas`, one of each (Marsaglia and Tsang, 2000)."""
    out = np.full(len(alphas), np.nan)
    exponential = np.flatnonzero(alphas == 1.0)
    out[exponential] = [-math.log(1.0 - u) for u in draw.units(exponential).tolist()]
    all_d = alphas + np.where(alphas < 1.0, 2.0 / 3, -1.0 / 3)
    left = np.flatnonzero((alphas != 1.0) & (all_d > 0))
    while len(left):
        v = 1 + 1.0 / 3 / np.sqrt(all_d[left]) * (x := draw.normals(left))
        fits = v > 0
        again, left, x, v = left[~fits], left[fits], x[fits], v[fits]
        d, v, u = all_d[left], v * v * v, draw.units(left)
        taken = u < 1 - 0.0331 * (x * x) * (x * x)
        for k in np.flatnonzero(~taken).tolist():       # few; NumPy's logarithm may differ from the library's in the last bit
            taken[k] = math.log(u[k]) < 0.5 * x[k] * x[k] + d[k] * (1 - v[k] + math.log(v[k]))
        out[left[taken]] = d[taken] * v[taken]
        left = np.union1d(again, left[~taken])
    small = np.flatnonzero(alphas < 1.0)
    out[small] *= [u ** (1 / alpha) if alpha else 0.0 for u, alpha in zip(draw.units(small).tolist(), alphas[small].tolist())]
    return out


def _poisson(rate: float, draw: _Pairs, largest: float) -> float:
    """One number of the Poisson distribution: Knuth's product below 10, else rejection (Hoermann, 1993)."""
    if not rate >= 0:
        return 0.0
    if rate < 10:
        limit, product, count = math.exp(-rate), 1.0, 0.0
        while True:
            product *= draw.unit()
            if product <= limit and count <= largest:
                return count
            count += 1
    if math.isinf(rate):
        return math.inf
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    while True:
        u = draw.unit() - 0.5
        v = draw.unit()
        edge = 0.5 - abs(u)
        if edge == 0:
            continue
        k = math.floor((2 * a / edge + b) * u + rate + 0.43)
        if k > largest:
            continue
        if edge >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return k
        if k < 0 or edge < 0.013 and v > edge:
            continue
        if math.log(v * inverse_alpha / (a / (edge * edge) + b)) <= -rate + k * math.log(rate) - math.lgamma(k + 1):
            return k


def _as_stated(drawn: np.ndarray, shape: Any, parameters: np.ndarray, dtype: Any = None) -> np.ndarray:
    """Numbers that come parameter by parameter as an array of shape ``shape + parameters.shape``."""
    sizes = [int(d) for d in shape]
    rows = drawn.reshape(parameters.size, math.prod(sizes))     # not -1, which no empty array tells
    return rows.T.reshape([*sizes, *parameters.shape]).astype(parameters.dtype if dtype is None else dtype)


def _appended(c: Any) -> Any:
    first = shape_rules.shape_from(c, 0)
    return None if first is None or c.shapes[1] is None else (*first, *c.shapes[1])


@op("RandomGamma(shape: S, alpha: T; seed: int = 0, seed2: int = 0) -> output: T", S=INDICES, T=_GAMMA_TYPES,
    shape=_appended, stateful=True, stream=True,
    samples=lambda rng, dtype: [([ints(2), draw(rng, (3,), dtype, 0.5, 3)], {"seed": 7, "seed2": 9})])
def _random_gamma(shape, alpha, seed, seed2, stream):
    """Numbers of the gamma distributions with shape parameters `alpha` and rate 1: `shape` of them for each."""
    count = int(np.prod(stated_sizes(shape), dtype=np.int64))
    bits = Bits.reserve(stream, seed, seed2, RESERVED * count * alpha.size)
    alphas = alpha.reshape(-1).astype(np.float64)
    drawn = gammas(alphas, count, bits)
    if drawn is None:
        drawn = _gammas(np.repeat(alphas, count), _AllPairs(bits, count * alpha.size))
    return _as_stated(drawn, shape, alpha)


@_random_gamma.gradient
def _(op, grad):
    """By implicit reparameterisation (Figurnov et al., 2018)."""
    count = raw.Size(op.inputs[0])
    alpha = op.inputs[1]
    derivative = raw.RandomGammaGrad(alpha, op.outputs[0])
    return [None, raw.Sum(raw.Mul(grad, derivative), raw.Range(0, count, 1))]


@op("RandomGammaGrad(alpha: T, sample: T) -> output: T", T=TypeSet(dtypes.float32, dtypes.float64),
    shape=shape_rules.broadcast, samples=lambda rng, dtype: [[draw(rng, (3,), dtype, 0.5, 4), draw(rng, (2, 3), dtype, 0.5, 4)]])
def random_gamma_grad(alpha, sample):
    """The derivative of a gamma distributed sample with respect to `alpha`, at a fixed value of its distribution."""
    from scipy import special, stats

    a, x = alpha.astype(np.float64), sample.astype(np.float64)
    step = 1e-5 * np.maximum(a, 1e-3)
    slope = (special.gammainc(a + step, x) - special.gammainc(a - step, x)) / (2 * step)
    return (-slope / stats.gamma.pdf(x, a)).astype(sample.dtype)


@op("RandomPoissonV2(shape: S, rate: R; seed: int = 0, seed2: int = 0, dtype: type = int64) -> output: dtype", S=INDICES,
    R=_RATES, dtype=_RATES.with_default(dtypes.int64), shape=_appended, stateful=True, stream=True,
    samples=lambda rng, dtype: [([ints(2), draw(rng, (3,), dtype, 1, 30)], {"seed": 7, "seed2": 9, "dtype": one})
                                for one in (dtypes.float32, dtypes.int64)])
def _random_poisson(shape, rate, seed, seed2, dtype, stream):
    """Numbers of the Poisson distributions with the given rates: `shape` of them for each."""
    largest = float(dtype.max)
    count = int(np.prod(stated_sizes(shape), dtype=np.int64))
    bits = Bits.reserve(stream, seed, seed2, RESERVED * count * rate.size)
    drawn = poissons(rate, count, bits, largest)
    if drawn is None:
        drawn = np.array([_poisson(float(r), _Pairs(bits, RESERVED * (i * count + j)), largest)
                          for i, r in enumerate(rate.reshape(-1).tolist()) for j in range(count)], np.float64)
    return _as_stated(drawn, shape, rate, dtype.as_numpy_dtype)


@op("RandomPoisson(shape: S, rate: dtype; seed: int = 0, seed2: int = 0) -> output: dtype", S=INDICES,
    dtype=_GAMMA_TYPES, shape=_appended, stateful=True, stream=True,
    samples=lambda rng, dtype: [([ints(2), draw(rng, (3,), dtype, 0.5, 3)], {"seed": 7, "seed2": 9})])
def _random_poisson_v1(shape, rate, seed, seed2, stream):
    """As RandomPoissonV2, in the dtype of `rate`."""
    return _random_poisson.opdef.value(shape, rate, seed, seed2, as_dtype(rate.dtype), stream=stream)


def random_gamma(shape: Any, alpha: Any, beta: Any = None, dtype: Any = dtypes.float32, seed: int | None = None,
                 name: str | None = None) -> Any:
    """Numbers of gamma distributions with shape parameter `alpha` and rate `beta` (1), which broadcast together.

    The result has the shape ``shape + broadcast(alpha, beta)``.
    """
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert_to_tensor(shape, dtypes.int32, name="shape")
        alpha = convert_to_tensor(alpha, as_dtype(dtype), name="alpha")
        beta = convert_to_tensor(1 if beta is None else beta, as_dtype(dtype), name="beta")
        drawn = raw.RandomGamma(shape, alpha + zeros_like(beta), **seeds(seed))
        return raw.Maximum(np.finfo(alpha.dtype.as_numpy_dtype).tiny, drawn / beta)


def random_poisson(lam: Any, shape: Any, dtype: Any = dtypes.float32, seed: int | None = None,
                   name: str | None = None) -> Any:
    """Numbers of Poisson distributions with the rates `lam`; the result has the shape ``shape + lam.shape``."""
    with name_scope(name, "random_poisson", [lam, shape]):
        return raw.RandomPoissonV2(convert_to_tensor(shape, dtypes.int32, name="shape"), lam, dtype=as_dtype(dtype),
                                   **seeds(seed))
