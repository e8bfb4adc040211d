"""Slices along one axis, each reduced to one element: ReduceSliceSum, ReduceSliceProd, ReduceSliceMax, ReduceSliceMin."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NUMBERS, op
from jitgraph.declare.samples import draw
from jitgraph.graph.dtypes import INDICES, REALS, TypeSet, as_dtype


def _shape(c: Any) -> Any:
    data, indices, axis = c.shapes[0], c.shapes[1], c.constant(2)
    if data is None or indices is None or axis is None:
        return None if data is None else (None,) * len(data)
    count = indices[0] if len(indices) == 2 else None if indices[0] is None else max(indices[0] - 1, 0)
    place = int(axis)
    if not 0 <= place < len(data):
        raise ValueError(f"Out of range dim_index {place} for shape with {len(data)} dimensions")
    return (*data[:place], count, *data[place + 1:])


def _reduced(data: np.ndarray, indices: np.ndarray, axis: np.ndarray, reduce: Callable, nothing: Any) -> np.ndarray:
    """Each slice from indices[i, 0] to before indices[i, 1], or between neighbours of a vector; `nothing` for empty ones."""
    place = int(axis)
    if not 0 <= place < data.ndim:
        raise invalid(f"Invalid reduction dimension ({place}) for a tensor of rank {data.ndim}")
    if indices.ndim not in (1, 2) or indices.ndim == 2 and indices.shape[1] != 2:
        raise invalid(f"indices must be a vector or a matrix of two columns, got shape {list(indices.shape)}")
    pairs = indices if indices.ndim == 2 else np.stack([indices[:-1], indices[1:]], axis=1)
    rows = np.moveaxis(data, place, 0)
    found = np.full((len(pairs), *rows.shape[1:]), nothing, data.dtype)
    for row, (begin, end) in zip(found, pairs.tolist()):
        part = rows[max(begin, 0):max(end, 0)]
        if len(part):
            row[...] = reduce(part)
    return np.ascontiguousarray(np.moveaxis(found, 0, place))


def _samples(rng: np.random.Generator, dtype: Any) -> list:
    pairs = np.array([[0, 1], [1, 1], [0, 9]], np.int64)
    return [[draw(rng, (4, 3), dtype), pairs, np.array(0, np.int64)],
            [draw(rng, (2, 4), dtype), np.array([0, 1, 4], np.int64), np.array(1, np.int64)]]


def _declared(kind: str, types: TypeSet) -> Any:
    return op(f"ReduceSlice{kind}(data: T, indices: Tindices, axis: int64) -> output: T", T=types, Tindices=INDICES, shape=_shape,
              host=True, dynamic=True, samples=_samples)


@_declared("Sum", NUMBERS)
def reduce_slice_sum(data, indices, axis):
    """The sums of slices along `axis`: `indices` [n, 2] has where they begin and end, or [n + 1] the ends of neighbours."""
    return _reduced(data, indices, axis, lambda part: part.sum(0, dtype=data.dtype), 0)


@_declared("Prod", NUMBERS)
def reduce_slice_prod(data, indices, axis):
    """The products of slices along `axis`, 1 for empty ones; see ``reduce_slice_sum``."""
    return _reduced(data, indices, axis, lambda part: part.prod(0, dtype=data.dtype), 1)


@_declared("Max", TypeSet(*REALS))
def reduce_slice_max(data, indices, axis):
    """The largest elements of slices along `axis`, the smallest number for empty ones; see ``reduce_slice_sum``."""
    return _reduced(data, indices, axis, lambda part: part.max(0), as_dtype(data.dtype).min)


@_declared("Min", TypeSet(*REALS))
def reduce_slice_min(data, indices, axis):
    """The smallest elements of slices along `axis`, the largest number for empty ones; see ``reduce_slice_sum``."""
    return _reduced(data, indices, axis, lambda part: part.min(0), as_dtype(data.dtype).max)
