"""Threads of pipelines: elements fetched ahead, and functions called side by side.

They end with the iteration: when its session closes, its iterator is initialised again, or nobody holds it any more.
"""
from __future__ import annotations

import collections
import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from jitgraph.data.simple_host import Unary
from jitgraph.data.source_host import Element, Run, Session, Source, Take
from jitgraph.graph import errors
from jitgraph.resources.condition import Condition

AUTOTUNE = -1
_AHEAD = 8              # elements fetched ahead where the program leaves the number to us
MOST_THREADS = 64


class _Buffer:
    """Elements between the thread that fetches them and the one that takes them; an exception may stand for an element."""

    def __init__(self, take: Take, size: int, wait: Callable):
        self.take: Take | None = take
        self.size, self.wait = size, wait
        self.condition = Condition()
        self.filled: collections.deque[Any] = collections.deque()
        self.ended = self.closed = False

    def work(self) -> None:
        """Fetches elements as long as there is room for them."""
        take, self.take = self.take, None       # what is taken from ends with this thread, though the session knows the buffer
        assert take is not None
        try:
            while True:
                with self.condition:
                    self.wait(self.condition, lambda: self.closed or len(self.filled) < self.size)
                    if self.closed:
                        return
                try:
                    item: Any = take()
                except StopIteration:
                    break
                except Exception as error:
                    item = error
                with self.condition:
                    self.filled.append(item)
                    self.condition.notify_all()
                del item
        except errors.CancelledError:
            pass
        finally:
            with self.condition:
                self.ended = True
                self.condition.notify_all()

    def get(self) -> Element:
        with self.condition:
            self.wait(self.condition, lambda: self.filled or self.ended)
            if not self.filled:
                raise StopIteration
            item = self.filled.popleft()
            self.condition.notify_all()
        if isinstance(item, Exception):
            raise item
        return item

    def close(self) -> None:
        with self.condition:
            self.closed = True
            self.condition.notify_all()


class _Ahead:
    """The taking end of a buffer.  When nobody holds it any more, the thread at the other end stops."""

    def __init__(self, buffer: _Buffer):
        self.buffer = buffer
        self.thread: threading.Thread | None = None
        weakref.finalize(self, buffer.close).atexit = False

    def __call__(self) -> Element:
        if self.thread is None:
            self.thread = threading.Thread(target=self.buffer.work, name="jitgraph-prefetch", daemon=True)
            self.thread.start()
        return self.buffer.get()


class Prefetched(Unary):
    """The elements, up to `size` of them fetched ahead by a thread."""

    def __init__(self, source: Source, size: int):
        if size < 0 and size != AUTOTUNE:
            raise errors.InvalidArgumentError(None, None, "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
        super().__init__(source)
        self.ahead = _AHEAD if size == AUTOTUNE else size

    def iterate(self, run: Run) -> Take:
        return self.resume(run, 0)

    def resume(self, run: Run, count: int) -> Take:
        take = self.source.resume(run.at("prefetch"), count)
        if not self.ahead:
            return take
        buffer = _Buffer(take, self.ahead, run.session.state.wait)
        run.session.at_end(buffer.close)
        return _Ahead(buffer)

    def size(self) -> int:
        return self.source.size()


def ordered_calls(session: Session, call: Callable[[Element], list], take: Take, parallel: int) -> Take:
    """A function that gives what `call` makes of each element, in order, while threads are at the next ones."""
    threads = ThreadPoolExecutor(min(parallel, MOST_THREADS), "jitgraph-map")
    session.at_end(lambda: threads.shutdown(wait=False, cancel_futures=True))
    window: collections.deque[Future] = collections.deque()
    ended = False

    def ordered() -> Any:
        nonlocal ended
        while not ended and len(window) < parallel:
            try:
                element = take()
            except StopIteration:
                ended = True
                break
            except errors.OpError as error:
                failed: Future = Future()
                failed.set_exception(error)
                window.append(failed)
                continue
            try:
                window.append(threads.submit(call, element))
            except RuntimeError:        # the iteration is over
                raise errors.CancelledError(None, None, "Iterator was cancelled") from None
        if not window:
            raise StopIteration
        return window.popleft().result()

    return ordered


def parallel_calls(number: int, what: str = "num_parallel_calls") -> int:
    """How many threads a program asks for; one per core where it leaves the number to us."""
    if number == AUTOTUNE:
        return os.cpu_count() or 1
    if number < 1:
        raise errors.InvalidArgumentError(None, None, f"{what} must be greater than zero.")
    return number
