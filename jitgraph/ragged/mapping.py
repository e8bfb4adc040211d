"""``map_fn`` over the rows of ragged tensors (``tensorflow.python.ops.ragged.ragged_map_ops``)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jitgraph.control.while_loops import while_loop
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.shape import expand_dims, shape
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ragged.ragged_tensor import RaggedTensor, as_ragged, with_equal_splits_dtypes
from jitgraph.tensor_arrays.tensor_array import TensorArray


class RaggedTensorType:
    """What `map_fn` is told of a ragged result: the dtype of the values, the number of ragged dimensions, that of the splits."""

    def __init__(self, dtype: Any, ragged_rank: int, row_splits_dtype: Any = dtypes.int64):
        self.dtype, self.ragged_rank, self.row_splits_dtype = dtype, ragged_rank, dtypes.as_dtype(row_splits_dtype)


class _Parts(NamedTuple):
    """What stands for a ragged result: its values, the lengths of its rows in all dimensions, and the number of its rows."""

    flat_values: Any
    nested_row_lengths: tuple
    outer_row_length: Any


def map_fn(fn: Callable, elems: Any, dtype: Any = None, parallel_iterations: int | None = None, back_prop: bool = True,
           swap_memory: bool = False, infer_shape: bool = True, name: str | None = None) -> Any:
    """`fn` of each row of `elems`, a tensor or ragged tensor or a structure of them; the results joined.

    `dtype`: the structure of dtypes that `fn` gives, where it is not that of `elems`; a RaggedTensorType stands for a ragged
    result.  Raises TypeError if `fn` is not callable and for sparse tensors, ValueError for scalars.
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    if isinstance(elems, SparseTensor):
        raise TypeError("To perform a map on the values of a sparse tensor use either  SparseTensor(input.indices, "
                        "fn(input.values), input.dense_shape) or  SparseTensor(input.indices, map_fn(fn, input.values), "
                        "input.dense_shape)")
    with name_scope(name, "map", []):
        flat = with_equal_splits_dtypes(*map(as_ragged, nest.flatten(elems)))
        wanted = dtype or _packed(elems, [one.dtype for one in flat])
        kinds = nest.flatten(wanted)
        count = _rows(flat)
        parts = [_parts_of_dtype(kind) for kind in kinds]
        arrays = [TensorArray(kind, count, infer_shape=infer_shape) for kind in nest.flatten(parts)]

        def step(index: Any, arrays: list) -> tuple:
            values = nest.flatten(fn(_packed(elems, [one[index] for one in flat])))
            declared = [_declared(value, kind) for value, kind in zip(values, kinds)]
            tensors = nest.flatten([_parts_of(value) for value in declared])
            return index + 1, [array.write(index, tensor) for array, tensor in zip(arrays, tensors)]

        _, arrays = while_loop(lambda index, _: index < count, step, (0, arrays), None, parallel_iterations or 10, back_prop,
                               swap_memory, maximum_iterations=count, return_same_structure=True)
        return _packed(wanted, [_joined(one) for one in nest.pack_sequence_as(parts, arrays)])


def _packed(structure: Any, flat: list) -> Any:
    return nest.pack_sequence_as(structure, flat) if nest.is_nested(structure) else flat[0]


def _rows(flat: tuple) -> Any:
    first = flat[0]
    if isinstance(first, RaggedTensor):
        return first.nrows(dtypes.int32)
    if first.shape.ndims == 0:
        raise ValueError("elems must be a 1+ dimensional Tensor, not a scalar" if len(flat) == 1 else
                         "elements in elems must be 1+ dimensional Tensors, not scalars")
    return cast(shape(first)[0], dtypes.int32)


def _parts_of_dtype(kind: Any) -> Any:
    if not isinstance(kind, RaggedTensorType):
        return kind
    return _Parts(kind.dtype, (kind.row_splits_dtype,) * (kind.ragged_rank - 1), kind.row_splits_dtype)


def _declared(value: Any, kind: Any) -> Any:
    """A result as it was declared: what is dense becomes a row.  Raises ValueError for other ranks and dtypes."""
    if not isinstance(kind, RaggedTensorType):
        return value
    rank = getattr(value, "ragged_rank", 0) + 1
    if kind.ragged_rank != rank:
        raise ValueError(f"The declared ragged rank ({kind.ragged_rank}) mismatches the result ({rank})")
    if kind.dtype != value.dtype:
        raise ValueError(f"The declared dtype ({kind.dtype}) mismatches the result ({value.dtype})")
    if not isinstance(value, RaggedTensor):
        return _Parts(value, (), expand_dims(shape(value, out_type=kind.row_splits_dtype)[0], 0))
    if kind.row_splits_dtype != value.row_splits.dtype:
        raise ValueError(f"The declared row_splits dtype ({kind.row_splits_dtype}) mismatches the result "
                         f"({value.row_splits.dtype}).  Use RaggedTensor.with_row_splits_dtype to convert it.")
    return value


def _parts_of(value: Any) -> Any:
    if not isinstance(value, RaggedTensor):
        return value
    return _Parts(value.flat_values, tuple(splits[1:] - splits[:-1] for splits in value.nested_row_splits),
                  expand_dims(value.nrows(), 0))


def _joined(part: Any) -> Any:
    if not isinstance(part, _Parts):
        return part.stack()
    values = part.flat_values.concat()
    for lengths in (*reversed(part.nested_row_lengths), part.outer_row_length):
        values = RaggedTensor.from_row_lengths(values, lengths.concat(), validate=False)
    return values
