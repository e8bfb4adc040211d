"""`jitgraph bench --device gpu`: what moves memory, and steps of networks, on a GPU beside torch and JAX there.

All peers compile at the same time first, each into its store on the disk.  Then each has a process of its own, one peer after the
other, which measures one workload after the other and prints a line of JSON for each, as long as its share of the time lasts.
Beside times stands the share of the copy bandwidth that was measured in the same call.
"""

from __future__ import annotations

import contextlib
import datetime
import fnmatch
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from jitgraph.bench import runner
from jitgraph.bench.workload import REGISTRY, Workload
from jitgraph.bench.workloads import DEVICE

PEERS = {"jitgraph": "jitgraph", "jitgraph-own": "jitgraph", "jitgraph-tf32": "jitgraph", "jitgraph-half": "jitgraph",
         "torch": "torch", "torch-compile": "torch", "torch-overhead": "torch", "torch-tf32": "torch", "torch-half": "torch",
         "jax": "jax", "jax-tf32": "jax"}
"""{peer: its module}; torch-compile is Triton's code, torch-overhead the same by CUDA graphs; those with tf32 round the factors of
products, those with half compute networks in float16, from float32 variables, and jitgraph-own calls neither cuBLASLt nor cuDNN."""
AS = {"jitgraph-own": "jitgraph", "jitgraph-tf32": "jitgraph", "jitgraph-half": "jitgraph", "torch-overhead": "torch-compile",
      "torch-tf32": "torch", "torch-half": "torch", "jax-tf32": "jax"}
"""By whose programs these are measured."""
SETTINGS = {"jitgraph-own": {"JITGRAPH_WITHOUT": "library_products,library_convolutions"}, "jitgraph-tf32": {"JITGRAPH_TF32": "1"}}
"""{peer: what is set for its process}"""
HALVES = ("jitgraph-half", "torch-half")
APART = (*SETTINGS, "torch-tf32", "jax-tf32", *HALVES)
"""Those that the ratio of ours to the best leaves out: our own ways, and what rounds."""

MODELS = ("resnet50-forward-8", "resnet50-training-8", "mobilenet-forward-8", "mobilenet-training-8", "bert-forward-8",
          "bert-training-8", "ptb-dynamic-forward-20", "ptb-dynamic-training-20")
NETWORKS = ("mlp-128", "cnn", "lstm", *MODELS)
COPY = "device-copy"
BUDGET = 400.0          # seconds for all
COMPILING = 0.35        # of which so much at most is for compiling


@dataclass
class Row:
    """What the peers did on one workload: {peer: {"median", "host"} in seconds, or {"error"}}; `moves`: bytes of a call."""

    workload: Workload
    moves: int
    peers: dict[str, dict[str, Any]] = field(default_factory=dict)

    def median(self, peer: str) -> float | None:
        return self.peers.get(peer, {}).get("median")

    def rate(self, peer: str) -> float | None:
        """Bytes per second."""
        median = self.median(peer)
        return self.moves / median if median and self.moves else None


def workloads() -> dict[str, Workload]:
    """What is measured unless told otherwise, by name."""
    known = runner.workloads()
    importlib.import_module(f"jitgraph.bench.workloads.{DEVICE}")
    own = {name: one for name, one in REGISTRY.items() if one.module == DEVICE}
    return {**own, **{name: known[name] for name in NETWORKS}}


def choose(patterns: list[str]) -> list[str]:
    """The names that patterns such as `device-soft*` name; all without one.  Raises ValueError for one that names none."""
    known = workloads()
    for pattern in patterns:
        if not fnmatch.filter(known, pattern):
            raise ValueError(f"no workload for devices is called {pattern!r}; there are {', '.join(known)}")
    return [name for name in known if not patterns or any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


def measured(peer: str, name: str) -> bool:
    """Whether a peer measures a workload: those in float16 only the networks whose words have a form in it."""
    return AS.get(peer, peer) in workloads()[name].functions and (peer not in HALVES or name in MODELS)


def run(names: Iterable[str], seconds: float, small: bool = False, budget: float = BUDGET,
        tell: Callable[[str], None] = lambda text: None) -> list[Row]:
    """Measures workloads on every peer that is installed here; what there is no time for is left out and says so."""
    names, known = list(names), workloads()
    found = {name: Row(known[name], _moves(known[name], small)) for name in names}
    peers = [peer for peer, module in PEERS.items() if importlib.util.find_spec(module)]
    ends = time.monotonic() + budget
    with tempfile.TemporaryDirectory() as stores:
        if not small:
            tell(f"all peers compile {len(names)} workloads, at most {budget * COMPILING:.0f} s")
            _compile(peers, names, stores, budget * COMPILING)
        for k, peer in enumerate(peers):
            share = max((ends - time.monotonic()) / (len(peers) - k), 1.0)
            tell(f"{peer}: {len(names)} workloads, at most {share:.0f} s")
            for name, answer in _answers(peer, names, seconds, small, stores, share).items():
                found[name].peers[peer] = answer
    return list(found.values())


def _moves(workload: Workload, small: bool) -> int:
    return workload.moves(**(workload.small if small else workload.full)) if workload.moves else 0


def _compile(peers: list[str], names: list[str], stores: str, limit: float) -> None:
    """Lets all peers run all workloads once, at the same time, so that what they compile is there when they are timed."""
    nothing = subprocess.DEVNULL
    running = [subprocess.Popen(_command(peer, names, 0.0, False), stdin=nothing, stdout=nothing, stderr=nothing,
                                env=_environment(stores)) for peer in peers]
    ends = time.monotonic() + limit
    try:
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(ends - time.monotonic(), 0))
    finally:
        for process in running:
            process.kill()
            process.wait()


