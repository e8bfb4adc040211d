"""Functions and operators that work element by element, of ragged tensors."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.ragged.functions import map_flat_values
from jitgraph.ragged.ragged_tensor import RaggedTensor, as_ragged


def of_one(function: Callable, x: Any, *args: Any, **kwargs: Any) -> Any:
    """The function of each element of the first argument."""
    if isinstance(x, (list, tuple)):
        return map_flat_values(lambda *flat: function(list(flat), *args, **kwargs), *x)
    return map_flat_values(lambda flat: function(flat, *args, **kwargs), x)


def of_two(function: Callable, x: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
    """The function of each pair of elements; what is dense is repeated along rows if it has one element for each, or for all.

    Raises ValueError where a dense tensor would have to be cut into rows.
    """
    x, y = _like(as_ragged(x, _dtype(y, x)), y), _like(as_ragged(y, _dtype(x, y)), x)
    return map_flat_values(lambda a, b: function(a, b, *args, **kwargs), x, y)


def _dtype(other: Any, own: Any) -> Any:
    """The dtype of the other argument, for Python's numbers."""
    plain = not hasattr(own, "dtype")
    return getattr(other, "dtype", None) if plain else None


def _like(value: Any, ragged: Any) -> Any:
    """A dense value as it suits the innermost values of a ragged tensor."""
    if isinstance(value, RaggedTensor) or not isinstance(ragged, RaggedTensor):
        return value
    inner = (ragged.flat_values.shape.ndims or 1) - 1
    rank = value.shape.ndims
    if rank is not None and rank <= inner:
        return value
    sizes = value.shape.as_list() if rank is not None else []
    if rank == ragged.shape.ndims and all(size == 1 for size in sizes[1:1 + ragged.ragged_rank]):
        rows = raw.Reshape(value, [-1, *sizes[1 + ragged.ragged_rank:]])
        ids: Any = None
        for level in reversed(ragged.nested_value_rowids()):
            ids = level if ids is None else raw.GatherV2(level, ids, 0)
        return raw.GatherV2(rows, ids, 0) if sizes[0] != 1 else rows
    if rank == 1 and sizes == [1]:
        return value
    raise ValueError(f"a dense tensor of shape {value.shape} does not suit a ragged one of shape {ragged.shape}: give one element "
                     "for each row, or make it ragged")


def operator(name: str, x: Any, y: Any = None) -> Any:
    """What a Python operator does: the function of that name of ``tf``."""
    from jitgraph.facade.names import resolve

    return resolve(name)(x) if y is None else resolve(name)(x, y)
