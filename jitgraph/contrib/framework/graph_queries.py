"""Questions to a graph: its placeholders, the one that tensors belong to, the name scope that is open."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.graph import Graph
from jitgraph.graph.scopes import graph_of
from jitgraph.variables import global_steps


def get_placeholders(graph: Any) -> list:
    """The placeholders of a graph, in the order in which they were made.  Raises TypeError for anything but a Graph."""
    if not isinstance(graph, Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]


def get_graph_from_inputs(op_input_list: Any, graph: Any = None) -> Any:
    """`graph`, else the graph of the tensors, else the default one.

    Raises ValueError for tensors of several graphs, or of another one than `graph`, TypeError for a `graph` that is none.
    """
    if graph is None or get_default_graph().building_function:
        return graph_of(op_input_list)
    if not isinstance(graph, Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    for one in op_input_list:
        if getattr(one, "graph", graph) is not graph:
            raise ValueError(f"{one} is not from the passed-in graph.")
    return graph


def get_name_scope() -> str:
    """The name scope that is open in the default graph, "" at the top."""
    return get_default_graph().get_name_scope()


def assert_or_get_global_step(graph: Any = None, global_step_tensor: Any = None) -> Any:
    """`global_step_tensor` if it is given and can be one, else the global step of `graph`, or None."""
    if global_step_tensor is None:
        return global_steps.get_global_step(graph)
    global_steps.assert_global_step(global_step_tensor)
    return global_step_tensor
