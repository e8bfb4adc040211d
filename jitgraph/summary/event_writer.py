"""Events written by a thread: what adds one need not wait for the disk."""
from __future__ import annotations

import os
import queue
import threading
import time
import weakref
from typing import Any

from jitgraph.app import logs
from jitgraph.graph import errors
from jitgraph.summary.event_file import EventFile, make_folder, prefix_in

_END = None             # in the queue: nothing follows


class _Flush:
    """In the queue: bring out what came before."""

    def __init__(self) -> None:
        self.done = threading.Event()


class _Line:
    """The queue, the file and the thread between them; it knows nothing of the writer, which may be forgotten."""

    def __init__(self, file: EventFile, most: int, seconds: float):
        self.file, self.seconds = file, seconds
        self._queue: queue.SimpleQueue = queue.SimpleQueue()      # its put never waits, see `end`
        self._room = threading.Semaphore(most) if most > 0 else None
        self.process = os.getpid()
        self.failed = False             # whether the log says already that the file system takes nothing
        self.thread = threading.Thread(target=self._run, name="jitgraph-events", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        due = 0.0               # the first event is brought out at once
        while (item := self._queue.get()) is not _END:
            try:
                if isinstance(item, _Flush):
                    self.file.flush()
                    self.failed = False
                else:
                    if self._room is not None:
                        self._room.release()
                    self.file.write(item)
                    if time.monotonic() > due:
                        self.file.flush()
                        due = time.monotonic() + self.seconds
            except errors.OpError as error:
                self._fail(error)
            finally:
                if isinstance(item, _Flush):
                    item.done.set()
        try:
            self.file.close()
        except errors.OpError as error:
            self._fail(error)

    def _fail(self, error: errors.OpError) -> None:
        if not self.failed:
            logs.error("Events could not be written: %s", error.message)
        self.failed = True

    def add(self, event: bytes) -> None:
        if self._room is not None:
            self._room.acquire()
        self._queue.put(event)

    def flush(self) -> None:
        request = _Flush()
        self._queue.put(request)
        request.done.wait()

    def end(self) -> None:
        """Writes what is left and ends the thread; in a process that was forked, where it never ran, nothing.

        The collector of garbage calls it in whatever thread it runs, also in the one that is to end.
        """
        if self.process == os.getpid() and self.thread.is_alive():
            self._queue.put(_END)
            if self.thread is not threading.current_thread():
                self.thread.join()


class EventFileWriter:
    """Writes events into a new file of the folder `logdir`, from a thread of its own.

    At most `max_queue` events wait for it; what it wrote is flushed every `flush_secs` seconds.  The thread ends with
    ``close``, when the writer is forgotten, and when the program ends, and nothing is lost then.  A process that is
    forked writes into a file of its own.  Raises the ``tf.errors`` that making the folder gives rise to.
    """

    def __init__(self, logdir: Any, max_queue: int = 10, flush_secs: float = 120, filename_suffix: str | None = None):
        self._logdir = make_folder(logdir)
        self._most, self._seconds, self._suffix = max_queue, flush_secs, filename_suffix or ""
        self._lock = threading.Lock()
        self._line: _Line | None = None
        self._end: Any = None
        self._start()

    def _start(self) -> None:
        file = EventFile(prefix_in(self._logdir), self._suffix)
        if self._suffix:
            file.open()             # so that TensorFlow's programs find a file with a suffix at once
        self._line = _Line(file, self._most, self._seconds)
        self._end = weakref.finalize(self, self._line.end)

    def _present(self) -> _Line | None:
        """The line of this process, None if the writer is closed."""
        line = self._line
        if line is None or line.process == os.getpid():
            return line
        line.file.drop()
        self._lock = threading.Lock()           # the other may be held for ever by a thread that is not here
        self._end.detach()
        self._start()
        return self._line

    def get_logdir(self) -> str:
        """The folder."""
        return self._logdir

    def add_event(self, event: Any) -> None:
        """Adds an Event; waits while `max_queue` others do.  Nothing after ``close``."""
        line = self._present()
        if line is not None:
            line.add(event.SerializeToString())

    def flush(self) -> None:
        """Waits until all events are in the file.

        Where the file system takes none, as on a full disk, the log says so and training goes on, as with TensorFlow; events that
        could not be written wait for the next flush.
        """
        line = self._present()
        if line is not None:
            line.flush()

    def close(self) -> None:
        """Flushes, ends the thread and closes the file; what the file system does not take now is lost."""
        line = self._present()
        with self._lock:
            if line is None or self._line is None:
                return
            self._line = None
        try:
            line.flush()
        finally:
            self._end()

    def reopen(self) -> None:
        """After ``close``: events go to another file from now on.  Else nothing."""
        with self._lock:
            if self._line is None:
                self._start()
