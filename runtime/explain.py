"""Where the time of runs goes: per kernel and host step, beside what this machine can do at best.

`Session.explain` runs something a few times and tells; `recording` does so for all runs of a program.
"""
from __future__ import annotations

import functools
import math
import textwrap
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jitgraph.compiler import sizes, work
from jitgraph.compiler.kernel import Kernel

from .profile import Trace
from .watch import watching

if TYPE_CHECKING:
    from jitgraph.graph.operation import Operation

    from .binding import Binding
    from .session import BaseSession

Row = tuple[str, list[str], float, float, float, float, float, float, float]     # see `Explanation.rows`

COMPILING = "compiling"
AROUND = ("around them: what Session.run does in Python: looking up the plan, checking and copying feeds, copying results, "
          "calling the kernels. To be timed, each kernel is called on its own: some microseconds more than in a run that "
          "nobody watches.")


@dataclass
class Line:
    """One kernel, or one operation on the host: seconds, bytes moved and arithmetic operations of all its calls.  `kind` is
    "kernel", "host", "copy" or COMPILING."""

    name: str
    operations: list[str]
    kind: str
    calls: int = 0
    seconds: float = 0.0
    bytes: int = 0
    flops: int = 0


@dataclass
class Explanation:
    """What `runs` runs of one signature did.  `seconds` is their time together, without that of measuring, of which the
    lines are parts; `limits` are bytes and operations per second that this machine reached in a copy and in a matrix
    product.  A loop that is looked at iterates step by step, and may take longer than one that is not."""

    title: str
    lines: list[Line] = field(default_factory=list)
    runs: int = 0
    seconds: float = 0.0
    limits: tuple[float, float] = (0.0, 0.0)

    def rows(self) -> list[Row]:
        """(name, operations, calls, ms, share of the time, MB, share of the bandwidth, MFlop, share of the peak) for one
        run, the longest first; shares between 0 and 1.  Those that took less than a thousandth of all are one row.  The
        last row is what is left of the time, see AROUND: all of them together are the run."""
        listed = sum(line.seconds for line in self.lines)
        often = sum(line.seconds for line in self.lines if line.name != COMPILING)      # not only once
        small = [line for line in self.lines if line.seconds < often / 1000]
        lines = [line for line in self.lines if line not in small]
        if small:
            lines.append(Line(f"{len(small)} short ones", [], "", sum(s.calls for s in small), sum(s.seconds for s in small)))
        found = []
        rest = Line("around them", [], "", self.runs, self.seconds - listed)
        for line in [*sorted(lines, key=lambda line: -line.seconds), rest]:
            spent = max(line.seconds, 1e-9)
            found.append((line.name, line.operations, line.calls / self.runs, line.seconds / self.runs * 1e3,
                          line.seconds / max(self.seconds, 1e-9), line.bytes / self.runs / 1e6,
                          line.bytes / spent / self.limits[0], line.flops / self.runs / 1e6,
                          line.flops / spent / self.limits[1]))
        return found

    def _shares(self) -> str:
        """Where devices compute: how many of the steps the host does, and what is copied."""
        calls = {kind: sum(line.calls for line in self.lines if line.kind == kind) / self.runs
                 for kind in ("kernel", "host", "copy")}
        device = sum(line.calls for line in self.lines if line.kind == "kernel" and " on GPU:" in line.name) / self.runs
        if not device and not calls["copy"]:
            return ""
        total = calls["kernel"] + calls["host"]
        copied = sum(line.bytes for line in self.lines if line.kind == "copy") / self.runs
        return f"; the host does {total - device:.0f} of {total:.0f} steps; {calls['copy']:.0f} copies of {copied:.0f} bytes in all"

    def __str__(self) -> str:
        limits = "simulated devices, whose times say nothing of a GPU" if math.isinf(self.limits[0]) else \
            f"limits {self.limits[0] / 1e9:.1f} GB/s, {self.limits[1] / 1e9:.0f} GFlop/s"
        out = [f"{self.title}: {self.seconds / self.runs * 1e3:.3f} ms a run, {self.runs} runs; {limits}{self._shares()}",
               f"{'ms':>9} {'share':>6} {'calls':>6} {'MB':>9} {'of limit':>8} {'MFlop':>10} {'of limit':>8}  kernel or step"]
        for name, operations, calls, ms, share, megabytes, bandwidth, mflop, peak in self.rows():
            arithmetic = f"{megabytes:9.3f} {bandwidth:8.0%} {mflop:10.3f} {peak:8.0%}" if megabytes else " " * 38
            after = f"  ({', '.join(operations[:3])}{', ...' if len(operations) > 3 else ''})" if operations else ""
            out.append(f"{ms:9.3f} {share:6.1%} {calls:6.0f} {arithmetic}  {name}{after}")
        out += textwrap.wrap(AROUND, 118)
        return "\n".join(out)


