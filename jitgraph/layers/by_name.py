"""Initializers, activations and regularizers that are given to a layer by name: ``activation="relu"``."""
from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from jitgraph.variables.variable_initializers import ones_initializer, zeros_initializer

ZEROS, ONES = zeros_initializer(), ones_initializer()
"""What biases, and what scales begin with unless a layer is told otherwise."""

_INITIALIZERS = "jitgraph.variables.variable_initializers"
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
    "sigmoid": "jitgraph.ops.elementwise.elementary:sigmoid", "exponential": "jitgraph.ops.elementwise.elementary:exp",
    "tanh": "jitgraph.ops.elementwise.composite_values:tanh", "softmax": "jitgraph.ops.nn.softmax:softmax",
    "linear": "jitgraph.ops.arrays.identity:identity",
}


def initializer_of(given: Any) -> Any:
    """The initializer that `given` (None, a function, an initializer, its class or its name) stands for.

    Raises ValueError for an unknown name, TypeError or ValueError for anything else.
    """
    if isinstance(given, str):
        if given not in INITIALIZERS:
            raise ValueError(f"Unknown initializer: {given}; known are {', '.join(INITIALIZERS)}")
        name, arguments = INITIALIZERS[given]
        return getattr(importlib.import_module(_INITIALIZERS), name)(**arguments)
    if inspect.isclass(given):
        return given()
    if given is None or callable(given):
        return given
    raise ValueError(f"Could not interpret initializer identifier: {given}")


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
    """The function that `given` (None, a function, "l1", "l2" or "l1_l2") stands for.  Raises ValueError for others."""
    if isinstance(given, str):
        if given not in ("l1", "l2", "l1_l2"):
            raise ValueError(f"Unknown regularizer: {given}; known are l1, l2 and l1_l2")
        return _penalty(0.01 if "l1" in given else 0.0, 0.01 if "l2" in given else 0.0)
    if given is None or callable(given):
        return given
    raise ValueError(f"Could not interpret regularizer identifier: {given}")


def _penalty(l1: float, l2: float) -> Callable:
    """l1 times the sum of the magnitudes and l2 times that of the squares."""
    def penalty(weights: Any) -> Any:
        from jitgraph.ops.elementwise.arithmetic import abs as absolute
        from jitgraph.ops.elementwise.composite_values import square
        from jitgraph.ops.reduce.reductions import reduce_sum

        total: Any = 0.0
        if l1:
            total += reduce_sum(l1 * absolute(weights))
        if l2:
            total += reduce_sum(l2 * square(weights))
        return total

    return penalty
