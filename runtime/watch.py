"""What watches the run of the present thread: a time limit, a trace, or both; usually nothing.

Operations that wait look at the limit (`State.wait`), and so do runs between two steps and the interpreter between two
chunks of a kernel.  A kernel that writes a variable, an operation on the host and a Python function come to their end;
a run that they made late raises after them, as TensorFlow's does.
"""
from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jitgraph.graph.errors import DeadlineExceededError

if TYPE_CHECKING:
    from .profile import Trace

_present = threading.local()


class Watch:
    """`deadline`: on the monotonic clock, in seconds.  `trace`: see `profile.Trace`, or None."""

    __slots__ = ("deadline", "trace")

    def __init__(self, deadline: float, trace: Trace | None) -> None:
        self.deadline, self.trace = deadline, trace

    @property
    def late(self) -> bool:
        return time.monotonic() >= self.deadline

    def check(self) -> None:
        """Raises DeadlineExceededError if the run is late."""
        if self.late:
            raise late()


def late() -> DeadlineExceededError:
    """The error of a run whose limit is over."""
    return DeadlineExceededError(None, None, "Timed out waiting for notification: the run took longer than its limit "
                                             "(timeout_in_ms of tf.RunOptions, or operation_timeout_in_ms of "
                                             "tf.ConfigProto)")


def present() -> Watch | None:
    """The watch on this thread's run."""
    return getattr(_present, "watch", None)


@contextlib.contextmanager
def watching(milliseconds: int, trace: Trace | None = None) -> Iterator[None]:
    """Runs in the block end within so many milliseconds (0: no limit), and are recorded in `trace`.

    A nearer limit of a block around it stays.  Raises DeadlineExceededError if the block took longer.
    """
    before = present()
    deadline = math.inf if before is None else before.deadline
    if milliseconds > 0:
        deadline = min(deadline, time.monotonic() + milliseconds / 1000)
    present_watch = _present.watch = Watch(deadline, trace)
    try:
        yield
        present_watch.check()
    finally:
        _present.watch = before


def seconds_left() -> float:
    """Seconds until this thread's run is late; infinite without a limit."""
    watch = present()
    return math.inf if watch is None else max(watch.deadline - time.monotonic(), 0.0)


def check() -> None:
    """Raises DeadlineExceededError if this thread's run is late."""
    watch = present()
    if watch is not None:
        watch.check()
