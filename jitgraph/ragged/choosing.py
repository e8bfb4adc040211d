"""Elements and rows of ragged tensors, chosen by conditions and by numbers of several dimensions."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import with_dependencies
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import one_hot as dense_one_hot
from jitgraph.ops.arrays.join import concat as dense_concat
from jitgraph.ops.arrays.searching import where as dense_where
from jitgraph.ops.arrays.sequences import range as sequence
from jitgraph.ops.arrays.shape import expand_dims as dense_expand_dims
from jitgraph.ops.arrays.shape import reshape, shape
from jitgraph.ops.checks.check_values import assert_equal
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ragged.functions import concat, expand_dims, gather, map_flat_values, stack_dynamic_partitions
from jitgraph.ragged.ragged_tensor import RaggedTensor, as_ragged, rows_of, with_equal_splits_dtypes
from jitgraph.ragged.tiling import tile


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Where `condition` is True, row by row (int64 [n, rank]); with `x` and `y` the elements of `x` there, else those of `y`.

    A dense vector as the condition chooses whole rows.  Raises ValueError for one of `x` and `y` alone, and if only some of
    the three are ragged otherwise.
    """
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    with name_scope("RaggedWhere", name, [condition, x, y]):
        condition = as_ragged(condition)
        if x is None:
            return _coordinates(condition)
        condition, x, y = with_equal_splits_dtypes(condition, as_ragged(x), as_ragged(y))
        ragged = [isinstance(one, RaggedTensor) for one in (condition, x, y)]
        if all(ragged):
            return map_flat_values(dense_where, condition, x, y)
        if not any(ragged):
            return dense_where(condition, x, y)
        if ragged[0]:
            raise ValueError("Input shapes do not match.")
        condition.shape.assert_has_rank(1)
        both = concat([x, y], 0)
        kind = both.row_splits.dtype
        first, second = sequence(rows_of(x, kind)), rows_of(x, kind) + sequence(rows_of(y, kind))
        return gather(both, dense_where(condition, first, second))


def _coordinates(condition: Any) -> Tensor:
    if not isinstance(condition, RaggedTensor):
        return raw.Where(condition)
    chosen = _coordinates(condition.values)
    wide = condition.with_row_splits_dtype(chosen.dtype)
    first = chosen[:, 0]
    rows = raw.GatherV2(wide.value_rowids(), first, 0)
    columns = first - raw.GatherV2(wide.row_splits, rows, 0)
    return dense_concat([dense_expand_dims(rows, 1), dense_expand_dims(columns, 1), chosen[:, 1:]], 1)


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Any:
    """The parts of `params` that the vectors along the last dimension of `indices` name.

    Raises ValueError for `batch_dims`, for an unknown rank, and if the length of the vectors is not known.
    """
    if not isinstance(batch_dims, int) or batch_dims != 0:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    with name_scope(name, "RaggedGatherNd", [params, indices]):
        params, indices = with_equal_splits_dtypes(as_ragged(params), as_ragged(indices))
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("indices.rank be statically known.")
        if rank == 0:
            raise ValueError("indices.rank must be at least 1.")
        if isinstance(indices, RaggedTensor) and rank == indices.ragged_rank + 1:
            raise ValueError("The innermost dimension of indices may not be ragged")
        size = indices.shape[-1].value
        if size is None:
            raise ValueError("indices.shape[-1] must be statically known.")
        if not isinstance(params, RaggedTensor):
            return indices.with_flat_values(raw.GatherNd(params, indices.flat_values))
        if rank > 2:
            return _by_rows(params, indices, rank)
        if size == 0:
            for _ in range(rank - 1):
                params = expand_dims(params, 0)
            ones = raw.Fill(dense_expand_dims(raw.Rank(params.flat_values) + params.ragged_rank - (rank - 1), 0), 1)
            return tile(params, dense_concat([shape(indices)[:-1], ones], 0))
        if size == 1:
            return gather(params, reshape(indices, [-1]))
        return _inside(params, cast(indices, params.row_splits.dtype), size)


def _by_rows(params: Any, indices: Any, rank: int) -> Any:
    dense = not isinstance(indices, RaggedTensor)
    if dense:
        indices = RaggedTensor.from_tensor(indices, ragged_rank=rank - 2, row_splits_dtype=params.row_splits.dtype)
    found = indices.with_flat_values(gather_nd(params, indices.flat_values))
    return found.to_tensor() if dense and found.ragged_rank == rank - 2 else found


def _inside(params: RaggedTensor, indices: Tensor, size: int) -> Any:
    """The parts that are named by `size` numbers each: places in the values of the rows, dimension by dimension."""
    places = raw.GatherV2(params.row_splits, indices[..., 0], 0) + indices[..., 1]
    values = params.values
    for dim in range(2, size):
        if not isinstance(values, RaggedTensor):
            return raw.GatherNd(values, dense_concat([dense_expand_dims(places, -1), indices[..., dim:]], -1))
        places = raw.GatherV2(values.row_splits, places, 0) + indices[..., dim]
        values = values.values
    return gather(values, places)


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Any:
    """In each row of `params` the elements that the row of `indices` names.

    Raises ValueError for an unknown rank or a scalar, and where `params` has fewer dimensions in front.
    """
    with name_scope(name, "RaggedBatchGather", [params, indices]):
        params, indices = with_equal_splits_dtypes(as_ragged(params), as_ragged(indices))
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        if rank == 0:
            raise ValueError("indices.rank must be at least 1.")
        fault = "batch shape from indices does not match params shape"
        if not isinstance(indices, RaggedTensor):
            if rank > 2:
                raise ValueError(fault)
            if rank == 1:
                return gather(params, indices)
            begins = dense_expand_dims(params.row_starts(), 1)
            return gather(params.values, cast(indices, begins.dtype) + begins)
        if not isinstance(params, RaggedTensor):
            if rank > 2 or params.shape.ndims is not None and params.shape.ndims < 2:
                raise ValueError(fault)
            params = RaggedTensor.from_tensor(params, ragged_rank=1, row_splits_dtype=indices.row_splits.dtype)
        if rank > 2:
            same = assert_equal(params.row_splits, indices.row_splits)
            splits = with_dependencies([same], indices.row_splits)
            return RaggedTensor.from_row_splits(batch_gather(params.values, indices.values), splits, validate=False)
        begins = raw.GatherV2(params.row_starts(), indices.value_rowids(), 0)
        return indices.with_values(gather(params.values, cast(indices.values, begins.dtype) + begins))


def one_hot(indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None, dtype: Any = None,
            name: str | None = None) -> RaggedTensor:
    """``tf.one_hot`` of the values.  Raises ValueError for an `axis` among the ragged dimensions."""
    if axis is not None:
        axis = axis + indices.shape.ndims if axis < 0 else axis
        if axis < indices.ragged_rank:
            raise ValueError("axis may not be less than indices.ragged_rank.")
    return indices.with_flat_values(dense_one_hot(indices.flat_values, depth, on_value, off_value, axis, dtype, name))


def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> list:
    """The rows of `data` by the numbers that `partitions` has for them.  Raises TypeError unless their count is an int."""
    if not isinstance(num_partitions, int) or num_partitions < 0:
        raise TypeError("num_partitions must be a non-negative integer")
    found = stack_dynamic_partitions(data, partitions, num_partitions, name)
    return [found[number] for number in range(num_partitions)]
