"""What is said while functions are rewritten, if the program wants to know."""
from __future__ import annotations

import os
import sys
from typing import Any

from jitgraph.app import logs

_state: dict[str, Any] = {"level": None, "to_stdout": hasattr(sys, "ps1") or hasattr(sys, "ps2")}


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """From `level` 1 on the functions that are rewritten are logged (at the level INFO), from 2 on what becomes of them.

    Without a call it is that of the environment variable AUTOGRAPH_VERBOSITY, 0 at first.  `alsologtostdout` prints the messages.
    """
    _state.update(level=level, to_stdout=alsologtostdout)


def say(level: int, message: str, *args: Any) -> None:
    """Logs a message from a verbosity on."""
    wanted = _state["level"]
    if (int(os.environ.get("AUTOGRAPH_VERBOSITY", "0")) if wanted is None else wanted) < level:
        return
    logs.info(message, *args)
    if _state["to_stdout"]:
        print(message % args)


def trace(*args: Any) -> None:
    """Prints its arguments when the graph is built."""
    print(*args)
