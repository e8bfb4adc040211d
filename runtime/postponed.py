"""Waiting that is left to the end of a run: for room in a queue from which the same run takes elements.

TensorFlow lets such an operation wait in a thread of its own; here it stands in the queue's line while the run goes on.
"""
from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Iterator
from typing import Any

from jitgraph.graph.errors import CancelledError, OpError
from jitgraph.graph.operation import Operation

from .hostcall import located

Wait = Callable[[threading.Condition, Callable[[], bool]], None]       # (condition, what is to become true), see `State.wait`
Finish = Callable[[Wait], None]

_present = threading.local()


@contextlib.contextmanager
def postponing(ops: Collection[Operation], wait: Wait) -> Iterator[None]:
    """A run in which the waiting of these operations is left to the end; `wait`: see `State.wait`.

    Raises what the operations do that wait; if the run fails, they give up.
    """
    before = getattr(_present, "work", None)
    waiting: list[tuple[Operation, Finish]] = []
    _present.work = ops, waiting
    try:
        yield
        while waiting:
            op, finish = waiting.pop(0)
            try:
                finish(wait)
            except OpError as error:
                raise located(error, op) from None
    except BaseException:
        for _, finish in waiting:
            with contextlib.suppress(OpError):
                finish(_give_up)
        raise
    finally:
        _present.work = before


def taker(op: Operation) -> Callable[[Finish], None] | None:
    """What takes a function of `wait` for the end of the present run, None where `op` is to wait at once."""
    work: tuple[Collection[Operation], list[tuple[Operation, Finish]]] = getattr(_present, "work", None) or ((), [])
    ops, waiting = work
    return (lambda finish: waiting.append((op, finish))) if op in ops else None


def _give_up(condition: Any, ready: Callable[[], bool]) -> None:
    if not ready():
        raise CancelledError(None, None, "The operation was cancelled: its run failed")
