"""Resources that are made ready together with variables: the collections RESOURCES and LOCAL_RESOURCES."""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph.control.order_ops import group, no_op
from jitgraph.facade.names import resolve
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import device, name_scope


class Resource(NamedTuple):
    """A resource of the graph: its handle, the operation that makes it, and a tensor that says whether it was made."""

    handle: Any
    create: Any
    is_initialized: Any


def register_resource(handle: Any, create_op: Any, is_initialized_op: Any, is_shared: bool = True) -> None:
    """Has ``tf.train.Scaffold`` make a resource: with the global variables if `is_shared`, else with the local ones."""
    key = GraphKeys.RESOURCES if is_shared else GraphKeys.LOCAL_RESOURCES
    get_default_graph().add_to_collection(key, Resource(handle, create_op, is_initialized_op))


def shared_resources() -> list:
    """The resources that all tasks share."""
    return get_default_graph().get_collection(GraphKeys.RESOURCES)


def local_resources() -> list:
    """The resources of this session."""
    return get_default_graph().get_collection(GraphKeys.LOCAL_RESOURCES)


def initialize_resources(resource_list: list, name: str = "init") -> Any:
    """An operation that makes the resources."""
    return group(*[resource.create for resource in resource_list], name=name) if resource_list else no_op(name=name)


def report_uninitialized_resources(resource_list: list | None = None, name: str = "report_uninitialized_resources") -> Any:
    """A vector of strings: the names of the resources (all if None) that were not made yet."""
    found = shared_resources() + local_resources() if resource_list is None else resource_list
    with name_scope(name), device("/cpu:0"):
        if not found:
            return resolve("constant")([], dtype=as_dtype("string"))
        missing = resolve("logical_not")(resolve("stack")([resource.is_initialized for resource in found]))
        return resolve("boolean_mask")(resolve("constant")([resource.handle.name for resource in found]), missing)
