"""Where the time of a program went, as tables: for each of its runs, and for all of it."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jitgraph.runtime.explain import Explanation, Line

LONGEST = 12  # kernels and steps, and
RUNS = 6  # runs that the summary of a program shows
KINDS = {
    "compiling": "compiling kernels, or loading them",
    "kernel": "kernels",
    "host": "operations on the host, by NumPy and Python",
}


def print_runs(explanations: list[Explanation]) -> None:
    """Print where the time of every signature went, as tables."""
    from rich.markup import escape

    from jitgraph.app.terminal import console, say, show, table
    from jitgraph.runtime.explain import AROUND

    out = console()
    numbers = ("calls", "ms", "time", "MB", "of limit", "MFlop", "of peak")
    for one in explanations:
        rows = table("kernel or step", *numbers, "operations", right=numbers,
                     title=f"{one.title}   {one.runs} runs, {one.seconds / one.runs * 1e3:.3f} ms each")
        for name, operations, calls, ms, share, megabytes, bandwidth, mflop, peak in one.rows():
            work = [f"{megabytes:.3f}", f"{bandwidth:.0%}", f"{mflop:.3f}", f"{peak:.0%}"] if megabytes else [""] * 4
            rows.add_row(escape(name), f"{calls:.0f}", f"{ms:.3f}", f"{share:.1%}", *work, escape(", ".join(operations[:3])))
        show(out, rows)
    bandwidth, peak = explanations[0].limits
    say(out, AROUND)
    say(out, f"limits measured on this machine: {bandwidth / 1e9:.1f} GB/s in place, {peak / 1e9:.0f} GFlop/s in a product")


def print_program(seconds: float, explanations: list[Explanation]) -> None:
    """Print where the `seconds` of a whole program went: its runs, and what is outside of them. It goes to standard error, for
    standard output is the program's."""
    from rich.markup import escape

    from jitgraph.app.terminal import console, say, show, table

    out = console(sys.stderr)
    runs, inside = sum(one.runs for one in explanations), sum(one.seconds for one in explanations)
    lines = merged([line for one in explanations for line in one.lines])
    spent = {kind: sum(line.seconds for line in lines if line.kind == kind) for kind in KINDS}
    outside = seconds - inside
    parts = table("part", "s", "share", right=("s", "share"), title=f"where the {seconds:.2f} s of the program went")
    rows = [*((words, spent[kind]) for kind, words in KINDS.items()),
            (f"Session.run around them, in {runs:,} run{'' if runs == 1 else 's'}", inside - sum(spent.values())),
            ("outside of runs: imports, building graphs, preparing data", max(outside, 0.0))]
    for words, part in rows:
        parts.add_row(words, f"{part:.2f}", f"{part / seconds:.0%}")
    show(out, parts)
    if outside < 0:
        say(out, f"runs of several threads overlap: together they took {inside:.2f} s")
    if explanations:
        longest = table("kernel or step", "s", "share", "calls", "operations", right=("s", "share", "calls"))
        for line in [line for line in lines if line.kind != "compiling"][:LONGEST]:
            longest.add_row(escape(line.name), f"{line.seconds:.2f}", f"{line.seconds / seconds:.0%}", f"{line.calls:,}",
                            escape(", ".join(line.operations[:3])))
        show(out, longest)
        table_of_runs = table("run", "s", "runs", "ms each", right=("s", "runs", "ms each"))
        for one in explanations[:RUNS]:
            table_of_runs.add_row(escape(one.title), f"{one.seconds:.2f}", f"{one.runs:,}", f"{one.seconds / one.runs * 1e3:.3f}")
        show(out, table_of_runs)


def merged(lines: list[Line]) -> list[Line]:
    """The same kernels and operations of several runs as one line each, the longest first."""
    found: dict[tuple, Line] = {}
    for line in lines:
        key = (line.kind, line.name, tuple(line.operations))
        known = found.get(key)
        if known is None:
            found[key] = replace(line)
        else:
            known.calls, known.seconds = known.calls + line.calls, known.seconds + line.seconds
    return sorted(found.values(), key=lambda line: -line.seconds)