def _command(peer: str, names: list[str], seconds: float, small: bool) -> list[str]:
    return [sys.executable, "-m", "jitgraph.cli.device_worker", peer, *names, "--seconds", str(seconds), *["--small"] * small]


def _environment(stores: str) -> dict[str, str]:
    """That of a peer's process: what JAX compiles stays, as what others do anyhow, and it takes memory as it needs it."""
    return {"JAX_COMPILATION_CACHE_DIR": os.path.join(stores, "jax"), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false", **os.environ}


def _answers(peer: str, names: list[str], seconds: float, small: bool, stores: str, limit: float) -> dict[str, dict[str, Any]]:
    """What the process of a peer printed, and of what it did not come to, why."""
    try:
        done = subprocess.run(_command(peer, names, seconds, small), capture_output=True, text=True, timeout=limit,
                              stdin=subprocess.DEVNULL, env=_environment(stores))
        output, why = done.stdout, (done.stderr.strip().splitlines() or ["it ended"])[-1]
    except subprocess.TimeoutExpired as stopped:
        output, why = (stopped.stdout or b"").decode(errors="replace"), "no time was left"
    found: dict[str, dict[str, Any]] = {}
    for line in output.splitlines():
        if line.startswith('{"workload"'):
            answer = json.loads(line)
            found[answer.pop("workload")] = answer
    missing = [name for name in names if name not in found]
    return {**found, **{name: {"error": why} for name in missing if measured(peer, name)}}


# what is shown -------------------------------------------------------------------------------------------------------
def bandwidth(rows: list[Row]) -> float | None:
    """The most bytes per second at which a peer copied."""
    return max((rate for row in rows if row.workload.name == COPY for peer in PEERS if (rate := row.rate(peer))), default=None)


def as_json(rows: list[Row], gpu: str) -> dict[str, Any]:
    told = [{"name": row.workload.name, "title": row.workload.title, "moves": row.moves, "peers": row.peers} for row in rows]
    return {"gpu": gpu, "date": datetime.date.today().isoformat(), "bandwidth": bandwidth(rows), "rows": told}


def markdown(rows: list[Row], gpu: str) -> str:
    """A table of times, shares of the copy bandwidth and ratios to the fastest peer."""
    copied, peers = bandwidth(rows), [peer for peer in PEERS if any(peer in row.peers for row in rows)]
    lines = [f"# {gpu}, {datetime.date.today().isoformat()}", "",
             "Times are medians in microseconds; in brackets the share of the copy bandwidth" +
             (f" of {copied / 1e9:,.0f} GB/s." if copied else ", which was not measured.") +
             " Ours / best: below 1 jitgraph is the fastest. All is float32 where no other type stands: `jitgraph-tf32`," +
             " `torch-tf32` and `jax-tf32` round the factors of products, `jitgraph-half` and `torch-half` compute in float16," +
             " from float32 variables. `jitgraph-own` calls neither cuBLASLt nor cuDNN. What networks are fed comes from the" +
             " host at each step, JAX's and ours; torch's lies on the GPU.", "",
             "| workload | " + " | ".join(peers) + " | ours / best | host time of ours |",
             "|---|" + "---:|" * (len(peers) + 2)]
    remarks = []
    for row in rows:
        cells = [_cell(row, peer, copied) for peer in peers]
        others = [t for peer in peers if peer != "jitgraph" and peer not in APART and (t := row.median(peer))]
        ours, host = row.median("jitgraph"), row.peers.get("jitgraph", {}).get("host")
        cells += [f"{ours / min(others):.2f}" if ours and others else "", f"{host * 1e6:,.1f}" if host else ""]
        lines.append(f"| {row.workload.title} | " + " | ".join(cells) + " |")
        remarks += [f"- {row.workload.name}, {peer}: {one['error']}" for peer, one in row.peers.items() if "error" in one]
    return "\n".join([*lines, *([""] * bool(remarks)), *remarks]) + "\n"


def _cell(row: Row, peer: str, copied: float | None) -> str:
    median, rate = row.median(peer), row.rate(peer)
    if median is None:
        return "failed" if "error" in row.peers.get(peer, {}) else ""
    return f"{median * 1e6:,.1f}" + (f" ({rate / copied:.0%})" if rate and copied else "")
