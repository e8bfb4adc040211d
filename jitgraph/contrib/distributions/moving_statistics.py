"""Moving averages of the mean, the variance, and the logarithm of the mean of exponentials."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import colocate_with, control_dependencies, name_scope
from jitgraph.ops.arrays.fill import ones_like
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.slicing import newaxis
from jitgraph.ops.elementwise.composite_values import square
from jitgraph.ops.elementwise.elementary import log, log1p
from jitgraph.ops.reduce.reductions import reduce_logsumexp
from jitgraph.variables.assignments import assign_add, assign_sub
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope


def _float_dtype(value: Any, name: str) -> Any:
    dtype = value.dtype.base_dtype
    if not dtype.is_floating:
        raise TypeError(f"{name}.base_dtype({dtype.name}) does not have float type `dtype`.")
    return dtype


def assign_moving_mean_variance(mean_var: Any, variance_var: Any, value: Any, decay: Any,
                                name: str | None = None) -> tuple[Any, Any]:
    """(mean, variance), moved a part ``1 - decay`` of the way to `value` and its squared distance (Welford's recurrence).

    Raises TypeError if the variables are not of one float dtype.
    """
    with name_scope(name, "assign_moving_mean_variance", [variance_var, mean_var, value, decay]):
        with colocate_with(variance_var), colocate_with(mean_var):
            dtype = _float_dtype(mean_var, "mean_var")
            if dtype != variance_var.dtype.base_dtype:
                raise TypeError(f"mean_var.base_dtype({dtype.name}) != "
                                f"variance_var.base_dtype({variance_var.dtype.base_dtype.name})")
            value = convert_to_tensor(value, dtype=dtype, name="value")
            decay = convert_to_tensor(decay, dtype=dtype, name="decay")
            delta = value - mean_var
            with control_dependencies([delta]):
                mean = assign_add(mean_var, (1.0 - decay) * delta)
                variance = assign_sub(variance_var, (1.0 - decay) * (variance_var - decay * square(delta)))
            return mean, variance


def assign_log_moving_mean_exp(log_mean_exp_var: Any, log_value: Any, decay: Any, name: str | None = None) -> Any:
    """The variable plus ``log(decay + (1 - decay) exp(log_value - variable))``: the logarithm of a moving average.

    Raises TypeError if the variable is not of floats.
    """
    with name_scope(name, "assign_log_moving_mean_exp", [log_mean_exp_var, log_value, decay]):
        with colocate_with(log_mean_exp_var):
            dtype = _float_dtype(log_mean_exp_var, "log_mean_exp_var")
            log_value = convert_to_tensor(log_value, dtype=dtype, name="log_value")
            decay = convert_to_tensor(decay, dtype=dtype, name="decay")
            delta = (log_value - log_mean_exp_var)[newaxis, ...]
            both = concat([log(decay) * ones_like(delta), delta + log1p(-decay)], axis=0)
            return log_mean_exp_var.assign_add(reduce_logsumexp(both, axis=0))


def moving_mean_variance(value: Any, decay: Any, collections: list | None = None, name: str | None = None) -> tuple[Any, Any]:
    """As ``assign_moving_mean_variance``, with variables of its own, ``moving_mean`` and ``moving_variance``, in `collections`."""
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    with variable_scope(name, "moving_mean_variance", [value, decay]):
        value = convert_to_tensor(value, name="value")
        decay = convert_to_tensor(decay, dtype=_float_dtype(value, "value"), name="decay")
        variance_var, mean_var = (
            get_variable(which, shape=value.shape, dtype=value.dtype, initializer=zeros_initializer(), trainable=False,
                         collections=collections) for which in ("moving_variance", "moving_mean"))
        return assign_moving_mean_variance(mean_var, variance_var, value, decay)
