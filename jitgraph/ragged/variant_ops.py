"""Ragged tensors as variants, of which datasets are made: one holds the splits and the values."""
from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.graph import dtypes
from jitgraph.graph.dtypes import INDICES


@dataclasses.dataclass
class Held:
    """What a variant of a ragged tensor holds: where rows begin and end in each ragged dimension, and the values."""

    splits: list
    values: Any


def _variant(held: Held) -> np.ndarray:
    out = np.empty((), object)
    out[()] = held
    return out


def _row(splits: list, values: np.ndarray, row: int) -> Held:
    """A row of a ragged tensor."""
    inner = []
    begin, end = int(splits[0][row]), int(splits[0][row + 1])
    for own in splits[1:]:
        inner.append(own[begin:end + 1] - own[begin])
        begin, end = int(own[begin]), int(own[end])
    return Held(inner, values[begin:end])


# `context`: variants are things of the host, which are never folded into the graph
@op("RaggedTensorToVariant(rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: Tvalues; RAGGED_RANK: int >= 1, "
    "batched_input: bool) -> encoded_ragged: variant", Tsplits=INDICES,
    shape=lambda c: (None,) if c.attrs["batched_input"] else (), host=True, dynamic=True, context=("op",),
    grad=NOT_DIFFERENTIABLE, tested_in="tests/data: a dataset takes it")
def _to_variant(rt_nested_splits, rt_dense_values, batched_input, op):
    """A ragged tensor as one variant, or one for each of its rows."""
    splits = [np.array(one) for one in rt_nested_splits]
    values = np.array(rt_dense_values)
    if not batched_input:
        return _variant(Held(splits, values))
    rows = np.empty(len(splits[0]) - 1, object)
    for row in range(len(rows)):
        rows[row] = _row(splits, values, row)
    return rows


def _joined(rows: list, kind: Any) -> Held:
    """Ragged tensors as the rows of one."""
    lengths = [len(row.splits[0]) - 1 if row.splits else len(row.values) for row in rows]
    splits = [np.concatenate([[0], np.cumsum(lengths)]).astype(kind)]
    for dim in range(len(rows[0].splits) if rows else 0):
        ends = np.cumsum([0, *(row.splits[dim][-1] for row in rows)])
        splits.append(np.concatenate([[0], *(row.splits[dim][1:] + end for row, end in zip(rows, ends))]).astype(kind))
    return Held(splits, np.concatenate([row.values for row in rows]))


def _from_shapes(c: Any) -> list:
    return [(None,)] * c.attrs["output_ragged_rank"] + [None]


@op("RaggedTensorFromVariant(encoded_ragged: variant; input_ragged_rank: int >= -1, output_ragged_rank: int >= 1, "
    "Tvalues: type, Tsplits: type) -> output_nested_splits: output_ragged_rank*Tsplits, output_dense_values: Tvalues",
    Tsplits=INDICES, shape=_from_shapes, host=True, dynamic=True,
    tested_in="tests/data: a dataset takes it")
def _from_variant(encoded_ragged, input_ragged_rank, output_ragged_rank, Tvalues, Tsplits):
    """The ragged tensor that variants hold, joined along their dimensions in front.

    A run raises InvalidArgumentError where the numbers of ragged dimensions do not fit.
    """
    wanted = output_ragged_rank - encoded_ragged.ndim if input_ragged_rank < 0 else input_ragged_rank
    if wanted < 0 or wanted + encoded_ragged.ndim != output_ragged_rank:
        raise invalid("encoded_variant must be of rank output_ragged_rank - input_ragged_rank: "
                      f"{output_ragged_rank} - {input_ragged_rank}, not {encoded_ragged.ndim}")
    kind, rows = Tsplits.as_numpy_dtype, encoded_ragged.ravel().tolist()
    for row in rows:
        if len(row.splits) != wanted:
            raise invalid(f"Encoded input RaggedTensorVariant has ragged_rank={len(row.splits)}.  Expected: {wanted}.")
        if row.values.dtype != Tvalues.as_numpy_dtype:
            raise invalid(f"Expected values Tensor dtype: {Tvalues.name}, found: {dtypes.as_dtype(row.values.dtype).name}")
    for size in reversed(encoded_ragged.shape):
        rows = [_joined(rows[k:k + size], kind) for k in range(0, len(rows), size)] if size else [
            Held([np.zeros(1, kind)] * output_ragged_rank, np.zeros(0, Tvalues.as_numpy_dtype))]
    held = rows[0]
    return [one.astype(kind) for one in held.splits], held.values
