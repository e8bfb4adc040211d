"""Traced and limited runs: `RunOptions` in, `RunMetadata.step_stats` out.

A trace has an entry per kernel, named after the operation whose value it makes, and per operation on the host.
"""
from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .watch import watching

if TYPE_CHECKING:
    from jitgraph.compiler.ir import Node
    from jitgraph.compiler.kernel import Kernel
    from jitgraph.graph.operation import Operation

    from .binding import Binding
    from .plan import Plan

NO_TRACE = 0
TASK = "/job:localhost/replica:0/task:0"
DEVICE = TASK + "/device:CPU:0"


class Trace:
    """What a run did, where and when: (name, label, begin, end, arrays, devices), times in nanoseconds since the epoch."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, str, int, int, list[Any], tuple[str, ...]]] = []      # as above
        self.created = time.time_ns()
        self._offset = self.created - time.perf_counter_ns()
        self.thread = threading.get_ident() & 0xFFFFFFFF

    def now(self) -> int:
        return time.perf_counter_ns() + self._offset

    def kernel(self, kernel: Kernel, begin: int, binding: Binding, gpu: int | None = None) -> None:
        """Records a kernel that has just ended, of the host or of a GPU: there TensorFlow tells once who asked for it, and once
        when it ran."""
        ops = list(dict.fromkeys(n.op for n in kernel.nodes if n.op is not None))
        name = ops[-1].name if ops else kernel.name
        inputs = dict.fromkeys(t.op.name for op in ops for t in op.inputs if t.op not in ops)
        devices = (DEVICE,) if gpu is None else (f"{TASK}/device:GPU:{gpu}", f"/device:GPU:{gpu}/stream:all")
        self._add(name, f"{name} = {kernel.name}({', '.join(inputs)})", begin, [], devices)

    def copy(self, name: str, kind: str, nbytes: int, begin: int, gpu: int) -> None:
        """Records a copy to or from a GPU that has just ended; `kind`: HtoD, DtoH or DtoD."""
        self._add(name, f"MEMCPY{kind} {nbytes} bytes", begin, [], (f"/device:GPU:{gpu}/memcpy",))

    def operation(self, op: Operation, begin: int, arrays: Sequence[Any] = ()) -> None:
        """Records an operation that has just ended, and its results."""
        inputs = ", ".join(t.op.name if t.value_index == 0 else t.name for t in op.inputs)
        self._add(op.name, f"{op.name} = {op.type}({inputs})", begin, arrays)

    def compiled(self, begin: int) -> None:
        """Says that the run has compiled something since `begin`; TensorFlow's traces have no entry for it."""

    def step(self, node: Node, begin: int, arrays: Sequence[Any] = ()) -> None:
        """Records a step on the host that has just ended: an operation, or a primitive without a kernel."""
        if node.attrs.get("call") == "op":
            assert node.op is not None
            self.operation(node.op, begin, arrays)
        else:
            name = node.op.name if node.op is not None else node.kind.name
            self._add(name, f"{name} = {node.kind}()", begin, arrays)

    def _add(self, name: str, label: str, begin: int, arrays: Sequence[Any], devices: tuple[str, ...] = (DEVICE,)) -> None:
        self.entries.append((name, label, begin, self.now(), list(arrays), devices))

    def write(self, step_stats: Any) -> None:
        """Fills a StepStats message."""
        known = {DEVICE: step_stats.dev_stats.add(device=DEVICE)}
        for name, label, begin, end, arrays, devices in self.entries:
            micros, length = begin // 1000, max((end - begin) // 1000, 1)
            for device in devices:
                if device not in known:
                    known[device] = step_stats.dev_stats.add(device=device)
                stats = known[device].node_stats.add(
                    node_name=name, timeline_label=label, all_start_micros=micros, op_end_rel_micros=length,
                    all_end_rel_micros=length, scheduled_micros=micros, thread_id=self.thread, all_start_nanos=begin,
                    op_end_rel_nanos=end - begin, all_end_rel_nanos=end - begin, scheduled_nanos=begin)
                for slot, array in ((slot, array) for slot, array in enumerate(arrays) if array is not None):
                    _describe(stats.output.add(slot=slot), array)


def _describe(output: Any, array: Any) -> None:
    from jitgraph.graph.dtypes import as_dtype

    if not isinstance(array, np.ndarray):
        return
    description = output.tensor_description
    description.dtype = as_dtype("string" if array.dtype == object else array.dtype).as_datatype_enum
    for size in array.shape:
        description.shape.dim.add(size=size)
    memory = description.allocation_description
    memory.requested_bytes, memory.allocator_name = array.nbytes, "cpu"


def traced(plan: Plan, arrays: Sequence[Any], options: Any, run_metadata: Any, timeout: int = 0) -> list[Any]:
    """Runs a plan as RunOptions say and fills RunMetadata (either may be None); `timeout`: in ms, where none is given.

    Raises DeadlineExceededError if the time is over.
    """
    tracing = run_metadata is not None and options is not None and options.trace_level != NO_TRACE
    trace = Trace() if tracing else None
    with watching((options.timeout_in_ms if options is not None else 0) or timeout, trace):
        results = plan.run(arrays)
    if run_metadata is not None:
        run_metadata.Clear()
    if trace is not None:
        trace.write(run_metadata.step_stats)
    if run_metadata is not None and options is not None and options.output_partition_graphs:
        _add_graph(plan, run_metadata)
    return results


def _add_graph(plan: Plan, run_metadata: Any) -> None:
    """The operations that the run needed, as a GraphDef."""
    from jitgraph.graph.protos.graph_def import version_def

    graph = run_metadata.partition_graphs.add()
    graph.versions.CopyFrom(version_def())
    for op in plan.ops:
        graph.node.add().CopyFrom(op.node_def)
