"""A part of a GraphDef replaced by one node."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jitgraph.formats.graph_parts import copied, node_name
from jitgraph.protobuf import messages


def fuse_op(graph_def: Any, input_nodes: list[str], output_nodes: list[str], output_dtypes: list[int], output_quantized: bool,
            op_name: str, op_type: str) -> Any:
    """A GraphDef in which one node stands for all between some nodes and others.

    Args:
      graph_def: the GraphDef.
      input_nodes: the nodes that the new one reads.
      output_nodes: nodes of one input each; they stay, and read the outputs of the new one in this order.
      output_dtypes: numbers of dtypes, as in ``tf.float32.as_datatype_enum``: what the node says in ``_output_types``.
      output_quantized: what it says in ``_output_quantized``.
      op_name, op_type: the new node's name and type.
    Raises TypeError for other arguments, or if what lies between reads something that `input_nodes` need but do not name;
    AssertionError for a node that is not there, and for one of `output_nodes` with more inputs.
    """
    if type(graph_def).__name__ != "GraphDef":
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    for what, named in (("input_nodes", input_nodes), ("output_nodes", output_nodes)):
        if isinstance(named, str):
            raise TypeError(f"{what} must be a list.")
    nodes = {node.name: node for node in graph_def.node}
    read = {name: _read(node) for name, node in nodes.items()}
    for name in [*input_nodes, *output_nodes]:
        assert name in nodes, f"{name} is not in graph"
    before, needed = _reached(input_nodes, read), _reached(output_nodes, read)
    for name in nodes:
        if name in needed and name not in before and name not in output_nodes:
            _check_between(name, set(input_nodes), before, read)
    fused = messages.NodeDef(name=op_name, op=op_type, input=input_nodes)
    fused.attr["_output_types"].list.type[:] = output_dtypes
    fused.attr["_output_quantized"].b = output_quantized
    outputs = []
    for number, name in enumerate(output_nodes):
        assert len(nodes[name].input) == 1
        output = messages.NodeDef()
        output.CopyFrom(nodes[name])
        output.input[:] = [f"{op_name}:{number}" if number else op_name]
        outputs.append(output)
    return copied(graph_def, [*(node for name, node in nodes.items() if name in before), fused, *outputs,
                              *(node for name, node in nodes.items() if name not in before | needed)])


def _read(node: Any) -> list[str]:
    """The nodes that a node reads, waits for or stands beside."""
    beside = [text.decode() for text in node.attr["_class"].list.s] if "_class" in node.attr else []
    return [*map(node_name, node.input), *(text[5:] for text in beside if text.startswith("loc:@"))]


def _reached(names: Iterable[str], read: dict[str, list[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += read.get(name, [])
    return found


def _check_between(name: str, inputs: set[str], before: set[str], read: dict[str, list[str]]) -> None:
    seen, waiting = set(), [name]
    while waiting:
        one = waiting.pop(0)
        seen.add(one)
        if one in before and one not in inputs:
            raise TypeError(f"Node {name} uses input {one} not in input_nodes.")
        if one not in inputs:
            waiting += [other for other in read[one] if other not in seen]
