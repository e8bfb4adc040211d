"""Runs workloads: every measurement in a process of its own, the peers in turn, several rounds."""

from __future__ import annotations

import contextlib
import fnmatch
import importlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jitgraph.bench.workload import REGISTRY, Workload
from jitgraph.bench.workloads import MODELS, MODULES

WORKER = Path(__file__).with_name("worker.py")

STANDARD = ("import", "dispatch", "fused", "affine", "softmax", "layernorm", "adam", "mlp-128", "new-batch-size")
"""What `jitgraph bench` runs unless told otherwise; all of them take about an hour with every peer."""

SHARED = 1e-3
"""Seconds on one core from which threads share out the work of everything that can be shared."""


@dataclass
class Measurement:
    """What one peer did on one workload, in seconds; `error` says why there is nothing."""

    peer: str
    rounds: list[dict[str, Any]] = field(default_factory=list)
    error: str = ""

    @property
    def best(self) -> float | None:
        return min((one["best"] for one in self.rounds), default=None)

    @property
    def median(self) -> float | None:
        return statistics.median(one["median"] for one in self.rounds) if self.rounds else None

    @property
    def memory(self) -> int | None:
        return min((one["memory"] for one in self.rounds), default=None)

    @property
    def version(self) -> str:
        return self.rounds[0]["version"] if self.rounds else ""

    @property
    def digest(self) -> list[float]:
        return self.rounds[0].get("digest", []) if self.rounds else []


@dataclass
class Row:
    """One workload with the measurements of all peers that have it."""

    workload: Workload
    measurements: dict[str, Measurement]

    def ratio(self, peer: str, statistic: str = "median") -> float | None:
        """Return ours / peer's, or None where either is missing or too small to be compared."""
        ours, theirs = self.measurements.get("jitgraph"), self.measurements.get(peer)
        if ours is None or theirs is None or peer == "jitgraph":
            return None
        a, b = getattr(ours, statistic), getattr(theirs, statistic)
        return a / b if a is not None and b is not None and a > 0 and b > 0 else None

    def differing(self) -> list[str]:
        """Return the peers whose result is not that of the first peer that gave one."""
        if self.workload.noise is None:
            return []
        given = {peer: one.digest for peer, one in self.measurements.items() if one.digest}
        reference = next(iter(given.values()), [])
        return [peer for peer, one in given.items() if not alike(one, reference, self.workload.noise)]


@dataclass
class Scaling:
    """One workload of ours, on one core and on several."""

    workload: Workload
    cores: int
    one: Measurement
    several: Measurement

    @property
    def speedup(self) -> float | None:
        """How many times as fast several cores are, in medians."""
        a, b = self.one.median, self.several.median
        return a / b if a and b else None


def alike(a: list[float], b: list[float], noise: float) -> bool:
    """Return whether two digests (count, mean, mean magnitude, mean square) agree up to `noise`."""
    if a[0] != b[0]:
        return False
    scales = [a[2], a[2], a[3]]
    return all(abs(x - y) <= noise * scale for x, y, scale in zip(a[1:], b[1:], scales))


def workloads() -> dict[str, Workload]:
    """Return all workloads by name, in the order of the table."""
    modules = (*MODULES, *MODELS)
    for module in modules:
        importlib.import_module(f"jitgraph.bench.workloads.{module}")
    return {one.name: one for module in modules for one in REGISTRY.values() if one.module == module}


def choose(only: list[str], everything: bool = False, models: bool = False) -> list[str]:
    """Return the names of the workloads that patterns such as `mlp*` name; the standard ones without a pattern.

    `models` are whole networks alone, `everything` all that are none.  Raises ValueError for a pattern that names none.
    """
    found = {name: one for name, one in workloads().items() if only and not models or (one.module in MODELS) == models}
    if not only:
        return [name for name in found if everything or models or name in STANDARD]
    for pattern in only:
        if not fnmatch.filter(found, pattern):
            raise ValueError(f"no workload is called {pattern!r}; see: jitgraph bench --list")
    return [name for name in found if any(fnmatch.fnmatch(name, pattern) for pattern in only)]


def run(
    names: Iterable[str],
    peers: dict[str, str],
    rounds: int = 3,
    seconds: float = 1.0,
    small: bool = False,
    cores: int | None = None,
    limit: float = 600.0,
    tell: Callable[[str], None] = lambda text: None,
) -> Iterator[Row]:
    """Measure workloads and yield a row each; `tell` hears what is being done.

    `cores` restricts every process to that many cores; a process that takes longer than `limit` seconds is given up.
    """
    known = workloads()
    with _store() as store:
        for name in names:
            row = Row(known[name], {peer: Measurement(peer) for peer in peers if peer in known[name].functions})
            turns = [Turn(one, peers[peer], cores) for peer, one in row.measurements.items()]
            _take_turns(row.workload, turns, rounds, seconds, small, store, limit, tell)
            yield row


