"""Initializers, activations and regularizers that are given to a layer by name: ``activation="relu"``."""
from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from jitgraph.layers.config import class_and_config
from jitgraph.ops.elementwise.clip import clip_by_value
from jitgraph.ops.elementwise.elementary import exp
from jitgraph.variables.variable_initializers import glorot_uniform_initializer, ones_initializer, zeros_initializer

ZEROS, ONES = zeros_initializer(), ones_initializer()
"""What biases, and what scales begin with unless a layer is told otherwise."""

_INITIALIZERS = "jitgraph.variables.variable_initializers"
_PENALTIES = "jitgraph.layers.weight_penalties"
INITIALIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    "zeros": ("zeros_initializer", {}), "zero": ("zeros_initializer", {}), "Zeros": ("zeros_initializer", {}),
    "ones": ("ones_initializer", {}), "one": ("ones_initializer", {}), "Ones": ("ones_initializer", {}),
    "constant": ("constant_initializer", {}), "Constant": ("constant_initializer", {}),
    "identity": ("identity_initializer", {}), "orthogonal": ("orthogonal_initializer", {}),
    "uniform": ("random_uniform_initializer", {"minval": -0.05, "maxval": 0.05}),
    "random_uniform": ("random_uniform_initializer", {"minval": -0.05, "maxval": 0.05}),
    "normal": ("random_normal_initializer", {"stddev": 0.05}),
    "random_normal": ("random_normal_initializer", {"stddev": 0.05}),
    "truncated_normal": ("truncated_normal_initializer", {"stddev": 0.05}),
    "glorot_uniform": ("glorot_uniform_initializer", {}), "glorot_normal": ("glorot_normal_initializer", {}),
    "VarianceScaling": ("variance_scaling_initializer", {}),
    "he_normal": ("he_normal", {}), "he_uniform": ("he_uniform", {}),
    "lecun_normal": ("lecun_normal", {}), "lecun_uniform": ("lecun_uniform", {}),
}
"""Name -> the initializer, and the arguments with which the name means it."""

ACTIVATIONS: dict[str, str] = {
    "relu": "jitgraph.ops.elementwise.activation:relu", "elu": "jitgraph.ops.elementwise.activation:elu",
    "selu": "jitgraph.ops.elementwise.activation:selu", "softplus": "jitgraph.ops.elementwise.activation:softplus",
    "softsign": "jitgraph.ops.elementwise.activation:softsign",
    "sigmoid": "jitgraph.ops.elementwise.elementary:sigmoid", "exponential": "jitgraph.layers.by_name:exponential",
    "tanh": "jitgraph.ops.elementwise.composite_values:tanh", "softmax": "jitgraph.ops.nn.softmax:softmax",
    "linear": "jitgraph.layers.by_name:linear",
    "hard_sigmoid": "jitgraph.layers.by_name:hard_sigmoid",
}


def linear(x: Any) -> Any:
    """`x` itself: no node."""
    return x


def exponential(x: Any) -> Any:
    """exp(x)."""
    return exp(x)


def hard_sigmoid(x: Any) -> Any:
    """0.2 x + 0.5, no less than 0 and no more than 1."""
    return clip_by_value(x * 0.2 + 0.5, 0.0, 1.0)


def initializer_of(given: Any) -> Any:
    """The initializer that `given` stands for: None, a function, an initializer, its class, its name, or what ``described`` wrote.

    Raises ValueError for an unknown name, TypeError or ValueError for anything else.
    """
    if isinstance(given, str):
        if given not in INITIALIZERS:
            raise ValueError(f"Unknown initializer: {given}; known are {', '.join(INITIALIZERS)}")
        name, arguments = INITIALIZERS[given]
        return getattr(importlib.import_module(_INITIALIZERS), name)(**arguments)
    if isinstance(given, dict):
        name, config = class_and_config(given)
        return _class_of("initializer", name).from_config(config)
    if inspect.isclass(given):
        return given()
    if given is None or callable(given):
        return given
    raise ValueError(f"Could not interpret initializer identifier: {given}")


def _class_of(kind: str, name: str) -> Any:
    """The class of initializers or regularizers of that name.  Raises ValueError for others."""
    found = getattr(importlib.import_module(_INITIALIZERS if kind == "initializer" else _PENALTIES), name, None)
    if not hasattr(found, "from_config"):
        raise ValueError(f"Unknown {kind}: {name}")
    return found


def activation_of(given: Any) -> Callable | None:
    """The function that `given` (None, a function or its name) stands for.  Raises ValueError or TypeError for others."""
    if isinstance(given, str):
        if given not in ACTIVATIONS:
            raise ValueError(f"Unknown activation function:{given}; known are {', '.join(ACTIVATIONS)}")
        module, _, name = ACTIVATIONS[given].partition(":")
        function: Callable = getattr(importlib.import_module(module), name)
        return function
    if given is None or callable(given):
        return given
    raise TypeError(f"Could not interpret activation function identifier: {given!r}")


def regularizer_of(given: Any) -> Callable | None:
    """The function that `given` (None, a function, "l1", "l2", "l1_l2" or what ``described`` wrote) stands for.

    Raises ValueError for others.
    """
    if isinstance(given, str):
        if given not in ("l1", "l2", "l1_l2"):
            raise ValueError(f"Unknown regularizer: {given}; known are l1, l2 and l1_l2")
        penalty: Callable = getattr(importlib.import_module(_PENALTIES), given)()
        return penalty
    if isinstance(given, dict):
        name, config = class_and_config(given)
        made: Callable = _class_of("regularizer", name).from_config(config)
        return made
    if given is None or callable(given):
        return given
    raise ValueError(f"Could not interpret regularizer identifier: {given}")


def initializer_or_default(initializer: Any, name: str, dtype: Any, layer: str) -> Any:
    """`initializer`, or what a variable of `dtype` begins with if it is None.  Raises ValueError where there is no such."""
    if initializer is not None:
        return initializer_of(initializer)
    if dtype.is_floating:
        return glorot_uniform_initializer()
    if dtype.is_integer or dtype.is_unsigned or dtype.is_bool:
        return zeros_initializer()
    raise ValueError(f"An initializer for variable {name} of type {dtype.base_dtype} is required for layer {layer}")
