"""Loops that need nothing of each other, such as the two directions of a bidirectional network, run at the same time.

What a loop does in Python comes one after the other; what it does natively (see `iterations`) is asked for as a `Request`, and the
requests of several loops are items of one job of the thread pool, each in a thread of its own.  Dividing each of their many short
kernels among the threads instead would have these wait for one another many times in each iteration.
"""
from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jitgraph.compiler.targets import CPU

from . import pool as pools
from .interpreter import BLOCK, COUNT, KERNEL_SIZES, POLL, POOL, ROUNDS, ROW, TABLE, tables_arguments
from .memory import address_of

if TYPE_CHECKING:
    from .frame import Block, Frame

SHORT = 300_000         # nanoseconds of an iteration: longer ones, divided by the number of threads, are better divided among these

Asking = Generator["Request", None, Any]        # Python's part of a loop, which yields requests and returns what the loop gives


class Request(NamedTuple):
    """A block for the interpreter, which stands in the memory of a frame; `nanoseconds` that it takes, and a round of it."""

    frame: Frame
    start: int
    block: Block
    nanoseconds: int
    round: int

    def run(self) -> None:
        self.frame.run_block(self.start, self.block, pools.native().released)


def alone(loop: Asking) -> Any:
    """What one loop gives."""
    try:
        while True:
            next(loop).run()
    except StopIteration as end:
        return end.value
    finally:
        loop.close()            # where a request fails, it gives back what it holds


def together(loops: Sequence[Asking]) -> list[Any]:
    """What loops give that need nothing of each other."""
    results: list[Any] = [None] * len(loops)
    with contextlib.ExitStack() as stack:
        for loop in loops:
            stack.callback(loop.close)          # where one fails, the others give back what they hold
        going = list(range(len(loops)))
        while going:
            requests: dict[int, Request] = {}
            for k in going:
                try:
                    requests[k] = next(loops[k])
                except StopIteration as end:
                    results[k] = end.value
            _run(list(requests.values()))
            going = list(requests)
    return results


def _run(requests: list[Request]) -> None:
    """Runs requests, at the same time where that is worth while: where each takes long enough to wake a thread for, and its
    iterations are too short to be divided well."""
    if len(requests) > 1 and _suit(requests, pools.thread_count()):
        _run_at_once(requests)
    else:
        for request in requests:
            request.run()


def _suit(requests: list[Request], threads: int) -> bool:
    return threads > 1 and all(r.nanoseconds > CPU.tuning.shared and r.round < SHORT // threads for r in requests)


def _run_at_once(requests: list[Request]) -> None:
    native = pools.native()
    for request in requests:
        request.block[0][POOL] = 0              # its kernels stay in its thread
    words = tables_arguments(native.address, [address for _, address in (request.block for request in requests)])
    row = np.array([native.tables, 0, 0, len(requests), 1, sum(r.nanoseconds for r in requests), 0], np.int64)
    block = np.zeros(BLOCK, np.int64)
    block[[TABLE, COUNT, KERNEL_SIZES, POOL, POLL, ROUNDS]] = (address_of(row), 1, address_of(words),
                                                              pools.pool(pools.thread_count()).address, native.poll_address, 1)
    assert row.size == ROW
    with requests[0].frame.binding.state.lock:
        for request in requests:
            request.frame.refresh()
        native.released(address_of(block))
    for request, code in zip(requests, words[-len(requests):].tolist()):
        if code:
            raise request.frame.failure(request.start, code)
