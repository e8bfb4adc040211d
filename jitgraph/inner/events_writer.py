"""``pywrap_tensorflow.EventsWriter``: a file of events without a thread or a queue, as training logs of libraries write it."""
from __future__ import annotations

from typing import Any

from jitgraph.compat import as_text
from jitgraph.graph import errors
from jitgraph.summary.event_file import EventFile


class EventsWriter:
    """Writes Events to ``PREFIX.out.tfevents.<time>.<host><suffix>``, which the first of them, or ``Init``, makes."""

    def __init__(self, file_prefix: str | bytes):
        self._prefix = as_text(file_prefix)
        self._file = EventFile(self._prefix)

    def Init(self) -> bool:
        """Makes the file unless it is there; whether it is."""
        return self._file.open()

    def InitWithSuffix(self, suffix: str | bytes) -> bool:
        """Makes the file, whose name ends in `suffix`; whether it is there."""
        self._file.close()
        self._file = EventFile(self._prefix, as_text(suffix))
        return self._file.open()

    def FileName(self) -> bytes:
        """The name of the file, which is made if it is not there; empty where it cannot be."""
        return self._file.name.encode() if self._file.open() else b""

    def WriteEvent(self, event: Any) -> None:
        """Adds an Event, a message."""
        self._file.write(event.SerializeToString())

    def _WriteSerializedEvent(self, event_str: bytes) -> None:
        """Adds an Event, serialized."""
        self._file.write(event_str)

    def Flush(self) -> bool:
        """Hands what waits to the operating system; whether it took it."""
        return self._tried(self._file.flush)

    def Close(self) -> bool:
        """Flushes and closes; whether all was written."""
        return self._tried(self._file.close)

    def _tried(self, action: Any) -> bool:
        try:
            action()
        except errors.OpError:
            return False
        return True
