"""What `pip` must be told where a package is missing: one sentence for all messages."""
from __future__ import annotations

import shlex
import sys


def command(*packages: str) -> str:
    """The command that installs packages into the Python that runs: another `pip` on the path may serve another one."""
    return f"{shlex.quote(sys.executable or 'python')} -m pip install {' '.join(map(shlex.quote, packages))}"


def advice(extra: str) -> str:
    """The command that installs an extra of jitgraph (see `pyproject.toml`).

    It needs no index that has jitgraph: pip takes the one that is installed, from a checkout or a wheel, and adds what
    the extra lists.
    """
    return command(f"jitgraph[{extra}]")