def scale(
    names: Iterable[str],
    cores: int = 2,
    rounds: int = 3,
    seconds: float = 1.0,
    small: bool = False,
    limit: float = 600.0,
    tell: Callable[[str], None] = lambda text: None,
) -> Iterator[Scaling]:
    """Measure workloads of ours on one core and on `cores`, in turns, and yield what took `SHARED` seconds on one core.

    What takes less is done by one thread. Raises ValueError where this process may not use so many cores.
    """
    if len(cpus()) < cores:
        raise ValueError(f"{cores} cores are to be compared with one, but this process may run on {len(cpus())}")
    known = workloads()

    def measured() -> Iterator[Scaling]:
        with _store() as store:
            for workload in (known[name] for name in names if known[name].kind == "steady"):
                row = Scaling(workload, cores, Measurement("jitgraph"), Measurement("jitgraph"))
                turns = [Turn(row.one, sys.executable, 1), Turn(row.several, sys.executable, cores)]
                _take_turns(workload, turns, rounds, seconds, small, store, limit, tell)
                if small or row.one.median is None or row.one.median >= SHARED:
                    yield row

    return measured()


@dataclass
class Turn:
    """Who is measured in every round: a peer, whose numbers go into `measurement`, by an interpreter, on so many cores."""

    measurement: Measurement
    interpreter: str
    cores: int | None


def _take_turns(
    workload: Workload,
    turns: list[Turn],
    rounds: int,
    seconds: float,
    small: bool,
    store: str,
    limit: float,
    tell: Callable[[str], None],
) -> None:
    """Measure a workload in rounds, each in turn, so that what else the machine does meets all alike."""
    for number in range(rounds):
        for turn in turns:
            peer = turn.measurement.peer
            if turn.measurement.error:
                continue
            where = f" on {turn.cores}" if turn.cores else ""
            tell(f"{workload.name}: {peer}{where}, round {number + 1} of {rounds}")
            command = [turn.interpreter, str(WORKER), workload.module, workload.name, peer, "--seconds", str(seconds)]
            answer = _measure(command + ["--small"] * small, store, turn.cores, limit)
            if isinstance(answer, str):
                turn.measurement.error = answer
            else:
                turn.measurement.rounds.append(answer)


@contextlib.contextmanager
def _store() -> Iterator[str]:
    """A folder for the kernels that the workers of one run compile."""
    store = tempfile.mkdtemp(prefix="jitgraph-bench-")
    try:
        yield store
    finally:
        shutil.rmtree(store, ignore_errors=True)


def cpus() -> list[int]:
    """The processors that this process may run on, those of different cores first: two of one core are no two cores."""
    if not hasattr(os, "sched_getaffinity"):
        return list(range(os.cpu_count() or 1))
    first: list[int] = []
    second: list[int] = []
    met: set[str] = set()
    for cpu in sorted(os.sched_getaffinity(0)):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        core = siblings.read_text() if siblings.exists() else str(cpu)
        (second if core in met else first).append(cpu)
        met.add(core)
    return first + second


def _measure(command: list[str], store: str, cores: int | None, limit: float) -> dict[str, Any] | str:
    """Run one worker and return its answer, or in a few words why there is none."""
    scratch = tempfile.mkdtemp(dir=store)
    environment = {
        "JITGRAPH_CACHE": os.path.join(store, "kernels"),
        **os.environ,
        "JITGRAPH_BENCH_SCRATCH": scratch,
        "PYTHONDONTWRITEBYTECODE": "",
    }
    restrict = None
    if cores is not None:
        usable = cpus()[:cores]
        environment["JITGRAPH_THREADS"] = str(len(usable))
        if hasattr(os, "sched_setaffinity"):
            restrict = lambda: os.sched_setaffinity(0, usable)
    try:
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            timeout=limit,
            stdin=subprocess.DEVNULL,
            preexec_fn=restrict,
        )
    except subprocess.TimeoutExpired:
        return f"took longer than {limit:.0f} s"
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if done.returncode:
        lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
        return lines[-1].strip() if lines else f"ended with code {done.returncode}"
    return json.loads(done.stdout.strip().splitlines()[-1])
