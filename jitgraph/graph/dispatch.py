"""Other forms of public functions: what ``tf.matmul`` is for a linear operator, or ``tf.add`` for a ragged tensor.

A function is first called as for tensors.  Only if it raises TypeError or ValueError, as it does for a class that it does not
know, are the forms asked that were registered for the class of an argument.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable)

_forms: dict[Any, list[tuple[type, Callable]]] = {}


def register(function: Any, cls: type, form: Callable) -> None:
    """From now on `form` is what `function` is for arguments of which one, or an element of one, is of class `cls`."""
    _forms.setdefault(function, []).append((cls, form))


def other_form(function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """What the form for these arguments gives; NotImplemented if there is none."""
    for cls, form in _forms.get(function, ()):
        if any(_is_of(argument, cls) for argument in (*args, *kwargs.values())):
            return form(*args, **kwargs)
    return NotImplemented


def _is_of(argument: Any, cls: type) -> bool:
    return isinstance(argument, cls) or isinstance(argument, (list, tuple)) and any(isinstance(one, cls) for one in argument)


def dispatchable(function: _F) -> _F:
    """Decorator of a public function that may have other forms."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            found = other_form(called, args, kwargs)
            if found is NotImplemented:
                raise
            return found

    return called       # type: ignore[return-value]
