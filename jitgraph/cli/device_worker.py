"""One peer on a GPU: measures workloads one after the other and prints a line of JSON for each.

    python -m jitgraph.cli.device_worker torch-compile device-chain mlp-128 --seconds 0.3 [--small]
"""

from __future__ import annotations

import argparse
import functools
import gc
import json
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

from jitgraph.bench import device

REPEATS, MOST = 5, 1000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("peer")
    parser.add_argument("names", nargs="+")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    wait = settle(options.peer)
    for name in options.names:
        if device.measured(options.peer, name):
            print(json.dumps({"workload": name, **answer(options.peer, name, options.seconds, options.small, wait)}), flush=True)
    os._exit(0)     # pools of peers have been seen to hang at exit


def settle(peer: str) -> Callable[[], None]:
    """Makes a peer compute on the GPU; returns what waits until all it was asked for is done."""
    if peer.startswith("jitgraph"):
        os.environ.update(device.SETTINGS.get(peer, {}))
        if peer in device.HALVES:
            from jitgraph.bench.workloads.models import net_tf1

            net_tf1.COMPUTED = "float16"
        return _settle_jitgraph()
    if peer.startswith("torch"):
        return _settle_torch(peer)
    import jax

    jax.config.update("jax_default_matmul_precision", "highest" if peer == "jax" else "default")        # else it rounds to TF32
    return lambda: None         # what JAX is asked for here waits by itself


def _settle_jitgraph() -> Callable[[], None]:
    from jitgraph.compiler import targets
    from jitgraph.runtime.cuda.machine import machine_of

    if not targets.present().has_memory:
        os.environ["JITGRAPH_TARGET"] = targets.CUDA.name
    os.environ["JITGRAPH_JIT"] = "always"       # not first by reference, on the host
    return machine_of(targets.present()).devices[0].synchronize


def _settle_torch(peer: str) -> Callable[[], None]:
    import torch

    if peer in device.HALVES:
        torch.autocast("cuda" if torch.cuda.is_available() else "cpu", torch.float16).__enter__()       # for all that follows
    if not torch.cuda.is_available():
        return lambda: None
    torch.set_default_device("cuda")
    made = torch.from_numpy
    torch.from_numpy = lambda array: made(array).cuda()         # a default device is not asked for it
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = peer == "torch-tf32"
    if peer == "torch-overhead":
        torch.compile = functools.partial(torch.compile, mode="reduce-overhead")
    return torch.cuda.synchronize


def answer(peer: str, name: str, seconds: float, small: bool, wait: Callable[[], None]) -> dict[str, Any]:
    """{"median", "host"}: seconds of a call until it is done, and until it returns, or {"error"}."""
    import jitgraph

    jitgraph.reset_default_graph()
    gc.collect()
    try:
        call = device.workloads()[name].prepare(device.AS.get(peer, peer), small)
        return timed(call, seconds, wait)
    except Exception as error:      # whatever a peer meets with, the next workload has its turn
        return {"error": f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:300]}


def timed(call: Callable[[], Any], seconds: float, wait: Callable[[], None]) -> dict[str, float]:
    """Times batches of calls, each with one wait at its end."""
    for _ in range(3):
        call()
    wait()
    started = time.perf_counter()
    call()
    wait()
    once = time.perf_counter() - started
    number = max(1, min(MOST, int(seconds / REPEATS / max(once, 1e-6))))
    done, returned = [], []
    for _ in range(REPEATS):
        started = time.perf_counter()
        for _ in range(number):
            call()
        returned.append((time.perf_counter() - started) / number)
        wait()
        done.append((time.perf_counter() - started) / number)
    return {"median": statistics.median(done), "host": statistics.median(returned)}


if __name__ == "__main__":
    main()
