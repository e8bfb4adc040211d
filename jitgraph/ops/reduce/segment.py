"""Rows summed, averaged, multiplied or compared in groups: segment ops."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.counting import count_nodes, gradient_of_nodes
from jitgraph.graph.dtypes import INDEX, INDICES, NUMBERS, REALS
from jitgraph.graph.shapes import brackets
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.shape import expand_dims, plain_sizes, reshape, shape
from jitgraph.ops.elementwise.complex_numbers import conj
from jitgraph.ops.reduce.reductions import counted, extreme
from jitgraph.ops.reduce.segment_loops import combined_in_order, sorted_groups


def _smallest(dtype: np.dtype) -> Any:
    return np.finfo(dtype).min if dtype.kind == "f" else np.iinfo(dtype).min if dtype.kind in "iu" else _bfloat(dtype).min


def _largest(dtype: np.dtype) -> Any:
    return np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max if dtype.kind in "iu" else _bfloat(dtype).max


def _bfloat(dtype: np.dtype) -> Any:
    import ml_dtypes

    return ml_dtypes.finfo(dtype)


def segment_starts(ids: np.ndarray) -> np.ndarray:
    """Where the runs of equal elements of a vector begin."""
    return np.flatnonzero(np.concatenate([np.ones(min(len(ids), 1), bool), ids[1:] != ids[:-1]]))


def combine_at(combine: np.ufunc, result: np.ndarray, ids: np.ndarray, rows: np.ndarray) -> None:
    """As ``combine.at(result, ids, rows)``, for rows of several elements many times faster: sorted by id, then run by run."""
    if not len(ids):
        return
    if (ids[1:] < ids[:-1]).any():
        order = np.argsort(ids, kind="stable")
        ids, rows = ids[order], rows[order]
    starts = segment_starts(ids)
    found = ids[starts]
    if len(starts) < len(ids):
        rows = combine.reduceat(rows, starts, axis=0, dtype=rows.dtype)
    result[found] = combine(result[found], rows)


# -- unsorted ------------------------------------------------------------------------------------------------------

def _unsorted_shape(c: Any) -> Any:
    data, ids, count = c.shapes[0], c.shapes[1], shape_rules.scalar_constant(c, 2, "num_segments")
    rows = plain_sizes(count)[0] if shape_rules.known(count) else None
    if rows is not None and rows < 0:
        raise ValueError(f"num_segments must be non-negative, got {rows}")
    if data is None or ids is None:
        return None
    if len(ids) > len(data):
        raise ValueError(f"segment_ids of rank {len(ids)} must match the first dimensions of data of rank {len(data)}")
    shape_rules.merge(tuple(data[:len(ids)]), tuple(ids))
    return (rows, *data[len(ids):])


def _unsorted(combine: Any, start: Callable[[np.dtype], Any]) -> Callable:
    def value(data: Any, segment_ids: Any, num_segments: Any) -> Any:
        rows = int(num_segments)
        if data.shape[:segment_ids.ndim] != segment_ids.shape:
            raise invalid(f"data.shape = {brackets(data.shape)} does not start with segment_ids.shape = "
                          f"{brackets(segment_ids.shape)}")
        ids = np.ravel(segment_ids)
        flat = data.reshape(len(ids), *data.shape[segment_ids.ndim:])
        result = np.full((rows, *flat.shape[1:]), start(data.dtype), data.dtype)
        if not data.size:                       # TensorFlow does not look at the ids of rows that have no elements
            return result
        if ids.max() >= rows:
            position = np.unravel_index(int(np.argmax(ids >= rows)), segment_ids.shape)
            raise invalid(f"segment_ids[{','.join(map(str, position))}] = {ids.max()} is out of range [0, {rows})")
        kept = ids >= 0                         # negative ids are dropped
        if not kept.all():
            ids, flat = ids[kept], flat[kept]
        combine_at(combine, result, ids, flat)
        return result

    return value


_sum_value = _unsorted(np.add, lambda dtype: 0)


def _lowered(combination: str) -> Callable:
    """Rows combined by id."""
    def lower(b: Any, data: Any, segment_ids: Any, num_segments: Any) -> Any:
        if num_segments.constant is None:
            return NotImplemented
        inner = tuple(data.shape[len(segment_ids.shape):])
        count = shape_rules.product(segment_ids.shape)
        rows = plain_sizes(num_segments.constant)[0]
        ids = b.reshape(segment_ids, (count,))
        return b.scatter(combination, (rows, *inner), ids, b.reshape(data, (count, *inner)), drops=True)

    return lower


_UNSORTED = "(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T"
_UNSORTED_TYPES: dict[str, Any] = {"Tindices": INDICES, "Tnumsegments": INDEX}


def _unsorted_samples(rng: Any, dtype: Any) -> list:
    return [[draw(rng, (4, 2), dtype), ints(0, 2, 0, -1), np.int32(3)],
            [draw(rng, (2, 2), dtype), ints([1, 0], [1, 1]), np.int32(2)],
            [draw(rng, (0, 2), dtype), ints(), np.int32(2)]]


@op("UnsortedSegmentSum" + _UNSORTED, T=NUMBERS, shape=_unsorted_shape, lower=_lowered("add"), checks=True,
    **_UNSORTED_TYPES, samples=_unsorted_samples)
def unsorted_segment_sum(data, segment_ids, num_segments):
    """output[i] = sum of data[j] over the j with segment_ids[j] == i; negative ids are dropped."""
    return _sum_value(data, segment_ids, num_segments)


@op("UnsortedSegmentProd" + _UNSORTED, T=NUMBERS, shape=_unsorted_shape, lower=_lowered("mul"), checks=True, **_UNSORTED_TYPES,
    samples=_unsorted_samples)
def unsorted_segment_prod(data, segment_ids, num_segments):
    """output[i] = product of data[j] over the j with segment_ids[j] == i; negative ids are dropped."""
    return _prod_value(data, segment_ids, num_segments)


@op("UnsortedSegmentMax" + _UNSORTED, T=REALS, shape=_unsorted_shape, lower=_lowered("max"), checks=True, **_UNSORTED_TYPES,
    samples=_unsorted_samples)
def unsorted_segment_max(data, segment_ids, num_segments):
    """output[i] = maximum of data[j] with segment_ids[j] == i; the lowest number where there is none."""
    return _max_value(data, segment_ids, num_segments)


@op("UnsortedSegmentMin" + _UNSORTED, T=REALS, shape=_unsorted_shape, lower=_lowered("min"), checks=True, **_UNSORTED_TYPES,
    samples=_unsorted_samples)
def unsorted_segment_min(data, segment_ids, num_segments):
    """output[i] = minimum of data[j] with segment_ids[j] == i; the highest number where there is none."""
    return _min_value(data, segment_ids, num_segments)


_prod_value = _unsorted(np.multiply, lambda dtype: 1)
_max_value = _unsorted(np.fmax, _smallest)       # fmax: NaN does not count
_min_value = _unsorted(np.fmin, _largest)


def _gather_drop_negatives(params: Any, ids: Any, zero_clipped: Any = None, is_positive: Any = None) -> tuple:
    """The rows `ids` of `params`, zeros for negative ids; with the two masks that say which."""
    if zero_clipped is None:
        zero_clipped = raw.Maximum(ids, raw.ZerosLike(ids))
    gathered = raw.GatherV2(params, zero_clipped, 0)
    if is_positive is None:
        is_positive = raw.GreaterEqual(ids, 0)
        if gathered._shape is None or ids._shape is None:
            inner = raw.Fill(expand_dims(raw.Sub(raw.Rank(gathered), raw.Rank(ids)), 0), 1)
            is_positive = raw.Reshape(is_positive, raw.ConcatV2([raw.Shape(ids), inner], 0))
        else:
            for _ in range(len(gathered._shape) - len(ids._shape)):
                is_positive = expand_dims(is_positive, -1)
        is_positive = raw.LogicalAnd(is_positive, raw.Cast(raw.OnesLike(gathered), DstT=dtypes.bool_))
    return raw.Select(is_positive, gathered, raw.ZerosLike(gathered)), zero_clipped, is_positive


def _nodes_of_dropping(op: Any) -> int:
    """How many nodes TensorFlow makes of it: more for each axis behind the ids, and for zeros of a large known shape."""
    data, ids = (t._shape for t in op.inputs[:2])
    if data is None or ids is None:
        return 12
    large = sum(None not in shape and shape_rules.product(shape) >= 1000 for shape in (data, ids))
    return 12 + 2 * (len(data) - len(ids)) + 2 * large


@unsorted_segment_sum.gradient
@gradient_of_nodes(_nodes_of_dropping)
def _(op, grad):
    return [_gather_drop_negatives(grad, op.inputs[1])[0], None, None]


def _extreme_gradient(op, grad):
    """Shared equally among the elements of a segment that are the extreme."""
    count_nodes(1)
    data, ids, count = op.inputs
    winners, zero_clipped, positive = _gather_drop_negatives(op.outputs[0], ids)
    selected = raw.LogicalAnd(raw.Equal(data, winners), positive)
    number = raw.UnsortedSegmentSum(raw.Cast(selected, DstT=grad.dtype.base_dtype), ids, count)
    shares, _, _ = _gather_drop_negatives(raw.RealDiv(grad, number), None, zero_clipped, positive)
    return [raw.Select(selected, shares, raw.ZerosLike(shares)), None, None]


unsorted_segment_max.gradient(_extreme_gradient)
unsorted_segment_min.gradient(_extreme_gradient)


@unsorted_segment_prod.gradient
def _(op, grad):
    """The product of the others: by division, or where elements are zero, by the product of the non-zero ones."""
    count_nodes(3)
    data, ids, count = op.inputs
    is_zero = raw.Equal(data, 0)
    zeros = raw.UnsortedSegmentSum(raw.Cast(is_zero, DstT=dtypes.int32), ids, count)
    grad = raw.Select(raw.Greater(zeros, 1), raw.ZerosLike(grad), grad)
    nonzero = raw.Select(is_zero, raw.OnesLike(data), data)
    nonzero_prod = raw.UnsortedSegmentProd(nonzero, ids, count)
    clipped = raw.Maximum(ids, raw.ZerosLike(ids))
    others = raw.GatherV2(nonzero_prod, clipped, 0)
    quotient = raw.RealDiv(raw.GatherV2(op.outputs[0], clipped, 0), nonzero)
    partial = raw.Select(is_zero, others, quotient)
    return [raw.Mul(_gather_drop_negatives(grad, ids, clipped)[0], conj(partial)), None, None]


# -- sorted --------------------------------------------------------------------------------------------------------

def _sorted_shape(c: Any) -> Any:
    data = shape_rules.with_rank_at_least(c.shapes[0], 1, "data")
    shape_rules.with_rank(c.shapes[1], 1, "segment_ids")
    return None if data is None else (None, *data[1:])


def _sorted(combine: str, empty: int = 0, finish: Callable = lambda found, counts: found) -> Callable:
    """The NumPy meaning: rows combined in order, `empty` where there are none with an id in between; then
    `finish(what was found, how many rows each has)`.  As in TensorFlow, NaN is no extreme of several rows, and is what a
    single row gives."""
    is_extreme = combine in ("max", "min")

    def value(data: Any, segment_ids: Any) -> Any:
        if segment_ids.ndim != 1 or len(segment_ids) != data.shape[0]:
            raise invalid("segment_ids should be a vector with one id for each row of data, got shape "
                          f"{list(segment_ids.shape)} for data of shape {list(data.shape)}")
        rows = int(segment_ids[-1]) + 1 if len(segment_ids) else 0
        least = extreme(data.dtype, combine == "max") if is_extreme else 0
        found = sorted_groups(combine, data, segment_ids, rows, empty, least) if rows > 0 else None
        return finish(*(found or in_order(data, segment_ids, rows)))

    def in_order(data: Any, segment_ids: Any, rows: int) -> tuple[np.ndarray, np.ndarray]:
        if (np.diff(segment_ids) < 0).any():
            raise invalid("segment ids are not increasing")
        if len(segment_ids) and segment_ids[0] < 0:
            raise invalid("segment ids must be >= 0")
        result, counts = np.full((rows, *data.shape[1:]), empty, data.dtype), np.zeros(rows, np.int64)
        starts = segment_starts(segment_ids)
        if not len(starts):
            return result, counts
        counts[segment_ids[starts]] = np.diff(starts, append=len(data))
        wide = data.astype(np.float32) if data.dtype.itemsize == 2 and data.dtype.kind not in "iu" else data
        found = combined_in_order(combine, counted(wide, combine == "max") if is_extreme else wide, starts)
        if is_extreme:
            alone = np.diff(starts, append=len(data)) == 1
            found[alone] = data[starts[alone]]
        result[segment_ids[starts]] = found
        return result, counts

    return value


def _divided(total: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Sums over the number of their rows."""
    counts = np.maximum(counts, 1).reshape(-1, *[1] * (total.ndim - 1))
    if total.dtype.kind in "iu":         # whose counts may not fit
        wide = np.uint64 if total.dtype.kind == "u" else np.int64
        return prim.trunc_div(total.astype(wide), counts.astype(wide)).astype(total.dtype)
    return total / counts.astype(total.dtype)


