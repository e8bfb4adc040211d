"""What a user waits for before the first result: import, the first run with an empty store, and with a filled one."""

from __future__ import annotations

import operator
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from ..workload import FIRST_NAMES, MODULES, Workload

_FILLED = "JITGRAPH_BENCH_FILLED_STORE"

import_ = Workload(
    "import", "import, with the names a program begins with", kind="once", goals={"tensorflow": 0.05, "jax": 0.2}
)


def _import(module: str) -> float:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    begun = time.perf_counter()
    imported = __import__(module)
    for name in FIRST_NAMES[module]:
        operator.attrgetter(name)(imported)
    return time.perf_counter() - begun


for _peer in ("jitgraph", "numpy", "jax", "tensorflow", "torch", "pytensor"):
    import_.on(_peer)(lambda module=MODULES[_peer]: _import(module))


def _stores(directory: str, jit: str) -> None:
    """Point every peer's store of compiled code at a folder; before they are imported."""
    os.environ["JITGRAPH_CACHE"] = os.path.join(directory, "jitgraph")
    os.environ["JITGRAPH_JIT"] = jit
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(directory, "torch")
    os.environ["JAX_COMPILATION_CACHE_DIR"] = os.path.join(directory, "jax")
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    os.environ["NUMBA_CACHE_DIR"] = os.path.join(directory, "numba")


def _once(call: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def _scratch() -> str:
    """Return an empty folder: the one that the runner made and will remove, or, by hand, a new one."""
    return os.environ.get("JITGRAPH_BENCH_SCRATCH") or tempfile.mkdtemp(prefix="bench-store-")


def _empty_store(jit: str) -> None:
    _stores(_scratch(), jit)


def _filled_store(jit: str) -> None:
    """Fill a store by running this very measurement in another process first."""
    if _FILLED not in os.environ:
        os.environ[_FILLED] = _scratch()
        subprocess.run([sys.executable, *sys.argv], check=True, stdout=subprocess.DEVNULL)
    _stores(os.environ[_FILLED], jit)


def _first_runs(name: str, title: str, batch: int, tf1: Any, jax: Any, torch: Any) -> None:
    """Declare the first runs of a training step; the steps are given as functions that return the call."""
    phases: tuple[tuple[str, str, Callable[[str], None], str, dict[str, float]], ...] = (
        ("cold", 'first run, empty store, jit="always"', _empty_store, "always", {"jax": 1.0}),
        ("soon", 'first result, empty store, jit="auto"', _empty_store, "auto", {"tensorflow": 1.5}),
        ("warm", 'first run, new process, filled store, jit="always"', _filled_store, "always", {}),
    )
    for phase, what, prepare, jit, goals in phases:
        workload = Workload(
            f"{name}-{phase}", f"{title}: {what}", {"batch": batch}, {"batch": 8}, kind="once", goals=goals
        )

        # Peers are imported in here, after their stores have been pointed elsewhere.
        def run(peer: str, batch: int, prepare: Any = prepare, jit: str = jit) -> float:
            prepare(jit)
            if peer == "jax":
                return _once(jax(batch))
            if peer.startswith("torch"):
                import torch as module

                return _once(torch(module, module.compile if peer == "torch-compile" else lambda f: f, batch))
            from ..workload import tensorflow_1

            return _once(tf1(tensorflow_1(peer), batch))

        for peer in ("jitgraph", "jax", "tensorflow", "tensorflow-xla", "torch", "torch-compile"):
            workload.on(peer)(lambda batch, peer=peer, run=run: run(peer, batch))


def _mlp(name: str) -> Callable[..., Callable[[], Any]]:
    """The MLP step of a peer as a call; the module is loaded when it is measured."""

    def prepare(*arguments: Any) -> Callable[[], Any]:
        from . import training

        step = getattr(training, f"mlp_{name}")(*arguments)
        return lambda: step(arguments[-1])

    return prepare


def _cnn(name: str) -> Callable[..., Callable[[], Any]]:
    def prepare(*arguments: Any) -> Callable[[], Any]:
        from . import networks

        return getattr(networks, f"cnn_{name}")(*arguments)

    return prepare


_first_runs("mlp-first", "MLP step, batch 128", 128, _mlp("tf1"), _mlp("jax"), _mlp("torch"))
_first_runs("cnn-first", "CNN step, batch 128", 128, _cnn("tf1"), _cnn("jax"), _cnn("torch"))
