"""A stretch without Python's collector of garbage."""
from __future__ import annotations

import contextlib
import gc
import os
import threading
from collections.abc import Iterator

_LOCK = threading.Lock()
_inside = 0             # threads that are in such a stretch
_was_on = False         # whether the collector was on before the first of them came


@contextlib.contextmanager
def collecting_later() -> Iterator[None]:
    """Leaves the collector off until the last thread has come out: passes make hundreds of thousands of objects that stay, and it
    would look through all of them again and again, an eighth of their time."""
    global _inside, _was_on
    with _LOCK:
        if not _inside:
            _was_on = gc.isenabled()
            gc.disable()
        _inside += 1
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            if not _inside and _was_on:
                gc.enable()


def _after_fork() -> None:
    """In a child, where no other thread will come out."""
    global _LOCK, _inside
    _LOCK = threading.Lock()
    if _inside:
        _inside = 0
        if _was_on:
            gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
