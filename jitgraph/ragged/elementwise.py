"""Functions and operators that work element by element, of ragged tensors."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.ragged.broadcasting import broadcast
from jitgraph.ragged.functions import map_flat_values
from jitgraph.ragged.ragged_tensor import RaggedTensor, as_ragged, with_equal_splits_dtypes


def of_one(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """The function of each element of the first argument, or of the ragged one that a keyword gives."""
    if args:
        x, args = args[0], args[1:]
        called = lambda flat: function(flat, *args, **kwargs)
    else:
        key = next(key for key, value in kwargs.items() if _has_rows(value))
        x = kwargs.pop(key)
        called = lambda flat: function(**{key: flat}, **kwargs)
    return map_flat_values(lambda *flat: called(list(flat)), *x) if isinstance(x, (list, tuple)) else map_flat_values(called, x)


def _has_rows(value: Any) -> bool:
    return isinstance(value, RaggedTensor) or isinstance(value, (list, tuple)) and any(map(_has_rows, value))


def of_two(function: Callable, x: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
    """The function of each pair of elements, after what is of size 1, or dense, is repeated where the other has more.

    Raises ValueError for splits of two dtypes; a run raises InvalidArgumentError where rows do not fit.
    """
    x, y = as_ragged(x, _dtype(y, x)), as_ragged(y, _dtype(x, y))
    with_equal_splits_dtypes(x, y)
    if _meets_rows(x, y):
        x, y = broadcast(x, y)
    return map_flat_values(lambda a, b: function(a, b, *args, **kwargs), x, y)


def _dtype(other: Any, own: Any) -> Any:
    """The dtype of the other argument, for Python's numbers."""
    plain = not hasattr(own, "dtype")
    return getattr(other, "dtype", None) if plain else None


def _meets_rows(x: Any, y: Any) -> bool:
    """Whether the dimensions of one meet ragged dimensions of the other in another form."""
    if isinstance(x, RaggedTensor) and isinstance(y, RaggedTensor):
        return x.ragged_rank != y.ragged_rank or x.shape.ndims != y.shape.ndims
    ragged, dense = (x, y) if isinstance(x, RaggedTensor) else (y, x)
    rank, inner = dense.shape.ndims, ragged.flat_values.shape.ndims
    return rank is not None and inner is not None and inner <= rank


def operator(name: str, x: Any, y: Any = None) -> Any:
    """What a Python operator does: the function of that name of ``tf``."""
    from jitgraph.facade.names import resolve

    return resolve(name)(x) if y is None else resolve(name)(x, y)
