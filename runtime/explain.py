"""Where the time of runs goes: per kernel and host step, beside what this machine can do at best.

`Session.explain` runs something a few times and tells; `recording` does so for all runs of a program.
"""
from __future__ import annotations

import functools
import threading
import time
from dataclasses import dataclass, field

from jitgraph.compiler import sizes, work

from .profile import Trace
from .watch import watching


@dataclass
class Line:
    """One kernel, or one operation on the host: seconds, bytes moved and arithmetic operations of all its calls."""

    name: str
    operations: list
    calls: int = 0
    seconds: float = 0.0
    bytes: int = 0
    flops: int = 0


@dataclass
class Explanation:
    """What `runs` runs of one signature did.  `seconds` is their time together, of which the lines are parts; `limits`
    are bytes and operations per second that this machine reached in a copy and in a matrix product."""

    title: str
    lines: list = field(default_factory=list)
    runs: int = 0
    seconds: float = 0.0
    limits: tuple = (0.0, 0.0)

    def rows(self) -> list[tuple]:
        """(name, operations, calls, ms, share of the time, MB, share of the bandwidth, MFlop, share of the peak) for one
        run, the longest first; shares between 0 and 1.  Those that took less than a thousandth of all are one row."""
        listed = sum(line.seconds for line in self.lines)
        small = [line for line in self.lines if line.seconds < listed / 1000]
        lines = [line for line in self.lines if line not in small]
        if small:
            lines.append(Line(f"{len(small)} short ones", [], sum(s.calls for s in small), sum(s.seconds for s in small)))
        found = []
        for line in sorted(lines, key=lambda line: -line.seconds):
            spent = max(line.seconds, 1e-9)
            found.append((line.name, line.operations, line.calls / self.runs, line.seconds / self.runs * 1e3,
                          line.seconds / max(self.seconds, 1e-9), line.bytes / self.runs / 1e6,
                          line.bytes / spent / self.limits[0], line.flops / self.runs / 1e6,
                          line.flops / spent / self.limits[1]))
        return found

    def __str__(self) -> str:
        listed = sum(line.seconds for line in self.lines)
        out = [f"{self.title}: {self.seconds / self.runs * 1e3:.3f} ms a run, {self.runs} runs; limits "
               f"{self.limits[0] / 1e9:.1f} GB/s, {self.limits[1] / 1e9:.0f} GFlop/s",
               f"{'ms':>9} {'share':>6} {'calls':>6} {'MB':>9} {'of limit':>8} {'MFlop':>10} {'of limit':>8}  kernel or step"]
        for name, operations, calls, ms, share, megabytes, bandwidth, mflop, peak in self.rows():
            arithmetic = f"{megabytes:9.3f} {bandwidth:8.0%} {mflop:10.3f} {peak:8.0%}" if megabytes else " " * 38
            after = f"  ({', '.join(operations[:3])}{', ...' if len(operations) > 3 else ''})" if operations else ""
            out.append(f"{ms:9.3f} {share:6.1%} {calls:6.0f} {arithmetic}  {name}{after}")
        rest = self.seconds - listed
        out.append(f"{rest / self.runs * 1e3:9.3f} {rest / max(self.seconds, 1e-9):6.1%}{'':46}  around them")
        return "\n".join(out)


class Tally(Trace):
    """Adds up what runs do, by kernel and host operation."""

    def __init__(self):
        super().__init__()
        self.lines: dict = {}
        self.work: dict = {}            # (bytes, operations) of a call, by kernel and binding
        self.spans: list = []           # (begin, nanoseconds) of what ran inside a step that calls functions
        self.lock = threading.Lock()

    def kernel(self, kernel, begin: int, binding):
        spent = self.now() - begin          # before anything is computed for the table
        known = self.work.get((kernel_id := id(kernel), id(binding)))
        if known is None:
            known = self.work[kernel_id, id(binding)] = _work(kernel, binding)
        operations = list(dict.fromkeys(n.op.name for n in kernel.nodes if n.op is not None))
        self._count(kernel_id, kernel.name, operations, begin, spent, *known)

    def operation(self, op, begin: int, arrays=()):
        self._count(op, op.type, [op.name], begin, self.now() - begin)

    def _add(self, name, label, begin, arrays):
        self._count(label, label.partition(" = ")[2], [name], begin, self.now() - begin)

    def _count(self, key, name, operations, begin, spent, nbytes=0, flops=0):
        with self.lock:
            inside = sum(t for b, t in self.spans if b >= begin)
            self.spans = [s for s in self.spans if s[0] < begin] + [(begin, spent)]
            line = self.lines.setdefault(key, Line(name, operations))
            line.calls, line.seconds = line.calls + 1, line.seconds + (spent - inside) / 1e9
            line.bytes, line.flops = line.bytes + nbytes, line.flops + flops


def _work(kernel, binding) -> tuple[int, int]:
    """(bytes, operations) of one call of a kernel, for the sizes of a binding."""
    return sizes.evaluate(work.moved(kernel), binding.values), sizes.evaluate(work.operations(kernel), binding.values)


@functools.cache
def limits() -> tuple[float, float]:
    """(bytes per second of a variable updated in place, operations per second of a matrix product), the best of some."""
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


def _best(session, fetch) -> float:
    times = []
    for _ in range(6):
        begin = time.perf_counter()
        session.run(fetch)
        times.append(time.perf_counter() - begin)
    return min(times)


def explain(session, fetches, feed_dict, runs: int) -> Explanation:
    """Runs `fetches` twice to compile them and `runs` times to see where the time goes."""
    for _ in range(2):
        session.run(fetches, feed_dict)
    tally, begin = Tally(), time.perf_counter()
    with watching(0, tally):
        for _ in range(runs):
            session.run(fetches, feed_dict)
    seconds = time.perf_counter() - begin
    return Explanation("run", list(tally.lines.values()), runs, seconds, limits())
