"""Functions of ragged tensors: by values, by rows, over rows."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import with_dependencies
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.join import concat as dense_concat
from jitgraph.ops.arrays.searching import boolean_mask as dense_boolean_mask
from jitgraph.ops.arrays.sequences import cumsum
from jitgraph.ops.arrays.sequences import range as sequence
from jitgraph.ops.arrays.shape import expand_dims as dense_expand_dims
from jitgraph.ops.arrays.shape import reshape, shape
from jitgraph.ops.checks.check_values import assert_equal, assert_less, assert_non_negative
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.reduce import reductions
from jitgraph.ragged import row_ids
from jitgraph.ragged.axes import positive_axis, reduced_axes
from jitgraph.ragged.ragged_tensor import RaggedTensor, as_ragged, with_equal_splits_dtypes


def map_flat_values(op: Callable, *args: Any, **kwargs: Any) -> Any:
    """What `op` gives for the innermost values of ragged arguments, in their rows.

    Raises ValueError if a run cannot find it out; a run raises InvalidArgumentError where the rows of the arguments differ.
    """
    ragged = [one for one in [*args, *kwargs.values()] if isinstance(one, RaggedTensor)]
    if not ragged:
        return op(*args, **kwargs)
    ranks = {one.ragged_rank for one in ragged}
    with_equal_splits_dtypes(*ragged)
    if len(ranks) > 1:
        raise ValueError("Inputs must have identical ragged splits")
    nested = ragged[0].nested_row_splits
    checks = [assert_equal(mine, other, message="Inputs must have identical ragged splits")
              for one in ragged[1:] for mine, other in zip(nested, one.nested_row_splits) if mine is not other]

    def flat(one: Any) -> Any:
        return one.flat_values if isinstance(one, RaggedTensor) else one

    found = op(*map(flat, args), **{name: flat(one) for name, one in kwargs.items()})
    splits = [with_dependencies(checks, one) for one in nested] if checks else nested
    return RaggedTensor.from_nested_row_splits(found, splits, validate=False)


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The elements of `data` where `mask`, which is of its shape or of the beginning of it, is True.

    Dimensions of the mask below the first are ragged in the result.  Raises ValueError if the mask is a scalar.
    """
    with name_scope(name, "RaggedMask", []):
        mask = as_ragged(mask, dtypes.bool_)
        data = as_ragged(data)
        if mask.shape.ndims is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if mask.shape.ndims == 0:
            raise ValueError("mask cannot be scalar.")
        data.shape[:mask.shape.ndims].assert_is_compatible_with(mask.shape)
        inner = (mask.flat_values.shape.ndims or 1) - 1 if isinstance(mask, RaggedTensor) else 0
        if inner:
            mask = mask.with_flat_values(RaggedTensor.from_tensor(
                mask.flat_values, ragged_rank=inner, row_splits_dtype=mask.row_splits.dtype))
        if not isinstance(mask, RaggedTensor) and mask.shape.ndims > 1:
            mask = RaggedTensor.from_tensor(mask, ragged_rank=mask.shape.ndims - 1)
        if not isinstance(mask, RaggedTensor):
            if isinstance(data, RaggedTensor):
                return gather(data, reshape(raw.Where(mask), [-1]))
            return dense_boolean_mask(data, mask)
        if not isinstance(data, RaggedTensor):
            data = RaggedTensor.from_tensor(data, ragged_rank=mask.ragged_rank, row_splits_dtype=mask.row_splits.dtype)
        same = assert_equal(data.row_splits, mask.row_splits, message="Inputs must have identical ragged splits")
        splits = with_dependencies([same], data.row_splits)
        values = boolean_mask(data.values, mask.values)
        if isinstance(mask.values, RaggedTensor):
            return RaggedTensor.from_row_splits(values, splits, validate=False)
        kept = raw.UnsortedSegmentSum(cast(mask.values, splits.dtype), row_ids.ids_of(splits), shape(splits)[0] - 1)
        return RaggedTensor.from_row_lengths(values, kept, validate=False)


# -- rows --------------------------------------------------------------------------------------------------------------

