"""All environment variables that users set, and whether what they say means anything."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from jitgraph import environment
from jitgraph.compiler import options, show, targets

from . import check, compile_process, pool, store

MODES = ("auto", "always", "off")


def jit() -> str:
    """When sessions compile, as JITGRAPH_JIT says."""
    return environment.choice("JITGRAPH_JIT", MODES, "auto")


VARIABLES: dict[str, Callable[[], Any]] = {
    "JITGRAPH_JIT": jit,
    "JITGRAPH_SHOW": show.wanted,
    "JITGRAPH_THREADS": pool.thread_count,
    "JITGRAPH_CACHE": store.checked_directory,
    "JITGRAPH_COMPILE_PROCESS": compile_process.wanted,
    "JITGRAPH_COMPILER": options.compiler,
    "JITGRAPH_TARGET": targets.present,
    "JITGRAPH_WITHOUT": options.present,
    "JITGRAPH_TF32": lambda: environment.flag("JITGRAPH_TF32"),
    "JITGRAPH_CHECK": check.wanted,
    "JITGRAPH_VERIFY": options.present,
    "JITGRAPH_TRACEBACK": lambda: environment.flag("JITGRAPH_TRACEBACK"),
}
"""{name: what reads it, and raises ValueError for what means nothing}"""

OTHERS = ("JITGRAPH_BENCH_", "JITGRAPH_FUZZ_")      # of the benchmarks and of the tests


class Setting(NamedTuple):
    """A variable that is set: what it says, and what is wrong with that, or ""."""

    name: str
    value: str
    complaint: str


def check_all() -> None:
    """Raises ValueError for the first variable that means nothing."""
    for name, read in VARIABLES.items():
        if name in os.environ:
            read()


def examined() -> list[Setting]:
    """Every variable that is set and begins as ours do."""
    found = []
    for name in sorted(os.environ):
        if name in VARIABLES:
            found.append(Setting(name, os.environ[name], _complaint(VARIABLES[name])))
        elif name.startswith("JITGRAPH_") and not name.startswith(OTHERS):
            found.append(Setting(name, os.environ[name], f"no variable is called so; there are {', '.join(VARIABLES)}"))
    return found


def _complaint(read: Callable[[], Any]) -> str:
    try:
        read()
    except ValueError as error:
        return str(error)
    return ""
