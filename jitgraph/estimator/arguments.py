"""Which arguments the functions that users give can take."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from jitgraph.app import logs

_OF_MODEL_FUNCTIONS = {"features", "labels", "mode", "params", "self", "config"}


def argument_names(function: Any) -> tuple[str, ...]:
    """The names of a function's positional arguments, without those that a ``functools.partial`` or an object binds.

    Raises TypeError for what is no function.
    """
    if not callable(function):
        raise TypeError(f"unsupported callable: {function!r} of type {type(function).__name__} stands where a function is called")
    if isinstance(function, functools.partial):
        free = argument_names(function.func)[len(function.args):]
        return tuple(name for name in free if name not in (function.keywords or {}))
    if not inspect.isroutine(function) and not inspect.isclass(function):
        function = function.__call__
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(p.name for p in inspect.signature(function).parameters.values() if p.kind in positional)


def check_function(function: Any, argument: str, gives: str) -> None:
    """Raises TypeError if the value of `argument` is no function, which should give what `gives` says."""
    if not callable(function):
        raise TypeError(f"{argument} must be a function that gives {gives}, not {function!r} of type {type(function).__name__}")


def taken(function: Any, **offered: Any) -> dict[str, Any]:
    """Those of the arguments offered that a function takes; functions of no arguments are called for the values."""
    names = argument_names(function)
    return {name: value() if isinstance(value, Later) else value for name, value in offered.items() if name in names}


class Later:
    """A value that is computed only if it is taken."""

    def __init__(self, compute: Callable[[], Any]):
        self.compute = compute

    def __call__(self) -> Any:
        return self.compute()


def check_model_function(model_fn: Any, params: Any) -> None:
    """Raises ValueError if a model function takes no features, or what it cannot be given, or no params where there are.

    Raises TypeError if it is no function.
    """
    check_function(model_fn, "model_fn", "an EstimatorSpec of features, labels and mode")
    names = set(argument_names(model_fn))
    if "features" not in names:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in names:
        raise ValueError(f"model_fn ({model_fn}) does not include params argument, but params ({params}) is passed to "
                         "Estimator.")
    if params is None and "params" in names:
        logs.warning("Estimator's model_fn (%s) includes params argument, but params are not passed to Estimator.", model_fn)
    others = list(names - _OF_MODEL_FUNCTIONS)
    if others:
        raise ValueError(f"model_fn ({model_fn}) has following not expected args: {others}")