def gather(params: Any, indices: Any, validate_indices: Any = None, name: str | None = None, axis: Any = 0,
           batch_dims: int = 0) -> Any:
    """The rows of `params` that `indices` name."""
    if not isinstance(axis, int) or axis != 0 or batch_dims != 0:
        raise ValueError("Only axis=0 is supported for ragged gather yet, without batch dimensions.")
    params, indices = with_equal_splits_dtypes(as_ragged(params), as_ragged(indices))
    if isinstance(indices, RaggedTensor):
        return indices.with_values(gather(params, indices.values))
    if not isinstance(params, RaggedTensor):
        return raw.GatherV2(params, indices, 0)
    if indices.shape.ndims is None:
        raise ValueError("indices.shape.ndims must be known statically")
    if indices.shape.ndims == 0:
        row = raw.GatherV2(params.row_starts(), indices, 0), raw.GatherV2(params.row_limits(), indices, 0)
        return _sliced(params.values, *row)
    if indices.shape.ndims > 1:
        return gather(params, RaggedTensor.from_tensor(indices, ragged_rank=indices.shape.ndims - 1,
                                                       row_splits_dtype=params.row_splits.dtype))
    begins, ends = raw.GatherV2(params.row_starts(), indices, 0), raw.GatherV2(params.row_limits(), indices, 0)
    splits = dense_concat([convert_to_tensor([0], begins.dtype), cumsum(ends - begins)], 0)
    places = raw.GatherV2(begins, row_ids.ids_of(splits), 0) + row_ids.columns_of(splits)
    return RaggedTensor.from_row_splits(gather(params.values, places), splits, validate=False)


def _sliced(values: Any, begin: Any, end: Any) -> Any:
    if not isinstance(values, RaggedTensor):
        return values[begin:end]
    splits = values.row_splits[begin:end + 1]
    return RaggedTensor.from_row_splits(_sliced(values.values, splits[0], splits[-1]), splits - splits[0], validate=False)


def concat(values: Any, axis: Any, name: str | None = None) -> Any:
    """Ragged and dense tensors joined along an axis."""
    with name_scope(name, "RaggedConcat", []):
        return _joined(_as_list(values), axis, stacked=False)


