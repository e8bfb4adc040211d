"""Segment sums over gathered rows, without making the gathered rows: for embeddings of bags of ids."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import FLOATS, INDEX, REALS
from jitgraph.ops.arrays.gather import check_indices
from jitgraph.ops.arrays.shape import plain_sizes, shape
from jitgraph.ops.reduce.segment import segment_starts
from jitgraph.ops.reduce.segment_loops import combined_in_order, gathered_sums, spread_sums

_INPUTS = "data: T, indices: Tidx, segment_ids: Tsegmentids"
_GROUPS = 1 << 24       # for so many memory is asked for before the ids are looked at
_IDX = INDEX.with_default(dtypes.int32)


def _weights(kind: str, counts: np.ndarray) -> np.ndarray:
    """By what the sum of a segment of so many rows is divided."""
    counts = np.maximum(counts, 1)
    return counts if kind == "Mean" else np.sqrt(counts) if kind == "SqrtN" else np.ones_like(counts)


def _combined(kind: str, data: Any, indices: Any, segment_ids: Any, num_segments: Any = None) -> Any:
    if indices.ndim != 1 or indices.shape != segment_ids.shape:
        raise invalid(f"indices and segment_ids should be vectors of one size, got shapes {list(indices.shape)} and "
                      f"{list(segment_ids.shape)}")
    groups = int(num_segments if num_segments is not None else segment_ids[-1] + 1 if len(segment_ids) else 0)
    if 0 < groups <= _GROUPS:
        found = gathered_sums(kind, data, indices, segment_ids, groups)
        if found is not None:
            return found
    if (np.diff(segment_ids) < 0).any():
        raise invalid("segment ids are not increasing")
    if len(segment_ids) and segment_ids[0] < 0:
        raise invalid("segment ids must be >= 0")
    check_indices(indices, data.shape[0])
    rows = int(segment_ids[-1]) + 1 if len(segment_ids) else 0
    if num_segments is not None:
        if rows > num_segments:
            raise invalid(f"segment ids must be < num_segments = {num_segments}")
        rows = int(num_segments)
    wide = np.float64 if data.dtype.kind == "f" else data.dtype
    result = np.zeros((rows, *data.shape[1:]), wide)
    starts = segment_starts(segment_ids)
    if len(starts):
        result[segment_ids[starts]] = 0 + combined_in_order("add", data[indices].astype(wide), starts)
    counts = np.bincount(segment_ids, minlength=rows).astype(np.float64)
    divisor = _weights(kind, counts).reshape(-1, *[1] * (data.ndim - 1))
    return (result / divisor if kind else result).astype(data.dtype)


def _check_segments(segment_ids: np.ndarray, count: int) -> None:
    """Raises InvalidArgumentError unless each id is that of one of `count` segments."""
    if len(segment_ids) and segment_ids[-1] >= count:
        raise invalid("Invalid number of segments")
    outside = segment_ids[(segment_ids < 0) | (segment_ids >= count)]
    if len(outside):
        raise invalid(f"Segment id {outside[0]} out of range [0, {count}).")


def _distributed(kind: str, grad: Any, indices: Any, segment_ids: Any, rows: Any) -> Any:
    """The gradient for `data` with `rows` rows."""
    _check_segments(segment_ids, grad.shape[0])
    found = spread_sums(kind, grad, indices, segment_ids, int(rows)) if indices.shape == segment_ids.shape else None
    if found is not None:
        return found
    check_indices(indices, int(rows))
    counts = np.bincount(segment_ids, minlength=grad.shape[0]).astype(np.float64)
    divisor = _weights(kind, counts).reshape(-1, *[1] * (grad.ndim - 1))
    result = np.zeros((int(rows), *grad.shape[1:]), grad.dtype)
    order = np.argsort(indices, kind="stable")
    starts = segment_starts(indices[order])
    if len(starts):
        result[indices[order][starts]] += combined_in_order("add", (grad / divisor).astype(grad.dtype)[segment_ids[order]], starts)
    return result


def _rows_shape(c: Any) -> Any:
    data = shape_rules.with_rank_at_least(c.shapes[0], 1, "data")
    shape_rules.merge(shape_rules.with_rank(c.shapes[1], 1, "indices"), shape_rules.with_rank(c.shapes[2], 1, "segment_ids"))
    if data is None:
        return None
    if len(c.shapes) == 3:
        return (None, *data[1:])
    count = shape_rules.scalar_constant(c, 3, "num_segments")
    if shape_rules.known(count) and count < 0:
        raise ValueError(f"Cannot specify a negative value for num_segments, got {count}")
    return (plain_sizes(count)[0] if shape_rules.known(count) else None, *data[1:])


def _grad_shape(c: Any) -> Any:
    grad, rows = c.shapes[0], shape_rules.scalar_constant(c, 3, "output_dim0")
    return None if grad is None else (plain_sizes(rows)[0] if shape_rules.known(rows) else None, *grad[1:])


def _gradient(kind: str) -> Any:
    def gradient(op, grad):
        data, indices, ids = op.inputs[:3]
        rows = shape(data)[0]
        if kind:
            found = getattr(raw, f"SparseSegment{kind}Grad")(grad, indices, ids, rows)
        else:
            found = raw.UnsortedSegmentSum(raw.GatherV2(grad, ids, 0), indices, rows)
        return [found, *[None] * (len(op.inputs) - 1)]

    return gradient


def _samples(rng: Any, dtype: Any, *more: Any) -> list:
    return [[draw(rng, (5, 3), dtype), ints(0, 3, 3, 4), ints(0, 0, 1, 3), *more],
            [draw(rng, (5,), dtype), ints(1), ints(2), *more]]


def _declare(kind: str, name: str, what: str, types: Any) -> None:
    """SparseSegment{name}, the form with a given number of segments, and the gradient's op."""
    def value(data, indices, segment_ids):
        return _combined(kind, data, indices, segment_ids)

    def value_with_count(data, indices, segment_ids, num_segments):
        return _combined(kind, data, indices, segment_ids, num_segments)

    value.__doc__ = f"output[i] = {what} of the rows data[indices[j]] with segment_ids[j] == i."
    value_with_count.__doc__ = value.__doc__ + "  There are `num_segments` segments."
    op(f"SparseSegment{name}({_INPUTS}) -> output: T", T=types, Tidx=_IDX, Tsegmentids=_IDX, shape=_rows_shape, dynamic=True,
       checks=True, grad=_gradient(kind), samples=_samples)(value)
    op(f"SparseSegment{name}WithNumSegments({_INPUTS}, num_segments: Tnumsegments) -> output: T", T=types, Tidx=_IDX,
       Tsegmentids=_IDX, Tnumsegments=_IDX, shape=_rows_shape, checks=True, grad=_gradient(kind),
       samples=lambda rng, dtype: _samples(rng, dtype, np.int32(5)))(value_with_count)
    if kind:
        def grad_value(grad, indices, segment_ids, output_dim0):
            return _distributed(kind, grad, indices, segment_ids, output_dim0)

        grad_value.__doc__ = f"The gradient of SparseSegment{name}."
        op(f"SparseSegment{name}Grad(grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32) -> output: T",
           T=types, Tidx=_IDX, Tsegmentids=_IDX, shape=_grad_shape, checks=True,
           samples=lambda rng, dtype: [[draw(rng, (4, 3), dtype), ints(0, 3, 3, 4), ints(0, 0, 1, 3), np.int32(6)]])(grad_value)


