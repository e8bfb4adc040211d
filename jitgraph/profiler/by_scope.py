"""``tf.profiler.profile`` with ``cmd="scope"``: operations by name scopes, printed and as a GraphNodeProto."""
from __future__ import annotations

from typing import Any

from jitgraph.profiler.report import BY_NAME, Node, account, heading, is_shown, line_of, matches, ordered, proto_of, write


def _show(nodes: list[Node], options: dict, depth: int, indent: int, lines: list[str]) -> list[Node]:
    """The nodes that are shown, after their lines; what is below a hidden one takes its place."""
    found = []
    for node in ordered(sorted(nodes, key=lambda node: node.name), options.get("order_by", "name")):
        shows = is_shown(node, options, depth)
        if shows:
            place = len(lines)
            lines.append("")
        if matches(node.name, options.get("trim_name_regexes", [])):
            below: list[Node] = []
        else:
            below = _show(node.kept, options, depth + 1, indent + (2 if shows else 0), lines)
        if not shows:
            found += below
            continue
        if options.get("account_displayed_op_only"):
            node.reset()
            node.add_own()
            for child in below:
                node.add_total(child)
        node.shown = below
        lines[place] = " " * indent + line_of(node, options)
        found.append(node)
    return found


def _starts(nodes: Any, expressions: Any) -> list[Node]:
    """The uppermost nodes whose names match."""
    return [found for node in nodes
            for found in ([node] if matches(node.name, expressions) else _starts(node.children.values(), expressions))]


def by_scope(root: Node, options: dict) -> Any:
    """The GraphNodeProto of the tree `root`, after its report."""
    lines: list[str] = []
    starts = options.get("start_name_regexes", [".*"])
    if list(starts) != [".*"]:
        root.children = {node.name: node for node in _starts(root.children.values(), starts)}
    account([root], options)
    shown = _show([root], options, 1, 0, lines)
    write(heading(options, BY_NAME) + "\n".join(lines) + "\n", options)
    return proto_of(shown[0])
