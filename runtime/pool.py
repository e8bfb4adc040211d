"""The thread pool that shares out the items of kernels: workers are Python threads parked in native code.

Made at the first plan that can use it, stopped at exit, forgotten by a forked child (which makes its own).
"""
from __future__ import annotations

import atexit
import ctypes
import functools
import os
import sys
import threading

import numpy as np

from jitgraph import environment

from . import interpreter
from .library import LIBRARY
from .memory import aligned_empty


def thread_count() -> int:
    """How many threads kernels may use: JITGRAPH_THREADS, or the CPUs that this process may run on."""
    given = environment.number("JITGRAPH_THREADS")
    if given is not None:
        return given
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


class Native:
    """The compiled interpreter: `held` runs a block with the GIL held (short plans), `released` without it."""

    def __init__(self) -> None:
        self.address = LIBRARY.find(interpreter.parts(), interpreter.build)
        self.held = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(self.address)
        self.released = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(self.address)
        api = ctypes.pythonapi
        functions = (api.PyGILState_Ensure, api.PyErr_CheckSignals, api.PyErr_Fetch, api.PyGILState_Release)
        self.poll = np.zeros(interpreter.POLL_WORDS, dtype=np.int64)
        self.poll[:4] = [ctypes.cast(f, ctypes.c_void_p).value or 0 for f in functions]
        self.poll_address = self.poll.ctypes.data

    @functools.cached_property
    def tables(self) -> int:
        """The address of the kernel that runs several blocks, see `interpreter.run_tables`."""
        return LIBRARY.find(interpreter.parts("run_tables"), interpreter.build_tables)

    def limited(self, deadline: float) -> np.ndarray:
        """A poll block of one run, with a deadline on the monotonic clock in seconds."""
        poll = self.poll.copy()
        if sys.platform.startswith("linux"):        # where that clock is the one that time.monotonic() tells
            clock = ctypes.CDLL(None).clock_gettime
            poll[interpreter.CLOCK] = ctypes.cast(clock, ctypes.c_void_p).value or 0
            poll[interpreter.DEADLINE] = int(deadline * 1e9)
        return poll

    def interruption(self, poll: np.ndarray | None) -> BaseException:
        """The exception that a signal handler raised during a run; `poll`: the block of a run that has its own."""
        poll = self.poll if poll is None else poll
        kind, value = poll[interpreter.RAISED:interpreter.RAISED + 2].tolist()
        poll[interpreter.RAISED:interpreter.RAISED + 3] = 0
        found = ctypes.cast(value or kind, ctypes.py_object).value
        return found if isinstance(found, BaseException) else found()


_native: Native | None = None
_pools: dict[int, Pool] = {}
_lock = threading.RLock()


def native() -> Native:
    """The interpreter, loaded once."""
    global _native
    if _native is None:
        with _lock:
            if _native is None:
                _native = Native()
    return _native


class Pool:
    """`threads - 1` workers; `address` is what the interpreter gets, 0 where there is nothing to share with."""

    def __init__(self, threads: int):
        self.address = 0
        self.threads: list[threading.Thread] = []
        if threads < 2 or not sys.platform.startswith("linux"):
            return
        self.words = aligned_empty(interpreter.WORDS * 8, np.int64)
        self.words[:] = 0
        libc = ctypes.CDLL(None)
        self.libc, base = libc, self.words.ctypes.data
        self.semaphore = base + 8 * interpreter.SEMAPHORE
        if libc.sem_init(ctypes.c_void_p(self.semaphore), 0, 0) != 0:
            return
        self.life = np.zeros(interpreter.BLOCK, np.int64)
        self.life[[interpreter.COUNT, interpreter.POOL]] = -1, base     # a negative count of rows is a worker's life
        work = native().released
        for k in range(threads - 1):
            thread = threading.Thread(target=work, args=(self.life.ctypes.data,), name=f"jitgraph-{k}", daemon=True)
            thread.start()
            self.threads.append(thread)
        self.address = base
        atexit.register(self.stop)

    def stop(self) -> None:
        """Ends the workers; runs after that are serial."""
        if self.address:
            self.address = 0
            self.words[interpreter.STOP] = 1
            for _ in self.threads:
                self.libc.sem_post(ctypes.c_void_p(self.semaphore))
            for thread in self.threads:
                thread.join(timeout=1.0)


def pool(threads: int) -> Pool:
    """The process's pool of that many threads."""
    found = _pools.get(threads)
    if found is None:
        with _lock:
            found = _pools.get(threads) or _pools.setdefault(threads, Pool(threads))
    return found


def _forget_after_fork() -> None:
    global _lock
    _pools.clear()
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
