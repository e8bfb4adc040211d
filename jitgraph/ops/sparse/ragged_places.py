"""Ragged tensors as TensorFlow's own nodes have them: RaggedRange and RaggedTensorToSparse of graph files."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import INDICES, TypeSet
from jitgraph.ops.arrays.shape import shape as shape_of

_RANGES = TypeSet(dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64).with_default(dtypes.int32)
_SPLITS = INDICES.with_default(dtypes.int64)


def _range_shapes(c: Any) -> list:
    rows: Any = None
    for shape in c.shapes:
        shape_rules.with_rank_at_most(shape, 1, "a range's end")
        if shape is not None and len(shape):
            rows = shape_rules.merge_sizes(rows, shape[0])
        elif shape is not None and all(other == () for other in c.shapes):
            rows = 1
    return [(None if rows is None else rows + 1,), (None,)]


def _count(start: Any, limit: Any, delta: Any) -> int:
    if delta > 0 and start >= limit or delta < 0 and start <= limit:
        return 0
    if isinstance(start, (int, np.integer)):
        return (abs(int(limit) - int(start)) + abs(int(delta)) - 1) // abs(int(delta))
    return math.ceil(abs((limit - start) / delta))


@op("RaggedRange(starts: T, limits: T, deltas: T; Tsplits: type = int64) -> rt_nested_splits: Tsplits, rt_dense_values: T",
    T=_RANGES, Tsplits=_SPLITS, shape=_range_shapes, host=True, dynamic=True, grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [[np.array([2, 5, 8], dtype), np.array([3, 5, 12], dtype), np.array(1, dtype)],
                                [np.array(0, dtype), np.array([3, 0, -4], dtype), np.array([1, 1, -2], dtype)]])
def ragged_range(starts, limits, deltas, Tsplits):
    """The numbers of each row from its start up to its limit: (splits of the rows, numbers).

    TensorFlow 1.15 counts with the whole parts of floats, and refuses steps below 1; here they count as they are.
    """
    for name, given in (("starts", starts), ("limits", limits), ("deltas", deltas)):
        if given.ndim > 1:
            raise invalid(f"{name} must be a scalar or vector")
    sizes = {given.size for given in (starts, limits, deltas) if given.ndim}
    if len(sizes) > 1:
        raise invalid("starts, limits, and deltas must have the same shape")
    rows = sizes.pop() if sizes else 1
    starts, limits, deltas = (np.broadcast_to(given, rows) for given in (starts, limits, deltas))
    if np.any(deltas == 0):
        raise invalid("Requires delta != 0")
    counts = [_count(*ends) for ends in zip(starts, limits, deltas)]
    parts = [np.concatenate([[start], np.full(max(count - 1, 0), delta)]).astype(starts.dtype)[:count].cumsum(dtype=starts.dtype)
             for start, delta, count in zip(starts, deltas, counts)]
    values = np.concatenate(parts) if parts else np.zeros(0, starts.dtype)
    return np.cumsum([0, *counts]).astype(Tsplits.as_numpy_dtype), values


def _sparse_shapes(c: Any) -> list:
    values = c.shapes[-1]
    rank = None if values is None else len(values) + len(c.shapes) - 1
    count = values[0] if values is not None and len(values) == 1 else None
    return [(count, rank), (count,), (rank,)]


def _sparse_samples(rng: Any, dtype: Any) -> list:
    return [[[np.array([0, 2, 2, 5])], draw(rng, (5,), dtype)],
            [[np.array([0, 1, 3]), np.array([0, 2, 2, 4])], draw(rng, (4, 2), dtype)]]


@op("RaggedTensorToSparse(rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: T; RAGGED_RANK: int >= 1) -> "
    "sparse_indices: int64, "
    "sparse_values: T, sparse_dense_shape: int64", Tsplits=_SPLITS, shape=_sparse_shapes, host=True, dynamic=True,
    gradient_of=(1,), samples=_sparse_samples)
def ragged_tensor_to_sparse(rt_nested_splits, rt_dense_values):
    """The elements of a ragged tensor with their places: (indices, values, dense shape)."""
    if not rt_dense_values.ndim:
        raise invalid("rt_dense_values.shape=[] is invalid")
    for splits in rt_nested_splits:
        if not len(splits) or splits[0] != 0:
            raise invalid("First value of ragged splits must be 0.")
    places = np.arange(len(rt_nested_splits[0]) - 1)[:, None]
    sizes = [len(places)]
    for splits in rt_nested_splits:
        lengths = np.diff(splits)
        if np.any(lengths < 0) or splits[-1] < 0:
            raise invalid("Ragged splits must be sorted.")
        within = np.arange(int(splits[-1])) - np.repeat(splits[:-1], lengths)
        if len(lengths) != len(places):
            raise invalid("Ragged splits do not fit together.")
        places = np.concatenate([np.repeat(places, lengths, 0), within[:, None]], 1)
        sizes.append(int(lengths.max(initial=0)))
    if len(places) != len(rt_dense_values):
        raise invalid("Final value of ragged splits must match the length the corresponding ragged array.")
    inner = rt_dense_values.shape[1:]
    count = int(np.prod(inner))
    within_row = np.indices(inner).reshape(len(inner), count).T
    indices = np.concatenate([np.repeat(places, count, 0), np.tile(within_row, (len(places), 1))], 1)
    return indices.astype(np.int64), rt_dense_values.reshape(-1), np.array([*sizes, *inner], np.int64)


@ragged_tensor_to_sparse.gradient
def _(op, _indices, grad, _shape):
    return [*[None] * (len(op.inputs) - 1), raw.Reshape(grad, shape_of(op.inputs[-1]))]
