"""The global step: the variable that counts training steps."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.variables.assignments import assign_add
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_initializers import Zeros
from jitgraph.variables.variable_scopes import get_variable


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The value of a global step in a session, as an int."""
    return int(np.asarray(sess.run(global_step_tensor)).item())


def get_global_step(graph: Any = None) -> Any:
    """The global step of `graph` (the default graph), or None.  Raises TypeError if what is found is not one."""
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) == 1:
        step = found[0]
    elif not found:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    else:
        return None
    assert_global_step(step)
    return step


def create_global_step(graph: Any = None) -> Any:
    """A new global step, an int64 variable that starts at 0.  Raises ValueError if there is one already."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), name_scope(None):
        return get_variable(GraphKeys.GLOBAL_STEP, shape=[], dtype=dtypes.int64, initializer=Zeros(), trainable=False,
                            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP])


def get_or_create_global_step(graph: Any = None) -> Any:
    """The global step of `graph`, made if there is none."""
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def assert_global_step(global_step_tensor: Any) -> None:
    """Raises TypeError unless the argument is a scalar integer variable or tensor."""
    if not (isinstance(global_step_tensor, (Variable, Tensor)) or hasattr(global_step_tensor, "handle")):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.')
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}')
    shape = global_step_tensor.shape
    if shape.ndims != 0 and shape.is_fully_defined():
        raise TypeError(f'Existing "global_step" is not scalar: {shape}')


# -- reading the step beside a training step

GLOBAL_STEP_READ_KEY = "global_step_read_op_cache"


def _get_global_step_read(graph: Any = None) -> Any:
    """The node that ``_get_or_create_global_step_read`` made.  Raises RuntimeError if there are several."""
    graph = graph or get_default_graph()
    found = graph.get_collection(GLOBAL_STEP_READ_KEY)
    if len(found) > 1:
        raise RuntimeError(f"There are multiple items in collection {GLOBAL_STEP_READ_KEY}. There should be only one.")
    return found[0] if found else None


def _get_or_create_global_step_read(graph: Any = None) -> Any:
    """A tensor with a copy of the global step, which hooks fetch with every run; None without a global step."""
    graph = graph or get_default_graph()
    found = _get_global_step_read(graph)
    if found is not None:
        return found
    step = get_global_step(graph)
    if step is None:
        return None
    with graph.as_default(), name_scope(None), name_scope(step.op.name + "/"):
        # The initial value stands in until the variable has one: a model may be built to depend on this node.
        value = step.initialized_value() if isinstance(step, Variable) else step
        graph.add_to_collection(GLOBAL_STEP_READ_KEY, value + 0)
    return _get_global_step_read(graph)


def required_global_step_read(hook: str) -> Any:
    """The tensor with a copy of the global step.  Raises RuntimeError, which names the hook, without a global step."""
    found = _get_or_create_global_step_read()
    if found is None:
        raise RuntimeError(f"Global step should be created to use {hook}.")
    return found


def _increment_global_step(increment: int, graph: Any = None) -> Any:
    """An operation that adds to the global step after it was read.  Raises ValueError without a global step."""
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    if step is None:
        raise ValueError("Global step tensor should be created by tf.train.get_or_create_global_step before calling "
                         "increment.")
    read = _get_or_create_global_step_read(graph)
    with graph.as_default(), name_scope(None), name_scope(step.op.name + "/"), control_dependencies([read]):
        return assign_add(step, increment)
