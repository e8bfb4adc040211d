"""`jitgraph.session_stats`: what a session has compiled so far, for a last table or a test."""
from __future__ import annotations

from typing import TYPE_CHECKING

from .background import BACKGROUND
from .library import LIBRARY

if TYPE_CHECKING:
    from jitgraph.compiler.kernel import Kernel

    from .session import BaseSession


def session_stats(session: BaseSession | None = None) -> dict[str, float]:
    """Counts for a session (all open sessions if None).

    Returns a dict: plans, runs, kernels (distinct, loaded), kernels_compiled, fused_ops (primitives in those kernels),
    compile_seconds, cache_hits, cache_misses.  The compile and cache counts are of the whole process.
    """
    from .session import SESSIONS

    BACKGROUND.wait()
    sessions = SESSIONS if session is None else [session]
    plans = [p for s in sessions for p in s.plans]
    kernels: dict[object, Kernel] = {}
    for plan in plans:
        for compiled in plan.compiled:
            kernels.update({address: kernel for kernel, address in compiled.kernels})
            kernels.update({launch.code: step.kernel for step, launch in compiled.launches.items()})        # of devices
    found = LIBRARY.statistics
    return {"plans": len(plans), "runs": sum(p.runs for p in plans), "kernels": len(kernels),
            "kernels_compiled": found.compiled, "fused_ops": sum(len(k.nodes) for k in kernels.values()),
            "compile_seconds": found.compile_seconds, "cache_hits": found.hits, "cache_misses": found.misses}
