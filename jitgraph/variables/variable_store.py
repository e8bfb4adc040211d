"""Where ``get_variable`` finds the variables of a graph, and how it makes those that are not there."""
from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import DType
from jitgraph.graph.scopes import colocate_with, init_scope, name_scope
from jitgraph.graph.shapes import TensorShape, as_shape
from jitgraph.variables import default_kind
from jitgraph.variables.synchronization import VariableSynchronization
from jitgraph.variables.variable import Variable


class _ReuseMode:
    """AUTO_REUSE: make the variable if it is not there, else share it."""

    def __repr__(self) -> str:
        return "AUTO_REUSE"


AUTO_REUSE = _ReuseMode()
_REUSE_VALUES = (None, True, False, AUTO_REUSE)


def check_reuse(reuse: Any) -> None:
    """Raises ValueError for what is no value of ``reuse``."""
    if not any(reuse is value for value in _REUSE_VALUES):
        raise ValueError("The reuse parameter must be True or False or None.")


def is_trainable(trainable: bool | None, synchronization: Any) -> bool:
    """Whether a variable is trainable: where nothing is said, if it is not one that replicas add up when it is read."""
    on_read = VariableSynchronization.ON_READ
    return synchronization not in (on_read, on_read.value) if trainable is None else trainable


class VariableStore(threading.local):
    """The variables of one graph that ``get_variable`` made, by name, and the current scope of this thread."""

    def __init__(self, variables: dict[str, Any], partitioned: dict[str, Any], make_scope: Callable[[], Any]) -> None:
        self.variables, self.partitioned = variables, partitioned       # the same for all threads
        self.scope = make_scope()
        self.opened: dict[str, int] = {}        # how often each scope name was entered, for unique default names
        self._inside: dict[str, set[str]] = {}  # the names of all scopes that were ever entered inside each

    @property
    def _vars(self) -> dict[str, Any]:
        """The variables by name, under the name by which TensorFlow's store has them and programs look them up."""
        return self.variables

    def open_scope(self, name: str) -> None:
        """Counts an entering of scope `name`."""
        self.opened[name] = self.opened.get(name, 0) + 1
        around = name
        while around:
            around = around.rpartition("/")[0]
            self._inside.setdefault(around, set()).add(name)

    def close_subscopes(self, name: str) -> None:
        """Forgets how often the scopes inside `name` were entered: names inside begin anew the next time."""
        for other in self._inside.get(name, ()):
            self.opened[other] = 0

    def get(self, name: str, options: dict[str, Any]) -> Any:
        """The variable `name`: shared or made, as the ``reuse`` of `options` says."""
        reuse, shape, dtype = options["reuse"], options["shape"], options["dtype"]
        initializer = options["initializer"]
        from_value = initializer is not None and not callable(initializer)
        if from_value and shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        check_reuse(reuse)
        if name in self.variables:
            return self._share(name, reuse, as_shape(shape), dtype)
        if reuse is True:
            raise ValueError(f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean "
                             "to set reuse=tf.AUTO_REUSE in VarScope?")
        variable = self._make(name, options, as_shape(shape), dtype, initializer, from_value)
        self.variables[name] = variable
        regularizer = options["regularizer"]
        if regularizer:
            # as its initial value, outside of the loop or branch that asks for the variable: who adds up losses stands outside too
            with name_scope(name + "/Regularizer/"), init_scope(), colocate_with(variable.op):
                loss = regularizer(variable)
            if loss is not None:
                get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
        return variable

    def _share(self, name: str, reuse: Any, shape: TensorShape, dtype: DType) -> Any:
        found = self.variables[name]
        if reuse is False:          # a custom getter that says None takes what there is
            site = found.op.site
            where = f" Originally defined at:\n\n  File \"{site[0]}\", line {site[1]}\n" if site else ""
            raise ValueError(f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
                             f"reuse=tf.AUTO_REUSE in VarScope?{where}")
        if not shape.is_compatible_with(found.get_shape()):
            raise ValueError(f"Trying to share variable {name}, but specified shape {shape} and found shape "
                             f"{found.get_shape()}.")
        if not dtype.is_compatible_with(found.dtype.base_dtype):
            raise ValueError(f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype "
                             f"{found.dtype.name}.")
        return found

    def _make(self, name: str, options: dict[str, Any], shape: TensorShape, dtype: DType, initializer: Any,
              from_value: bool) -> Any:
        if initializer is None:
            initializer = _default_initializer(name, dtype)
        wanted: DType | None = None
        with init_scope():
            if from_value:
                initial_value = initializer
            else:
                if inspect.isclass(initializer):
                    initializer = initializer()
                if shape.is_fully_defined():
                    wanted = dtype.base_dtype
                    initial_value = _initial_value_function(initializer, shape, dtype, options.get("partition_info"))
                elif _takes_no_arguments(initializer):
                    initial_value = initializer
                else:
                    raise ValueError("The initializer passed is not valid. It should be a callable with no arguments "
                                     "and the shape should not be provided or an instance of `tf.keras.initializers.*' "
                                     f"and `shape` should be fully defined. (Variable {name} of shape {shape})")
            use_resource = options["use_resource"]
            use_resource = default_kind.is_resource() if use_resource is None else use_resource
            trainable = is_trainable(options["trainable"], options["synchronization"])
            return Variable(initial_value=initial_value, name=name, dtype=wanted, use_resource=use_resource, trainable=trainable,
                            **{key: options[key] for key in ("collections", "caching_device",
                                                             "validate_shape", "constraint", "synchronization",
                                                             "aggregation")})


def _initial_value_function(initializer: Callable, shape: TensorShape, dtype: DType, partition_info: Any) -> Callable:
    known = _parameters(initializer)
    keywords: dict[str, Any] = {}
    if known is None or "dtype" in known:
        keywords["dtype"] = dtype.base_dtype
    if known is not None and "partition_info" in known:       # None for a variable that is whole
        keywords["partition_info"] = partition_info
    return lambda: initializer(shape.as_list(), **keywords)


def _parameters(function: Callable) -> dict[str, inspect.Parameter] | None:
    """The parameters of a function by name; None if it takes any keyword or cannot be inspected."""
    try:
        found = dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None
    return None if any(p.kind is p.VAR_KEYWORD for p in found.values()) else found


def _takes_no_arguments(function: Callable) -> bool:
    found = _parameters(function)
    return found is not None and all(p.default is not p.empty for p in found.values())


def _default_initializer(name: str, dtype: DType) -> Callable:
    """glorot_uniform for floats, zeros for integers, bool and strings."""
    from jitgraph.variables import variable_initializers

    if dtype.is_floating:
        return variable_initializers.glorot_uniform_initializer()
    if dtype.is_integer or dtype.is_bool or dtype.base_dtype is dtypes.string or dtype.is_unsigned:
        return variable_initializers.zeros_initializer()
    raise ValueError(f"An initializer for variable {name} of {dtype.base_dtype} is required")