class Tally(Trace):
    """Adds up what runs do, by kernel and host operation."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[object, Line] = {}
        self.work: dict[tuple[int, Binding], tuple[list[str], int, int]] = {}     # (operations, bytes, arithmetic) of a call
        self.own = 0.0                  # seconds that this took
        self.lock = threading.Lock()
        self.present = threading.local()

    def start(self) -> None:
        """Says that a run begins in this thread."""
        self.present.spans = []

    @property
    def spans(self) -> list[tuple[int, int]]:
        """(begin, nanoseconds) of what has ended in this thread's run and may lie inside a step that has not."""
        found = getattr(self.present, "spans", None)
        if found is None:
            found = self.present.spans = []
        return found

    def kernel(self, kernel: Kernel, begin: int, binding: Binding, gpu: int | None = None) -> None:
        spent = self.now() - begin          # before anything is computed for the table
        known = self.work.get((id(kernel), binding))
        if known is None:
            operations = list(dict.fromkeys(n.op.name for n in kernel.nodes if n.op is not None))
            known = self.work[id(kernel), binding] = (operations, *_work(kernel, binding))
        name = kernel.name if gpu is None else f"{kernel.name} on GPU:{gpu}"
        self._count((id(kernel), gpu), name, "kernel", begin, spent, *known)

    def copy(self, name: str, kind: str, nbytes: int, begin: int, gpu: int) -> None:
        spent = self.now() - begin
        what = {"HtoD": f"copies to GPU:{gpu}", "DtoH": f"copies from GPU:{gpu}"}.get(kind, f"copies among GPUs, to GPU:{gpu}")
        self._count((kind, gpu), what, "copy", begin, spent, [], nbytes)

    def operation(self, op: Operation, begin: int, arrays: Sequence[Any] = ()) -> None:
        self._count(op, op.type, "host", begin, self.now() - begin, [op.name])

    def compiled(self, begin: int) -> None:
        self._count(COMPILING, COMPILING, COMPILING, begin, self.now() - begin, [])

    def _add(self, name: str, label: str, begin: int, arrays: Sequence[Any], devices: tuple[str, ...] = ()) -> None:
        self._count(label, label.partition(" = ")[2], "host", begin, self.now() - begin, [name])

    def _count(self, key: object, name: str, kind: str, begin: int, spent: int, operations: list[str], nbytes: int = 0,
               flops: int = 0) -> None:
        """Counts what has just ended, without what ended inside it: these are the last spans, for things end in order."""
        inside, spans = 0, self.spans
        while spans and spans[-1][0] >= begin:
            inside += spans.pop()[1]
        with self.lock:
            line = self.lines.setdefault(key, Line(name, operations, kind))
            line.calls, line.seconds = line.calls + 1, line.seconds + (spent - inside) / 1e9
            line.bytes, line.flops = line.bytes + nbytes, line.flops + flops
            own = self.now() - begin - spent
            self.own += own / 1e9
        spans.append((begin, spent + own))


def _work(kernel: Kernel, binding: Binding) -> tuple[int, int]:
    """(bytes, operations) of one call of a kernel, for the sizes of a binding."""
    return sizes.evaluate(work.moved(kernel), binding.values), sizes.evaluate(work.operations(kernel), binding.values)


@functools.cache
def limits(target: Any = None) -> tuple[float, float]:
    """(bytes per second of a variable updated in place, operations per second of a matrix product), the best of some, of a
    session's target.  A simulated device has none: infinity."""
    if getattr(target, "simulated", 0):
        return math.inf, math.inf
    import jitgraph as tf

    from .session import Session

    graph = tf.Graph()
    with graph.as_default():
        large = tf.Variable(tf.zeros([16 << 20]))
        square = tf.Variable(tf.zeros([1024, 1024]))
        add, product = tf.assign_add(large, tf.ones([16 << 20])).op, tf.matmul(square, square)
        with Session(graph=graph, jit="always") as session:
            session.run(tf.global_variables_initializer())
            return 2 * 4 * (16 << 20) / _best(session, add), 2 * 1024 ** 3 / _best(session, product)


def _best(session: BaseSession, fetch: Any) -> float:
    times = []
    for _ in range(6):
        begin = time.perf_counter()
        session.run(fetch)
        times.append(time.perf_counter() - begin)
    return min(times)


def explain(session: BaseSession, fetches: Any, feed_dict: dict[Any, Any] | None, runs: int) -> Explanation:
    """Runs `fetches` twice to compile them and `runs` times to see where the time goes."""
    for _ in range(2):
        session.run(fetches, feed_dict)
    tally, begin = Tally(), time.perf_counter()
    with watching(0, tally):
        for _ in range(runs):
            tally.start()
            session.run(fetches, feed_dict)
    seconds = time.perf_counter() - begin - tally.own
    return Explanation("run", list(tally.lines.values()), runs, seconds, limits(session._state.target))
