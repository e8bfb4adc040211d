"""Pooling by a ratio that is no whole number, over windows whose sizes are drawn: FractionalMaxPool and FractionalAvgPool.

Graham, "Fractional Max-Pooling" (2014).  The windows along an axis have one of two sizes that follow each other, either in
random order or as a rounded line from a random start; TensorFlow's kernels draw the same ones from the same seeds.
"""
from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import TypeSet
from jitgraph.graph.errors import UnimplementedError
from jitgraph.graph.seeds import get_seed
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.nn.pooling_ops import lowest
from jitgraph.ops.random.philox import Bits, unit_float64

_TYPES = TypeSet(dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)
_ATTRS = ("pooling_ratio: list(float) >= 4, pseudo_random: bool = False, overlapping: bool = False, deterministic: bool = False, "
          "seed: int = 0, seed2: int = 0")
_SEQUENCES = "row_pooling_sequence: int64, col_pooling_sequence: int64"


def _size(size: Any, ratio: Any) -> Any:
    return None if size is None else math.floor(np.float32(size) / np.float32(ratio))


def _pooled_shape(c: Any) -> list:
    ratios, value = c.attrs["pooling_ratio"], shape_rules.with_rank(c.shapes[0], 4, "value")
    if len(ratios) != 4:
        raise ValueError(f"pooling_ratio field must specify 4 dimensions, not {len(ratios)}")
    pooled = tuple(_size(size, ratio) for size, ratio in zip(value, ratios))
    if not c.running:           # a graph does not state how many windows there are
        return [pooled, (None,), (None,)]
    return [pooled, *((None if size is None else size + 1,) for size in pooled[1:3])]