def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Ragged and dense tensors of one rank as the elements of a new axis."""
    with name_scope(name, "RaggedStack", []):
        return _joined(_as_list(values), axis, stacked=True)


def _as_list(values: Any) -> list:
    return [as_ragged(one) for one in (values if isinstance(values, (list, tuple)) else [values])]


def _joined(tensors: list, axis: int, stacked: bool) -> Any:
    if not tensors:
        raise ValueError("rt_inputs may not be empty.")
    with_equal_splits_dtypes(*tensors)
    if len(tensors) == 1:
        return expand_dims(tensors[0], axis) if stacked else tensors[0]
    rank = tensors[0].shape.ndims
    for one in tensors[1:]:
        one.shape.assert_has_rank(rank)
    axis = positive_axis(axis, None if rank is None else rank + stacked)
    if rank is not None and not any(isinstance(one, RaggedTensor) for one in tensors) and axis in (rank - 1, rank - 1 + stacked):
        return raw.Pack(tensors, axis=axis) if stacked else dense_concat(tensors, axis)
    kind = next((one.row_splits.dtype for one in tensors if isinstance(one, RaggedTensor)), dtypes.int64)
    depth = max([one.ragged_rank for one in tensors if isinstance(one, RaggedTensor)] + [1])
    ragged = [_as_ragged_of(one, depth, kind) for one in tensors]
    if axis == 0:
        joined = _one_after_the_other(ragged)
        if not stacked:
            return joined
        return RaggedTensor.from_row_lengths(joined, raw.Pack([one.nrows() for one in ragged]), validate=False)
    if axis == 1:
        return _side_by_side(ragged, stacked)
    checks = [assert_equal(one.row_splits, ragged[0].row_splits, message="Inputs must have identical ragged splits")
              for one in ragged[1:]]
    splits = with_dependencies(checks, ragged[0].row_splits)
    return RaggedTensor.from_row_splits(_joined([one.values for one in ragged], axis - 1, stacked), splits, validate=False)


def _as_ragged_of(one: Any, depth: int, kind: Any) -> RaggedTensor:
    if not isinstance(one, RaggedTensor):
        return RaggedTensor.from_tensor(one, ragged_rank=depth, row_splits_dtype=kind)
    if one.ragged_rank < depth:
        return one.with_values(_as_ragged_of(one.values, depth - 1, kind))
    return one.with_row_splits_dtype(kind)


def _one_after_the_other(ragged: list) -> RaggedTensor:
    values = [one.values for one in ragged]
    inner = _one_after_the_other(values) if isinstance(values[0], RaggedTensor) else dense_concat(values, 0)
    return RaggedTensor.from_row_lengths(inner, dense_concat([one.row_lengths() for one in ragged], 0), validate=False)


def _side_by_side(ragged: list, stacked: bool) -> RaggedTensor:
    first, count = ragged[0].nrows(), len(ragged)
    rows = with_dependencies([assert_equal(one.nrows(), first, message="Input tensors have incompatible shapes.")
                              for one in ragged[1:]], first)
    order = reshape(raw.Transpose(reshape(sequence(rows * count), [count, -1]), [1, 0]), [-1])
    turned = gather(_one_after_the_other(ragged), order)
    if stacked:
        return RaggedTensor.from_row_splits(turned, sequence(rows + 1) * count, validate=False)
    return RaggedTensor.from_row_splits(turned.values, turned.row_splits[::count], validate=False)


def stack_dynamic_partitions(data: Any, partitions: Any, num_partitions: Any, name: str | None = None) -> RaggedTensor:
    """The rows of `data` in `num_partitions` rows, by the number that `partitions` has for each."""
    with name_scope(name, "SegmentStack", []):
        data = as_ragged(data)
        kind = data.row_splits.dtype if isinstance(data, RaggedTensor) else None
        partitions = as_ragged(partitions, preferred_dtype=kind)
        partitions = partitions if kind is None else map_flat_values(cast, partitions, kind)
        count = cast(convert_to_tensor(num_partitions, name="num_partitions", preferred_dtype=partitions.dtype), partitions.dtype)
        rank = partitions.shape.ndims
        if rank is None:
            raise ValueError("partitions must have known rank.")
        count.shape.assert_has_rank(0)
        partitions.shape.assert_is_compatible_with(data.shape[:rank])
        if rank == 0:
            return RaggedTensor.from_value_rowids(stack([data]), raw.Pack([partitions]), count, validate=False)
        if rank > 1:
            return _rows_of_partitions(data, partitions, count, rank)
        order = raw.TopKV2(-partitions, shape(partitions)[0]).indices
        ids = raw.GatherV2(partitions, order, 0)
        checks = [assert_less(ids[-1:], count, message="partitions must be less than num_partitions"),
                  assert_non_negative(ids[:1], message="partitions must be non-negative")]
        return RaggedTensor.from_value_rowids(gather(data, order), with_dependencies(checks, ids), count, validate=False)


def _rows_of_partitions(data: Any, partitions: Any, count: Tensor, rank: int) -> RaggedTensor:
    kind = partitions.dtype
    if not isinstance(data, RaggedTensor):
        data = RaggedTensor.from_tensor(data, row_splits_dtype=kind)
    if not isinstance(partitions, RaggedTensor):
        partitions = RaggedTensor.from_tensor(partitions, row_splits_dtype=kind, ragged_rank=max(data.ragged_rank, rank - 1))
    same = assert_equal(data.row_splits, partitions.row_splits, message="data and partitions have incompatible ragged shapes")
    return stack_dynamic_partitions(data.values, partitions.values, with_dependencies([same], count))


def known_rank(ragged: RaggedTensor) -> int:
    """The number of dimensions.  Raises ValueError where that is not known."""
    rank = ragged.shape.ndims
    if rank is None:
        raise ValueError(f"the rank of {ragged} is not known: its values have an unknown shape (tf.ensure_shape states one)")
    return rank


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """A tensor with a dimension of size 1 more, at `axis`."""
    axis = axis if dim is None else dim
    ragged = as_ragged(input)
    if not isinstance(ragged, RaggedTensor):
        return dense_expand_dims(ragged, axis)
    axis = positive_axis(axis, None if ragged.shape.ndims is None else ragged.shape.ndims + 1)
    if axis == 0:
        return RaggedTensor.from_row_splits(ragged, raw.Pack([convert_to_tensor(0, ragged.row_splits.dtype), ragged.nrows()]),
                                            validate=False)
    if axis == 1:
        return RaggedTensor.from_row_splits(ragged, sequence(ragged.nrows() + 1), validate=False)
    return ragged.with_values(expand_dims(ragged.values, axis - 1))


def size(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """The number of values."""
    ragged = as_ragged(input)
    return raw.Size(ragged.flat_values if isinstance(ragged, RaggedTensor) else ragged, out_type=out_type)


def rank(input: Any, name: str | None = None) -> Any:
    """The number of dimensions."""
    ragged = as_ragged(input)
    return raw.Rank(ragged.flat_values) + ragged.ragged_rank if isinstance(ragged, RaggedTensor) else raw.Rank(ragged)


# -- reductions --------------------------------------------------------------------------------------------------------

_SEGMENT: dict[str, Any] = {"sum": raw.UnsortedSegmentSum, "prod": raw.UnsortedSegmentProd, "min": raw.UnsortedSegmentMin,
                            "max": raw.UnsortedSegmentMax}
_DENSE: dict[str, Any] = {"sum": reductions.reduce_sum, "prod": reductions.reduce_prod, "min": reductions.reduce_min,
                          "max": reductions.reduce_max, "mean": reductions.reduce_mean, "any": reductions.reduce_any,
                          "all": reductions.reduce_all}


def reduced(kind: str, tensor: Any, axis: Any = None, keepdims: Any = None) -> Any:
    """The sum, product, least, greatest, mean, or ``any`` or ``all`` of elements along axes."""
    if keepdims:
        raise ValueError("keepdims=True is not supported for ragged tensors.")
    ragged = as_ragged(tensor)
    if not isinstance(ragged, RaggedTensor):
        return _DENSE[kind](ragged, axis)
    if axis is None and kind != "mean":
        return _DENSE[kind](ragged.flat_values)
    if kind in ("any", "all"):
        counted = ragged.with_flat_values(cast(ragged.flat_values, dtypes.int32))
        extremes = reduced("max" if kind == "any" else "min", counted, axis)
        empty = map_flat_values(lambda one: maximum(one, 0) if kind == "any" else raw.Minimum(one, 1), extremes)
        return map_flat_values(lambda one: cast(one, dtypes.bool_), empty)
    if kind == "mean":
        ones = ragged.with_flat_values(raw.OnesLike(ragged.flat_values))
        total, count = reduced("sum", ragged, axis), reduced("sum", ones, axis)
        if isinstance(total, RaggedTensor):
            return total.with_flat_values(total.flat_values / count.flat_values)
        return total / count
    found: Any = ragged
    for place in reduced_axes(axis, ragged.shape.ndims):
        found = _along(kind, found, place)
    return found


def _along(kind: str, ragged: Any, axis: int) -> Any:
    if not isinstance(ragged, RaggedTensor):
        return _DENSE[kind](ragged, axis)
    if axis == 0:
        columns = maximum(reductions.reduce_max(ragged.row_lengths()), 0)
        return _segments(kind, ragged.values, row_ids.columns_of(ragged.row_splits), columns)
    if axis == 1:
        return _segments(kind, ragged.values, ragged.value_rowids(), ragged.nrows())
    return ragged.with_values(_along(kind, ragged.values, axis - 1))


def _segments(kind: str, values: Any, ids: Tensor, count: Tensor) -> Any:
    """The elements of rows of one number combined, place by place."""
    if not isinstance(values, RaggedTensor):
        return _SEGMENT[kind](values, ids, count)
    lengths = maximum(raw.UnsortedSegmentMax(values.row_lengths(), ids, count), 0)
    splits = dense_concat([convert_to_tensor([0], lengths.dtype), cumsum(lengths)], 0)
    rows = raw.GatherV2(ids, values.value_rowids(), 0)
    places = raw.GatherV2(splits, rows, 0) + row_ids.columns_of(values.row_splits)
    return RaggedTensor.from_row_splits(_segments(kind, values.values, places, splits[-1]), splits, validate=False)
