"""Rows of a ragged tensor by where they begin and end, by their lengths, and by the number of the row of each value."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.rearrange import repeat
from jitgraph.ops.arrays.sequences import cumsum
from jitgraph.ops.arrays.sequences import range as sequence
from jitgraph.ops.arrays.shape import shape
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import cast

_SPLITS = (dtypes.int32, dtypes.int64)


def ids_of(splits: Tensor) -> Tensor:
    """For each value the number of its row."""
    lengths = splits[1:] - splits[:-1]
    return repeat(sequence(shape(lengths, out_type=splits.dtype)[0]), lengths, axis=0)


def lengths_of(ids: Tensor, count: Tensor) -> Tensor:
    """The number of values in each of `count` rows."""
    return raw.UnsortedSegmentSum(raw.OnesLike(ids), ids, count)


def columns_of(splits: Tensor) -> Tensor:
    """For each value its place in its row."""
    ids = ids_of(splits)
    return sequence(splits[-1]) - raw.GatherV2(splits, ids, 0)


def filled(dims: Any, value: Tensor) -> Tensor:
    """A tensor of one value."""
    return raw.Fill(dims, value)


def _integers(value: Any, dtype: Any, name: str, out_type: Any) -> Tensor:
    kind = None if dtype is None else dtypes.as_dtype(dtype)
    found = convert_to_tensor(value, name=name, preferred_dtype=dtypes.int64)
    if found.dtype not in _SPLITS:
        raise ValueError(f"{name} must have dtype int32 or int64")
    wanted = kind if kind is not None else dtypes.as_dtype(out_type) if out_type is not None else found.dtype
    return cast(found, wanted)


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """For each value the number of its row, from where rows begin and end.  Raises ValueError for a wrong dtype or rank."""
    found = _integers(splits, None, "splits", out_type)
    found.shape.assert_has_rank(1)
    if found.shape[0].value == 0:
        raise ValueError("Invalid row_splits: []")
    return ids_of(found)


def segment_ids_to_row_splits(segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None) -> Tensor:
    """Where rows begin and end, from the number of the row of each value.

    `num_segments`: how many rows there are, one more than the last number by default.
    """
    kind = next((one.dtype for one in (segment_ids, num_segments) if isinstance(one, Tensor)), dtypes.int64)
    kind = kind if out_type is None else dtypes.as_dtype(out_type)
    ids = _whole(segment_ids, "segment_ids")
    ids.shape.assert_has_rank(1)
    if num_segments is None:
        count = maximum(raw.Max(concat([ids, [-1]], 0), [0]) + 1, 0)
    else:
        count = _whole(num_segments, "num_segments")
        count.shape.assert_has_rank(0)
    lengths = cast(raw.Bincount(ids, count, convert_to_tensor([], dtypes.int32)), kind)
    splits = concat([convert_to_tensor([0], kind), cumsum(lengths)], 0)
    known = constant_value(count)
    splits.set_shape([None if known is None else int(known) + 1])
    return splits


def _whole(value: Any, name: str) -> Tensor:
    """An int32 tensor.  Raises TypeError for other numbers."""
    found = convert_to_tensor(value, name=name, preferred_dtype=dtypes.int32)
    if not found.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={found.dtype}")
    return cast(found, dtypes.int32)
