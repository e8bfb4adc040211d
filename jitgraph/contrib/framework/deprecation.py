"""Decorators that log a warning when something old is used: ``deprecated``, ``deprecated_args``, ``deprecated_arg_values``."""
from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from jitgraph.app import logs

_SILENT = ContextVar("deprecation is silent", default=False)


def _checked(date: str | None, instructions: str) -> None:
    """Raises ValueError without instructions, and for a date that is not of the form 2017-01-31."""
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")
    if date is not None and not re.match(r"20\d\d-[01]\d-[0123]\d", date):
        raise ValueError(f"Date must be YYYY-MM-DD: {date!r}")


def _when(date: str | None) -> str:
    return "in a future version" if date is None else f"after {date}"


def _warner(warn_once: bool) -> Callable[[str], None]:
    """A function that logs a warning, each text once if `warn_once`."""
    logged: set[str] = set()

    def warn(text: str) -> None:
        if _SILENT.get() or warn_once and text in logged:
            return
        logged.add(text)
        logs.warning(text)

    return warn


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """A block in which nothing is said of what is deprecated."""
    before = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(before)


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable:
    """Decorates a function or a class that will go after `date` ("2017-01-31" or None): its use logs `instructions`.

    Raises ValueError without instructions or for a date of another form.
    """
    _checked(date, instructions)

    def decorate(func: Any) -> Any:
        warn = _warner(warn_once)
        text = (f"{func.__qualname__} (from {func.__module__}) is deprecated and will be removed {_when(date)}.\n"
                f"Instructions for updating:\n{instructions}")
        if inspect.isclass(func):
            made = func.__init__

            @functools.wraps(made)
            def initialized(self: Any, *args: Any, **kwargs: Any) -> None:
                warn(text)
                made(self, *args, **kwargs)

            func.__init__ = initialized         # type: ignore[method-assign]
            return func

        @functools.wraps(func)
        def function(*args: Any, **kwargs: Any) -> Any:
            warn(text)
            return func(*args, **kwargs)

        return function

    return decorate


def deprecated_args(date: str | None, instructions: str, *deprecated_arg_names_or_tuples: Any, **kwargs: Any) -> Callable:
    """Decorates a function some of whose arguments will go: to give one logs `instructions`.

    Each is a name, or a tuple of a name and a value that does not count.  Raises ValueError without names or
    instructions, for a date of another form, and for a name that is no argument.
    """
    _checked(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    ignored: dict[str, Any] = dict(one if isinstance(one, tuple) else (one, inspect.Parameter.empty)
                   for one in deprecated_arg_names_or_tuples)
    return _of_arguments(date, instructions, kwargs.get("warn_once", True), ignored,
                         lambda name, value: not (value is ignored[name] or value == ignored[name]))


def deprecated_arg_values(date: str | None, instructions: str, warn_once: bool = True,
                          **deprecated_kwargs: Any) -> Callable:
    """Decorates a function some values of whose arguments will go: to give one logs `instructions`.

    Raises ValueError without values or instructions, for a date of another form, and for a name that is no argument.
    """
    _checked(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")
    return _of_arguments(date, instructions, warn_once, deprecated_kwargs,
                         lambda name, value: value is deprecated_kwargs[name] or value == deprecated_kwargs[name])


def _of_arguments(date: str | None, instructions: str, warn_once: bool, names: Any,
                  is_deprecated: Callable[[str, Any], bool]) -> Callable:
    def decorate(func: Callable) -> Callable:
        signature = inspect.signature(func)
        absent = [name for name in names if name not in signature.parameters]
        if absent:
            raise ValueError(f"The following deprecated arguments are not present in the function signature: {absent}. "
                             f"Found arguments: {list(signature.parameters)}.")
        warn = _warner(warn_once)

        @functools.wraps(func)
        def function(*args: Any, **kwargs: Any) -> Any:
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                if name in names and is_deprecated(name, value):
                    warn(f"Calling {func.__qualname__} (from {func.__module__}) with {name} is deprecated and will be "
                         f"removed {_when(date)}.\nInstructions for updating:\n{instructions}")
            return func(*args, **kwargs)

        return function

    return decorate
