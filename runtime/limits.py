"""How long the run of the present thread may take: `RunOptions.timeout_in_ms`, `ConfigProto.operation_timeout_in_ms`.

Operations that wait look at it (`State.wait`), and so do runs between two steps; a kernel is never cut short.
"""
from __future__ import annotations

import contextlib
import math
import threading
import time

from jitgraph.graph.errors import DeadlineExceededError

_present = threading.local()


@contextlib.contextmanager
def timeout(milliseconds: int):
    """The block has to end within so many milliseconds (0: no limit); an outer, nearer limit stays."""
    before = getattr(_present, "deadline", math.inf)
    if milliseconds > 0:
        _present.deadline = min(before, time.monotonic() + milliseconds / 1000)
    try:
        yield
    finally:
        _present.deadline = before


def seconds_left() -> float:
    """Seconds until the present thread's run is late; infinite without a limit."""
    deadline = getattr(_present, "deadline", math.inf)
    return deadline if deadline == math.inf else max(deadline - time.monotonic(), 0.0)


def check():
    """Raises DeadlineExceededError if the run is late."""
    if seconds_left() == 0.0:
        raise DeadlineExceededError(None, None, "Timed out waiting for notification: the run took longer than its limit "
                                                "(timeout_in_ms of tf.RunOptions or tf.ConfigProto)")
