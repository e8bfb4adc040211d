"""Functions that give derivatives of functions: by their arguments, or by the variables that they read."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from jitgraph.autodiff.tape import GradientTape
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.ops.arrays.identity import identity


def _checked(value: Any, f: Callable) -> Any:
    if value is None:
        raise ValueError("Cannot differentiate a function that returns None; did you forget to return a value from "
                         f"{f.__name__}?")
    return value


def implicit_value_and_gradients(f: Callable) -> Callable:
    """A function of what `f` takes that gives (what `f` gives, [(gradient, variable), ...]).

    Variables are the trainable resource variables that `f` reads: ``tfe.Variable``, or those made with ``use_resource=True``.  It
    raises ValueError if there are none, or if `f` gives None.
    """
    def with_gradients(*args: Any, **kwargs: Any) -> tuple[Any, list[tuple]]:
        with GradientTape() as tape:
            value = _checked(f(*args, **kwargs), f)
        variables = tape.watched_variables()
        if not variables:
            raise ValueError("No trainable variables were accessed while the function was being computed.")
        return value, list(zip(tape.gradient(value, list(variables)), variables))

    return with_gradients


def implicit_gradients(f: Callable) -> Callable:
    """``implicit_value_and_gradients`` without the value: what ``apply_gradients`` of optimizers takes."""
    return lambda *args, **kwargs: implicit_value_and_gradients(f)(*args, **kwargs)[1]


def value_and_gradients_function(f: Callable, params: Any = None) -> Callable:
    """A function of what `f` takes that gives (what `f` gives, its gradients by arguments).

    `params` are the names or numbers of the arguments to differentiate by, all if None.  The function takes the keyword ``dy``, the
    gradients of what `f` gives, ones if None.  It raises ValueError for other keywords, for `params` that are not all names or all
    numbers, and if `f` gives None.
    """
    def with_gradients(*args: Any, dy: Any = None, **kwargs: Any) -> tuple[Any, list]:
        if kwargs:
            raise ValueError("Functions to be differentiated cannot receive keyword arguments.")
        places = _places(f, params, len(args))
        given: list[Any] = list(args)
        for place in places:
            tensor = convert_to_tensor(args[place])
            # an argument that is given twice has a gradient for each time
            given[place] = identity(tensor) if any(tensor is one for one in given) else tensor
        with GradientTape() as tape:
            for place in places:
                tape.watch(given[place])
            value = nest.map_structure(identity, _checked(f(*given), f))
        return value, tape.gradient(value, [given[place] for place in places], output_gradients=dy)

    return with_gradients


def gradients_function(f: Callable, params: Any = None) -> Callable:
    """``value_and_gradients_function`` without the value."""
    function = value_and_gradients_function(f, params)
    return lambda *args, **kwargs: function(*args, **kwargs)[1]


def _places(f: Callable, params: Any, count: int) -> list[int]:
    """The numbers of the arguments to differentiate by."""
    try:
        names = [one.name for one in inspect.signature(inspect.unwrap(f)).parameters.values()
                 if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        names = []
    if params is None:
        return list(range(len(names) or count))
    if all(isinstance(one, str) for one in params):
        return [names.index(one) for one in params]
    if all(isinstance(one, int) for one in params):
        return list(params)
    raise ValueError(f"params must be all strings or all integers; got {params}.")
