"""Chrome's trace format for the step statistics of a run: open the JSON in chrome://tracing or ui.perfetto.dev.

    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    session.run(train, options=options, run_metadata=metadata)
    with open("trace.json", "w") as file:
        file.write(timeline.Timeline(metadata.step_stats).generate_chrome_trace_format())
"""
from __future__ import annotations

import collections
import json
import re
from dataclasses import dataclass
from typing import Any

AllocationMaximum = collections.namedtuple("AllocationMaximum", ["timestamp", "num_bytes", "tensors"])
StepStatsAnalysis = collections.namedtuple("StepStatsAnalysis", ["chrome_trace", "allocator_maximums"])

_LABEL = re.compile(r"(.*) = (.*)\((.*)\)$")


@dataclass
class _Tensor:
    """A tensor of the trace: where and when it was made, how large it is, when it was used last."""

    number: int
    name: str
    pid: int
    created: int
    ended: int
    allocator: str
    bytes: int
    last_used: int | None = None

    @property
    def dropped(self) -> int:
        return self.ended if self.last_used is None else self.last_used


class ChromeTrace:
    """Events in the order in which they are written; names of processes come first."""

    def __init__(self) -> None:
        self._names: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []

    def name_process(self, name: str, pid: int) -> None:
        """Gives a process its name."""
        self._names.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}})

    def add(self, phase: str, category: str, name: str, pid: int, tid: int, timestamp: int, **more: Any) -> None:
        """Adds an event; `timestamp` in microseconds."""
        self._events.append({"ph": phase, "cat": category, "name": name, "pid": pid, "tid": tid, "ts": timestamp, **more})

    def format_to_string(self, pretty: bool = True) -> str:
        """The trace as JSON."""
        layout: dict[str, Any] = {"indent": 4, "separators": (",", ": ")} if pretty else {"separators": (",", ":")}
        return json.dumps({"traceEvents": self._names + self._events}, **layout)


class Timeline:
    """The trace of a run, from ``run_metadata.step_stats``."""

    def __init__(self, step_stats: Any, graph: Any = None):
        self._step_stats = step_stats

    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False) -> str:
        """The trace as JSON text.

        `show_dataflow` draws arrows from producers to consumers; `show_memory` adds tensors and bytes per allocator.
        """
        return self.analyze_step_stats(show_dataflow, show_memory).chrome_trace.format_to_string()

    def analyze_step_stats(self, show_dataflow: bool = True, show_memory: bool = True) -> StepStatsAnalysis:
        """The trace, and for each allocator the moment at which most bytes were in use and by which tensors."""
        return _Analysis(self._step_stats).run(show_dataflow, show_memory)


class _Analysis:
    """One pass over step statistics."""

    def __init__(self, step_stats: Any):
        self.devices = list(step_stats.dev_stats)
        self.trace = ChromeTrace()
        self.tensors: dict[str, _Tensor] = {}
        self.sources: dict[str, tuple[int, int, int]] = {}      # node -> when it ended, its process and lane
        self.flows = 0

    def run(self, show_dataflow: bool, show_memory: bool) -> StepStatsAnalysis:
        self.trace.name_process("Allocators", 0)
        self.lanes = [_lanes(device.node_stats) for device in self.devices]
        for k, device in enumerate(self.devices):
            self.trace.name_process(device.device + " Compute", 2 * k + 1)
            self.trace.name_process(device.device + " Tensors", 2 * k + 2)
        for k, device in enumerate(self.devices):
            for node, lane in zip(device.node_stats, self.lanes[k]):
                self._make_tensors(node, 2 * k + 2, lane, show_memory)
        for k, device in enumerate(self.devices):
            for node, lane in zip(device.node_stats, self.lanes[k]):
                self._show_node(node, 2 * k + 1, lane, show_dataflow)
        maximums = self._show_memory(show_memory)
        return StepStatsAnalysis(self.trace, maximums)

    def _make_tensors(self, node: Any, pid: int, lane: int, shown: bool) -> None:
        for output in node.output:
            name = f"{node.node_name}:{output.slot}" if output.slot else node.node_name
            start, end = node.all_start_micros, node.all_start_micros + node.all_end_rel_micros
            memory = output.tensor_description.allocation_description
            tensor = _Tensor(len(self.tensors), name, pid, start, end, memory.allocator_name, memory.requested_bytes)
            self.tensors[name] = tensor
            if shown:
                self.trace.add("N", "Tensor", name, pid, lane, start, id=tensor.number)
                text = str(output.tensor_description).replace('"', "")
                snapshot = {"snapshot": {"tensor_description": text}}
                self.trace.add("O", "Tensor", name, pid, lane, end - 1, id=tensor.number, args=snapshot)

    def _show_node(self, node: Any, pid: int, lane: int, show_dataflow: bool) -> None:
        op, inputs = _operation(node)
        start, duration = node.all_start_micros, node.all_end_rel_micros
        arguments = {"name": node.node_name, "op": op, **{f"input{i}": name for i, name in enumerate(inputs)}}
        self.trace.add("X", "Op", op, pid, lane, start, dur=duration, args=arguments)
        for name in inputs:
            tensor = self.tensors.get(name)
            if tensor is None:
                continue
            used = start + duration - 1
            tensor.last_used = used if tensor.last_used is None else max(tensor.last_used, used)
            source = self.sources.get(name.partition(":")[0])
            if show_dataflow and source is not None and source[1:] != (pid, lane):
                self.trace.add("s", "DataFlow", name, source[1], source[2], source[0], id=self.flows)
                self.trace.add("t", "DataFlow", name, pid, lane, start, id=self.flows)
                self.flows += 1
        self.sources[node.node_name] = (start + duration, pid, lane)

    def _show_memory(self, shown: bool) -> dict[str, AllocationMaximum]:
        """Ends of tensors, and counters of bytes by allocator; the maximum of each counter."""
        changes: dict[str, list[tuple[int, int, int]]] = {}
        names = {tensor.number: tensor.name for tensor in self.tensors.values()}
        for tensor in self.tensors.values():
            if shown:
                self.trace.add("D", "Tensor", tensor.name, tensor.pid, 0, tensor.dropped, id=tensor.number)
            own = changes.setdefault(tensor.allocator, [])
            own.append((tensor.created, tensor.bytes, tensor.number))
            own.append((tensor.dropped, -tensor.bytes, tensor.number))
        maximums = {}
        for allocator in sorted(changes):
            total, alive = 0, set[str]()
            best = AllocationMaximum(0, 0, set())
            for moment, size, number in sorted(changes[allocator]):
                total += size
                alive ^= {names[number]}
                if total > best.num_bytes:
                    best = AllocationMaximum(moment, total, set(alive))
                if shown:
                    self.trace.add("C", "Memory", allocator, 0, 0, moment, args={allocator: total})
            maximums[allocator] = best
        return maximums


def _operation(node: Any) -> tuple[str, list[str]]:
    """The op type and the names of the inputs, from a label "name = Op(input, input)"."""
    match = _LABEL.match(node.timeline_label)
    if match is None:
        return ("RecvTensor" if node.node_name == "RecvTensor" else "unknown"), []
    _, op, inputs = match.groups()
    return op, inputs.split(", ") if inputs else []


def _lanes(nodes: Any) -> list[int]:
    """For each node a lane in which nothing else runs at that time: the first that is free."""
    free: list[int] = []
    found = []
    for node in nodes:
        lane = next((k for k, moment in enumerate(free) if moment <= node.all_start_micros), len(free))
        if lane == len(free):
            free.append(0)
        free[lane] = node.all_start_micros + node.all_end_rel_micros
        found.append(lane)
    return found
