"""How a layer moves the averages of the statistics of its batches."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import colocate_with, name_scope
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.elementwise.cast import cast
from jitgraph.variables.assignments import assign, assign_sub


def assign_moving_average(variable: Any, value: Any, momentum: Any) -> Any:
    """A node that moves `variable` a part (1 - `momentum`) of the way to `value`."""
    with name_scope("AssignMovingAvg") as scope, colocate_with(variable):
        decay = convert_to_tensor(1.0 - momentum, name="decay")
        if decay.dtype is not variable.dtype.base_dtype:
            decay = cast(decay, variable.dtype.base_dtype)
        return assign_sub(variable, (variable - cast(value, variable.dtype.base_dtype)) * decay, name=scope)


def assign_variance(variable: Any, stddev: Any, epsilon: float) -> Any:
    """A node that gives `variable` the variance of a standard deviation that `epsilon` was added to under the root."""
    variance = relu(stddev * stddev - epsilon)      # rounding may make it negative
    with name_scope("AssignNewValue") as scope, colocate_with(variable):
        return assign(variable, variance, name=scope)
