"""A file of events being written: ``events.out.tfevents.<time>.<host>``, records of serialized Events."""
from __future__ import annotations

import os
import socket
import time
from typing import Any

from jitgraph.app import logs
from jitgraph.filesystem.systems import LOCAL, locate, path_text
from jitgraph.formats.files import op_errors
from jitgraph.formats.records import frame
from jitgraph.graph import errors

VERSION = "brain.Event:2"
_HELD = 1 << 16                 # bytes that wait for a flush at most
_REFUSED = 1 << 26              # where the file system takes none; what comes then is lost


def make_folder(logdir: Any) -> str:
    """The folder `logdir`, made if it is not there, as text.

    Raises the ``tf.errors`` that the file system gives rise to, TypeError for what is no path.
    """
    text = path_text(logdir)
    system, path = locate(text)
    if not system.is_directory(path):
        system.make_directories(path)
    return text


def created(prefix: str, suffix: str) -> tuple[Any, str, int]:
    """(file, its name, the time in it): a new file that begins with `prefix`.

    A name that is taken moves on to the next second: of two writers of one second, none writes over the other, and the
    order of the names, in which TensorBoard reads, remains that of time.
    """
    system, path = locate(prefix)
    second = int(time.time())
    while True:
        name = f"{path}.out.tfevents.{second:010d}.{socket.gethostname()}{suffix}"
        if system is LOCAL:
            try:
                # what is kept for the next write is kept here: of a buffer of the file's own, a fork would make two
                with op_errors(name):
                    return open(name, "xb", buffering=0), name, second
            except errors.AlreadyExistsError:
                pass
        elif not system.exists(name):
            return system.open(name, "wb"), name, second
        second += 1


class EventFile:
    """The file that events go to; it is made by the first of them, and is not safe for several threads.

    What cannot be written stays, so that a later ``flush`` may still bring it out.
    """

    def __init__(self, prefix: str, suffix: str = ""):
        self._prefix, self._suffix = prefix, suffix
        self._file: Any = None
        self._name = ""
        self._held = bytearray()

    @property
    def name(self) -> str:
        """The name of the file; empty before there is one."""
        return self._name

    def open(self) -> bool:
        """Makes the file unless it is there; whether there is one now.  The log says why not, as in TensorFlow."""
        if self._file is None:
            from jitgraph.protobuf.messages import Event

            try:
                self._file, self._name, second = created(self._prefix, self._suffix)
            except errors.OpError as error:
                logs.error("Write failed because file could not be opened: %s", error.message)
                return False
            self._held += frame(Event(wall_time=second, file_version=VERSION).SerializeToString())
            self.flush()
        return True

    def write(self, event: bytes) -> None:
        """Adds a serialized Event; without a file, or where 64 MB could not be written, it is lost.  Raises what ``flush`` does
        if many wait."""
        if self.open() and len(self._held) < _REFUSED:
            self._held += frame(event)
            if len(self._held) > _HELD:
                self.flush()

    def flush(self) -> None:
        """Hands what waits to the operating system.

        Raises ResourceExhaustedError on a full disk, and the other ``tf.errors`` that the file system gives rise to.
        """
        if self._file is None:
            return
        with op_errors(self._name):
            while self._held:
                written = self._file.write(self._held)
                del self._held[:written]
            self._file.flush()

    def close(self) -> None:
        """Flushes and closes; the next event makes another file.  Raises what ``flush`` does; it is closed even so."""
        if self._file is not None:
            try:
                self.flush()
            finally:
                self.drop()

    def drop(self) -> None:
        """Closes without writing what waits: what a fork has copied belongs to the process that it was copied from."""
        file, self._file = self._file, None
        self._held.clear()
        if file is not None:
            with op_errors(self._name):
                file.close()


def prefix_in(logdir: str) -> str:
    """What the names of the event files of a folder begin with."""
    return os.path.join(logdir, "events")
