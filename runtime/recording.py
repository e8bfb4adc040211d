"""Where the time of all runs of a program goes, for `jitgraph inspect --times` and `jitgraph run --times`."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .watch import watching

if TYPE_CHECKING:
    from .explain import Explanation, Tally
    from .plan import Plan

_recording: dict[Plan, tuple[Tally, list[float]]] | None = None


def record() -> None:
    """Tallies every run of the sessions that are made from now on."""
    global _recording
    _recording = {}


def active() -> bool:
    """Whether `record` was called, and `recorded` not yet."""
    return _recording is not None


def tallied(plan: Plan, run: Callable[[], list[Any]], timeout: int = 0) -> list[Any]:
    """Calls `run`, a run of `plan` with a time limit in ms, and adds it to the record."""
    from .explain import Tally

    assert _recording is not None
    found = _recording.setdefault(plan, (Tally(), []))
    found[0].start()
    begin = time.perf_counter()
    with watching(timeout, found[0]):
        results = run()
    found[1].append(time.perf_counter() - begin)
    return results


def recorded(beside_limits: bool = True) -> list[Explanation]:
    """One explanation for each distinct run since `record`, the one that took longest first; `beside_limits`: the machine's limits,
    which take half a second to measure, stand in them."""
    from .explain import Explanation, limits

    global _recording
    found, _recording = _recording or {}, None
    measured = limits() if beside_limits and found else (0.0, 0.0)
    listed = []
    for plan, (tally, times) in found.items():
        names = list(dict.fromkeys([*(t.op.name for t in plan.fetches), *(op.name for op in plan.targets)]))
        title = "run " + ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
        listed.append(Explanation(title, list(tally.lines.values()), len(times), sum(times) - tally.own, measured))
    return sorted(listed, key=lambda e: -e.seconds)