_declare("", "Sum", "sum", REALS)
_declare("Mean", "Mean", "mean", FLOATS)
_declare("SqrtN", "SqrtN", "sum, divided by the square root of their number,", FLOATS)


# -- public functions ----------------------------------------------------------------------------------------------

def _segment(name: str, data: Any, indices: Any, segment_ids: Any, node: str | None, num_segments: Any) -> Any:
    if num_segments is None:
        return getattr(raw, f"SparseSegment{name}")(data, indices, segment_ids, name=node)
    return getattr(raw, f"SparseSegment{name}WithNumSegments")(data, indices, segment_ids, num_segments, name=node)


def sparse_segment_sum(data: Any, indices: Any, segment_ids: Any, name: str | None = None,
                       num_segments: Any = None) -> Any:
    """output[i] = sum of the rows data[indices[j]] with segment_ids[j] == i; the ids are in rising order."""
    return _segment("Sum", data, indices, segment_ids, name, num_segments)


def sparse_segment_mean(data: Any, indices: Any, segment_ids: Any, name: str | None = None,
                        num_segments: Any = None) -> Any:
    """output[i] = mean of the rows data[indices[j]] with segment_ids[j] == i; the ids are in rising order."""
    return _segment("Mean", data, indices, segment_ids, name, num_segments)


def sparse_segment_sqrt_n(data: Any, indices: Any, segment_ids: Any, name: str | None = None,
                          num_segments: Any = None) -> Any:
    """As ``sparse_segment_sum``, divided by the square root of the number of rows of the segment."""
    return _segment("SqrtN", data, indices, segment_ids, name, num_segments)
