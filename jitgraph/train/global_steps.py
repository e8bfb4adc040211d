"""The global step: the variable that counts training steps."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_initializers import Zeros
from jitgraph.variables.variable_scopes import get_variable


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The value of a global step in a session, as an int."""
    return int(sess.run(global_step_tensor))


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
