"""``tf.train.basic_train_loop``."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph import errors


def basic_train_loop(supervisor: Any, train_step_fn: Callable, args: Any = None, kwargs: Any = None, master: str = "") -> None:
    """Calls ``train_step_fn(session, *args, **kwargs)`` until the Supervisor stops; in a new session after AbortedError.

    `master`: the target of the session.  Raises what the function raises.
    """
    while True:
        try:
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or ()), **(kwargs or {}))
            return
        except errors.AbortedError:
            continue
