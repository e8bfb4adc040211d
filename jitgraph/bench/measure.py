"""How long a call takes: the best and the median of many, with the garbage collector out of the way."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

SHORTEST_BATCH = 2e-3
"""Calls shorter than this are timed in batches, so that the clock's own cost does not count (seconds)."""


def steady(call: Callable[[], Any], seconds: float, warm_calls: int = 3) -> dict[str, float]:
    """Time a call in its steady state for about `seconds`.

    The first calls, in which peers compile, are not counted: at least `warm_calls`, and as many as fit in a tenth of
    the time. Returns seconds per call: `best` and `median` over the batches, and the number of `batches`.
    """
    started = time.perf_counter()
    calls = 0
    while calls < warm_calls or time.perf_counter() - started < seconds / 10:
        before = time.perf_counter()
        call()
        once = time.perf_counter() - before
        calls += 1
    number = max(1, round(SHORTEST_BATCH / max(once, 1e-7)))
    times: list[float] = []
    collecting = gc.isenabled()
    gc.disable()
    try:
        ends = time.perf_counter() + seconds
        while len(times) < 5 or time.perf_counter() < ends:
            repeats = range(number)
            before = time.perf_counter()
            for _ in repeats:
                call()
            times.append((time.perf_counter() - before) / number)
    finally:
        if collecting:
            gc.enable()
    return {"best": min(times), "median": statistics.median(times), "batches": len(times)}


def single(seconds: float | list[float]) -> dict[str, float]:
    """The same form for something that can be measured but once, or a few times, in a process."""
    times = seconds if isinstance(seconds, list) else [seconds]
    return {"best": min(times), "median": statistics.median(times), "batches": len(times)}
