"""The functions that enter a graph's context managers on the default graph: ``tf.name_scope``, ``tf.device`` ..."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.contexts import Colocation, Container, DeviceScope, NameScope
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.stack import DefaultGraph
from jitgraph.graph.tensor import Tensor


def graph_of(values: Any, default: Any = None) -> Graph:
    """The graph that an op on `values` belongs to: that of its tensors, else the default graph.

    Raises ValueError if two values belong to different graphs (unless the default graph is a function's).
    """
    current = get_default_graph() if default is None else default
    if current.building_function:
        return current
    found, owner = None, None
    for value in values or ():
        graph = value.graph if isinstance(value, (Tensor, Operation)) else getattr(value, "graph", None)
        if graph is None or not hasattr(graph, "_nodes_by_id"):
            continue
        if graph.building_function:
            if isinstance(value, Tensor):
                current.capture(value)          # which raises if it was made in a function that is complete, but no branch
            graph = current
        if found is None:
            found, owner = graph, value
        elif graph is not found:
            raise ValueError(f"{value} must be from the same graph as {owner}.")
    return current if found is None else found


class name_scope:
    """``with tf.name_scope(name, default_name, values) as scope:`` puts new operations under `name`.

    `name` None takes `default_name`; with `values`, the scope is entered on their graph, which becomes the default.
    A name that ends in "/" is entered as it stands; others are made unique; "" and None go to the root.
    """

    __slots__ = ("_name", "_default_name", "_values", "_scope", "_graph_context")

    def __init__(self, name: str | None, default_name: str | None = None, values: Any = None):
        if not (default_name is None or isinstance(default_name, str)):
            raise TypeError(f"`default_name` type ({type(default_name)}) is not a string type. You likely meant to pass "
                            "this into the `values` kwarg.")
        self._name = default_name if name is None else name
        self._default_name = default_name
        self._values = values

    @property
    def name(self) -> str | None:
        """The name that was asked for."""
        return self._name

    def __enter__(self) -> str:
        if self._name is None and self._values is not None:
            raise ValueError(f"At least one of name (None) and default_name ({self._default_name}) must be provided.")
        current = get_default_graph()
        graph = graph_of(self._values, current) if self._values else current
        self._graph_context = None
        if graph is not current:
            self._graph_context = DefaultGraph(graph)
            self._graph_context.__enter__()
        self._scope = NameScope(graph, self._name)
        try:
            return self._scope.__enter__()
        except Exception:
            if self._graph_context is not None:
                self._graph_context.__exit__(None, None, None)
            raise

    def __exit__(self, *exc: Any) -> None:
        self._scope.__exit__(*exc)
        if self._graph_context is not None:
            self._graph_context.__exit__(*exc)


def op_scope(values: Any, name: str | None, default_name: str | None = None) -> name_scope:
    """The older form of ``name_scope(name, default_name, values)``."""
    return name_scope(name, default_name, values)


class init_scope:
    """``with tf.init_scope():`` makes nodes outside of control dependencies and of the bodies of control flow.

    Initial values of variables are made here, so that a variable created inside a loop body can be initialised.
    """

    def __enter__(self) -> None:
        graph: Any = get_default_graph()
        scope = graph.get_name_scope()
        self._contexts: list[Any] = []
        while self._leaves(graph):
            graph = graph.outer_graph
        if graph is not get_default_graph():
            self._enter(DefaultGraph(graph))
            self._enter(NameScope(graph, scope + "/" if scope else None))
        self._enter(graph.control_dependencies(None))

    def _leaves(self, graph: Any) -> bool:
        return graph.building_function and graph.outer_graph is not None

    def _enter(self, context: Any) -> None:
        context.__enter__()
        self._contexts.append(context)

    def __exit__(self, *exc: Any) -> None:
        while self._contexts:
            self._contexts.pop().__exit__(*exc)


class _outside_of_control_flow(init_scope):
    """As ``init_scope``, but a function that is called as a function is not left."""

    def _leaves(self, graph: Any) -> bool:
        return super()._leaves(graph) and graph.is_inline


def control_dependencies(control_inputs: Any) -> Any:
    """``tf.control_dependencies``: see ``Graph.control_dependencies``.  Without any, in a branch or the body of a loop, nodes are
    made where that stands: they run once, and may be fetched."""
    return _outside_of_control_flow() if control_inputs is None else get_default_graph().control_dependencies(control_inputs)


def device(device_name_or_function: Any) -> DeviceScope:
    """``tf.device``: see ``Graph.device``."""
    return get_default_graph().device(device_name_or_function)


def container(container_name: str) -> Container:
    """``tf.container``: see ``Graph.container``."""
    return get_default_graph().container(container_name)


def colocate_with(op: Any, ignore_existing: bool = False) -> Colocation:
    """``tf.colocate_with``: see ``Graph.colocate_with``."""
    if op is not None and not hasattr(op, "op") and not isinstance(op, Operation):
        op = convert_to_tensor(op)
    return get_default_graph().colocate_with(op, ignore_existing)


def add_to_collection(name: Any, value: Any) -> None:
    """``tf.add_to_collection`` on the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """``tf.add_to_collections`` on the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list:
    """``tf.get_collection`` of the default graph."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list:
    """``tf.get_collection_ref`` of the default graph."""
    return get_default_graph().get_collection_ref(key)


def get_all_collection_keys() -> list:
    """The names of all collections of the default graph."""
    return get_default_graph().get_all_collection_keys()
