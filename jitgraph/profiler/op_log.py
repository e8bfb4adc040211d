"""``tf.profiler.write_op_log``: what is known of the operations of a graph, as a file that TensorFlow's profiler reads."""
from __future__ import annotations

import os
import sys
from typing import Any

from jitgraph.filesystem.gfile import GFile
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.profiler.flops import Unknown, flops_of
from jitgraph.profiler.options import TRAINABLE_VARIABLES
from jitgraph.protobuf import messages


def write_op_log(graph: Any, log_dir: Any, op_log: Any = None, run_meta: Any = None, add_trace: bool = True) -> None:
    """Writes an OpLogProto to the file "tfprof_log" of a folder: `op_log`, and what follows for operations of the graph.

    That is their arithmetic, where it is known, the type "_trainable_variables" of trainable variables, and with `add_trace`
    the lines of the program that made them.  `graph` None: the default one.  Raises NotFoundError if there is no such folder.
    """
    merged = _merged(graph or get_default_graph(), op_log, bool(run_meta), add_trace)
    with GFile(os.path.join(os.fspath(log_dir), "tfprof_log"), "wb") as file:
        file.write(merged.SerializeToString())


def _merged(graph: Any, op_log: Any, ran: bool, add_trace: bool) -> Any:
    """The OpLogProto of a graph; entries of `op_log` come first, and what they state stands."""
    log: Any = messages.OpLogProto()
    if op_log is not None:
        log.CopyFrom(op_log)
    entries = {entry.name: entry for entry in log.log_entries}
    texts = {"none": 0}
    missing = 0

    def entry_of(name: str) -> Any:
        if name not in entries:
            entries[name] = log.log_entries.add(name=name)
        return entries[name]

    for op in graph.get_operations():
        try:
            flops = flops_of(op)
        except Unknown:
            flops, missing = 0, missing + 1
        if flops and not entry_of(op.name).float_ops:
            entry_of(op.name).float_ops = flops
        if add_trace and not entry_of(op.name).code_def.traces:
            _add_traces(entry_of(op.name), op, texts)
    for variable in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES):
        entry_of(variable.op.name).types.append(TRAINABLE_VARIABLES)
    if missing and not ran:
        sys.stderr.write(f"{missing} ops no flops stats due to incomplete shapes.\n")
    for text, number in texts.items():
        log.id_to_string[number] = text
    return log


def _add_traces(entry: Any, op: Any, texts: dict[str, int]) -> None:
    def number(text: str | None) -> int:
        return texts.setdefault(text, len(texts)) if text else 0

    for file, line, function, text, start, *_ in op.traceback_with_start_lines:
        entry.code_def.traces.add(file_id=number(file), lineno=line or -1, function_id=number(function), line_id=number(text),
                                  func_start_line=start or -1)
