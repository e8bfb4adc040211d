"""Transforms that look at the numbers of a graph as it runs: nodes that print, and ranges found in what they printed."""
from __future__ import annotations

import re
from typing import Any

import numpy as np

from jitgraph.app import logs
from jitgraph.filesystem.file_io import read_file_to_string
from jitgraph.formats.graph_parts import copied, node_name
from jitgraph.tools.graph_transforms.parameters import Parameters, invalid
from jitgraph.tools.graph_transforms.patterns import constant, node_of, renamed_inputs, types_of

_PRINTED = "__print__"
_RANGE = re.compile(r"__requant_min_max:\[([^][;]*)\]\[([^][;]*)\]")


def insert_logging(graph_def: Any, given: Parameters) -> Any:
    """Puts a Print behind nodes of the types `op` whose names begin with `prefix`, if these are given.

    It prints what is used of them, after their type and name if `show_op` and `show_name`, and a `message`; only `first_n` times,
    and `summarize` numbers of each.
    """
    ops, prefixes = given.values.get("op"), given.values.get("prefix")
    message, show_name, show_op = given.one("message", ""), given.one("show_name", False), given.one("show_op", False)
    first, most = given.one("first_n", -1), given.one("summarize", 1024)
    used: dict[str, set[int]] = {}
    for node in graph_def.node:
        for text in node.input:
            name = node_name(text)
            used.setdefault(name, set()).add(int(text.removeprefix("^").removeprefix(name)[1:] or 0))
    nodes, instead = [], {}
    for node in graph_def.node:
        nodes.append(node)
        if (node.name not in used or ops is not None and node.op not in ops
                or prefixes is not None and not node.name.startswith(tuple(prefixes))):
            continue
        outputs = types_of(node)[1]
        name = node.name + _PRINTED
        told = (f";{node.op};" if show_op else "") + (f";{name};" if show_name else "") + message
        nodes.append(node_of("Print", name, [f"{node.name}:0", *(f"{node.name}:{k}" for k in sorted(used[node.name]))],
                             message=told.encode(), first_n=first, summarize=most, T=outputs[0], U=outputs))
        instead[f"{node.name}:0"] = f"{name}:0"
    return renamed_inputs(copied(graph_def, nodes), instead, but_of={text.removesuffix(":0") for text in instead.values()})


def freeze_requantization_ranges(graph_def: Any, given: Parameters) -> Any:
    """Puts constants in the place of RequantizationRange nodes: what they gave when `insert_logging` had them printed.

    `min_max_log_file` is what was printed, `min_percentile` and `max_percentile` say how many of the smallest and largest are left
    out.  Raises InvalidArgumentError without ranges in the file, or for nodes in it that are none of the graph's.
    """
    path, low, high = given.one("min_max_log_file", ""), given.one("min_percentile", 5.0), given.one("max_percentile", 5.0)
    if not path:
        raise invalid("You must pass a file name to min_max_log_file")
    found = _ranges(read_file_to_string(path))
    if not found:
        raise invalid("No min/max range logs were found in the log file")
    missing = sorted(found.keys() - {node.name for node in graph_def.node})
    for name in missing:
        logs.warning("Node from log not found in graph: %s", name)
    if missing:
        raise invalid("Nodes were found in the log file that aren't present in the graph")
    nodes, instead = [], {}
    for node in graph_def.node:
        if node.name not in found:
            nodes.append(node)
            continue
        if node.op != "RequantizationRange":
            raise invalid(f"Node is expected to be a RequantizationRange op: {node.name}, but is: {node.op}")
        least, largest = (sorted(one) for one in zip(*found[node.name]))
        count = np.float32(len(least))
        ends = (least[max(_rounded(count * np.float32(low / 100)), 0)],
                largest[min(_rounded(count * (np.float32(1) - np.float32(high / 100))), len(largest) - 1)])
        for k, (which, end) in enumerate(zip(("min", "max"), ends)):
            nodes.append(constant(f"{node.name}/frozen_{which}", np.float32(end)))
            instead[f"{node.name}:{k}"] = f"{node.name}/frozen_{which}:0"
    return renamed_inputs(copied(graph_def, nodes), instead)


def _rounded(number: Any) -> int:
    return int(np.floor(number + np.float32(0.5)))


def _ranges(text: str) -> dict[str, list[tuple[float, float]]]:
    """{node: (smallest, largest) of each line that tells them}; lines that tell something else are left out."""
    found: dict[str, list[tuple[float, float]]] = {}
    for line in text.split("\n"):
        if f"{_PRINTED};__requant_min_max:" not in line:
            continue
        parts = line.split(";")
        at = max(k for k, part in enumerate(parts) if part.startswith("__requant_min_max:"))
        match = _RANGE.fullmatch(parts[at])
        if match is None or not parts[at - 1].endswith(_PRINTED):
            continue
        try:
            ends = float(match[1]), float(match[2])
        except ValueError:
            continue
        found.setdefault(parts[at - 1].removesuffix(_PRINTED), []).append(ends)
    return found
