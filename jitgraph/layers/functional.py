"""The functions of ``tf.layers``, made of its classes: ``dense(inputs, units)`` makes a Dense and calls it once."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def functional(layer: type, name: str, reuse: bool = True) -> Callable:
    """The function `name` with the parameters of `layer`, after ``inputs`` and before ``reuse`` if there is one.

    `name` of the function's argument is also the layer's variable scope; ``reuse`` shares the variables of an earlier layer
    of that name.
    """
    own = [p for p in list(inspect.signature(layer).parameters.values()) if p.kind is not p.VAR_KEYWORD]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("inputs", kind), *own]
    if reuse:
        parameters.append(inspect.Parameter("reuse", kind, default=None))
    signature = inspect.Signature(parameters)

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        inputs = given.pop("inputs")
        if reuse:
            given.update(_reuse=given.pop("reuse", None), _scope=given.get("name"))
        return layer(**given).apply(inputs)

    function.__signature__ = signature      # type: ignore[attr-defined]
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"What a new ``{layer.__name__}`` with these arguments gives for `inputs`.\n\n    {layer.__doc__}"
    function.__module__ = layer.__module__
    return function
