"""What was measured, as a table, as JSON and as a page with bars."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jitgraph.bench.runner import Row, Scaling

if TYPE_CHECKING:
    from rich.table import Table

_SCALES = (("us", 1e-6, 1e-3), ("ms", 1e-3, 1.0), ("s", 1.0, float("inf")))


def duration(seconds: float | None) -> str:
    """Return seconds in the unit that suits them, three digits.

    >>> duration(2.2e-6), duration(0.0179), duration(27.73), duration(None)
    ('2.20 us', '17.9 ms', '27.7 s', '')
    """
    if seconds is None:
        return ""
    unit, scale = next((unit, scale) for unit, scale, end in _SCALES if abs(seconds) < end)
    value = seconds / scale
    digits = 0 if abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2
    return f"{value:.{digits}f} {unit}"


def size(number: int | None) -> str:
    """Return bytes in megabytes: size(123_456_789) is "123 MB"."""
    return "" if number is None else f"{number / 1e6:.0f} MB"


def proportion(ratio: float | None) -> str:
    """Return a ratio with two significant digits: "0.031x", "1.2x", "340x"."""
    if ratio is None:
        return ""
    return f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.2g}x" if ratio < 0.995 else f"{ratio:.1f}x"


def machine() -> dict[str, Any]:
    """Say what was measured on."""
    try:
        import llvmlite.binding as llvm

        cpu = llvm.get_host_cpu_name()
    except ImportError:
        cpu = platform.processor()
    return {
        "cpu": cpu,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }


LABELS = {"tensorflow": "TF", "tensorflow-xla": "TF+XLA", "torch-compile": "compile"}
"""Peers whose names are too long for the head of a column."""


def peers_of(rows: list[Row]) -> list[str]:
    """Return the peers other than jitgraph that measured anything, in the order of the table."""
    from jitgraph.bench.workload import MODULES

    return [peer for peer in MODULES if peer != "jitgraph" and any(peer in row.measurements for row in rows)]


MEMORY_GOALS = {"tensorflow": 1.0, "jax": 1.0}
"""What ratio ours / peer is to be reached in peak memory, in every workload."""

SCALING_GOAL = 1.7
"""How many times as fast two cores are to be as one, in everything that takes `runner.SHARED` seconds."""


def verdict(row: Row, statistic: str = "median") -> str:
    """Say, a line for each goal whose peer was measured, whether it was reached: "jax 0.2x: yes"."""
    parts = []
    for peer, goal in (MEMORY_GOALS if statistic == "memory" else row.workload.goals).items():
        ratio = row.ratio(peer, statistic)
        if ratio is not None:
            parts.append(f"{peer} {proportion(goal)}: {'yes' if ratio <= goal else 'no'}")
    return "\n".join(parts)


def table(rows: list[Row]) -> Table:
    """Return the table: our time, and for each peer ours / theirs with their time below."""
    return _compared(rows, "median", duration)


def memory_table(rows: list[Row]) -> Table:
    """The same for the most memory that each process held."""
    return _compared(rows, "memory", size)


def _compared(rows: list[Row], statistic: str, shown: Callable[[Any], str]) -> Table:
    from jitgraph.app.terminal import table as empty

    peers = peers_of(rows)
    labels = [LABELS.get(peer, peer) for peer in peers]
    result = empty("workload", "jitgraph", *labels, "goals", right=("jitgraph", *labels))
    result.columns[0].min_width = min(34, max((len(row.workload.title) for row in rows), default=0))
    for column in result.columns[1:-1]:
        column.no_wrap = True
    for row in rows:
        ours = row.measurements.get("jitgraph")
        mine = (
            ""
            if ours is None
            else f"[red]{_short(ours.error)}[/]"
            if ours.error
            else f"[bold]{shown(getattr(ours, statistic))}[/]"
        )
        cells = [row.workload.title, mine]
        for peer in peers:
            one = row.measurements.get(peer)
            if one is None:
                cells.append("")
            elif one.error:
                cells.append("[dim]failed[/]")
            else:
                ratio = row.ratio(peer, statistic)
                colour = "dim" if ratio is None else "green" if ratio <= 1 else "yellow"
                cells.append(f"[{colour}]{proportion(ratio)}[/]\n[dim]{shown(getattr(one, statistic))}[/]")
        result.add_row(*cells, verdict(row, statistic))
    return result


def scaling_table(rows: list[Scaling]) -> Table:
    """Return our times on one core and on several, and the speed-up with the verdict on the goal."""
    from jitgraph.app.terminal import table as empty

    cores = rows[0].cores if rows else 2
    heads = ("1 core", f"{cores} cores", "speed-up")
    result = empty("workload", *heads, f"goal {SCALING_GOAL}" if cores == 2 else "", right=heads)
    for row in rows:
        failed = row.one.error or row.several.error
        speed = "" if row.speedup is None else f"{row.speedup:.2f}"
        reached = "" if row.speedup is None or cores != 2 else "yes" if row.speedup >= SCALING_GOAL else "no"
        cells = [duration(row.one.median), f"[red]{_short(failed)}[/]" if failed else duration(row.several.median)]
        result.add_row(row.workload.title, *cells, speed, reached)
    return result


def scaling_as_json(rows: list[Scaling]) -> dict[str, Any]:
    """Return the times on one core and on several, in seconds, as JSON can hold them."""
    return {
        "machine": machine(),
        "scaling": [
            {
                "name": row.workload.name,
                "cores": row.cores,
                "one": row.one.median,
                "several": row.several.median,
                "speedup": row.speedup,
                "goal": SCALING_GOAL if row.cores == 2 else None,
                "error": row.one.error or row.several.error,
            }
            for row in rows
        ],
    }


def remarks(rows: list[Row]) -> list[str]:
    """Return what the table cannot show: failures in words, and results that differ."""
    lines = []
    for row in rows:
        for peer, one in row.measurements.items():
            if one.error:
                lines.append(f"{row.workload.name}: {peer} failed: {one.error}")
        for peer in row.differing():
            lines.append(
                f"{row.workload.name}: the result of {peer} differs from that of {next(iter(row.measurements))}"
            )
    return lines


def _short(text: str) -> str:
    return "failed" if len(text) > 12 else text


def as_json(rows: list[Row]) -> dict[str, Any]:
    """Return everything measured, in seconds and bytes, as JSON can hold it."""
    return {
        "machine": machine(),
        "versions": {peer: one.version for row in rows for peer, one in row.measurements.items() if one.version},
        "workloads": [
            {
                "name": row.workload.name,
                "title": row.workload.title,
                "goals": row.workload.goals,
                "memory_goals": MEMORY_GOALS,
                "differing": row.differing(),
                "peers": {
                    peer: {
                        "best": one.best,
                        "median": one.median,
                        "ratio": row.ratio(peer),
                        "ratio_of_best": row.ratio(peer, "best"),
                        "memory": one.memory,
                        "ratio_of_memory": row.ratio(peer, "memory"),
                        "error": one.error,
                        "rounds": one.rounds,
                    }
                    for peer, one in row.measurements.items()
                },
            }
            for row in rows
        ],
    }


def page(rows: list[Row]) -> str:
    """Return a self-contained HTML page: for each workload a bar per peer, ours as the measure."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("jitgraph.bench", "."), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"duration": duration, "proportion": proportion, "size": size}
    groups = []
    for row in rows:
        measured = [(one, one.median) for one in row.measurements.values() if one.median is not None]
        ours = next((median for one, median in measured if one.peer == "jitgraph"), None)
        longest = max((median for _, median in measured), default=1.0)
        # Bars are cut where they would make ours too short to be seen.
        full = longest if ours is None or ours <= 0 else min(longest, _CUT * ours)
        bars = [
            {
                "peer": one.peer,
                "median": median,
                "share": max(0.3, 100 * min(median, full) / full) if full > 0 else 0.3,
                "cut": median > full,
                "ratio": row.ratio(one.peer),
                "memory": one.memory,
                "memory_ratio": row.ratio(one.peer, "memory"),
            }
            for one, median in measured
        ]
        groups.append({"row": row, "bars": bars, "verdict": verdict(row), "memory_verdict": verdict(row, "memory")})
    data = as_json(rows)
    template = environment.get_template("bench.html.j2")
    return template.render(groups=groups, machine=data["machine"], versions=data["versions"], remarks=remarks(rows))


_CUT = 12.0
"""A bar is cut where it is longer than this many times ours."""