_segment_sum = _sorted("add")
_segment_mean = _sorted("add", finish=_divided)
_segment_prod = _sorted("mul", empty=1)
_segment_max = _sorted("max")
_segment_min = _sorted("min")
_SORTED = "(data: T, segment_ids: Tindices) -> output: T"


def _sorted_samples(rng: Any, dtype: Any) -> list:
    return [[draw(rng, (4, 2), dtype), ints(0, 0, 1, 3)], [draw(rng, (3,), dtype), ints(0, 1, 1)]]


@op("SegmentSum" + _SORTED, T=NUMBERS, Tindices=INDICES, shape=_sorted_shape, dynamic=True, checks=True,
    samples=_sorted_samples)
def segment_sum(data, segment_ids):
    """output[i] = sum of the rows of `data` whose id, in increasing order, is i."""
    return _segment_sum(data, segment_ids)


@segment_sum.gradient
def _(op, grad):
    return [raw.GatherV2(grad, op.inputs[1], 0), None]


@op("SegmentMean" + _SORTED, T=NUMBERS, Tindices=INDICES, shape=_sorted_shape, dynamic=True, checks=True,
    samples=_sorted_samples)
def segment_mean(data, segment_ids):
    """output[i] = mean of the rows of `data` whose id, in increasing order, is i."""
    return _segment_mean(data, segment_ids)


