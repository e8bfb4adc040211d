"""How sessions fetch and feed objects of a program's own types: as tensors, by functions that the program registers."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Conversion(NamedTuple):
    """`fetch(object)` gives (tensors, function of their values); `feed(object, value)` pairs of a tensor and its value;
    `feed_for_partial_run(object)` tensors."""

    kind: type
    fetch: Callable
    feed: Callable | None
    feed_for_partial_run: Callable | None


_registered: list[Conversion] = []


def register_session_run_conversion_functions(tensor_type: type, fetch_function: Callable, feed_function: Callable | None = None,
                                              feed_function_for_partial_run: Callable | None = None) -> None:
    """From now on ``Session.run`` takes objects of `tensor_type`.

    Args:
      fetch_function: of an object; gives a list of tensors, and a function that makes a result of the list of their values.
      feed_function: of an object and a value; gives a list of (tensor, value).
      feed_function_for_partial_run: of an object; gives a list of tensors.
    Raises ValueError if the type, or one derived from it, is registered.
    """
    if any(issubclass(known.kind, tensor_type) for known in _registered):
        raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    _registered.insert(0, Conversion(tensor_type, fetch_function, feed_function, feed_function_for_partial_run))


def conversion_of(value: Any) -> Conversion | None:
    """The newest conversion for the type of `value`, or None."""
    if not _registered:
        return None
    return next((known for known in _registered if isinstance(value, known.kind)), None)
