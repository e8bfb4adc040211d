"""Conditions that an interrupt leaves whole."""
from __future__ import annotations

import threading
from typing import Any


class Condition(threading.Condition):
    """A condition whose lock is taken and given back by ``with`` in C alone.

    What `threading.Condition` does there is Python code: of a KeyboardInterrupt that comes when the lock has just been taken,
    nobody gives the lock back, and all other threads wait for ever.
    """

    __enter__: Any = property(lambda self: self._lock.__enter__)        # looked up before the lock is taken
    __exit__: Any = property(lambda self: self._lock.__exit__)
