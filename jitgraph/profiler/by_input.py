"""``tf.profiler.profile`` with ``cmd="graph"``: operations above those that they read, printed and as a GraphNodeProto.

An operation stands below the first of those that read it or wait for it, so that it counts once.  Graphs are deeper than
Python's stack, so nothing here calls itself.
"""
from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from jitgraph.profiler.report import (
    BY_NAME,
    ROOT,
    Node,
    find,
    heading,
    is_accounted,
    is_shown,
    line_of,
    matches,
    ordered,
    proto_of,
    write,
)
from jitgraph.protobuf import messages

DEEPEST = 90    # messages in messages, of which 100 can be read


def by_input(root: Node, graph: Any, options: dict) -> Any:
    """The GraphNodeProto of what `graph` computes, whose operations stand in the tree `root`, after its report."""
    top = _results(root, graph)
    top.kept = _accounted(top.children.values(), options)
    for node in top.kept:
        top.add_total(node)
    starts = options.get("start_name_regexes", [".*"])
    if list(starts) != [".*"]:
        top.kept = _starts(top.kept, starts)
    _show(top, options)
    lines, deepest = [], 0
    for node, depth in _shown_in_order(top):
        lines.append("  " * depth + line_of(node, options))
        deepest = max(deepest, depth)
    write(heading(options, BY_NAME) + "\n".join(lines) + "\n", options)
    if deepest <= DEEPEST:
        return proto_of(top)
    sys.stderr.write(f"The graph is {deepest} operations deep, which no message can hold: read the report instead.\n")
    return messages.GraphNodeProto()


def _results(root: Node, graph: Any) -> Node:
    """A root above the operations that nothing reads; below each stand those that it reads or waits for."""
    operations = sorted(graph.get_operations(), key=lambda op: op.name)
    nodes = {}
    for op in operations:
        known = find(root, op.name)
        assert known is not None
        nodes[op.name] = known.alone()
    read: set[str] = set()
    for op in operations:
        below = dict.fromkeys([*(tensor.op.name for tensor in op.inputs), *(one.name for one in op.control_inputs)])
        nodes[op.name].children = {name: nodes[name] for name in below if name in nodes}
        read.update(below)
    top = Node(ROOT)
    top.types = {"_TFGraphParent"}
    top.children = {name: node for name, node in nodes.items() if name not in read}
    return top


def _accounted(starts: Iterable[Node], options: dict) -> list[Node]:
    """The nodes that count, each with those that count below it; what is below one that does not takes its place."""
    seen: set[str] = set()
    found: list[Node] = []
    stack: list[tuple[Iterator[Node], list[Node], Node | None]] = [(iter(starts), found, None)]
    while True:
        following, below, node = stack[-1]
        child = next((one for one in following if one.name not in seen), None)
        if child is not None:
            seen.add(child.name)
            stack.append((iter(child.children.values()), [], child))
            continue
        stack.pop()
        if node is None:
            return found
        above = stack[-1][1]
        node.accounted = is_accounted(node, options)
        if not node.accounted:
            above += below
            continue
        node.kept = below
        node.reset()
        node.add_own()
        for one in below:
            node.add_total(one)
        above.append(node)


def _starts(nodes: Iterable[Node], expressions: Any) -> list[Node]:
    """The uppermost nodes whose names match."""
    found: list[Node] = []
    seen: set[str] = set()
    stack = [*reversed([*nodes])]
    while stack:
        node = stack.pop()
        if node.name in seen:
            continue
        seen.add(node.name)
        if matches(node.name, expressions):
            found.append(node)
        else:
            stack += reversed(node.kept)
    return found


def _show(top: Node, options: dict) -> None:
    """Notes in each node which ones are shown below it; what is below a hidden one takes its place."""
    seen = {ROOT}
    stack: list[tuple[Iterator[Node], list[Node], Node]] = [(iter(top.kept), [], top)]
    while stack:
        following, below, node = stack[-1]
        depth = len(stack)
        child = None
        if not matches(node.name, options.get("trim_name_regexes", [])) and depth <= options.get("max_depth", 10):
            child = next((one for one in following if one.name not in seen), None)
        if child is not None:
            seen.add(child.name)
            stack.append((iter(child.kept), [], child))
            continue
        stack.pop()
        if not is_shown(node, options, depth):
            stack[-1][1].extend(below)
            continue
        node.shown = ordered(below, options.get("order_by", "name"))
        if options.get("account_displayed_op_only"):
            node.reset()
            node.add_own()
            for one in node.shown:
                node.add_total(one)
        if stack:
            stack[-1][1].append(node)


def _shown_in_order(top: Node) -> Iterator[tuple[Node, int]]:
    """(node, how many are above it) of what is shown, from the first line on."""
    stack = [(top, 0)]
    while stack:
        node, depth = stack.pop()
        yield node, depth
        stack += [(one, depth + 1) for one in reversed(node.shown)]