@segment_mean.gradient
@gradient_of_nodes(16)
def _(op, grad):
    data, ids = op.inputs
    rank = raw.Rank(data)
    column = raw.ConcatV2([shape(ids), raw.Fill(expand_dims(raw.Sub(rank, 1), 0), 1)], 0)
    ones = raw.Fill(column, raw.Cast(1, DstT=grad.dtype.base_dtype))
    return [raw.GatherV2(raw.RealDiv(grad, raw.SegmentSum(ones, ids)), ids, 0), None]


@op("SegmentProd" + _SORTED, T=NUMBERS, Tindices=INDICES, shape=_sorted_shape, dynamic=True, checks=True,
    samples=_sorted_samples)
def segment_prod(data, segment_ids):
    """output[i] = product of the rows of `data` whose id, in increasing order, is i."""
    return _segment_prod(data, segment_ids)


@segment_prod.gradient
def _(op, grad):
    data, ids = op.inputs
    is_zero = raw.Equal(data, 0)
    zeros = raw.SegmentSum(raw.Cast(is_zero, DstT=dtypes.int32), ids)
    grad = raw.Select(raw.Greater(zeros, 1), raw.ZerosLike(grad), grad)
    nonzero = raw.Select(is_zero, raw.OnesLike(data), data)
    others = raw.GatherV2(raw.SegmentProd(nonzero, ids), ids, 0)
    quotient = raw.RealDiv(raw.GatherV2(op.outputs[0], ids, 0), nonzero)
    return [raw.Mul(raw.GatherV2(grad, ids, 0), conj(raw.Select(is_zero, others, quotient))), None]


