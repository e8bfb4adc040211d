"""Several layers one after the other: ``repeat`` and ``stack``."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.convert import convert_to_tensor
from jitgraph.variables.variable_scopes import variable_scope


def repeat(inputs: Any, repetitions: int, layer: Any, *args: Any, **kwargs: Any) -> Any:
    """``layer(..., *args, **kwargs)`` applied `repetitions` times, in the scopes ``SCOPE/SCOPE_1``, ``_2`` and so on.

    The keyword ``scope`` gives SCOPE; without it the outer one is "Repeat" and the inner ones are named as the layer.
    """
    return _applied(inputs, layer, [args] * repetitions, kwargs, "Repeat")


def stack(inputs: Any, layer: Any, stack_args: Any, **kwargs: Any) -> Any:
    """``layer(..., *one)`` applied for each of `stack_args`, as ``repeat`` does; one that is no list is one argument.

    Raises ValueError if `stack_args` is no list or tuple.
    """
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    arguments = [one if isinstance(one, (list, tuple)) else [one] for one in stack_args]
    return _applied(inputs, layer, arguments, kwargs, "Stack")


def _applied(inputs: Any, layer: Any, arguments: list, kwargs: dict[str, Any], default_name: str) -> Any:
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, default_name, [inputs]):
        outputs = convert_to_tensor(inputs)
        if scope is None:
            # a functools.partial has no name but that of its function
            scope = getattr(layer, "__name__", None) or getattr(getattr(layer, "func", None), "__name__", None)
            scope = scope or default_name.lower()
        for number, args in enumerate(arguments, start=1):
            outputs = layer(outputs, *args, **{**kwargs, "scope": f"{scope}_{number}"})
        return outputs
