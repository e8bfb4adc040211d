"""Ragged and dense tensors repeated to one shape, as element-by-element functions need them.

A dimension of one size is repeated if that size is 1; rows of different lengths must be of the same lengths in both.
"""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import with_dependencies
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.join import concat as dense_concat
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.sequences import cumsum
from jitgraph.ops.arrays.sequences import range as sequence
from jitgraph.ops.arrays.shape import expand_dims as dense_expand_dims
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.checks.check_values import assert_equal
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.reduce.reductions import reduce_all
from jitgraph.ragged import row_ids
from jitgraph.ragged.functions import expand_dims, gather, known_rank
from jitgraph.ragged.ragged_tensor import RaggedTensor

_MISMATCH = "Unable to broadcast: dimension size mismatch in dimension"


class _Side(NamedTuple):
    """A tensor, and for each dimension from the outermost on whether it is of one size."""

    tensor: Any
    even: list[bool]


def broadcast(x: Any, y: Any) -> tuple[Any, Any]:
    """Two tensors, of which one is ragged, as ragged tensors of the same rows; their inner dimensions stay as they are.

    A run raises InvalidArgumentError if they do not fit.
    """
    rank = max(_rank(x), _rank(y))
    depth = max(rank - _rank(one) + one.ragged_rank for one in (x, y) if isinstance(one, RaggedTensor))
    kind = next(one.row_splits.dtype for one in (x, y) if isinstance(one, RaggedTensor))
    first, second = _side(x, rank, depth, kind), _side(y, rank, depth, kind)
    return _levelled(*_with_equal_rows(first, second), 1)


def _rank(tensor: Any) -> int:
    return known_rank(tensor) if isinstance(tensor, RaggedTensor) else tensor.shape.ndims


def _side(tensor: Any, rank: int, depth: int, kind: Any) -> _Side:
    """A tensor with dimensions of size 1 in front of it up to `rank`, the first `depth` below the outermost as splits."""
    lead = rank - _rank(tensor)
    ragged = tensor.ragged_rank if isinstance(tensor, RaggedTensor) else 0
    even = [True] * (lead + 1) + [False] * ragged + [True] * (depth - lead - ragged)
    for _ in range(lead):
        tensor = expand_dims(tensor, 0) if isinstance(tensor, RaggedTensor) else dense_expand_dims(tensor, 0)
    if not isinstance(tensor, RaggedTensor):
        return _Side(RaggedTensor.from_tensor(tensor, ragged_rank=depth, row_splits_dtype=kind), even)
    if tensor.ragged_rank < depth:
        inner = RaggedTensor.from_tensor(tensor.flat_values, ragged_rank=depth - tensor.ragged_rank, row_splits_dtype=kind)
        tensor = tensor.with_flat_values(inner)
    return _Side(tensor, even)


def _with_equal_rows(x: _Side, y: _Side) -> tuple[_Side, _Side]:
    mine, other = x.tensor.nrows(), y.tensor.nrows()
    known = [one.tensor.shape[0].value for one in (x, y)]
    if None not in known and known[0] == known[1]:
        return x, y
    fits = raw.LogicalOr(equal(mine, other), raw.LogicalOr(equal(mine, 1), equal(other, 1)))
    rows = with_dependencies([Assert(fits, [_MISMATCH, 0])], where(equal(mine, 1), other, mine))
    return tuple(_Side(gather(one.tensor, sequence(rows) % maximum(count, 1)), one.even)      # type: ignore[return-value]
                 for one, count in ((x, mine), (y, other)))


def _levelled(x: _Side, y: _Side, dim: int) -> tuple[Any, Any]:
    """Two of as many rows, with rows of the same lengths, and so on within them."""
    if not isinstance(x.tensor, RaggedTensor):
        return x.tensor, y.tensor
    splits, mine, other = _splits(x, y, dim)
    first, second = _levelled(_Side(mine, x.even[1:]), _Side(other, y.even[1:]), dim + 1)
    return (RaggedTensor.from_row_splits(first, splits, validate=False),
            RaggedTensor.from_row_splits(second, splits, validate=False))


def _splits(x: _Side, y: _Side, dim: int) -> tuple[Tensor, Any, Any]:
    """The common splits of the rows, and the values in these rows."""
    if x.tensor.row_splits is y.tensor.row_splits:
        return x.tensor.row_splits, x.tensor.values, y.tensor.values
    mine, other = x.tensor.row_lengths(), y.tensor.row_lengths()
    even_x, even_y = x.even[1], y.even[1]
    if not even_x and not even_y:
        check = assert_equal(mine, other, message=_MISMATCH)
        return with_dependencies([check], x.tensor.row_splits), x.tensor.values, y.tensor.values
    if even_x and even_y:
        lengths = where(equal(mine, 1), other, mine)
        fits = reduce_all(raw.LogicalOr(equal(mine, other), raw.LogicalOr(equal(mine, 1), equal(other, 1))))
    else:
        lengths = other if even_x else mine
        fits = reduce_all(equal(mine if even_x else other, 1))
    lengths = with_dependencies([Assert(fits, [_MISMATCH, dim])], lengths)
    splits = dense_concat([convert_to_tensor([0], lengths.dtype), cumsum(lengths)], 0)
    return splits, _repeated(x, splits, mine), _repeated(y, splits, other)


def _repeated(side: _Side, splits: Tensor, lengths: Tensor) -> Any:
    if not side.even[1]:
        return side.tensor.values
    ids = row_ids.ids_of(splits)
    columns = row_ids.columns_of(splits) % maximum(raw.GatherV2(lengths, ids, 0), 1)
    return gather(side.tensor.values, raw.GatherV2(side.tensor.row_splits, ids, 0) + columns)
