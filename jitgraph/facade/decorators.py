"""Decorators that programs import from TensorFlow's inner modules: ``tf_decorator``, ``tf_export``, ``tf_contextlib`` and kin.

What marks names for TensorFlow's own documentation leaves functions as they are here.
"""
from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections import namedtuple
from collections.abc import Callable
from typing import Any

ArgSpec = namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])
"""The arguments of a function, as Python 2 said them."""


class TFDecorator:
    """What is known of a decorator around a function: its name, its text, and the function."""

    def __init__(self, decorator_name: str, target: Any, decorator_doc: str = "", decorator_argspec: Any = None):
        self._decorated_target = target
        self._decorator_name = decorator_name
        self._decorator_doc = decorator_doc
        self._decorator_argspec = decorator_argspec
        for name in ("__name__", "__qualname__"):
            if hasattr(target, name):
                setattr(self, name, getattr(target, name))
        self.__doc__ = decorator_doc or getattr(target, "__doc__", None) or ""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._decorated_target(*args, **kwargs)

    @property
    def decorated_target(self) -> Any:
        """The function inside."""
        return self._decorated_target

    @property
    def decorator_name(self) -> str:
        """The name of the decorator."""
        return self._decorator_name

    @property
    def decorator_doc(self) -> str:
        """The text of the decorator."""
        return self._decorator_doc

    @property
    def decorator_argspec(self) -> Any:
        """The arguments that the decorator says, or None."""
        return self._decorator_argspec


def make_decorator(target: Callable, decorator_func: Callable, decorator_name: str | None = None, decorator_doc: str = "",
                   decorator_argspec: Any = None) -> Callable:
    """`decorator_func`, which wraps `target`, with the name, text and module of `target`; ``unwrap`` finds what it wraps."""
    wrapper: Any = decorator_func
    wrapper._tf_decorator = TFDecorator(decorator_name or sys._getframe(1).f_code.co_name, target, decorator_doc,
                                        decorator_argspec)
    wrapper.__name__ = getattr(target, "__name__", type(target).__name__)
    if hasattr(target, "__module__"):
        wrapper.__module__ = target.__module__
    wrapper.__dict__.update({key: value for key, value in getattr(target, "__dict__", {}).items() if key not in wrapper.__dict__})
    wrapper.__doc__ = decorator_doc or getattr(target, "__doc__", None)
    wrapper.__wrapped__ = target
    return wrapper


def unwrap(maybe_tf_decorator: Any) -> tuple[list, Any]:
    """(the TFDecorators around a function, outermost first; the function itself)"""
    decorators: list = []
    target = maybe_tf_decorator
    while True:
        found = target if isinstance(target, TFDecorator) else getattr(target, "_tf_decorator", None)
        if found is None:
            return decorators, target
        decorators.append(found)
        target = found.decorated_target


class tf_export:
    """Marks a function or class as public under names, which changes nothing here."""

    def __init__(self, *names: str, **kwargs: Any):
        self.names = names

    def __call__(self, func: Any) -> Any:
        return func

    def export_constant(self, module_name: str, name: str) -> None:
        """Marks a constant."""


estimator_export = keras_export = api_export = tf_export


def kwarg_only(f: Callable) -> Callable:
    """`f` called with keywords alone; positions raise TypeError."""
    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise TypeError(f"{f.__name__} only takes keyword args (possible keys: {getargspec(f).args}). Please pass these args "
                            "as kwargs instead.")
        return f(**kwargs)

    return wrapper


def contextmanager(target: Callable) -> Callable:
    """``contextlib.contextmanager``, which ``unwrap`` sees through."""
    return make_decorator(target, contextlib.contextmanager(target), "contextmanager")


def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
    """The public names of a module."""
    return [name for name in dir(sys.modules[module_name]) if not name.startswith("_")]


def remove_undocumented(module_name: str, allowed_exception_list: Any = None, doc_string_modules: Any = None) -> None:
    """Leaves a module as it is: nothing is hidden here."""


def reveal_undocumented(symbol_name: str, target_module: Any = None) -> None:
    """Does nothing: nothing is hidden here."""


def should_use_result(fn: Callable) -> Callable:
    """`fn` itself: what nobody uses is not computed, and not warned of."""
    return fn


must_use_result_or_fatal = should_use_result


def getargspec(obj: Any) -> ArgSpec:
    """The arguments of a function, of what a decorator says of it, or of the constructor of a class."""
    decorators, target = unwrap(obj)
    for one in decorators:
        if one.decorator_argspec is not None:
            return one.decorator_argspec
    spec = inspect.getfullargspec(target)
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)
