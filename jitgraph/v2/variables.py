"""``tf.Variable`` of TensorFlow 2: always behind a handle."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from jitgraph.variables import variable
from jitgraph.variables.creators import Created
from jitgraph.variables.synchronization import VariableAggregation, VariableSynchronization


class _OnResources(Created):
    """The class of Variable: calling it makes a resource variable, and all variables are its instances."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not Variable:
            return super().__call__(*args, **kwargs)
        bound = inspect.signature(Variable.__init__).bind(None, *args, **kwargs)
        given = dict(list(bound.arguments.items())[1:])
        return variable.Variable(**given, use_resource=True)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, variable.Variable) if cls is Variable else super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, variable.Variable) if cls is Variable else super().__subclasscheck__(subclass)


class Variable(variable.Variable, metaclass=_OnResources):
    """A value that lasts from run to run and that assignments change: a resource variable, as ``use_resource=True`` makes.

    ``Variable(initial_value)``: a tensor, a value, or a function without arguments that gives one; it decides dtype and
    shape.  Every use reads the value anew.
    """

    def __init__(self, initial_value: Any = None, trainable: bool | None = None, validate_shape: bool = True,
                 caching_device: Any = None, name: str | None = None, variable_def: Any = None, dtype: Any = None,
                 import_scope: str | None = None, constraint: Callable | None = None,
                 synchronization: Any = VariableSynchronization.AUTO, aggregation: Any = VariableAggregation.NONE,
                 shape: Any = None):
        raise NotImplementedError("a Variable is made by calling the class")
