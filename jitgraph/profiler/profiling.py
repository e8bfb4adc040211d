"""``tf.profiler.profile``: what a graph holds and computes, in four orders, printed and as a message."""
from __future__ import annotations

import sys
from typing import Any

from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.profiler.advice import advise
from jitgraph.profiler.by_input import by_input
from jitgraph.profiler.by_line import by_line
from jitgraph.profiler.by_scope import by_scope
from jitgraph.profiler.by_type import by_type
from jitgraph.profiler.options import ProfileOptionBuilder
from jitgraph.profiler.report import read


def profile(graph: Any = None, run_meta: Any = None, op_log: Any = None, cmd: str = "scope", options: Any = 0) -> Any:
    """The parameters, the arithmetic and the times of a graph (the default one if None).

    `cmd`: "scope", by name scopes, or "graph", each operation above those that it reads, which give a GraphNodeProto; "op", by
    types of operations, or "code", by the lines of the program that made them, which give a MultiGraphNodeProto.

    `options`: see ``ProfileOptionBuilder``; parameters of trainable variables if not given.  Times are those of `run_meta`, the
    RunMetadata of a run with FULL_TRACE.  Raises InvalidArgumentError for another `cmd`.
    """
    if cmd not in ("scope", "op", "code", "graph"):
        raise InvalidArgumentError(None, None, f"unknown cmd: {cmd}\n")
    graph = graph or get_default_graph()
    options = ProfileOptionBuilder.trainable_variables_parameter() if options == 0 else options
    root = read(graph, run_meta, op_log)
    kind, _, where = options.get("output", "stdout").partition(":outfile=")
    if kind == "timeline":
        _write_timeline(run_meta, where, options.get("step", -1))
        options = {**options, "output": "none"}
    if cmd == "scope":
        return by_scope(root, options)
    return {"op": by_type, "graph": by_input, "code": by_line}[cmd](root, graph, options)


def _write_timeline(run_meta: Any, path: str, step: int) -> None:
    """Writes what a run did, for chrome://tracing, to a file whose name ends with the number of the step."""
    if step < 0 or not run_meta:
        sys.stderr.write("Must specify -step option to generate timeline: with_step(0), and the RunMetadata of a run.\n")
        return
    from jitgraph.app.timeline import Timeline

    with open(f"{path}_{step}", "w") as file:
        file.write(Timeline(run_meta.step_stats).generate_chrome_trace_format())
    sys.stdout.write(f"Timeline file is written to {path}_{step}.\n"
                     "Open a Chrome browser, enter URL chrome://tracing and load the timeline file.\n")


class Profiler:
    """``profile`` of a graph for several runs: ``add_step`` takes their RunMetadata."""

    def __init__(self, graph: Any = None, op_log: Any = None):
        self._graph, self._op_log = graph or get_default_graph(), op_log
        self._steps: dict[int, Any] = {}

    def add_step(self, step: int, run_meta: Any) -> None:
        """Takes the RunMetadata of a run, under a number."""
        self._steps[step] = run_meta

    def profile_name_scope(self, options: dict) -> Any:
        """``profile`` with cmd="scope", of the step that `options` names, by default the last one."""
        return self._profile("scope", options)

    def _profile(self, cmd: str, options: dict) -> Any:
        step = options.get("step", -1)
        run_meta = self._steps.get(step if step >= 0 else max(self._steps, default=-1))
        return profile(self._graph, run_meta, self._op_log, cmd, options)

    def profile_graph(self, options: dict) -> Any:
        """``profile`` with cmd="graph", of the step that `options` names, by default the last one."""
        return self._profile("graph", options)

    def profile_operations(self, options: dict) -> Any:
        """``profile`` with cmd="op", of the step that `options` names, by default the last one."""
        return self._profile("op", options)

    def profile_python(self, options: dict) -> Any:
        """``profile`` with cmd="code", of the step that `options` names, by default the last one."""
        return self._profile("code", options)

    def advise(self, options: Any) -> Any:
        """The AdviceProto of the last step: see ``tf.profiler.advise``."""
        return advise(self._graph, self._steps.get(max(self._steps, default=-1)), options)

    def serialize_to_string(self) -> bytes:
        """Raises InvalidArgumentError: a ProfileProto is not here."""
        raise InvalidArgumentError(None, None, "tf.profiler makes no ProfileProto here: keep the RunMetadata of the steps")
