"""The arguments of layers: sizes that must be known, pairs of integers, layouts, bools that may be tensors."""
from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from jitgraph.control.conditionals import cond
from jitgraph.graph.constant_value import constant_value as value_of
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor


def constant_value(value_or_tensor_or_var: Any, dtype: Any = None) -> Any:
    """The value of a tensor if it is known now, None if only a run gives it; anything else as it is.

    Raises ValueError for None, and for a tensor or variable of another dtype than `dtype`.
    """
    given = value_or_tensor_or_var
    if given is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    is_variable = hasattr(given, "_as_graph_element") and not isinstance(given, Tensor)
    if (is_variable or isinstance(given, Tensor)) and dtype and given.dtype != dtype:
        raise ValueError(f"It has the wrong type {given.dtype} instead of {dtype}")
    if is_variable:
        return None
    return value_of(given) if isinstance(given, Tensor) else given


def static_cond(pred: Any, fn1: Callable, fn2: Callable) -> Any:
    """What `fn1` returns if `pred` holds, else what `fn2` returns.  Raises TypeError if one is not callable."""
    for function, name in ((fn1, "fn1"), (fn2, "fn2")):
        if not callable(function):
            raise TypeError(f"{name} must be callable.")
    return fn1() if pred else fn2()


def smart_cond(pred: Any, fn1: Callable, fn2: Callable, name: str | None = None) -> Any:
    """As ``static_cond`` where `pred` is known now, else as ``tf.cond``."""
    known = constant_value(pred)
    return cond(pred, fn1, fn2, name=name) if known is None else static_cond(known, fn1, fn2)


def check_data_format(data_format: Any, known: tuple[str, str]) -> bool:
    """Whether the channels come first.  Raises ValueError for a layout that is not one of the two `known`."""
    if data_format not in known:
        raise ValueError(f"data_format has to be either {known[0]} or {known[1]}.")
    return bool(data_format.startswith("NC"))


def layout_of(channels_first: bool) -> str:
    """What ``tf.layers`` calls a layout."""
    return "channels_first" if channels_first else "channels_last"


def last_dimension(shape: Any, min_rank: int = 1) -> int:
    """The last size of `shape`.  Raises ValueError if it is unknown, or the rank unknown or below `min_rank`."""
    return _dimension(shape, -1, min_rank)


def channel_dimension(shape: Any, data_format: str, min_rank: int = 1) -> int:
    """The number of channels: the last size, or the second if `data_format` is "channels_first".  Errors as above."""
    return _dimension(shape, 1 if data_format == "channels_first" else -1, min_rank)


def _dimension(shape: Any, axis: int, min_rank: int) -> int:
    if shape.ndims is None:
        raise ValueError("dims of shape must be known but is None")
    if shape.ndims < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {shape.ndims}")
    size = shape[axis].value
    if size is None:
        raise ValueError(f"dimension {axis} of shape must be known but is None: {shape}")
    return int(size)


def two_element_tuple(int_or_tuple: Any) -> tuple[int, int]:
    """Two integers from one, from a list of two or a TensorShape of rank 2.  Raises ValueError for anything else."""
    if isinstance(int_or_tuple, TensorShape) and int_or_tuple.ndims == 2:
        int_or_tuple = int_or_tuple.as_list()
    if isinstance(int_or_tuple, (list, tuple)):
        if len(int_or_tuple) != 2:
            raise ValueError(f"Must be a list with 2 elements: {int_or_tuple}")
        return int(int_or_tuple[0]), int(int_or_tuple[1])
    if isinstance(int_or_tuple, numbers.Integral):
        return int(int_or_tuple), int(int_or_tuple)
    raise ValueError("Must be an int, a list with 2 elements or a TensorShape of length 2")


def n_positive_integers(n: int, value: Any) -> tuple[int, ...]:
    """`n` positive integers from one or from as many.  Raises ValueError for anything else."""
    if not isinstance(n, numbers.Integral) or n < 1:
        raise ValueError("n must be a positive integer")
    try:
        values = (int(value),) * n
    except (TypeError, ValueError):
        wanted = f"Expected sequence of {n} positive integers, but received {value!r}"
        if len(value) != n:
            raise ValueError(wanted) from None
        try:
            values = tuple(int(one) for one in value)
        except (TypeError, ValueError):
            raise ValueError(wanted) from None
    for one in values:
        if one < 1:
            raise ValueError(f"expected positive integer, but received {one}")
    return values
