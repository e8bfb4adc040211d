"""The order in which the nodes of a GraphDef are computed, and the sizes of images on the way."""
from __future__ import annotations

import math
from typing import Any, NamedTuple

from jitgraph.contrib.receptive_field.layers import get_layer_params


class NodeInfo(NamedTuple):
    """How many nodes come before, the NodeDef, and [height, width] of what it reads and gives, None if unknown."""

    order: int
    node: Any
    input_size: Any
    output_size: Any


def parse_graph_nodes(graph_def: Any) -> dict[str, Any]:
    """{name: NodeDef}"""
    return {node.name: node for node in graph_def.node}


def _given(size: Any, kernel: Any, stride: Any, padding: Any) -> int | None:
    if None in (size, kernel, stride, padding):
        return None
    return math.ceil((size + padding - kernel + 1) / stride)


def _sources(node: Any) -> list[str]:
    return [name.split(":")[0] for name in node.input if not name.startswith("^")]


def get_compute_order(graph_def: Any, input_node_name: str = "", input_node_size: Any = None) -> tuple[dict, dict]:
    """({name: NodeInfo}, {name: NodeDef}) of a graph without loops.

    `input_node_name`: where images of `input_node_size`, [height, width], come in.
    """
    nodes = parse_graph_nodes(graph_def)
    found: dict[str, NodeInfo] = {}
    for name in nodes:
        waiting = [name]
        while waiting:
            current = waiting[-1]
            node = nodes[current]
            missing = [] if current == input_node_name else [one for one in _sources(node) if one not in found]
            if current in found or not missing:
                if current not in found:
                    found[current] = _described(node, nodes, found, current == input_node_name, input_node_size)
                waiting.pop()
            else:
                waiting.extend(reversed(missing))
    return found, nodes


def _described(node: Any, nodes: dict, found: dict[str, NodeInfo], is_input: bool, size: Any) -> NodeInfo:
    if is_input:
        return NodeInfo(0, node, None, size)
    sources = [found[name] for name in _sources(node)]
    order = max((one.order + 1 for one in sources), default=0)
    before = sources[0].output_size if sources else None
    if before is None:
        return NodeInfo(order, node, before, None)
    kernel_x, kernel_y, stride_x, stride_y, _, _, total_x, total_y = get_layer_params(node, nodes, before, force=True)
    # of what a node gives TensorFlow pairs the first size with x, while of what one reads it pairs it with y
    after = [_given(before[0], kernel_x, stride_x, total_x), _given(before[1], kernel_y, stride_y, total_y)]
    return NodeInfo(order, node, before, after)