def _ends(bits: Any, size: int, count: int, pseudo_random: bool) -> np.ndarray:
    """Where the windows along an axis begin, and where the last one ends."""
    if pseudo_random:
        step, least = size / count, size // count
        most = min((least + 2) / step - 1, (size + 1 - least) / step - (count - 1))
        start = float(unit_float64(bits(1).words(2))[0]) * most
        return np.array([0, *(math.ceil(step * (i + start)) - 1 for i in range(1, count)), size], np.int64)
    sizes = [size // count + (i < size % count) for i in range(count)]
    words = bits((count + 3) // 4).words(count)
    for i in range(count - 1):
        j = i + int(words[i]) % (count - i)
        sizes[i], sizes[j] = sizes[j], sizes[i]
    return np.cumsum([0, *sizes], dtype=np.int64)


def _sequences(value: np.ndarray, ratios: Any, pseudo_random: bool, deterministic: bool, seed: int, seed2: int,
               stream: Any) -> tuple:
    if len(ratios) != 4:
        raise invalid("pooling_ratio field must specify 4 dimensions")
    if ratios[0] != 1 or ratios[3] != 1:        # TensorFlow lets one of them pass, and writes elsewhere
        raise UnimplementedError(None, None, "Fractional pooling is not yet supported on the batch nor channel dimension.")
    if not deterministic and (seed or seed2):
        raise invalid("Both seed and seed2 should be 0 if deterministic is false.")
    if value.ndim != 4:
        raise invalid("tensor_in must be 4-dimensional")
    begun = stream.blocks
    sizes = [(value.shape[axis], _size(value.shape[axis], ratios[axis])) for axis in (1, 2)]
    found = [_ends(lambda blocks: Bits.reserve(stream, seed, seed2, blocks), *size, pseudo_random) for size in sizes]
    if deterministic:               # the next run draws the same
        stream.blocks = begun
    return found[0], found[1]


def _windows(rows: np.ndarray, columns: np.ndarray, overlapping: bool, sizes: Any) -> Iterator[tuple]:
    """(row of the result, its column, the rows of the value, its columns) of each window."""
    more = 1 if overlapping else 0
    for i, j in itertools.product(range(len(rows) - 1), range(len(columns) - 1)):
        yield (i, j, range(int(rows[i]), min(int(rows[i + 1]) + more, sizes[0])),
               range(int(columns[j]), min(int(columns[j + 1]) + more, sizes[1])))


def _result(value: np.ndarray, rows: np.ndarray, columns: np.ndarray, fill: Any) -> np.ndarray:
    return np.full((value.shape[0], len(rows) - 1, len(columns) - 1, value.shape[3]), fill, value.dtype)


def _pooled_samples(rng: Any, dtype: Any) -> list:
    return [([draw(rng, (2, 5, 7, 2), dtype)], {"pooling_ratio": [1.0, 1.4, 1.8, 1.0], "pseudo_random": pseudo, "overlapping": over,
                                                "deterministic": True, "seed": 5, "seed2": 7})
            for pseudo in (False, True) for over in (False, True)]


@op(f"FractionalMaxPool(value: T; {_ATTRS}) -> output: T, {_SEQUENCES}", T=_TYPES, shape=_pooled_shape, stream=True, host=True,
    gradient_of=(0,), samples=_pooled_samples)
def _max_pool(value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2, stream):
    """The greatest element of each window, and where the windows begin along both axes."""
    rows, columns = _sequences(value, pooling_ratio, pseudo_random, deterministic, seed, seed2, stream)
    found = _result(value, rows, columns, lowest(value.dtype))
    for i, j, under, along in _windows(rows, columns, overlapping, value.shape[1:3]):
        found[:, i, j] = value[:, under.start:under.stop, along.start:along.stop].max((1, 2))
    return found, rows, columns


@_max_pool.gradient
def _(op, grad, *_):
    rows, columns = op.outputs[1:]
    return raw.FractionalMaxPoolGrad(op.inputs[0], op.outputs[0], grad, rows, columns, overlapping=op.attrs["overlapping"])


def _max_grad_samples(rng: Any, dtype: Any) -> list:
    rows, columns = np.array([0, 2, 4, 5]), np.array([0, 1, 3, 4])
    x = draw(rng, (2, 5, 4, 2), dtype)
    y = _result(x, rows, columns, 0)
    for i, j, under, along in _windows(rows, columns, False, x.shape[1:3]):
        y[:, i, j] = x[:, under.start:under.stop, along.start:along.stop].max((1, 2))
    return [([x, y, draw(rng, y.shape, dtype), rows, columns], {"overlapping": over}) for over in (False, True)]


@op("FractionalMaxPoolGrad(orig_input: T, orig_output: T, out_backprop: T, row_pooling_sequence: int64, "
    "col_pooling_sequence: int64; "
    "overlapping: bool = False) -> output: T", T=_TYPES, shape=shape_rules.same_as_input, host=True, samples=_max_grad_samples)
def _max_pool_grad(orig_input, orig_output, out_backprop, row_pooling_sequence, col_pooling_sequence, overlapping):
    """The gradient of each window goes to the first of its greatest elements."""
    found = np.zeros(orig_input.shape, orig_input.dtype)
    batch, channels = np.ogrid[:orig_input.shape[0], :orig_input.shape[3]]
    for i, j, under, along in _windows(row_pooling_sequence, col_pooling_sequence, overlapping, orig_input.shape[1:3]):
        part = orig_input[:, under.start:under.stop, along.start:along.stop]
        place = part.reshape(len(part), -1, part.shape[3]).argmax(1)
        found[batch, under.start + place // len(along), along.start + place % len(along), channels] += out_backprop[:, i, j]
    return found


@op(f"FractionalAvgPool(value: T; {_ATTRS}) -> output: T, {_SEQUENCES}", T=_TYPES, shape=_pooled_shape, stream=True, host=True,
    gradient_of=(0,), samples=_pooled_samples)
def _avg_pool(value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2, stream):
    """The mean of each window, and where the windows begin along both axes."""
    rows, columns = _sequences(value, pooling_ratio, pseudo_random, deterministic, seed, seed2, stream)
    found = _result(value, rows, columns, 0)
    for i, j, under, along in _windows(rows, columns, overlapping, value.shape[1:3]):
        for row, column in itertools.product(under, along):
            found[:, i, j] += value[:, row, column]
        count = len(under) * len(along)
        if value.dtype.kind == "f":
            found[:, i, j] /= value.dtype.type(count)
        else:                       # towards 0, as machines divide
            found[:, i, j] = np.sign(found[:, i, j]) * (np.abs(found[:, i, j]) // count)
    return found, rows, columns


@_avg_pool.gradient
def _(op, grad, *_):
    rows, columns = op.outputs[1:]
    return raw.FractionalAvgPoolGrad(shape_of(op.inputs[0], out_type=dtypes.int64), grad, rows, columns,
                                     overlapping=op.attrs["overlapping"])


def _avg_grad_samples(rng: Any, dtype: Any) -> list:
    rows, columns = np.array([0, 2, 4, 5]), np.array([0, 1, 3, 4])
    sizes, grad = np.array([2, 5, 4, 2]), draw(rng, (2, 3, 3, 2), dtype)
    return [([sizes, grad, rows, columns], {"overlapping": over}) for over in (False, True)]


def _original_shape(c: Any) -> Any:
    found = shape_rules.shape_from(c, 0)
    return (None,) * 4 if found is None else found


@op("FractionalAvgPoolGrad(orig_input_tensor_shape: int64, out_backprop: T, row_pooling_sequence: int64, "
    "col_pooling_sequence: int64; "
    "overlapping: bool = False) -> output: T", T=_TYPES, shape=_original_shape, host=True, samples=_avg_grad_samples)
def _avg_pool_grad(orig_input_tensor_shape, out_backprop, row_pooling_sequence, col_pooling_sequence, overlapping):
    """The gradient of each window in equal parts to its elements, summed in double precision."""
    found = np.zeros([int(n) for n in orig_input_tensor_shape])
    for i, j, under, along in _windows(row_pooling_sequence, col_pooling_sequence, overlapping, found.shape[1:3]):
        share = out_backprop[:, i, j].astype(np.float64) / (len(under) * len(along))
        found[:, under.start:under.stop, along.start:along.stop] += share[:, None, None]
    return found.astype(out_backprop.dtype)


# -- public functions ----------------------------------------------------------------------------------------------

def fractional_max_pool(value: Any, pooling_ratio: list, pseudo_random: bool = False, overlapping: bool = False,
                        deterministic: bool = False, seed: int = 0, seed2: int = 0, name: str | None = None) -> Any:
    """(output, row_pooling_sequence, col_pooling_sequence): the maxima of windows of drawn sizes.

    `value` [batch, height, width, channels] of float32, float64, int32 or int64; `pooling_ratio`: how many times smaller
    the result is along each axis, [1, rows, columns, 1], between 1 and 2 as a rule.  With `overlapping`, windows share the
    element at their border.  With `deterministic`, all runs of the node have the same windows.
    """
    return _max_pool(value, pooling_ratio=pooling_ratio, pseudo_random=pseudo_random, overlapping=overlapping,
                     deterministic=deterministic, seed=seed, seed2=seed2, name=name)


def fractional_avg_pool(value: Any, pooling_ratio: list, pseudo_random: bool = False, overlapping: bool = False,
                        deterministic: bool = False, seed: int = 0, seed2: int = 0, name: str | None = None) -> Any:
    """As ``fractional_max_pool`` with the means of the windows."""
    return _avg_pool(value, pooling_ratio=pooling_ratio, pseudo_random=pseudo_random, overlapping=overlapping,
                     deterministic=deterministic, seed=seed, seed2=seed2, name=name)


def fractional_max_pool_v2(value: Any, pooling_ratio: Any, pseudo_random: bool = False, overlapping: bool = False, seed: int = 0,
                           name: str | None = None) -> Any:
    """As ``fractional_max_pool``; `pooling_ratio` is a number or [rows, columns] too, and a `seed` that is not 0 makes all
    runs of the node have the same windows."""
    return fractional_max_pool(value, _ratios(pooling_ratio), pseudo_random, overlapping, name=name, **_fixed(seed))


def fractional_avg_pool_v2(value: Any, pooling_ratio: Any, pseudo_random: bool = False, overlapping: bool = False, seed: int = 0,
                           name: str | None = None) -> Any:
    """As ``fractional_max_pool_v2`` with the means of the windows."""
    return fractional_avg_pool(value, _ratios(pooling_ratio), pseudo_random, overlapping, name=name, **_fixed(seed))


def _fixed(seed: int) -> dict[str, Any]:
    if not seed:
        return {}
    first, second = get_seed(seed)
    return {"deterministic": True, "seed": first, "seed2": second}


def _ratios(ratio: Any) -> list:
    given = list(ratio) if isinstance(ratio, (list, tuple)) else [ratio]
    if len(given) not in (1, 2, 4):
        raise ValueError(f"pooling_ratio should be of length 1, 2 or 4 but was {len(given)}")
    return given if len(given) == 4 else [1, *(given * 2)[:2], 1]
