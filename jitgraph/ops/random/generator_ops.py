"""Random tensors whose state is a variable: StatefulUniform and its kin, which ``tf.random.experimental.Generator`` makes.

The state of the algorithm Philox has three numbers of 64 bits, a counter of two and a key.  Each op takes 256 blocks of the
sequence for each element that it gives, whatever it really uses, and moves the counter on by as much.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import FLOATS, INDICES, TypeSet
from jitgraph.ops.arrays.shape import stated_sizes
from jitgraph.ops.random import philox
from jitgraph.ops.random.binomials import UnitBlocks, binomial
from jitgraph.ops.random.philox import Bits

PHILOX, THREEFRY = 1, 2
_TESTS = "tests/variables/test_generator.py: a variable"
_WORD = (1 << 64) - 1
_FLOAT = FLOATS.with_default(dtypes.float32)
_COUNTS = INDICES.with_default(dtypes.int64)
_NUMBERS = TypeSet(dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)
_ROW = 100          # numbers of one count and probability that TensorFlow draws at a time
_WORDS = TypeSet(dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64).with_default(dtypes.uint64)


def _stated_shape(c: Any) -> Any:
    shape_rules.with_rank(c.shapes[1], 0, "algorithm")
    return shape_rules.shape_from(c, 2)


def _checked(state: np.ndarray, algorithm: Any) -> None:
    if algorithm != PHILOX:
        raise invalid(f"Unsupported algorithm id: {int(algorithm)}")
    if state.dtype != np.int64:
        raise invalid(f"dtype of RNG state variable must be int64, not {state.dtype.name}")
    if state.ndim != 1:
        raise invalid(f"RNG state must have one and only one dimension, not {state.ndim}")
    if len(state) < 3:
        raise invalid(f"For the Philox algorithm, the size of state must be at least 3; got {len(state)}")


def _bits(state: np.ndarray) -> Bits:
    low, high, key = (int(word) & _WORD for word in state[:3])
    return Bits(key, high, low)


def _moved(state: np.ndarray, blocks: int) -> np.ndarray:
    """The state after so many blocks: the counter is one number of 128 bits."""
    low, high = (int(word) & _WORD for word in state[:2])
    counter = (high << 64 | low) + blocks
    moved = state.copy()
    moved[:2] = np.array([counter & _WORD, counter >> 64 & _WORD], np.uint64).view(np.int64)
    return moved


def _drawn(state: np.ndarray, shape: Any, draw: Callable[[Bits, int], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(the new state, the tensor): what `draw` gives for so many elements."""
    sizes = stated_sizes(shape)
    count = int(np.prod(sizes, dtype=np.int64))
    return _moved(state, philox.RESERVED * count), draw(_bits(state), count).reshape(sizes)


def _declare(name: str, types: Any, distribution: Callable) -> Any:
    def value(resource, algorithm, shape, dtype):
        _checked(resource, algorithm)
        return _drawn(resource, shape, lambda bits, count: distribution(bits, count, dtype.as_numpy_dtype))

    value.__doc__ = f"Random numbers, see ``{distribution.__name__}`` of ``philox``; the state moves on."
    return op(f"{name}(resource: resource, algorithm: int64, shape: shape_dtype; dtype: type = {types.default.name}) -> "
              "output: dtype",
              dtype=types, shape_dtype=_COUNTS, shape=_stated_shape, stateful=True, state="write", answers=True, host=True,
              tested_in=_TESTS)(value)


def _full(bits: Bits, count: int, dtype: Any) -> np.ndarray:
    """Whole numbers of all bits."""
    wide = np.dtype(dtype).itemsize == 8
    words = bits.words(2 * count if wide else count)
    return (words.view(np.uint64) if wide else words).view(dtype)


stateful_uniform = _declare("StatefulUniform", _FLOAT, philox.uniform)
stateful_truncated_normal = _declare("StatefulTruncatedNormal", _FLOAT, philox.truncated_normal)
stateful_standard_normal_v2 = _declare("StatefulStandardNormalV2", _FLOAT, philox.normal)
stateful_uniform_full_int = _declare("StatefulUniformFullInt", _WORDS, _full)


@op("StatefulStandardNormal(resource: resource, shape: shape_dtype; dtype: type = float32) -> output: dtype", dtype=_FLOAT,
    shape_dtype=_COUNTS, shape=shape_rules.from_value(1), stateful=True, state="write", answers=True, host=True, tested_in=_TESTS)
def stateful_standard_normal(resource, shape, dtype):
    """As StatefulStandardNormalV2, where the first number of the state says which algorithm it is."""
    _checked(resource[1:], resource[0])
    moved, drawn = _drawn(resource[1:], shape, lambda bits, count: philox.normal(bits, count, dtype.as_numpy_dtype))
    return np.concatenate([resource[:1], moved]), drawn


@op("StatefulUniformInt(resource: resource, algorithm: int64, shape: shape_dtype, minval: dtype, maxval: dtype) -> output: dtype",
    dtype=_COUNTS, shape_dtype=_COUNTS, shape=_stated_shape, stateful=True, state="write", answers=True, host=True,
    tested_in=_TESTS)
def stateful_uniform_int(resource, algorithm, shape, minval, maxval):
    """Whole numbers in [minval, maxval), with the bias of a remainder; the state moves on."""
    for name, bound in (("minval", minval), ("maxval", maxval)):
        if np.ndim(bound):
            raise invalid(f"{name} must be 0-D, got shape {list(np.shape(bound))}")
    if minval >= maxval:
        raise invalid(f"Need minval < maxval, got {minval} >= {maxval}")
    _checked(resource, algorithm)
    return _drawn(resource, shape, lambda bits, count: philox.integers(bits, count, int(minval), int(maxval), minval.dtype))


@op("StatefulRandomBinomial(resource: resource, algorithm: int64, shape: S, counts: T, probs: T; dtype: type = int64) -> "
    "output: dtype", S=INDICES, T=_NUMBERS.with_default(dtypes.float64), dtype=_NUMBERS.with_default(dtypes.int64),
    shape=_stated_shape, stateful=True, state="write", answers=True, host=True, tested_in=_TESTS)
def stateful_random_binomial(resource, algorithm, shape, counts, probs, dtype):
    """How many of `counts` trials succeed, each with the probability `probs`; both are numbers, or have one for each row."""
    _checked(resource, algorithm)
    sizes = stated_sizes(shape)
    total = int(np.prod(sizes, dtype=np.int64))
    rows = max(counts.size, probs.size)
    if rows > 1 and sizes[0] != rows:
        raise invalid(f"Shape passed in must end with broadcasted shape: its first size is {sizes[0]}, there are {rows} counts")
    each = total // max(rows, 1) if rows > 1 else _ROW
    source = UnitBlocks(_bits(resource))
    found = [binomial(float(counts.flat[row % counts.size]), float(probs.flat[row % probs.size]), source.units())
             for row in range(rows) for _ in range(each if rows > 1 else total)]
    blocks = (rows if rows > 1 else -(-total // _ROW)) * 2 * 100 * (each + 3) // 4
    return _moved(resource, philox.RESERVED * blocks), np.array(found, dtype.as_numpy_dtype).reshape(sizes)


@op("RngSkip(resource: resource, algorithm: int64, delta: int64)", shape=shape_rules.no_outputs, stateful=True, state="write",
    answers=True, host=True, tested_in=_TESTS)
def rng_skip(resource, algorithm, delta):
    """Moves the state on as if so many numbers had been drawn."""
    _checked(resource, algorithm)
    return (_moved(resource, philox.RESERVED * int(delta)),)
