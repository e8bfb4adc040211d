"""Ragged tensors repeated along their dimensions, and without dimensions of size 1."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import with_dependencies
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.join import concat as dense_concat
from jitgraph.ops.arrays.sequences import cumsum
from jitgraph.ops.arrays.sequences import range as sequence
from jitgraph.ops.arrays.shape import squeeze as dense_squeeze
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.reduce.reductions import reduce_all
from jitgraph.ragged import row_ids
from jitgraph.ragged.axes import positive_axis
from jitgraph.ragged.functions import gather
from jitgraph.ragged.ragged_tensor import RaggedTensor, as_ragged


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """A ragged tensor repeated ``multiples[d]`` times along dimension d."""
    with name_scope(name, "RaggedTile", [input, multiples]):
        ragged = as_ragged(input)
        if not isinstance(ragged, RaggedTensor):
            return raw.Tile(ragged, multiples)
        given = constant_value(convert_to_tensor(multiples))
        known = [None] * (ragged.ragged_rank + 1) if given is None else [int(one) for one in np.ravel(given)]
        return _tiled(ragged, cast(convert_to_tensor(multiples, name="multiples"), ragged.row_splits.dtype), known)


def _tiled(ragged: Any, multiples: Any, known: list) -> Any:
    if not isinstance(ragged, RaggedTensor):
        return raw.Tile(ragged, multiples) if any(one != 1 for one in known) else ragged
    once = convert_to_tensor([1], multiples.dtype)
    rows = ragged.with_values(_tiled(ragged.values, dense_concat([once, multiples[2:]], 0), [1, *known[2:]]))
    if known[1] != 1:
        lengths = rows.row_lengths()
        splits = dense_concat([convert_to_tensor([0], lengths.dtype), cumsum(lengths * multiples[1])], 0)
        ids = row_ids.ids_of(splits)
        places = raw.GatherV2(rows.row_splits, ids, 0) + row_ids.columns_of(splits) % raw.GatherV2(lengths, ids, 0)
        rows = RaggedTensor.from_row_splits(gather(rows.values, places), splits, validate=False)
    return rows if known[0] == 1 else gather(rows, raw.Tile(sequence(rows.nrows()), multiples[:1]))


def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Any:
    """A ragged tensor without the dimensions `axis`, which are of size 1: a run raises InvalidArgumentError if they are not.

    Raises ValueError without `axis`, TypeError if it is no int or list of ints.
    """
    axis = squeeze_dims if axis is None else axis
    with name_scope(name, "RaggedSqueeze", [input]):
        ragged = as_ragged(input)
        if not isinstance(ragged, RaggedTensor):
            return dense_squeeze(ragged, axis)
        if axis is None:
            raise ValueError("Ragged.squeeze must have an axis argument.")
        axes = [axis] if isinstance(axis, int) else axis
        if not isinstance(axes, (list, tuple)) or not all(isinstance(one, int) for one in axes):
            raise TypeError("Axis must be a list or tuple of integers.")
        left_out = {positive_axis(one, ragged.shape.ndims) for one in axes}
        inner = sorted(one - ragged.ragged_rank for one in left_out if one > ragged.ragged_rank)
        flat = with_dependencies(_size_1(ragged, left_out), ragged.flat_values)
        flat = dense_squeeze(flat, inner) if inner else flat
        splits = [one for place, one in enumerate(ragged.nested_row_splits) if place + 1 not in left_out]
        if 0 in left_out and splits:
            splits.pop(0)
        found = RaggedTensor.from_nested_row_splits(flat, splits)
        return dense_squeeze(found, [0]) if left_out.issuperset(range(ragged.ragged_rank + 1)) else found


def _size_1(ragged: RaggedTensor, dims: set[int]) -> list:
    checks = [Assert(reduce_all(equal(lengths, 1)), [f"the given axis (axis = {dim}) is not squeezable!"])
              for dim, lengths in enumerate(ragged.nested_row_lengths(), 1) if dim in dims]
    if 0 in dims:
        checks.append(Assert(equal(raw.Size(ragged.row_splits), 2), ["the given axis (axis = 0) is not squeezable!"]))
    return checks
