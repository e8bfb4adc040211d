"""``tf.ragged.constant``, ``constant_value``, ``placeholder`` and ``range``."""
from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import with_dependencies
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.constant import constant as dense_constant
from jitgraph.ops.arrays.identity import placeholder as dense_placeholder
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.sequences import cumsum
from jitgraph.ops.arrays.shape import shape
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import not_equal
from jitgraph.ops.reduce.reductions import reduce_all
from jitgraph.ragged import row_ids
from jitgraph.ragged.ragged_tensor import RaggedTensor, is_ragged
from jitgraph.ragged.ragged_value import RaggedTensorValue


def constant(pylist: Any, dtype: Any = None, ragged_rank: int | None = None, inner_shape: Any = None, name: str | None = None,
             row_splits_dtype: Any = dtypes.int64) -> Any:
    """A ragged tensor of lists in lists; a dense one if they are not nested.

    `ragged_rank`: how many dimensions are ragged, by default as many as there can be; `inner_shape`: that of the values.  Raises
    ValueError where they do not suit, or scalars stand at different depths; TypeError for a ragged tensor.
    """
    def factory(values: Any, splits: list) -> Any:
        return RaggedTensor.from_row_splits(values, dense_constant(splits, dtype=row_splits_dtype), validate=False)

    with name_scope(name, "RaggedConstant", []):
        return _nested(factory, lambda values, dims: dense_constant(values, dtype=dtype, shape=dims), pylist, ragged_rank,
                       inner_shape)


def constant_value(pylist: Any, dtype: Any = None, ragged_rank: int | None = None, inner_shape: Any = None,
                   row_splits_dtype: Any = "int64") -> Any:
    """A RaggedTensorValue of lists in lists, an array if they are not nested.  Raises as ``constant`` does."""
    kind = dtype.as_numpy_dtype if isinstance(dtype, DType) else dtype
    splits_kind = as_dtype(row_splits_dtype).as_numpy_dtype

    def dense(values: Any, dims: Any) -> Any:
        found = np.array(values, dtype=kind)
        return found if dims is None else np.reshape(found, dims)

    return _nested(lambda values, splits: RaggedTensorValue(values, np.array(splits, splits_kind)), dense, pylist, ragged_rank,
                   inner_shape)


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or np.ndim(value) != 0


def _nested(factory: Callable, dense: Callable, pylist: Any, ragged_rank: int | None, inner_shape: Any) -> Any:
    if is_ragged(pylist):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    if not _is_list(pylist):
        if ragged_rank:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
        if inner_shape:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner_shape)}")
        return dense(pylist, ())
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank!r}: must be nonnegative")
    scalars, deepest = _depths(pylist)
    if scalars is not None and deepest > scalars:
        raise ValueError(f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting")
    if inner_shape is not None and ragged_rank is not None:
        expected = ragged_rank + len(inner_shape) + 1
        if scalars is not None and expected != scalars or scalars is None and expected < deepest:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and "
                             f"dim(inner_shape)={len(inner_shape)}")
    if ragged_rank == 0 or ragged_rank is None and (deepest < 2 or inner_shape is not None and deepest - len(inner_shape) < 2):
        return dense(pylist, inner_shape)
    if inner_shape is None:
        inner_shape = () if ragged_rank is None else _inner_shape(pylist, ragged_rank)
    if ragged_rank is None:
        ragged_rank = max(1, deepest - 1) if scalars is None else max(1, scalars - 1 - len(inner_shape))
    nested, values = [], pylist
    for _ in builtins.range(ragged_rank):
        nested.append(np.cumsum([0, *map(len, values)]).tolist())
        values = [one for row in values for one in row]
    found = dense(values, (len(values), *inner_shape))
    for splits in reversed(nested):
        found = factory(found, splits)
    return found


def _depths(pylist: Any) -> tuple[int | None, int]:
    """How deep scalars stand in lists, None if there are none, and how deep the deepest list."""
    if not _is_list(pylist):
        return 0, 0
    scalars, deepest = None, 1
    for child in pylist:
        below, depth = _depths(child)
        if below is not None:
            if scalars is not None and scalars != below + 1:
                raise ValueError("all scalar values must have the same nesting depth")
            scalars = below + 1
        deepest = max(deepest, depth + 1)
    return scalars, deepest


def _inner_shape(pylist: Any, ragged_rank: int) -> tuple:
    values = pylist
    for dim in builtins.range(ragged_rank):
        if not all(map(_is_list, values)):
            raise ValueError(f"pylist has scalar values depth {dim + 1}, but ragged_rank={ragged_rank} requires scalar value depth "
                             f"greater than {ragged_rank}")
        values = [one for row in values for one in row]

    def of(item: Any) -> tuple:
        return () if not _is_list(item) else (len(item), *of(item[0])) if len(item) else (0,)

    def check(item: Any, dims: tuple) -> None:
        if _is_list(item) != bool(dims) or dims and dims[0] != len(item):
            raise ValueError("inner values have inconsistent shape")
        for child in item if dims else ():
            check(child, dims[1:])

    found = of(values)
    check(values, found)
    return found[1:]


def placeholder(dtype: Any, ragged_rank: int, value_shape: Any = None, name: str | None = None) -> Any:
    """A ragged tensor that is fed; a dense one for `ragged_rank` 0.  `value_shape`: that of the values."""
    if ragged_rank == 0:
        return dense_placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder", []):
        found: Any = dense_placeholder(dtype, TensorShape([None]).concatenate(value_shape), "flat_values")
        for place in reversed(builtins.range(ragged_rank)):
            found = RaggedTensor(found, dense_placeholder(dtypes.int64, [None], f"row_splits_{place}"), internal=True)
        return found


def range(starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, name: str | None = None,
          row_splits_dtype: Any = dtypes.int64) -> RaggedTensor:
    """A row of numbers, from a start below a limit by a step, for each of `starts`, `limits`, `deltas`: scalars or vectors."""
    kind = as_dtype(row_splits_dtype)
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange", []):
        given = [convert_to_tensor(one, None if dtype is None else as_dtype(dtype)) for one in (starts, limits, deltas)]
        order = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]
        common = order[max(order.index(one.dtype) for one in given)]
        sizes = TensorShape(None)
        for one in given:
            one.shape.with_rank_at_most(1)
            sizes = sizes if one.shape.ndims == 0 else sizes.merge_with(one.shape)
        begin, end, step = (cast(one, common) for one in given)
        moves = reduce_all(not_equal(step, cast(convert_to_tensor(0), common)))
        step = with_dependencies([Assert(moves, ["Requires delta != 0"])], step)
        span = end - begin
        if common in (dtypes.float32, dtypes.float64):
            lengths = raw.Ceil(span / step)
        else:
            lengths = (span + step - raw.Sign(step)) // step
        lengths = raw.Reshape(maximum(cast(lengths, kind), 0), [-1])
        splits = concat([convert_to_tensor([0], kind), cumsum(lengths)], 0)
        ids = row_ids.ids_of(splits)

        def each(one: Any) -> Any:
            return raw.GatherV2(raw.BroadcastTo(raw.Reshape(one, [-1]), shape(lengths)), ids, 0)

        values = each(begin) + cast(row_ids.columns_of(splits), common) * each(step)
        return RaggedTensor.from_row_splits(values, splits, validate=False)
