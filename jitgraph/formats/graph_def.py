"""Graphs as GraphDefs."""
from __future__ import annotations

import os
from typing import Any

from jitgraph.facade.version import GRAPH_DEF_VERSION
from jitgraph.formats import attr_value, messages, tensor_proto
from jitgraph.formats.function_def import add_functions


def version_def() -> Any:
    """The VersionDef of graphs that jitgraph writes."""
    return messages.VersionDef(producer=GRAPH_DEF_VERSION)


def input_name(tensor: Any) -> str:
    """How a NodeDef names an input: ``op`` for output 0, else ``op:index``."""
    return tensor.op.name if tensor.value_index == 0 else f"{tensor.op.name}:{tensor.value_index}"


def node_to_proto(op: Any, add_shapes: bool = False) -> Any:
    """The NodeDef of an operation; `add_shapes` adds the attribute ``_output_shapes``."""
    node = messages.NodeDef(name=op.name, op=op.type, device=op.device)
    node.input.extend([input_name(t) for t in op.inputs])
    node.input.extend(sorted("^" + c.name for c in op.control_inputs))
    opdef = op.opdef
    for name, value in op.attrs.items():
        kind = opdef.attr_kind(name) if opdef is not None else None
        if value is None and kind != "shape":
            continue
        stored = op.__dict__.get("stored_tensors", {}).get(name)
        if stored is not None and stored[0] is value:
            node.attr[name].tensor.CopyFrom(stored[1])
        elif kind == "tensor" and "dtype" in op.attrs:
            node.attr[name].tensor.CopyFrom(tensor_proto.from_array(value, op.attrs["dtype"]))
        else:
            node.attr[name].CopyFrom(attr_value.to_proto(value, kind))
    for name, value in (op.annotations or {}).items():
        node.attr[name].CopyFrom(attr_value.to_proto(value))
    if add_shapes and op.outputs:
        node.attr["_output_shapes"].list.shape.extend([tensor_proto.shape_to_proto(t._shape) for t in op.outputs])
    return node


def graph_to_proto(graph: Any, from_version: int | None = None, add_shapes: bool = False) -> Any:
    """The GraphDef of a graph, or of the operations made after `from_version`."""
    proto = messages.GraphDef(versions=version_def())
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
    return proto


def write_graph(graph_or_graph_def: Any, logdir: Any, name: str, as_text: bool = True) -> str:
    """``tf.train.write_graph``: writes a Graph or GraphDef to the file `name` in `logdir`; returns its path.

    The folder is made if need be.  Raises ``tf.errors`` if it cannot be written.
    """
    from jitgraph.formats.checkpoint import path_string
    from jitgraph.formats.meta_graph import write_message

    graph_def = graph_or_graph_def.as_graph_def() if hasattr(graph_or_graph_def, "as_graph_def") else graph_or_graph_def
    path = os.path.join(path_string(logdir), name)
    write_message(graph_def, path, as_text)
    return path
