"""Rows of a ragged tensor by where they begin and end, by their lengths, and by the number of the row of each value."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.rearrange import repeat
from jitgraph.ops.arrays.sequences import cumsum
from jitgraph.ops.arrays.sequences import range as sequence
from jitgraph.ops.arrays.shape import shape
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
    ids = _integers(segment_ids, None, "segment_ids", out_type)
    ids.shape.assert_has_rank(1)
    if num_segments is None:
        count = concat([ids[-1:], convert_to_tensor([-1], ids.dtype)], 0)[0] + 1
    else:
        count = cast(convert_to_tensor(num_segments), ids.dtype)
    return concat([convert_to_tensor([0], ids.dtype), cumsum(lengths_of(ids, count))], 0)
