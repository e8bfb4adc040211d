"""Threads that end together: ``tf.train.Coordinator`` and ``tf.train.LooperThread``."""
from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from jitgraph.app import logs
from jitgraph.graph import errors


class Coordinator:
    """Lets several threads ask each other to stop, and waits for their end.

    ::

        coord = tf.train.Coordinator()
        threads = [threading.Thread(target=work, args=(coord,)) for _ in range(3)]
        ...
        coord.join(threads)         # raises what a thread reported

        def work(coord):
            with coord.stop_on_exception():
                while not coord.should_stop():
                    ...

    `clean_stop_exception_types`: exceptions that mean an orderly end and are not raised again (OutOfRangeError).
    """

    def __init__(self, clean_stop_exception_types: tuple | None = None):
        self._clean = (errors.OutOfRangeError,) if clean_stop_exception_types is None else clean_stop_exception_types
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._exception: BaseException | None = None
        self._joined = False
        self._registered_threads: set[threading.Thread] = set()

    @property
    def joined(self) -> bool:
        """Whether ``join`` has returned."""
        return self._joined

    def request_stop(self, ex: Any = None) -> None:
        """Asks all threads to stop; ``should_stop`` is true from now on.

        `ex`: an exception, or a tuple as of ``sys.exc_info()``; ``join`` raises the first one reported.  After ``join``
        it is raised here.
        """
        error = _exception(ex)
        if isinstance(error, self._clean):
            error = None
        with self._lock:
            if self._joined:
                if error is not None:
                    raise error
                return
            if not self._stop_event.is_set():
                if error is not None:
                    logs.info("Error reported to Coordinator: %s, %s", type(error), error)
                self._exception = error
                self._stop_event.set()

    def clear_stop(self) -> None:
        """Forgets a request to stop, and its exception."""
        with self._lock:
            self._joined, self._exception = False, None
            self._stop_event.clear()

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._stop_event.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """A context that turns an exception inside into a request to stop."""
        try:
            yield
        except BaseException:
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until a stop is requested, at most `timeout` seconds; whether it was."""
        return self._stop_event.wait(timeout=timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Adds a thread for ``join`` to wait for."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(self, threads: Any = None, stop_grace_period_secs: float = 120, ignore_live_threads: bool = False) -> None:
        """Waits for `threads` and registered ones to end; once a stop is requested, `stop_grace_period_secs` longer.

        Raises the exception that was reported with the request to stop; RuntimeError if threads are still running,
        unless `ignore_live_threads`.
        """
        with self._lock:
            waited = list(self._registered_threads | set(threads or ()))
        while any(thread.is_alive() for thread in waited) and not self.wait_for_stop(1.0):
            pass
        limit = time.monotonic() + stop_grace_period_secs
        for thread in waited:
            while thread.is_alive() and time.monotonic() < limit:
                thread.join(min(1.0, max(limit - time.monotonic(), 0.0)))
        stragglers = [thread.name for thread in waited if thread.is_alive()]
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            if self._exception is not None:
                raise self._exception
            if stragglers:
                if not ignore_live_threads:
                    raise RuntimeError(f"Coordinator stopped with threads still running: {' '.join(stragglers)}")
                logs.info("Coordinator stopped with threads still running: %s", " ".join(stragglers))

    def raise_requested_exception(self) -> None:
        """Raises the exception that was reported with the request to stop, if there is one."""
        with self._lock:
            if self._exception is not None:
                raise self._exception


def _exception(ex: Any) -> BaseException | None:
    if ex is None or isinstance(ex, BaseException):
        return ex
    if isinstance(ex, tuple) and len(ex) == 3 and isinstance(ex[1], BaseException):
        return ex[1].with_traceback(ex[2])
    return TypeError(f"Coordinator.request_stop takes an exception or sys.exc_info(), not {ex!r}")


class LooperThread(threading.Thread):
    """A thread that calls ``run_loop`` (or `target`) until its Coordinator stops.

    `timer_interval_secs`: seconds between the starts of two calls; None: one call after the other.  Subclasses may
    override ``start_loop``, ``run_loop`` and ``stop_loop``.  Raises ValueError if `coord` is no Coordinator.
    """

    def __init__(self, coord: Coordinator, timer_interval_secs: float | None, target: Callable | None = None,
                 args: Any = None, kwargs: Any = None):
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__(daemon=True)
        self._coord = coord
        self._timer_interval_secs = timer_interval_secs
        self._function, self._arguments, self._keywords = target, args or (), kwargs or {}
        coord.register_thread(self)

    @staticmethod
    def loop(coord: Coordinator, timer_interval_secs: float | None, target: Callable, args: Any = None,
             kwargs: Any = None) -> LooperThread:
        """A started LooperThread that calls ``target(*args, **kwargs)``."""
        thread = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        thread.start()
        return thread

    def run(self) -> None:
        """The loop."""
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._timer_interval_secs is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                due = time.monotonic()
                while not self._coord.wait_for_stop(max(due - time.monotonic(), 0.0)):
                    due += self._timer_interval_secs
                    self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Called once, before the first ``run_loop``."""

    def run_loop(self) -> None:
        """Called again and again."""
        if self._function is not None:
            self._function(*self._arguments, **self._keywords)

    def stop_loop(self) -> None:
        """Called once, after the last ``run_loop``."""
