"""Mutexes as nodes: MutexV2, MutexLock, ConsumeMutexLock.

A run takes the lock where MutexLock stands and keeps it until ConsumeMutexLock; runs of other threads wait meanwhile.  Within one
run, ops on one variable go in the order of the graph anyhow, so that the run may take a lock that it holds.
"""
from __future__ import annotations

import threading
from collections.abc import Callable

from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.resources import shared
from jitgraph.resources.condition import Condition
from jitgraph.tensor_arrays.host_values import boxed, unboxed

_TESTS = "tests/resources/test_critical_sections.py: a mutex"


class Mutex:
    """A lock that the thread which holds it may take again."""

    def __init__(self) -> None:
        self.condition = Condition()
        self._owner: int | None = None
        self._count = 0

    def check_same(self, other: Mutex) -> None:
        """All mutexes of a name are the same."""

    def acquire(self, wait: Callable) -> Lock:
        """The lock, once no other thread holds it."""
        me = threading.get_ident()
        with self.condition:
            wait(self.condition, lambda: self._owner in (None, me))
            self._owner = me
            self._count += 1
        return Lock(self)

    def release(self) -> None:
        """Gives back one of the locks taken."""
        with self.condition:
            self._count -= 1
            if not self._count:
                self._owner = None
                self.condition.notify_all()


class Lock:
    """What MutexLock gives: that a mutex is held.

    A run gives it back at its end, however it ends; one in the body of a loop, when its values are freed.
    """

    def __init__(self, mutex: Mutex):
        self._mutex: Mutex | None = mutex

    def consume(self) -> None:
        """Gives the mutex back, once."""
        mutex, self._mutex = self._mutex, None
        if mutex is not None:
            mutex.release()

    __del__ = consume


@op('MutexV2(; container: string = "", shared_name: string = "") -> resource: resource', shape=shape_rules.scalar, stateful=True,
    host=True, context=("state", "op"), tested_in=_TESTS)
def mutex_v2(state, op):
    """A mutex."""
    return shared(state, op, "mutex", Mutex)


@op("MutexLock(mutex: resource) -> mutex_lock: variant", shape=shape_rules.scalar, stateful=True, host=True,
    context=("state", "op"), holds=True, tested_in=_TESTS)
def mutex_lock(mutex, state, op):
    """The lock of a mutex; waits for it."""
    lock = unboxed(mutex).acquire(state.wait)
    at_end = state.later(op)
    if at_end is not None:
        at_end(lambda wait: lock.consume())
    return boxed(lock)


@op("ConsumeMutexLock(mutex_lock: variant)", shape=shape_rules.no_outputs, stateful=True, host=True, tested_in=_TESTS)
def consume_mutex_lock(mutex_lock):
    """Gives the lock back."""
    unboxed(mutex_lock).consume()
