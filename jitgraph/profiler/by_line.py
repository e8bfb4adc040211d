"""``tf.profiler.profile`` with ``cmd="code"``: the lines of the program that made the operations, as a tree of calls.

What a gradient consists of counts for the lines that made the operation whose gradient it is, marked as such.
"""
from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from typing import Any

from jitgraph.profiler.pprof import write_pprof
from jitgraph.profiler.report import (
    LEAST,
    PPROF,
    ROOT,
    Node,
    account,
    find,
    heading,
    is_accounted,
    is_named,
    line_of,
    matches,
    ordered,
    proto_of_many,
    write,
)

_ABOUT = "code: When python trace is available, the nodes are python lines and their are organized by the python call stack."
_GRADIENT = re.compile(r".*?gradients/(.*?)_grad/")
_LONGEST = 19       # letters of a function's name


class _Line(Node):
    """A line of the program, called from the one above it, with the operations that it made itself."""

    def __init__(self, name: str):
        super().__init__(name)
        self.operations: list[Node] = []
        self.frame: tuple[str, int, str] | None = None      # the file, the number of the line, the function

    def called(self, frames: Iterable[Any], mark: str) -> _Line:
        """The line that the last of the frames stands on, below this one."""
        line: Any = self
        for file, number, function, *_ in frames:
            short = function if len(function) <= _LONGEST else function[:17] + "..."
            name = f"{os.path.basename(file)}:{number}:{short}{mark}"
            line = line.children.setdefault(name, _Line(name))
            line.frame = file, number, function
        return line


def by_line(root: Node, graph: Any, options: dict) -> Any:
    """The MultiGraphNodeProto of the lines that made `graph`, whose operations stand in the tree `root`, after its report.

    Only lines of the program stand in it, none of ours.
    """
    if options.get("account_displayed_op_only"):
        sys.stderr.write("Note: code view ignores account_displayed_op_only\n")
    top = _lines(root, graph, options)
    top.kept = account(top.children.values(), options)
    for line in top.kept:
        top.add_total(line)
    starts = options.get("start_name_regexes", [".*"])
    if list(starts) != [".*"]:
        top.kept = _starts(top.kept, starts)
    _show([top], options, 1)
    lines: list[str] = []
    _write(top, 0, options, lines)
    if options.get("output", "").startswith(PPROF):
        write_pprof(top, options, options["output"].removeprefix(PPROF))
    else:
        write(heading(options, _ABOUT) + "\n".join(lines) + "\n", options)
    return _proto(top)


def _lines(root: Node, graph: Any, options: dict) -> _Line:
    """The tree of lines; each holds what the operations hold that it made, those that count."""
    top = _Line(ROOT)
    operations = {op.name: op for op in sorted(graph.get_operations(), key=lambda op: op.name)}
    gradients: dict[str, list[str]] = {}
    for name, op in operations.items():
        of = _GRADIENT.match(name)
        if of is None:
            _take(top.called(op.way, ""), find(root, name), options)
        else:
            gradients.setdefault(of[1], []).append(name)
    missing = 0
    for forward, names in sorted(gradients.items()):
        if forward not in operations:
            missing += 1
            continue
        line = top.called(operations[forward].way, " (gradient)")
        for name in names:
            _take(line, find(root, name), options)
    if missing:
        sys.stderr.write(f"{missing} gradient nodes not accounted\n")
    return top


def _take(line: _Line, operation: Node | None, options: dict) -> None:
    assert operation is not None
    if not is_accounted(operation, options):
        return
    line.operations.append(operation)
    line.types |= operation.types
    for key, value in operation.own.items():
        line.own[key] += value


def _starts(lines: list[Node], expressions: Any) -> list[Node]:
    """The uppermost lines whose names match."""
    return [found for line in lines for found in ([line] if matches(line.name, expressions) else _starts(line.kept, expressions))]


def _show(lines: list[Node], options: dict, depth: int) -> list[Node]:
    """The lines that are shown; what is below a hidden one takes its place, but for what a name trims."""
    found: list[Node] = []
    for line in lines:
        if matches(line.name, options.get("trim_name_regexes", [])) or depth > options.get("max_depth", 10):
            continue
        below = _show(line.kept, options, depth + 1)
        if _is_shown(line, options):
            line.shown = ordered(below, options.get("order_by", "name"))
            found.append(line)
        else:
            found += below
    return found


def _is_shown(line: Node, options: dict) -> bool:
    """Whether a line is shown: here what it holds in all decides, for its operations stand deep below it."""
    if line.name == ROOT:
        return True
    return all(line.total[key] >= options.get(name, 0) for key, name in LEAST.items()) and is_named(line, options)


def _write(line: Node, indent: int, options: dict, lines: list[str]) -> None:
    lines.append(" " * indent + line_of(line, options, ("occurrence", "input_shapes")))
    for below in line.shown:
        _write(below, indent + 2, options, lines)


def _proto(line: Any) -> Any:
    return proto_of_many(line, map(_proto, line.shown))
