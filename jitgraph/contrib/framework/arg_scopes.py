"""``arg_scope``: arguments that functions take by default inside a block of code.

    with arg_scope([conv2d, fully_connected], weights_regularizer=l2_regularizer(1e-4)) as scope:
        net = conv2d(x, 8, 3)                   # with the regularizer

The functions are those decorated with ``add_arg_scope``.  A scope is a dict, {key of a function: its arguments}, which
``arg_scope(scope)`` enters again.
"""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Scope = dict[Any, dict[str, Any]]

_ENTERED: list[Scope] = [{}]
_ARGUMENTS: dict[Any, tuple[str, ...]] = {}
"""The names of the arguments with a default, by the key of each decorated function."""


def current_arg_scope() -> Scope:
    """The innermost scope that is entered; {} outside of all."""
    return _ENTERED[-1]


def arg_scope_func_key(op: Any) -> Any:
    """The key under which a scope keeps the arguments of a function."""
    return getattr(op, "_key_op", str(op))


@contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[Scope]:
    """A block in which each function of a list takes `kwargs` where a call does not give them; gives the scope.

    A scope that an earlier block gave is entered again, as it was: outer scopes do not count.  Raises TypeError for
    anything but a list, a tuple or a scope, ValueError for a scope with `kwargs` and for a function that is not
    decorated with ``add_arg_scope``.
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError("When attempting to re-use a scope by suppling a dictionary, kwargs must be empty.")
        scope = dict(list_ops_or_scope)
    else:
        if not isinstance(list_ops_or_scope, (list, tuple)):
            raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)")
        scope = dict(current_arg_scope())
        for op in list_ops_or_scope:
            if not has_arg_scope(op):
                name = f"{getattr(op, '__module__', '')}.{getattr(op, '__name__', op)}"
                raise ValueError(f"{name} is not decorated with @add_arg_scope: no arguments can be set for it")
            key = arg_scope_func_key(op)
            scope[key] = {**scope.get(key, {}), **kwargs}
    _ENTERED.append(scope)
    try:
        yield scope
    finally:
        _ENTERED.pop()


def add_arg_scope(func: Callable) -> Callable:
    """A function like `func` for which ``arg_scope`` can set arguments."""
    key = arg_scope_func_key(func)

    @functools.wraps(func)
    def scoped(*args: Any, **kwargs: Any) -> Any:
        given = current_arg_scope().get(key)
        return func(*args, **({**given, **kwargs} if given else kwargs))

    _ARGUMENTS[key] = tuple(p.name for p in inspect.signature(func).parameters.values() if p.default is not p.empty)
    scoped._key_op = key        # type: ignore[attr-defined]
    return scoped


def has_arg_scope(func: Any) -> bool:
    """Whether a function is decorated with ``add_arg_scope``."""
    return arg_scope_func_key(func) in _ARGUMENTS


def arg_scoped_arguments(func: Any) -> tuple[str, ...]:
    """The names of the arguments that ``arg_scope`` can set.  Raises AssertionError for a function that is not decorated."""
    assert has_arg_scope(func), f"{func} is not decorated with @add_arg_scope"
    return _ARGUMENTS[arg_scope_func_key(func)]
