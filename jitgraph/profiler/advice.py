"""``tf.profiler.advise``: what takes the most time in a run, as reports of checkers."""
from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

from jitgraph.graph.default_graph import get_default_graph
from jitgraph.profiler.report import time_text, times_of
from jitgraph.protobuf import messages

_MOST = 3           # of a kind that a report has


def _expensive(graph: Any, times: dict[str, int]) -> list[str]:
    """The types, the operations and the lines of the program that take the most time."""
    total = sum(times.values())
    if not total:
        return []
    types: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for name, micros in times.items():
        op = graph.get_operation_by_name(name)
        types[op.type] += micros
        if op.traceback:
            file, line, function = op.traceback[-1][:3]
            lines[f"{file.rpartition('/')[2]}:{line}:{function}"] += micros
    by_type = [f"top {k} operation type: {name}, {_spent(micros)} ({micros / total:.2%})"
               for k, (name, micros) in enumerate(types.most_common(_MOST), 1)]
    by_name = [f"top {k} graph node: {name}, {_spent(micros)}"
               for k, (name, micros) in enumerate(Counter(times).most_common(_MOST), 1)]
    by_line = [f"{place}, {_spent(micros)}" for place, micros in lines.most_common(_MOST)]
    return ["\n".join(part) for part in (by_type, by_name, by_line) if part]


def _spent(micros: int) -> str:
    return f"cpu: {time_text(micros)}, accelerator: 0us, total: {time_text(micros)}"


def _nothing(graph: Any, times: dict[str, int]) -> list[str]:
    return []


# the formats of images that the second one asks for make no difference here, nor is there an accelerator to be idle
_CHECKERS: dict[str, Callable] = {"ExpensiveOperationChecker": _expensive, "OperationChecker": _nothing,
                                  "AcceleratorUtilizationChecker": _nothing}


def advise(graph: Any = None, run_meta: Any = None, options: Any = 0) -> Any:
    """An AdviceProto: reports by the name of the checker, which are printed too.

    `graph`: the default one if None; `run_meta`: the RunMetadata of a run with FULL_TRACE, without which there is nothing to
    report; `options`: a dict whose keys are the checkers to ask, all if not given: "ExpensiveOperationChecker" names what takes
    the most time, "OperationChecker" and "AcceleratorUtilizationChecker" have nothing to report here.
    """
    graph = graph or get_default_graph()
    times = times_of(graph, run_meta) if run_meta else {}
    found: Any = messages.AdviceProto()
    sys.stdout.write("Parsing Inputs...\n")
    asked = _CHECKERS if options == 0 else options or {}
    for name in [name for name in _CHECKERS if name in asked]:
        reports = _CHECKERS[name](graph, times)
        found.checkers[name].reports.extend(reports)
        sys.stdout.write("\n".join([f"\n{name}:", *reports]) + "\n")
    return found
