"""Threads that share the work of kernels."""
import ctypes
import sys
import threading
import time

import numpy as np
import pytest

from jitgraph.compiler import tuning
from jitgraph.runtime import interpreter, pool

CHUNKS = 4
KERNEL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


@pytest.fixture
def workers():
    """A pool of two threads of its own."""
    found = pool.Pool(2)
    yield found
    found.stop()


def run(workers, kernel, nanoseconds):
    """Runs a kernel of CHUNKS items, each a chunk, that is said to take so long; (begin, end, whether a worker did it) of each
    call."""
    calls, me = [], threading.get_ident()

    def noted(buffers, sizes, begin, end):
        calls.append((begin, end, threading.get_ident() != me))
        kernel(calls[-1][2])
        return 0

    callback = KERNEL(noted)
    row = np.array([ctypes.cast(callback, ctypes.c_void_p).value, 0, 0, CHUNKS, 1, nanoseconds, 0], np.int64)
    words, poll = np.zeros(8, np.int64), np.zeros(interpreter.POLL_WORDS, np.int64)
    block = np.zeros(interpreter.BLOCK, np.int64)
    for place in (interpreter.SLOTS, interpreter.INDEX, interpreter.ARGS, interpreter.KERNEL_SIZES):
        block[place] = words.ctypes.data
    block[interpreter.TABLE], block[interpreter.COUNT], block[interpreter.ROUNDS] = row.ctypes.data, 1, 1
    block[interpreter.POOL], block[interpreter.POLL] = workers.address, poll.ctypes.data
    assert pool.native().released(block.ctypes.data) == 0
    return calls


def late(in_worker):
    """A worker loses its core in the middle of its chunk, and the caller is slow enough for it to have taken one."""
    time.sleep(0.05 if in_worker else 0.01)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there are workers on Linux only")
def test_short_kernels_are_not_divided_after_a_worker_was_late(workers):
    short, long = tuning.CPU.shared - 1, tuning.CPU.shared
    assert any(in_worker for *_, in_worker in run(workers, late, short))
    alone = workers.words[interpreter.ALONE]
    assert interpreter.ALONE_FIRST <= alone <= interpreter.ALONE_FOR
    assert run(workers, lambda _: None, short) == [(0, CHUNKS, False)]
    assert len(run(workers, late, long)) == CHUNKS
    assert workers.words[interpreter.ALONE] == alone - 1
    workers.words[interpreter.ALONE] = 0
    assert len(run(workers, lambda _: None, short)) == CHUNKS


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there are workers on Linux only")
def test_each_further_stall_costs_more_undivided_kernels_until_divided_ones_go_well(workers):
    short, before = tuning.CPU.shared - 1, 0
    for _ in range(3):
        assert any(in_worker for *_, in_worker in run(workers, late, short))
        assert workers.words[interpreter.ALONE] >= min(2 * before, interpreter.ALONE_FOR)
        before = workers.words[interpreter.DISTRUST]
        workers.words[interpreter.ALONE] = 0
    run(workers, lambda _: None, short)
    assert workers.words[interpreter.DISTRUST] == before - 1
