"""``tf.autograph``: to rewrite a function, to see what became of it, and to leave one as it is."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from jitgraph.autograph.conversion import LEFT, call_converted, code_of, converted
from jitgraph.autograph.features import Options, Status, status, under

_unspecified: Any = object()


class AutoGraphError(Exception):
    """The errors of this package."""


class ConversionError(AutoGraphError):
    """A function that cannot be rewritten."""


class StagingError(AutoGraphError):
    """A failure of a function that was rewritten."""


def to_graph(entity: Any, recursive: bool = True, arg_values: Any = None, arg_types: Any = None,
             experimental_optional_features: Any = None) -> Any:
    """A function that makes conditionals and loops of the graph where `entity` has ifs and loops over tensors.

    Of a method, a function whose first argument is the object; of a class, one whose methods are rewritten.  With `recursive`
    the functions that it calls are rewritten too.  `experimental_optional_features`: one or several of
    ``tf.autograph.experimental.Feature``.  `arg_values` and `arg_types` change nothing.

    Raises ConversionError if the source is not there, NotImplementedError for generators and other objects.
    """
    try:
        return converted(entity, Options.of(experimental_optional_features, recursive))
    except (ValueError, AttributeError, KeyError, NameError, AssertionError) as error:
        raise ConversionError(f"converting {entity}: {type(error).__name__}: {error}") from error


def to_code(entity: Any, recursive: bool = True, arg_values: Any = None, arg_types: Any = None, indentation: str = "  ",
            experimental_optional_features: Any = None) -> str:
    """The source of what ``to_graph`` makes of a function.  Raises as that does."""
    try:
        return code_of(entity, Options.of(experimental_optional_features, recursive))
    except (ValueError, AttributeError, KeyError, NameError, AssertionError) as error:
        raise ConversionError(f"converting {entity}: {type(error).__name__}: {error}") from error


def convert(recursive: bool = False, optional_features: Any = None, user_requested: bool = True) -> Callable:
    """A decorator: a function that is rewritten when it is called."""
    options = Options.of(optional_features, recursive, user_requested)

    def decorator(function: Callable) -> Callable:
        def called(*args: Any, **kwargs: Any) -> Any:
            return call_converted(function, options, args, kwargs)

        return _left(function, called)

    return decorator


def do_not_convert(func: Callable | None = None) -> Any:
    """A function that is left as it is, with those that it gives to TensorFlow; without `func`, a decorator."""
    if func is None:
        return do_not_convert

    def called(*args: Any, **kwargs: Any) -> Any:
        with under(Status.DISABLED):
            return func(*args, **kwargs)

    return _left(func, called)


def for_graph(function: Callable) -> Callable:
    """A function that a dataset is given, rewritten unless it is given inside of one that is left as it is."""
    if hasattr(function, LEFT):
        return function
    if status() is Status.DISABLED:
        return do_not_convert(function)
    return convert(recursive=True, user_requested=False)(function)


def _left(function: Any, called: Any) -> Any:
    if hasattr(function, "__name__"):
        functools.update_wrapper(called, function)
    setattr(called, LEFT, True)
    return called


def set_loop_options(parallel_iterations: Any = _unspecified, back_prop: Any = _unspecified, swap_memory: Any = _unspecified,
                     maximum_iterations: Any = _unspecified) -> None:
    """Options of the loop around it, which change nothing: as in TensorFlow 1.15, loops have ``tf.while_loop``'s own."""
