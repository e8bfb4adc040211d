"""All variables of a graph: the standard collections, their initializers, and which have no value yet."""
from __future__ import annotations

from typing import Any

from jitgraph.control import order_ops
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.function_graph import is_variable
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import colocate_with, device, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.shape import rank_internal
from jitgraph.variables import reference_ops, resource_ops
from jitgraph.variables.assignments import is_reference


def global_variables(scope: str | None = None) -> list:
    """The variables in the collection ``variables``, those whose name matches `scope` (a regular expression)."""
    return get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def local_variables(scope: str | None = None) -> list:
    """The variables in the collection ``local_variables``: not saved, often counters."""
    return get_default_graph().get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list:
    """The variables in the collection ``model_variables``."""
    return get_default_graph().get_collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list:
    """The variables that optimizers change by default."""
    return get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list:
    """The variables with a moving average."""
    return get_default_graph().get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def all_variables() -> list:
    """The old name of ``global_variables``."""
    return global_variables()


def variables_initializer(var_list: Any, name: str = "init") -> Operation:
    """An operation that initializes all variables of `var_list`."""
    if var_list:
        return order_ops.group(*[v.initializer for v in var_list], name=name)
    return order_ops.no_op(name=name)


def global_variables_initializer() -> Operation:
    """An operation that initializes all global variables made so far."""
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation:
    """An operation that initializes all local variables made so far."""
    return variables_initializer(local_variables())


def initialize_all_variables() -> Operation:
    """The old name of ``global_variables_initializer``."""
    return global_variables_initializer()


def initialize_variables(var_list: Any, name: str = "init") -> Operation:
    """The old name of ``variables_initializer``."""
    return variables_initializer(var_list, name)


def initialize_local_variables() -> Operation:
    """The old name of ``local_variables_initializer``."""
    return local_variables_initializer()


def is_variable_initialized(variable: Any) -> Tensor:
    """A bool scalar: whether the variable (or reference) has a value when this runs."""
    if is_reference(variable):
        return reference_ops.is_variable_initialized(variable)
    if isinstance(variable, Tensor):        # the handle of a resource variable
        return resource_ops.var_is_initialized_op(variable)
    return variable.is_initialized()


def _all_or_default(var_list: Any) -> list:
    if var_list is not None:
        return list(var_list)
    found = global_variables() + local_variables()
    if found:
        return found
    return [op.outputs[0] for op in get_default_graph().get_operations() if is_variable(op)]


def report_uninitialized_variables(var_list: Any = None, name: str = "report_uninitialized_variables") -> Tensor:
    """A vector of strings: the names of the variables (all global and local ones if None) that have no value yet."""
    from jitgraph.ops.arrays.constant import constant
    from jitgraph.ops.arrays.join import stack
    from jitgraph.ops.arrays.searching import boolean_mask
    from jitgraph.ops.elementwise.compare import logical_not

    variables = _all_or_default(var_list)
    with name_scope(name):
        present = [is_variable_initialized(v) for v in variables]
        with device("/cpu:0"):
            if not variables:
                return constant([], dtype=as_dtype("string"))
            missing = logical_not(stack(present))
            listed = constant([v.op.name for v in variables])
            return boolean_mask(listed, missing)


def assert_variables_initialized(var_list: Any = None) -> Tensor | None:
    """A tensor whose evaluation raises FailedPreconditionError if a variable has no value; None without variables."""
    from jitgraph.ops.arrays.join import stack

    variables = _all_or_default(var_list)
    if not variables:
        return None
    ranks = []
    for variable in variables:
        with colocate_with(variable.op):
            ranks.append(rank_internal(variable, optimize=False))
    return ranks[0] if len(ranks) == 1 else stack(ranks)
