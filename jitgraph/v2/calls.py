"""Functions of TensorFlow 2 that are those of TensorFlow 1 with other parameters: another order, other defaults and names."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from jitgraph.facade import names


def from_v1(public: str, renamed: Mapping[str, str] | None = None, **fixed: Any) -> Callable[[Callable], Callable]:
    """Makes a function of a signature: it calls the function `public` of ``tf`` with its parameters, all by name.

    `renamed`: {parameter: its name there}; `fixed`: arguments that the function there has and this one does not.

        @from_v1("nn.erosion2d", {"filters": "kernel"})
        def erosion2d(value, filters, strides, name=None):
            '''What it does.'''
    """
    there = renamed or {}

    def decorate(stated: Callable) -> Callable:
        signature = inspect.signature(stated)

        @functools.wraps(stated)
        def called(*args: Any, **kwargs: Any) -> Any:
            stated(*args, **kwargs)             # Python's own TypeError for arguments that do not fit
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given = {there.get(name, name): value for name, value in bound.arguments.items()}
            return names.resolve(public)(**given, **fixed)

        called.__signature__ = signature            # type: ignore[attr-defined]
        called.__doc__ = f"{stated.__doc__}\n\n    It is `tf.compat.v1.{public}`, which see, with TensorFlow 2's parameters."
        return called

    return decorate
