"""What variables hold that have no value yet."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph.composite import SparseTensor
from jitgraph.ops.arrays.identity import is_tensor


class Undefined:
    """In the place of a variable that was not set."""

    def __init__(self, symbol_name: str):
        self.symbol_name = symbol_name


class UndefinedReturnValue:
    """In the place of the result of a function that did not return yet."""


def retval(value: Any) -> Any:
    """The result of a function: None if it did not return."""
    return None if isinstance(value, UndefinedReturnValue) else value


def if_defined(get: Callable, name: str) -> Any:
    """The attribute or element that `get` gives, Undefined if it is not there."""
    try:
        return get()
    except (AttributeError, KeyError, IndexError, NameError):
        return Undefined(name)


def is_dense(value: Any) -> bool:
    """Whether a value is a tensor or stands for one, such as a variable."""
    return is_tensor(value) and not isinstance(value, SparseTensor)
