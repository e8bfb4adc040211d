"""Ragged tensors by their splits: rows taken from them, and their elements in a tensor of one size."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw, texts
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.composite import IndexedSlices
from jitgraph.graph.dtypes import INDICES
from jitgraph.graph.texts import as_text

_SPLITS = INDICES.with_default(dtypes.int64)


def _gathered_shapes(c: Any) -> list:
    values, indices = c.shapes[-2], c.shapes[-1]
    shape_rules.with_rank_at_least(indices, 0)
    for shape in c.shapes[:-2]:
        shape_rules.with_rank(shape, 1, "splits")
    shape_rules.with_rank_at_least(values, 1, "params_dense_values")
    count, given = c.attrs["OUTPUT_RAGGED_RANK"], len(c.shapes) - 2
    if indices is not None and count != len(indices) + given - 1:
        raise ValueError(f"OUTPUT_RAGGED_RANK must equal indices.rank + PARAMS_RAGGED_RANK - 1, {len(indices) + given - 1}, "
                         f"not {count}")
    return [(None,)] * count + [None if values is None else (None, *values[1:])]


def _gather_samples(rng: Any, dtype: Any) -> list:
    splits = [np.array([0, 2, 2, 3]), np.array([0, 1, 4, 5])]
    return [([splits, draw(rng, (5, 2), np.float64), np.array([2, 0, 0])], {"OUTPUT_RAGGED_RANK": 2}),
            ([splits[:1], draw(rng, (3,), np.float64), np.array([[1, 0], [2, 2]])], {"OUTPUT_RAGGED_RANK": 2})]


def _checked_splits(splits: list, count: int) -> None:
    for i, own in enumerate(splits):
        last = count if i == len(splits) - 1 else len(splits[i + 1]) - 1
        if not len(own):
            raise invalid("Ragged splits may not be empty")
        if own[0] < 0:
            raise invalid("Ragged splits must be non-negative")
        if own[-1] > last:
            raise invalid("Ragged splits must not point past values")
        if np.any(np.diff(own) < 0):
            raise invalid("Ragged splits must be sorted")


@op("RaggedGather(params_nested_splits: PARAMS_RAGGED_RANK*Tsplits, params_dense_values: Tvalues, indices: Tindices; "
    "PARAMS_RAGGED_RANK: int >= 1, OUTPUT_RAGGED_RANK: int >= 0) -> output_nested_splits: OUTPUT_RAGGED_RANK*Tsplits, "
    "output_dense_values: Tvalues", Tindices=INDICES, Tsplits=_SPLITS, shape=_gathered_shapes, host=True, dynamic=True,
    samples=_gather_samples, gradient_differs="its indices have none, and its own is by IndexedSlices")
def ragged_gather(params_nested_splits, params_dense_values, indices):
    """The rows `indices` of a ragged tensor, as splits and values."""
    _checked_splits(params_nested_splits, len(params_dense_values))
    kind, rows = params_nested_splits[0].dtype, len(params_nested_splits[0]) - 1
    for place, index in enumerate(indices.reshape(-1)):
        if not 0 <= index < rows:
            where = ",".join(str(int(i)) for i in np.unravel_index(place, indices.shape)) if indices.ndim else ""
            raise invalid(f"indices[{where}] = {index} is not in [0, {rows})")
    count, out = 1, []
    for dim in range(indices.ndim - 1):
        count *= indices.shape[dim]
        out.append(np.arange(count + 1, dtype=kind) * indices.shape[dim + 1])
    taken = indices.reshape(-1)
    for own in params_nested_splits:
        lengths = np.diff(own)[taken]
        ends = np.cumsum([0, *lengths]).astype(kind)
        out.append(ends)
        taken = (np.arange(int(ends[-1])) + np.repeat(own[:-1][taken] - ends[:-1], lengths)).astype(np.int64)
    return out if indices.ndim else out[1:], params_dense_values[taken]


@ragged_gather.gradient
def _(op, *grads):
    *splits, values, indices = op.inputs
    ends = splits[0]
    for own in splits[1:]:
        ends = raw.GatherV2(own, ends, 0)
    flat = raw.Reshape(indices, [-1])
    places = raw.RaggedRange(raw.GatherV2(ends, flat, 0), raw.GatherV2(ends[1:], flat, 0),
                             raw.Cast(1, DstT=ends.dtype), Tsplits=ends.dtype).rt_dense_values
    return [*[None] * len(splits), IndexedSlices(grads[-1], places, raw.Shape(values)), None]


# -- a ragged tensor as one of one size ----------------------------------------------------------------------------

_FIRST, _IDS, _ENDS = "FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_SPLITS"


def _rank(c: Any) -> int:
    types = c.attrs["row_partition_types"]
    return len(types) - 1 if as_text(types[0]) == _FIRST else len(types)


def _dense_shape(c: Any) -> Any:
    values = c.shapes[1]
    if values is None:
        return None
    shape_rules.with_rank_at_least(values, 1, "values")
    if as_text(c.attrs["row_partition_types"][0]) == _IDS:
        raise ValueError("VALUE_ROWIDS cannot be first")
    found = (*[None] * (_rank(c) + 1), *values[1:])
    stated = c.constant(0)
    if not shape_rules.known(stated):
        return found
    if not stated.ndim and stated != -1:
        raise ValueError(f"Received an invalid shape scalar with a static value that is not '-1': {stated}")
    if not stated.ndim:
        return found
    if len(stated) != len(found):
        raise ValueError(f"The values have rank {len(found)} with their rows, not {len(stated)} as shape says")
    if any(size is not None and one >= 0 and size != one for size, one in zip(found, stated)):
        raise ValueError("Value and shape dimension are inconsistent.")
    return tuple(size if size is not None else None if one < 0 else int(one) for size, one in zip(found, stated))


def _dense_samples(rng: Any, dtype: Any) -> list:
    words = texts("FIRST_DIM_SIZE", "VALUE_ROWIDS").tolist()
    values = draw(rng, (4,), np.float32)
    return [([np.array([-1, -1]), values, np.float32(7), [np.array([0, 1, 1, 4])]], {"row_partition_types": [_ENDS]}),
            ([np.array([3, 2]), values, np.float32(7), [np.array(3), np.array([0, 0, 0, 2])]], {"row_partition_types": words})]


def _row_ids(kind: str, partition: np.ndarray) -> np.ndarray:
    if kind == _IDS:
        return partition
    if kind == _ENDS:
        return np.repeat(np.arange(len(partition) - 1), np.diff(partition))
    raise invalid(f"Unsupported partition type:{kind}")


def _within(ids: np.ndarray, rows: int) -> tuple[np.ndarray, int]:
    """(the place of each element in its row, the length of the longest row)"""
    if np.any(np.diff(ids) < 0) or len(ids) and not 0 <= ids[0] <= ids[-1] < rows:
        raise invalid("The row ids must be sorted and below the number of rows.")
    starts = np.searchsorted(ids, np.arange(rows))
    return np.arange(len(ids)) - starts[ids], int(np.bincount(ids, minlength=1).max(initial=0))


@op("RaggedTensorToTensor(shape: Tshape, values: T, default_value: T, row_partition_tensors: num_row_partition_tensors*Tindex; "
    "num_row_partition_tensors: int >= 1, row_partition_types: list(string)) -> result: T", Tindex=INDICES, Tshape=INDICES,
    shape=_dense_shape, host=True, dynamic=True, samples=_dense_samples)
def ragged_tensor_to_tensor(shape, values, default_value, row_partition_tensors, row_partition_types):
    """The rows of a ragged tensor in a tensor: filled up with `default_value`, cut off at `shape` where that is not -1.

    Each partition is a FIRST_DIM_SIZE (a number, the first), VALUE_ROWIDS or ROW_SPLITS.
    """
    kinds = [as_text(word) for word in row_partition_types]
    parts = list(row_partition_tensors)
    if kinds[0] == _FIRST:
        rows, kinds, parts = int(parts[0]), kinds[1:], parts[1:]
    elif kinds[0] == _ENDS:
        rows = len(parts[0]) - 1
    else:
        raise invalid(f"Cannot handle {kinds[0]} in first dimension.")
    sizes, places = [rows], [np.arange(rows)]
    for kind, part in zip(kinds, parts):
        ids = _row_ids(kind, part)
        inner, longest = _within(ids, len(places[0]))
        places = [*(one[ids] for one in places), inner]
        sizes.append(longest)
    inner_shape = values.shape[1:]
    if len(places[0]) != len(values):
        raise invalid(f"There are {len(values)} values and places for {len(places[0])}.")
    full = [*sizes, *inner_shape]
    if shape.ndim:
        if len(shape) != len(full):
            raise invalid(f"rt_shape and shape are incompatible: ranks {len(full)} and {len(shape)}")
        full = [own if given < 0 else int(given) for own, given in zip(full, shape)]
        if full[len(sizes):] != list(inner_shape):
            raise invalid(f"The inner shape of the values is {list(inner_shape)}, that asked for {full[len(sizes):]}.")
    elif shape != -1:
        raise invalid("The only valid scalar shape tensor is the fully unknown shape specified as -1.")
    out = np.empty(full, values.dtype)
    out[...] = np.broadcast_to(default_value, inner_shape)
    inside = np.all([place < size for place, size in zip(places, full)], axis=0)
    out[tuple(place[inside] for place in places)] = values[inside]
    return out
