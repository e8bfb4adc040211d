"""Names of ``tensorflow.python.training.optimizer`` and ``moving_averages`` that ``tf.train`` does not have."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.elementwise.arithmetic import div
from jitgraph.ops.elementwise.arithmetic import truediv as truediv_of
from jitgraph.train.moving_averages import assign_moving_average
from jitgraph.train.optimizer import sum_duplicates, variable_key
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope

_deduplicate_indexed_slices = sum_duplicates
_var_key = variable_key


def weighted_moving_average(value: Any, decay: Any, weight: Any, truediv: bool = True, collections: Any = None,
                            name: str | None = None) -> Tensor:
    """The moving average of ``value * weight`` over that of `weight`, kept in two variables that start at 0.

    What it gives moves both on.  `truediv`: divides by ``tf.truediv``, else by ``tf.div``.
    """
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    with variable_scope(name, "WeightedMovingAvg", [value, weight, decay]) as scope:
        of_value = _average("value_x_weight", value.get_shape(), value.dtype, collections)
        of_weight = _average("weight", weight.get_shape(), weight.dtype, collections)
        numerator = assign_moving_average(of_value, value * weight, decay, zero_debias=False)
        denominator = assign_moving_average(of_weight, weight, decay, zero_debias=False)
        divide = truediv_of if truediv else div
        return divide(numerator, denominator, name=scope.name)


def _average(name: str, shape: Any, dtype: Any, collections: Any) -> Any:
    return get_variable(name, shape, dtype, initializer=zeros_initializer(), trainable=False, collections=collections)
