"""Where the time of all runs of a program goes, for `jitgraph inspect --times` and `jitgraph run --times`."""
from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .watch import watching

if TYPE_CHECKING:
    from .explain import Explanation, Tally
    from .plan import Plan

_LONGEST_NAME = 44


@dataclass
class _Runs:
    """The runs of one plan: what they did, how long those that ended took, and when those that have not ended began."""

    tally: Tally
    times: list[float] = field(default_factory=list)
    under_way: dict[object, float] = field(default_factory=dict)


_recording: dict[Plan, _Runs] | None = None


def record() -> None:
    """Tallies every run of the sessions that are made from now on."""
    global _recording
    _recording = {}


def active() -> bool:
    """Whether `record` was called, and `recorded` not yet."""
    return _recording is not None


def tallied(plan: Plan, run: Callable[[], list[Any]], timeout: int = 0) -> list[Any]:
    """Calls `run`, a run of `plan` with a time limit in ms, and adds it to the record, also where it fails; there may be none any
    more, for threads of a program go on when it is over."""
    from .explain import Tally

    recording = _recording
    if recording is None:
        with watching(timeout):
            return run()
    found = recording.setdefault(plan, _Runs(Tally()))
    found.tally.start()
    this, begin = object(), time.perf_counter()
    found.under_way[this] = begin
    try:
        with watching(timeout, found.tally):
            return run()
    finally:
        found.times.append(time.perf_counter() - begin)
        del found.under_way[this]


def recorded(beside_limits: bool = True) -> list[Explanation]:
    """One explanation for each distinct run since `record`, the one that took longest first; `beside_limits`: the machine's limits,
    which take half a second to measure, stand in them."""
    from .explain import Explanation, limits

    global _recording
    found, _recording = _recording or {}, None
    measured = limits() if beside_limits and found else (0.0, 0.0)
    listed, now = [], time.perf_counter()
    for plan, runs in found.items():
        names = list(dict.fromkeys([*(t.op.name for t in plan.fetches), *(op.name for op in plan.targets)]))
        title = "run " + ", ".join(_ending(name) for name in names[:4]) + (", ..." if len(names) > 4 else "")
        times = [*runs.times, *(now - begin for begin in list(runs.under_way.values()))]
        listed.append(Explanation(title, list(runs.tally.lines.values()), len(times), sum(times) - runs.tally.own, measured))
    return sorted(listed, key=lambda e: -e.seconds)


def _ending(name: str) -> str:
    """The end of a long name: four whole ones would make a line of some hundred characters."""
    return name if len(name) <= _LONGEST_NAME else "..." + name[3 - _LONGEST_NAME:]
