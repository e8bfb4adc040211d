"""``ragged[...]``: rows, and parts of all rows."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.convert import convert_to_tensor
from jitgraph.ops.arrays.sequences import range as sequence
from jitgraph.ops.elementwise.arithmetic import maximum, minimum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ragged import factories
from jitgraph.ragged.functions import expand_dims, gather, known_rank
from jitgraph.ragged.ragged_tensor import RaggedTensor


def getitem(ragged: Any, keys: Any) -> Any:
    """The part of a ragged tensor that numbers, slices, ``tf.newaxis`` and ``...`` name.

    Raises ValueError for a number in a dimension whose rows differ, since it may not be in all of them.
    """
    keys = list(keys) if isinstance(keys, (list, tuple)) else [keys]
    if not isinstance(ragged, RaggedTensor):
        return ragged[tuple(keys)] if keys else ragged
    if Ellipsis in [key for key in keys if key is Ellipsis]:
        place = next(k for k, key in enumerate(keys) if key is Ellipsis)
        others = sum(key is not None and key is not Ellipsis for key in keys)
        keys[place:place + 1] = [slice(None)] * (known_rank(ragged) - others)
    if not keys:
        return ragged
    first, *rest = keys
    if first is None:
        return expand_dims(getitem(ragged, rest) if rest else ragged, 0)
    if not isinstance(first, slice):
        begin, end = ragged.row_starts()[first], ragged.row_limits()[first]     # by the rules of tensors: -1 is the last row
        row = getitem(ragged.values, [slice(begin, end)])
        return getitem(row, rest) if rest else row
    rows = ragged if first == slice(None) else gather(ragged, sequence(ragged.nrows())[first])
    return _inside(rows, rest) if rest else rows


def _inside(ragged: RaggedTensor, keys: list) -> Any:
    """The part of each row."""
    first, *rest = keys
    if first is None:
        return expand_dims(_inside(ragged, rest) if rest else ragged, 1)
    if first is Ellipsis:
        return ragged
    if not isinstance(first, slice):
        raise ValueError("Cannot index into an inner ragged dimension.")
    if first != slice(None):
        ragged = _cut(ragged, first)
    return ragged.with_values(getitem(ragged.values, [slice(None), *rest])) if rest else ragged


def _cut(ragged: RaggedTensor, key: slice) -> RaggedTensor:
    step = 1 if key.step is None else key.step
    if step <= 0:
        raise ValueError("slices of the rows of a ragged tensor go forwards: their step is positive")
    lengths, begins = ragged.row_lengths(), ragged.row_starts()

    def bound(value: Any, default: Any) -> Any:
        if value is None:
            return default
        given = cast(convert_to_tensor(value), lengths.dtype)
        shifted = lengths * cast(given < 0, lengths.dtype) + given              # what is negative counts from the end
        return minimum(maximum(shifted, 0), lengths)

    places = factories.range(begins + bound(key.start, lengths * 0), begins + bound(key.stop, lengths), step,
                             dtype=lengths.dtype, row_splits_dtype=lengths.dtype)
    return gather(ragged.values, places)
