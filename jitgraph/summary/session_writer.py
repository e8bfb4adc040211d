"""What is behind ``tf.summary.FileWriter(session=...)``: events written by nodes of the session's graph."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.dtypes import string
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.identity import placeholder_with_default
from jitgraph.summary import recording
from jitgraph.summary.event_file import make_folder


class SessionEventWriter:
    """Writes events by running a node of `session` for each; see ``FileWriter`` for the arguments."""

    def __init__(self, session: Any, logdir: Any, max_queue: int = 10, flush_secs: float = 120,
                 filename_suffix: str | None = None):
        self._session, self._logdir, self._closed = session, make_folder(logdir), False
        with session.graph.as_default(), name_scope("filewriter"):
            writer = recording.create_file_writer(self._logdir, max_queue, int(flush_secs * 1000), filename_suffix or None)
            with recording.always_record_summaries(), writer.as_default():
                self._event = placeholder_with_default(constant("unused", string), shape=[])
                self._add = recording.import_event(self._event)
            self._init, self._flush, self._close = writer.init(), writer.flush(), writer.close()
        session.run(self._init)

    def get_logdir(self) -> str:
        """The folder."""
        return self._logdir

    def add_event(self, event: Any) -> None:
        """Writes an Event; nothing after ``close``."""
        if not self._closed:
            self._session.run(self._add, {self._event: event.SerializeToString()})

    def flush(self) -> None:
        """Brings out what waits."""
        if not self._closed:
            self._session.run(self._flush)

    def close(self) -> None:
        """Flushes and closes the file."""
        if not self._closed:
            self._session.run(self._close)
            self._closed = True

    def reopen(self) -> None:
        """After ``close``, another file begins; else nothing."""
        if self._closed:
            self._session.run(self._init)
            self._closed = False
