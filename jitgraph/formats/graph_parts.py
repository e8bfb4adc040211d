"""GraphDefs cut to what is needed: ``tf.graph_util.extract_sub_graph``, ``remove_training_nodes`` and their kin."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jitgraph.graph.registry import variable_kind
from jitgraph.protobuf import messages

_INT32, _STRING = messages.DT_INT32, messages.DT_STRING


def node_name(text: str) -> str:
    """The node that an input of a NodeDef names: ``^a`` and ``a:1`` are of node ``a``."""
    text = text.removeprefix("^")
    name, colon, index = text.rpartition(":")
    return name if colon and index.isdecimal() else text


def copied(graph_def: Any, nodes: Iterable[Any]) -> Any:
    """A GraphDef of other nodes, with the functions and versions of `graph_def`."""
    result = messages.GraphDef(library=graph_def.library, versions=graph_def.versions)
    result.node.extend(nodes)
    return result


def _checked(graph_def: Any) -> None:
    if type(graph_def).__name__ != "GraphDef":
        raise TypeError(f"graph_def must be a graph_pb2.GraphDef proto, not {type(graph_def).__name__}.")


def extract_sub_graph(graph_def: Any, dest_nodes: list[str]) -> Any:
    """The GraphDef of what the nodes `dest_nodes` need, in the order of the file.

    Raises TypeError for arguments of other kinds, AssertionError for a node that is not there.
    """
    _checked(graph_def)
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be a list.")
    nodes = {node.name: node for node in graph_def.node}
    for name in dest_nodes:
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    needed, waiting = set(dest_nodes), list(dest_nodes)
    while waiting:
        for text in nodes[waiting.pop()].input:
            name = node_name(text)
            if name not in needed and name in nodes:
                needed.add(name)
                waiting.append(name)
    return copied(graph_def, (node for node in graph_def.node if node.name in needed))


def remove_training_nodes(input_graph: Any, protected_nodes: Any = None) -> Any:
    """A GraphDef without CheckNumerics and Identity nodes, whose users read their inputs instead.

    Nodes that take part in control dependencies, and those named in `protected_nodes`, stay.
    """
    protected = set(protected_nodes or ())
    waited_for = {text[1:] for node in input_graph.node for text in node.input if text.startswith("^")}
    waiting = {node.name for node in input_graph.node if any(text.startswith("^") for text in node.input)}
    instead: dict[str, str] = {}
    for node in input_graph.node:
        if node.op in ("Identity", "CheckNumerics") and node.name not in protected | waited_for | waiting and node.input:
            instead[node.name] = node.input[0]
    nodes = []
    for node in input_graph.node:
        if node.name not in instead:
            kept = messages.NodeDef()
            kept.CopyFrom(node)
            kept.input[:] = [_spliced(text, instead) for text in node.input]
            nodes.append(kept)
    return copied(input_graph, nodes)


def _spliced(text: str, instead: dict[str, str]) -> str:
    seen = set()
    while not text.startswith("^") and node_name(text) in instead and text not in seen:
        seen.add(text)
        text = instead[node_name(text)]
    return text


def must_run_on_cpu(node: Any, pin_variables_on_cpu: bool = False) -> bool:
    """Whether an Operation or NodeDef only works on the host: string and int32 constants, and their like."""
    definition = node.node_def if hasattr(node, "node_def") else node
    if type(definition).__name__ != "NodeDef":
        raise AssertionError(f"node must be an Operation or a NodeDef, not {type(node).__name__}")
    if pin_variables_on_cpu and variable_kind(definition.op):
        return True
    if definition.op == "Const":
        return definition.attr["dtype"].type in (_STRING, _INT32)
    if definition.op in ("DynamicStitch", "ParallelDynamicStitch"):
        return definition.attr["T"].type == _INT32
    return definition.op == "Cast" and definition.attr["SrcT"].type == _INT32


def tensor_shape_from_node_def_name(graph: Any, input_name: str) -> Any:
    """The static shape of the tensor that an input of a NodeDef names."""
    canonical = input_name if ":" in input_name else input_name + ":0"
    return graph.get_tensor_by_name(canonical).get_shape()


def strip_unused(input_graph_def: Any, input_node_names: list[str], output_node_names: list[str],
                 placeholder_type_enum: Any) -> Any:
    """A GraphDef of what lies between inputs and outputs; the inputs become placeholders.

    `placeholder_type_enum`: their dtype, or one for each.  Raises KeyError for inputs that are not there, ValueError for
    names of tensors in place of nodes.
    """
    for name in input_node_names:
        if ":" in name:
            raise ValueError(f"Name '{name}' appears to refer to a Tensor, not a Operation.")
    missing = set(input_node_names) - {node.name for node in input_graph_def.node}
    if missing:
        raise KeyError(f"The following input nodes were not found: {missing}")
    types = placeholder_type_enum if isinstance(placeholder_type_enum, (list, tuple)) else \
        [placeholder_type_enum] * len(input_node_names)
    wanted = dict(zip(input_node_names, types))
    nodes = []
    for node in input_graph_def.node:
        if node.name in wanted:
            placeholder = messages.NodeDef(op="Placeholder", name=node.name)
            placeholder.attr["dtype"].type = int(wanted[node.name])
            for key in ("_output_shapes", "shape"):
                if key in node.attr:
                    placeholder.attr[key].CopyFrom(node.attr[key])
            node = placeholder
        nodes.append(node)
    return extract_sub_graph(copied(input_graph_def, nodes), list(output_node_names))
