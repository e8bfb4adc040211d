"""Rows of ragged tensors combined by numbers of segments, and strings joined along dimensions."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import with_dependencies
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.join import concat as dense_concat
from jitgraph.ops.arrays.sequences import cumsum
from jitgraph.ops.checks.check_values import assert_equal
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.elementary import sqrt
from jitgraph.ragged import row_ids
from jitgraph.ragged.axes import reduced_axes
from jitgraph.ragged.ragged_tensor import RaggedTensor, as_ragged, with_equal_splits_dtypes


def segmented(combine: Callable, data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The rows of equal `segment_ids` combined, place by place, by ``combine(values, ids, count)``.

    Raises ValueError for ids that are no integers or whose shape is not the beginning of that of `data`.
    """
    data, ids = with_equal_splits_dtypes(as_ragged(data), as_ragged(segment_ids))
    if ids.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError("segment_ids must have dtype int32 or int64.")
    if isinstance(ids, RaggedTensor):
        message = "segment_ids.shape must be a prefix of data.shape"
        if not isinstance(data, RaggedTensor):
            raise ValueError(f"{message}, but segment_ids is ragged and data is not.")
        same = assert_equal(ids.row_splits, data.row_splits, message=message)
        return segmented(combine, data.values, _after(same, ids.values), num_segments)
    if not isinstance(data, RaggedTensor):
        return combine(data, ids, num_segments)
    lengths = maximum(raw.UnsortedSegmentMax(data.row_lengths(), ids, num_segments), 0)
    splits = dense_concat([convert_to_tensor([0], lengths.dtype), cumsum(lengths)], 0)
    places = raw.GatherV2(splits, raw.GatherV2(ids, data.value_rowids(), 0), 0) + row_ids.columns_of(data.row_splits)
    return RaggedTensor.from_row_splits(segmented(combine, data.values, places, splits[-1]), splits, validate=False)


def _after(check: Any, tensor: Any) -> Any:
    if isinstance(tensor, RaggedTensor):
        return tensor.with_flat_values(with_dependencies([check], tensor.flat_values))
    return with_dependencies([check], tensor)


def _of(kind: Any, scope: str) -> Callable:
    def combined(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        with name_scope(name, scope, [data, segment_ids, num_segments]):
            return segmented(kind, data, segment_ids, num_segments)

    return combined


segment_sum = _of(raw.UnsortedSegmentSum, "RaggedSegmentSum")
segment_prod = _of(raw.UnsortedSegmentProd, "RaggedSegmentProd")
segment_min = _of(raw.UnsortedSegmentMin, "RaggedSegmentMin")
segment_max = _of(raw.UnsortedSegmentMax, "RaggedSegmentMax")


def segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The mean of the elements of each segment."""
    with name_scope(name, "RaggedSegmentMean", [data, segment_ids, num_segments]):
        return _divided(data, segment_ids, num_segments, lambda count: count)


def segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The sum of the elements of each segment over the square root of their number."""
    with name_scope(name, "RaggedSegmentSqrtN", [data, segment_ids, num_segments]):
        return _divided(data, segment_ids, num_segments, sqrt)


def _divided(data: Any, segment_ids: Any, num_segments: Any, divisor: Callable) -> Any:
    total = segment_sum(data, segment_ids, num_segments)
    count = segment_sum(data.with_flat_values(raw.OnesLike(data.flat_values)), segment_ids, num_segments)
    if isinstance(total, RaggedTensor):
        return total.with_flat_values(total.flat_values / divisor(count.flat_values))
    return total / divisor(count)


def reduce_join(inputs: Any, axis: Any = None, keep_dims: Any = None, separator: str = "", name: str | None = None,
                reduction_indices: Any = None, keepdims: Any = None) -> Any:
    """The strings along the dimensions `axis` joined; all of them without it.  Raises ValueError with `keepdims`."""
    if keepdims or keep_dims:
        raise ValueError("keepdims=True is not supported for RaggedTensors.")
    axis = reduction_indices if axis is None else axis
    with name_scope(name, "RaggedReduceJoin", [inputs]):
        ragged = as_ragged(inputs)
        if axis is None:
            return raw.ReduceJoin(ragged.flat_values, [0], separator=separator)
        for dim in reduced_axes(axis, ragged.shape.ndims):
            ragged = _joined(ragged, dim, separator)
        return ragged


def _joined(ragged: Any, dim: int, separator: str) -> Any:
    if not isinstance(ragged, RaggedTensor):
        return raw.ReduceJoin(ragged, [dim], separator=separator)
    if dim > 1:
        return ragged.with_values(_joined(ragged.values, dim - 1, separator))

    def combine(values: Any, ids: Any, count: Any) -> Any:
        return raw.UnsortedSegmentJoin(values, ids, count, separator=separator)

    if dim == 1:
        return segmented(combine, ragged.values, ragged.value_rowids(), ragged.nrows())
    columns = maximum(raw.Max(ragged.row_lengths(), [0]), 0)
    return segmented(combine, ragged.values, row_ids.columns_of(ragged.row_splits), columns)
