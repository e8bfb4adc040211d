"""Ragged tensors from dense and sparse ones, and back."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import with_dependencies
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.grids import sequence_mask
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.searching import boolean_mask, where
from jitgraph.ops.arrays.sequences import cumprod, cumsum
from jitgraph.ops.arrays.sequences import range as sequence
from jitgraph.ops.arrays.shape import expand_dims, reshape, shape
from jitgraph.ops.checks.check_values import assert_equal
from jitgraph.ops.elementwise.arithmetic import maximum, minimum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, logical_not
from jitgraph.ops.reduce.reductions import reduce_all, reduce_max, reduce_sum
from jitgraph.ragged import row_ids
from jitgraph.ragged.ragged_tensor import RaggedTensor, rows_of


def from_tensor(tensor: Any, lengths: Any, padding: Any, ragged_rank: int, name: str | None, row_splits_dtype: Any) -> Any:
    """See ``RaggedTensor.from_tensor``."""
    kind = as_dtype(row_splits_dtype)
    if lengths is not None and padding is not None:
        raise ValueError("Specify lengths or padding, but not both")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"ragged_rank expected int, got {ragged_rank!r}")
    if ragged_rank <= 0:
        raise ValueError(f"ragged_rank must be greater than 0; got {ragged_rank}")
    with name_scope(name, "RaggedFromTensor", []):
        tensor = convert_to_tensor(tensor, name="tensor")
        tensor.shape.with_rank_at_least(ragged_rank + 1)
        sizes = shape(tensor, out_type=kind)
        columns = sizes[1]
        if ragged_rank > 1:
            flat = reshape(tensor, concat([convert_to_tensor([-1], kind), sizes[ragged_rank:]], 0))
            values = from_tensor(flat, lengths, padding, 1, None, kind)
            before = cumprod(sizes)
            splits = [sequence(before[dim - 1] + 1) * sizes[dim] for dim in range(1, ragged_rank)]
            return RaggedTensor.from_nested_row_splits(values, splits, validate=False)
        if padding is not None:
            filling = convert_to_tensor(padding, tensor.dtype, "padding")
            filling.shape.assert_is_compatible_with(tensor.shape[2:])
            padded = equal(filling, tensor)
            if tensor.shape.ndims is None or tensor.shape.ndims > 2:
                padded = reduce_all(padded, axis=sequence(2, raw.Rank(tensor)))
            padded.set_shape(tensor.shape[:2])
            lengths = reduce_max(cast(logical_not(padded), kind) * expand_dims(sequence(1, columns + 1), 0), axis=1)
        if lengths is None:
            splits = sequence(sizes[0] + 1) * columns
            values = reshape(tensor, concat([[sizes[0] * columns], sizes[2:]], 0))
            return RaggedTensor.from_row_splits(values, splits, validate=False)
        if isinstance(lengths, (list, tuple)) and len(lengths) and not isinstance(lengths[0], (int, float)):
            tensor.shape.with_rank_at_least(len(lengths) + 1)
            mask = RaggedTensor.from_nested_row_lengths(row_ids.filled([reduce_sum(lengths[-1])], convert_to_tensor(True)), lengths,
                                                        validate=False)
            return RaggedTensor.from_nested_row_lengths(boolean_mask(tensor, mask.to_tensor(default_value=False)), lengths,
                                                        validate=False)
        sized = convert_to_tensor(lengths, name="lengths", preferred_dtype=kind)
        if not sized.dtype.is_integer:
            raise TypeError(f"lengths must be an integer tensor; dtype={sized.dtype}")
        sized = cast(sized, kind)
        sized.shape.assert_has_rank(1)
        sized = maximum(minimum(sized, columns), 0)
        splits = concat([convert_to_tensor([0], kind), cumsum(sized)], 0)
        return RaggedTensor.from_row_splits(boolean_mask(tensor, sequence_mask(sized, maxlen=columns)), splits, validate=False)


def from_sparse(st_input: Any, name: str | None, row_splits_dtype: Any) -> RaggedTensor:
    """See ``RaggedTensor.from_sparse``.  Raises TypeError for other tensors, ValueError if it is no matrix."""
    kind = as_dtype(row_splits_dtype)
    if not isinstance(st_input, SparseTensor):
        raise TypeError(f"Expected SparseTensor, got {type(st_input).__name__}")
    if st_input.dense_shape.shape[0].value != 2 and st_input.indices.shape[1].value != 2:
        raise ValueError("rank(st_input) must be 2")
    with name_scope(name, "RaggedFromSparse", []):
        ids, columns = cast(st_input.indices[:, 0], kind), st_input.indices[:, 1]
        made = RaggedTensor.from_value_rowids(st_input.values, ids, cast(st_input.dense_shape[0], kind), validate=False)
        expected = cast(row_ids.columns_of(made.row_splits), dtypes.int64)
        with control_dependencies([assert_equal(columns, expected, message="SparseTensor is not right-ragged")]):
            return made.with_values(raw.Identity(st_input.values))


def to_tensor(ragged: Any, default_value: Any, name: str | None) -> Tensor:
    """See ``RaggedTensor.to_tensor``."""
    with name_scope(name, "RaggedToTensor", []):
        values = ragged.values
        default = None if default_value is None else convert_to_tensor(default_value, ragged.dtype, "default_value")
        if isinstance(values, RaggedTensor):
            values = values.to_tensor(default)
        if default is not None and values.shape.ndims is not None:
            default.shape.with_rank_at_most(values.shape.ndims - 1)
            if default.shape.ndims == values.shape.ndims - 1:
                default.shape.assert_is_compatible_with(values.shape[1:])
        inner = shape(values)[1:]
        if default is None:
            default = raw.ZerosLike(raw.Fill(inner, convert_to_tensor("" if values.dtype == dtypes.string else 0, values.dtype)))
        else:
            default = raw.BroadcastTo(default, inner)
        default.set_shape(values.shape[1:])
        splits = ragged.row_splits
        rows, count = ragged.nrows(), shape(values, out_type=splits.dtype)[0]
        columns = maximum(reduce_max(splits[1:] - splits[:-1]), 0)
        places = expand_dims(splits[:-1], 1) + expand_dims(sequence(columns), 0)
        chosen = where(places < expand_dims(splits[1:], 1), places, raw.Fill(stack([rows, columns]), count))
        return raw.GatherV2(concat([values, stack([default])], 0), chosen, 0)


def to_sparse(ragged: Any, name: str | None) -> SparseTensor:
    """See ``RaggedTensor.to_sparse``."""
    with name_scope(name, "RaggedToSparse", []):
        wide = ragged.with_row_splits_dtype(dtypes.int64)
        wide = RaggedTensor(wide.values, with_dependencies(_checks(wide), wide.row_splits), internal=True)
        flat = wide.flat_values
        inner = shape(flat, out_type=dtypes.int64)[1:]
        size = raw.Prod(inner, [0])
        numbers = sequence(shape(flat, out_type=dtypes.int64)[0] * size)
        held = numbers // maximum(size, 1)
        parts: list[Any] = []
        nested = wide.nested_row_splits
        for splits in reversed(nested):
            parts.insert(0, raw.GatherV2(row_ids.columns_of(splits), held, 0))
            held = raw.GatherV2(row_ids.ids_of(splits), held, 0)
        parts.insert(0, held)
        rest, below = numbers % maximum(size, 1), size
        for dim in range((flat.shape.ndims or 1) - 1):
            below = below // maximum(inner[dim], 1)
            parts.append(rest // maximum(below, 1))
            rest = rest % maximum(below, 1)
        return SparseTensor(stack(parts, 1), reshape(flat, [-1]), cast(wide.bounding_shape(), dtypes.int64))


def _checks(ragged: RaggedTensor) -> list:
    """That the splits of all dimensions begin with 0 and end with the number of the values."""
    inner = _checks(ragged.values) if isinstance(ragged.values, RaggedTensor) else []
    begin, end = ragged.row_splits[:1], ragged.row_splits[-1:]
    last = "Final value of ragged splits must match the length the corresponding ragged values."
    return [assert_equal(raw.Size(begin), 1, message="ragged splits may not be empty."),
            assert_equal(begin, dtypes.int64.as_numpy_dtype(0), message="First value of ragged splits must be 0"),
            assert_equal(end, rows_of(ragged.values), message=last), *inner]
