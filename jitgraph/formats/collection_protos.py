"""Collections of a graph in a MetaGraph: names of nodes, numbers, bytes, or messages for objects such as variables."""
from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.handing_out import element_in_branch
from jitgraph.graph.operation import Operation
from jitgraph.graph.scope_names import is_within, prepend_name_scope, strip_name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.protobuf import messages

# collections of objects: the message, and the class with ``to_proto(export_scope)`` and ``from_proto(proto, import_scope)``
_CLASSES: dict[str, tuple[str, str]] = {
    **dict.fromkeys([GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES, GraphKeys.MOVING_AVERAGE_VARIABLES,
                     GraphKeys.LOCAL_VARIABLES, GraphKeys.MODEL_VARIABLES, GraphKeys.METRIC_VARIABLES,
                     GraphKeys.GLOBAL_STEP, GraphKeys.EVAL_STEP, GraphKeys.TRAINABLE_RESOURCE_VARIABLES],
                    ("VariableDef", "jitgraph.variables.variable:Variable")),
    GraphKeys.SAVERS: ("SaverDef", "jitgraph.train.saver:Saver"),
    GraphKeys.QUEUE_RUNNERS: ("QueueRunnerDef", "jitgraph.train.queue_runner:QueueRunner"),
}
_registered: dict[str, tuple[Any, Callable | None, Callable | None]] = {}


def register_proto_function(collection_name: str, proto_type: Any = None, to_proto: Callable | None = None,
                            from_proto: Callable | None = None) -> None:
    """Tells how members of a collection become messages of `proto_type` and come back.

    ``to_proto(member, export_scope=...)`` gives a message, None for a member outside of the scope;
    ``from_proto(message, import_scope=...)`` the member.  Raises TypeError if they are not functions.
    """
    for function in (to_proto, from_proto):
        if function is not None and not callable(function):
            raise TypeError("to_proto and from_proto must be callable.")
    _registered[collection_name] = proto_type, to_proto, from_proto


def proto_functions(collection_name: str) -> tuple[Any, Callable | None, Callable | None]:
    """(message class, to_proto, from_proto) of a collection, all None if its members are no objects of that kind."""
    if collection_name in _registered:
        return _registered[collection_name]
    if collection_name not in _CLASSES:
        return None, None, None
    message, place = _CLASSES[collection_name]
    module, _, name = place.partition(":")
    try:
        cls = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError:
        return None, None, None
    return getattr(messages, message), lambda member, export_scope=None: member.to_proto(export_scope), cls.from_proto


def to_collection_def(key: str, members: list, export_scope: str | None = None) -> Any:
    """The CollectionDef of a collection; None, with a warning, if its members cannot be written."""
    collection = messages.CollectionDef()
    try:
        proto_type, to_proto, _ = proto_functions(key)
        if proto_type is not None and to_proto is not None and not (key in _CLASSES and _are_nodes(members)):
            collection.bytes_list.SetInParent()
            protos = [to_proto(member, export_scope=export_scope) for member in members]
            collection.bytes_list.value.extend(p.SerializeToString(deterministic=True) for p in protos if p is not None)
        else:
            _add_plain(collection, _kind(members[0]) if members else "node_list", members, export_scope)
    except (TypeError, ValueError, AttributeError) as error:
        logs.warn("The collection %r is not written to the MetaGraph, because its members are not all tensors, "
                  "operations, numbers, strings, or objects with a protocol buffer: %s", key, error)
        return None
    return collection


def _are_nodes(members: list) -> bool:
    """Whether a collection of objects holds bare tensors or operations instead."""
    return any(not hasattr(member, "to_proto") for member in members)


def _kind(member: Any) -> str:
    if isinstance(member, (str, bytes)):
        return "bytes_list"
    if isinstance(member, int):
        return "int64_list"
    if isinstance(member, float):
        return "float_list"
    return "any_list" if type(member).__name__ == "Any" else "node_list"


def _add_plain(collection: Any, kind: str, members: list, export_scope: str | None) -> None:
    field = getattr(collection, kind)
    field.SetInParent()
    if kind == "node_list":
        for member in members:
            if not isinstance(member, (Tensor, Operation)) and not hasattr(member, "_as_graph_element"):
                raise TypeError(f"{member!r} is none of these")
        field.value.extend(strip_name_scope(member.name, export_scope) for member in members
                           if is_within(member.name, export_scope))
    elif kind == "bytes_list":
        field.value.extend(member.encode() if isinstance(member, str) else member for member in members)
    elif kind == "any_list":
        field.value.extend(any_message().FromString(member.SerializeToString()) for member in members)
    elif kind == "int64_list":
        field.value.extend([int(member) if isinstance(member, bool) else member for member in members])
    else:
        field.value.extend(members)


def _element(graph: Any, name: str) -> Any:
    try:
        return graph.as_graph_element(name)
    except KeyError as missing:
        try:
            return element_in_branch(graph, name)
        except KeyError:
            raise missing from None


def any_message() -> Any:
    """The class of messages of any type, ``google.protobuf.Any``."""
    return vars(messages)["Any"]        # not messages.Any, which type checkers take for typing.Any


def restore_collection(graph: Any, key: str, collection: Any, import_scope: str, made: dict[bytes, Any]) -> None:
    """Adds to `graph` the members of a CollectionDef, whose nodes were imported under `import_scope`.

    `made` holds the objects that stand in several collections, by their message, so that they are made once.
    """
    kind = collection.WhichOneof("kind")
    if kind is None:
        logs.warn("The collection %r of the MetaGraph has no content; it is left out.", key)
        return
    proto_type, _, from_proto = proto_functions(key)
    values = getattr(collection, kind).value
    if kind == "bytes_list" and proto_type is not None and from_proto is not None:
        for value in values:
            if value not in made:
                made[value] = from_proto(proto_type.FromString(value), import_scope=import_scope or None)
            graph.add_to_collection(key, made[value])
        return
    for value in values:
        member = _element(graph, prepend_name_scope(value, import_scope)) if kind == "node_list" else value
        graph.add_to_collection(key, member)
