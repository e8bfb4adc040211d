"""Random tensors that depend on nothing but the seeds they are given."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import FLOATS, INDEX, INDICES, REALS, TypeSet, as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.shape import stated_sizes
from jitgraph.ops.random import philox
from jitgraph.ops.random.draws import draw_classes, shape_tensor
from jitgraph.ops.random.philox import Bits

_SEEDS = INDEX.with_default(dtypes.int64)
_INTEGERS = TypeSet(dtypes.int32, dtypes.int64)


def _shape(c: Any) -> Any:
    seed = c.shapes[1]
    if seed is not None and (len(seed) != 1 or seed[0] not in (None, 2)):
        raise ValueError(f"seed must have shape [2], not {list(seed)}")
    return shape_rules.shape_from(c, 0)


def _bits(seed: np.ndarray) -> Bits:
    if seed.shape != (2,):
        from jitgraph.graph.errors import InvalidArgumentError

        raise InvalidArgumentError(None, None, f"seed must have shape [2], not {list(seed.shape)}")
    return Bits.scrambled(int(seed[0]), int(seed[1]))


def _samples(rng: Any, dtype: Any) -> list:
    return [[np.array([2, 3], dtype), np.array([1, 7], np.int64)], [np.array([], dtype), np.array([-1, 2], np.int64)],
            [np.array([0, 2], dtype), np.array([1, 7], np.int64)]]


def _declare(name: str, distribution: Any, doc: str) -> Any:
    def value(shape: Any, seed: Any, dtype: Any) -> Any:
        sizes = stated_sizes(shape)
        return distribution(_bits(seed), int(np.prod(sizes, dtype=np.int64)), dtype.as_numpy_dtype).reshape(sizes)

    value.__doc__ = doc
    value.__name__ = name
    return op(f"StatelessRandom{name}(shape: T, seed: Tseed; dtype: type = float32) -> output: dtype"
              if name != "TruncatedNormal" else
              "StatelessTruncatedNormal(shape: T, seed: Tseed; dtype: type = float32) -> output: dtype",
              T=INDEX, Tseed=_SEEDS, dtype=FLOATS.with_default(dtypes.float32), shape=_shape,
              grad=NOT_DIFFERENTIABLE, samples=_samples)(value)


_uniform = _declare("Uniform", philox.uniform, "Numbers in [0, 1), uniformly distributed, from two seeds.")
_normal = _declare("Normal", philox.normal, "Numbers of the standard normal distribution, from two seeds.")
_truncated = _declare("TruncatedNormal", philox.truncated_normal,
                      "Numbers of the standard normal distribution of absolute value below 2, from two seeds.")


@op("StatelessRandomUniformInt(shape: T, seed: Tseed, minval: dtype, maxval: dtype) -> output: dtype", T=INDICES,
    Tseed=_SEEDS, dtype=_INTEGERS, shape=_shape, grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [[np.array([4], dtype), np.array([1, 7], np.int64), np.int32(-3), np.int32(9)]])
def _uniform_int(shape, seed, minval, maxval):
    """Integers in [minval, maxval), from two seeds."""
    sizes = stated_sizes(shape)
    count = int(np.prod(sizes, dtype=np.int64))
    if count and minval >= maxval:
        from jitgraph.graph.errors import InvalidArgumentError

        raise InvalidArgumentError(None, None, f"Need minval < maxval, got {minval} >= {maxval}")
    kind = np.asarray(minval).dtype
    return philox.integers(_bits(seed), count, int(minval), int(maxval), kind).reshape(sizes) if count else np.empty(
        sizes, kind)


def _multinomial_shape(c: Any) -> Any:
    samples = c.constant(1)
    return (shape_rules.with_rank(c.shapes[0], 2, "logits")[0],
            samples.item() if shape_rules.known(samples) else None)


@op("StatelessMultinomial(logits: T, num_samples: int32, seed: Tseed; output_dtype: type = int64) -> output: output_dtype",
    T=REALS, Tseed=_SEEDS, output_dtype=_INTEGERS.with_default(dtypes.int64), shape=_multinomial_shape,
    grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [[draw(rng, (2, 3), dtype), np.int32(4), np.array([1, 7], np.int64)]])
def _multinomial(logits, num_samples, seed, output_dtype):
    """For each row of unnormalised log-probabilities, `num_samples` classes, from two seeds."""
    return draw_classes(_bits(seed), logits, int(num_samples), output_dtype.as_numpy_dtype)


# -- public functions ----------------------------------------------------------------------------------------------

def stateless_random_uniform(shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32,
                             name: str | None = None) -> Any:
    """Numbers in [minval, maxval) that depend on `shape` and on `seed`, two integers, alone.

    Raises ValueError for integers without `maxval` and for other dtypes.
    """
    dtype = as_dtype(dtype)
    if dtype not in FLOATS and dtype not in _INTEGERS:
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as scope:
        shape = shape_tensor(shape)
        minval = convert_to_tensor(minval, dtype, name="min")
        maxval = convert_to_tensor(maxval, dtype, name="max")
        if dtype.is_integer:
            return raw.StatelessRandomUniformInt(shape, seed, minval, maxval, name=scope)
        unit = raw.StatelessRandomUniform(shape, seed, dtype=dtype)
        return raw.Add(unit * (maxval - minval), minval, name=scope)


def _scaled(op_type: str, default: str, shape: Any, seed: Any, mean: Any, stddev: Any, dtype: Any,
            name: str | None) -> Any:
    dtype = as_dtype(dtype)
    with name_scope(name, default, [shape, seed, mean, stddev]) as scope:
        shape = shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype, name="stddev")
        return raw.Add(getattr(raw, op_type)(shape, seed, dtype=dtype) * stddev, mean, name=scope)


def stateless_random_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
                            name: str | None = None) -> Any:
    """Normally distributed numbers that depend on `shape` and on `seed`, two integers, alone."""
    return _scaled("StatelessRandomNormal", "stateless_random_normal", shape, seed, mean, stddev, dtype, name)


def stateless_truncated_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
                               name: str | None = None) -> Any:
    """As ``stateless_random_normal``, without values two and more standard deviations away from the mean."""
    return _scaled("StatelessTruncatedNormal", "stateless_truncated_normal", shape, seed, mean, stddev, dtype, name)


def stateless_multinomial(logits: Any, num_samples: Any, seed: Any, output_dtype: Any = dtypes.int64,
                          name: str | None = None) -> Any:
    """Classes drawn for each row of `logits` that depend on `seed`, two integers, alone."""
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        return raw.StatelessMultinomial(convert_to_tensor(logits, name="logits"), num_samples, seed,
                                        output_dtype=as_dtype(output_dtype))


def stateless_categorical(logits: Any, num_samples: Any, seed: Any, dtype: Any = dtypes.int64,
                          name: str | None = None) -> Any:
    """As ``stateless_multinomial``."""
    return stateless_multinomial(logits, num_samples, seed, dtype, name or "stateless_categorical")
