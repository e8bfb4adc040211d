"""Graphs as GraphDefs."""
from __future__ import annotations

from typing import Any

from jitgraph.facade.version import GRAPH_DEF_VERSION
from jitgraph.graph.protos.flows import state_as_numbers
from jitgraph.graph.protos.function_def import add_functions
from jitgraph.graph.protos.node_proto import node_to_proto
from jitgraph.protobuf import messages

_FUNCTIONS_SINCE = 12       # older readers do not know functions


def version_def() -> Any:
    """The VersionDef of graphs that jitgraph writes."""
    return messages.VersionDef(producer=GRAPH_DEF_VERSION)


def joined_versions(one: Any, other: Any) -> Any:
    """The VersionDef of what is made of two graphs: as old as the older, for readers that can read both."""
    return messages.VersionDef(producer=min(one.producer, other.producer), min_consumer=max(one.min_consumer, other.min_consumer),
                               bad_consumers=sorted({*one.bad_consumers, *other.bad_consumers}))


def graph_to_proto(graph: Any, from_version: int | None = None, add_shapes: bool = False) -> Any:
    """The GraphDef of a graph, or of the operations made after `from_version`."""
    proto = messages.GraphDef(versions=graph.graph_def_versions)
    operations = graph._nodes_by_id[from_version or 0:]
    proto.node.extend([node_to_proto(op, add_shapes) for op in operations])
    for function in graph._functions.values():
        definition = getattr(function, "definition", None)
        if definition is not None:
            proto.library.function.append(definition)
            gradient = getattr(function, "gradient_name", "")
            if gradient:
                proto.library.gradient.add(function_name=definition.signature.name, gradient_func=gradient)
    add_functions(proto.library, operations)
    if proto.library.function:
        proto.versions.min_consumer = max(proto.versions.min_consumer, _FUNCTIONS_SINCE)
    state_as_numbers(proto)
    return proto
