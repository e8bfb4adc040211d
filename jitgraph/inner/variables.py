"""Names of ``tensorflow.python.ops.variable_scope``, ``variables``, ``state_ops`` and ``init_ops`` that ``tf`` does not have."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import colocate_with, name_scope
from jitgraph.graph.tensor import Tensor
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


def variable_op(shape: Any, dtype: Any, name: str = "Variable", set_shape: bool = True, container: str = "",
                shared_name: str = "") -> Tensor:
    """The reference of a new variable; without `set_shape` nothing is said of its shape."""
    made: Tensor = raw.Variable(shape=shape if set_shape else None, dtype=dtype, name=name, container=container,
                                shared_name=shared_name)
    if set_shape:
        made.set_shape(shape)
    return made


def init_variable(v: Any, init: Any, name: str = "init") -> Tensor:
    """Assigns to a variable a value, or what an initializer gives for its shape and dtype; the result is its reference.

    Raises AssertionError where an initializer is asked for a shape that is not known.
    """
    with name_scope(None, f"{v.op.name}/", [v, init]), name_scope(name) as scope, colocate_with(v):
        if callable(init):
            assert v.get_shape().is_fully_defined(), "Variable shape unknown."
            value = convert_to_tensor(init(v.get_shape().as_list(), v.dtype.base_dtype), name="value")
        else:
            value = convert_to_tensor(init, name="init")
        made: Tensor = raw.Assign(v, value, name=scope)
        return made