@op("SegmentMax" + _SORTED, T=REALS, Tindices=INDICES, shape=_sorted_shape, dynamic=True, checks=True,
    samples=_sorted_samples)
def segment_max(data, segment_ids):
    """output[i] = maximum of the rows of `data` whose id, in increasing order, is i."""
    return _segment_max(data, segment_ids)


@op("SegmentMin" + _SORTED, T=REALS, Tindices=INDICES, shape=_sorted_shape, dynamic=True, checks=True,
    samples=_sorted_samples)
def segment_min(data, segment_ids):
    """output[i] = minimum of the rows of `data` whose id, in increasing order, is i."""
    return _segment_min(data, segment_ids)


def _sorted_extreme_gradient(op, grad):
    data, ids = op.inputs
    winners = raw.Equal(data, raw.GatherV2(op.outputs[0], ids, 0))
    number = raw.SegmentSum(raw.Cast(winners, DstT=grad.dtype.base_dtype), ids)
    shares = raw.GatherV2(raw.RealDiv(grad, number), ids, 0)
    return [raw.Select(winners, shares, raw.ZerosLike(data)), None]


segment_max.gradient(_sorted_extreme_gradient)
segment_min.gradient(_sorted_extreme_gradient)


# -- public composites ---------------------------------------------------------------------------------------------

def _counts(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """How many rows each segment has, at least 1, in a shape that broadcasts with the sums."""
    number = raw.UnsortedSegmentSum(ones(shape(segment_ids), data.dtype.base_dtype), segment_ids, num_segments)
    if data._shape is None or segment_ids._shape is None:
        inner = raw.Fill(expand_dims(raw.Rank(data) - raw.Rank(segment_ids), 0), 1)
        number = reshape(number, raw.ConcatV2([shape(number), inner], 0))
    else:
        number = reshape(number, [num_segments] + [1] * (len(data._shape) - len(segment_ids._shape)))
    return raw.Maximum(number, 1)


def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """output[i] = mean of data[j] over the j with segment_ids[j] == i; 0 where there is none.  Integers have float64 means."""
    return _over_counts(data, segment_ids, num_segments, name, "UnsortedSegmentMean", lambda n: n)


def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """As ``unsorted_segment_mean``, divided by the square root of the number of rows."""
    return _over_counts(data, segment_ids, num_segments, name, "UnsortedSegmentSqrtN", lambda n: raw.Sqrt(n))


def _over_counts(data: Any, ids: Any, count: Any, name: str | None, default: str, divisor: Callable) -> Any:
    from jitgraph.graph.convert import convert_to_tensor
    from jitgraph.graph.scopes import name_scope

    with name_scope(name, default):
        data, ids = convert_to_tensor(data), convert_to_tensor(ids)
        return raw.UnsortedSegmentSum(data, ids, count) / divisor(_counts(data, ids, count))
