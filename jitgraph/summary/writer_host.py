"""What stands behind the writers of ``tf.contrib.summary`` at run time."""
from __future__ import annotations

import os
import threading
import time
import weakref
from typing import Any

from jitgraph.graph import errors
from jitgraph.summary.database import SummaryDatabase
from jitgraph.summary.event_file import EventFile, make_folder, prefix_in


def _leave(file: EventFile | SummaryDatabase, process: int) -> None:
    """Closes the file of a writer that nobody has any more; a fork leaves it to the process that opened it."""
    if process == os.getpid():
        file.close()


class Writer:
    """The file of one writer, from its creation by a node until one closes it; several threads may run such nodes."""

    def __init__(self, name: str):
        self.name = name
        self._lock = threading.Lock()
        self._file: EventFile | SummaryDatabase | None = None
        self._waiting, self._flushed = 0, 0.0
        self._end: Any = None

    def check_same(self, other: Writer) -> None:
        """Writers that share a name are alike."""

    def create(self, logdir: str, most: int, milliseconds: int, suffix: str) -> None:
        """Makes the file in the folder `logdir`, unless there is one.

        At most `most` events wait for a flush, and none for longer than so many milliseconds once others come.
        """
        with self._lock:
            if self._file is None:
                file = EventFile(prefix_in(make_folder(logdir)), suffix)
                file.open()
                self._take(file, most, milliseconds / 1000)

    def create_database(self, uri: str, experiment: str, run: str, user: str) -> None:
        """Opens a database in the place of a file, unless there is one."""
        with self._lock:
            if self._file is None:
                self._take(SummaryDatabase(uri, experiment, run, user), 0, 0.0)

    def _take(self, file: EventFile | SummaryDatabase, most: int, seconds: float) -> None:
        self._file, self._most, self._seconds, self._flushed = file, most, seconds, time.monotonic()
        self._end = weakref.finalize(self, _leave, file, os.getpid())

    def _opened(self) -> EventFile | SummaryDatabase:
        if self._file is None:
            raise errors.NotFoundError(None, None, f"Resource {self.name} does not exist: no summary writer was made. Run "
                                                   "tf.contrib.summary.initialize(), or writer.init(), first.")
        return self._file

    def write(self, event: Any) -> None:
        """Adds an Event.  Raises NotFoundError before ``create`` and after ``close``."""
        with self._lock:
            file = self._opened()
            file.write(event.SerializeToString())
            self._waiting += 1
            if self._waiting > self._most or time.monotonic() - self._flushed > self._seconds:
                self._flush(file)

    def _flush(self, file: EventFile | SummaryDatabase) -> None:
        file.flush()
        self._waiting, self._flushed = 0, time.monotonic()

    def flush(self) -> None:
        """Brings out what waits.  Raises NotFoundError as ``write`` does, and what the file system gives rise to."""
        with self._lock:
            self._flush(self._opened())

    def close(self) -> None:
        """Flushes and closes the file; ``create`` makes another."""
        with self._lock:
            file = self._opened()
            self._file = None
            self._end.detach()
            file.close()
