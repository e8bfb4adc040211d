"""Layers and parameters of models of time series."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.elementwise.bias import xw_plus_b
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable


def fully_connected(inp: Any, inp_size: int, layer_size: int, name: str, activation: Callable | None = relu,
                    dtype: Any = dtypes.float32) -> Any:
    """activation(inp . NAME_weight + NAME_bias): [batch, layer_size] for `inp` [batch, inp_size]."""
    weights = get_variable(f"{name}_weight", shape=[inp_size, layer_size], dtype=dtype)
    bias = get_variable(f"{name}_bias", shape=[layer_size], initializer=zeros_initializer())
    output = xw_plus_b(inp, weights, bias)
    return output if activation is None else activation(output)


def parameter_switch(parameter_overrides: dict) -> Callable:
    """A function that gives the value of a parameter: what `parameter_overrides` has for it, or its own in the session."""
    def value_of(parameter: Any) -> Any:
        return convert_to_tensor(parameter_overrides.get(parameter, parameter)).eval()

    return value_of
