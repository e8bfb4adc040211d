"""Names of ``tensorflow.python.ops.variable_scope``, ``variables`` and ``init_ops`` that ``tf`` does not have."""
from __future__ import annotations

from typing import Any

from jitgraph.train.slots import is_resource
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_scopes import _PureVariableScope, variable_store

VariableV1 = RefVariable = variable = Variable
_pure_variable_scope = _PureVariableScope


def _get_default_variable_store() -> Any:
    """What holds the variables of ``tf.get_variable`` in the default graph."""
    return variable_store()


def _assert_float_dtype(dtype: Any) -> Any:
    """`dtype`.  Raises ValueError if it is none of floats."""
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


def _compute_fans(shape: Any) -> tuple[Any, Any]:
    """(how many inputs, how many outputs a unit has) of weights of a shape: the last two dimensions, times the others."""
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    if len(shape) == 2:
        return shape[0], shape[1]
    field = 1
    for size in shape[:-2]:
        field *= size
    return shape[-2] * field, shape[-1] * field


def is_resource_variable(var: Any) -> bool:
    """Whether a variable is kept by a resource."""
    return is_resource(var)
