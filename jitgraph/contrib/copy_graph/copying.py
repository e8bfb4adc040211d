"""Variables, and what computes with them, copied into another graph."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.graph_editor.replacing import copied
from jitgraph.facade.names import resolve
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor
from jitgraph.variables.variable import Variable


def _name(instance: Any, scope: str) -> str:
    return f"{scope}/{instance.name}" if scope else instance.name


def _collections(instance: Any, scope: str, kept: tuple = ()) -> list:
    """The collections that `instance` is in, those of `scope` beside the `kept` ones."""
    graph = instance.graph
    found = [key for key in graph.get_all_collection_keys() if any(one is instance for one in graph.get_collection(key))]
    return [key if not scope or key in kept else f"{scope}/{key}" for key in found]


def copy_variable_to_graph(org_instance: Any, to_graph: Graph, scope: str = "") -> Any:
    """A variable in `to_graph` that begins with the initial value of `org_instance`, in the name scope `scope`.

    Raises TypeError for what is no variable.
    """
    if not isinstance(org_instance, Variable):
        raise TypeError(f"{org_instance} is not a Variable")
    kept = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES)
    collections = _collections(org_instance, scope, kept)
    trainable = any(one is org_instance for one in org_instance.graph.get_collection(GraphKeys.TRAINABLE_VARIABLES))
    with org_instance.graph.as_default():
        value = resolve("Session")().run(org_instance.initialized_value())
    with to_graph.as_default():
        return Variable(value, trainable, name=_name(org_instance, scope).partition(":")[0], collections=collections,
                        validate_shape=False)


def get_copied_op(org_instance: Any, graph: Graph, scope: str = "") -> Any:
    """The copy of an operation or tensor in `graph`.  Raises KeyError if there is none."""
    return graph.as_graph_element(_name(org_instance, scope), allow_tensor=True, allow_operation=True)


def copy_op_to_graph(org_instance: Any, to_graph: Graph, variables: Any, scope: str = "") -> Any:
    """The copy of an operation or tensor in `to_graph`, and of all it depends on, as far as these are not there.

    `variables`: the copies of variables, which are taken as they are.  Raises TypeError for other things.
    """
    name = _name(org_instance, scope)
    if any(variable.name == name for variable in variables):
        return to_graph.get_tensor_by_name(name)
    try:
        return to_graph.as_graph_element(name, allow_tensor=True, allow_operation=True)
    except (KeyError, ValueError):
        pass
    if isinstance(org_instance, Tensor):
        op = copy_op_to_graph(org_instance.op, to_graph, variables, scope)
        tensor = op.outputs[org_instance.value_index]
        for key in _collections(org_instance, scope):
            to_graph.add_to_collection(key, tensor)
        return tensor
    if not isinstance(org_instance, Operation):
        raise TypeError(f"Could not copy instance: {org_instance}")
    waits = [copy_op_to_graph(one, to_graph, variables, scope) for one in org_instance.control_inputs]
    inputs = [copy_op_to_graph(one, to_graph, variables, scope) for one in org_instance.inputs]
    return copied(org_instance, to_graph, to_graph.unique_name(name), inputs, waits)
