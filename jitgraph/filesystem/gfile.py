"""``tf.gfile.GFile`` and the functions on files under their names in TensorFlow 1."""
from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pickle import PickleBuffer
from typing import Any

from jitgraph.filesystem.systems import FileStatistics, locate, path_text
from jitgraph.formats.files import op_errors
from jitgraph.graph import errors

_MODES = ("r", "w", "a", "r+", "w+", "a+")


class GFile:
    """A file: opened at its first use, read as text, or as bytes if `mode` has a "b".

    `mode`: "r", "w", "a", "r+", "w+" or "a+"; in all but "a" and "a+" the first write empties the file.  It is its own
    iterator over lines, and closes at the end of a ``with`` block.  Raises InvalidArgumentError for another mode; reading
    and writing raise NotFoundError, PermissionDeniedError (also for what the mode does not allow),
    FailedPreconditionError for a folder.
    """

    def __init__(self, name: Any, mode: str = "r"):
        self._name, self._mode, self._binary = name, mode, "b" in mode
        plain = mode.replace("b", "")
        if plain not in _MODES:
            raise errors.InvalidArgumentError(None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
        self._reads, self._writes = plain not in ("w", "a"), plain != "r"
        self._reader: Any = None
        self._writer: Any = None

    @property
    def name(self) -> Any:
        """The path that was given."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode that was given."""
        return self._mode

    def _reading(self) -> Any:
        if self._reader is None:
            if not self._reads:
                raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
            system, path = locate(self._name)
            self._reader = system.open(path, "rb")
        return self._reader

    def _writing(self) -> Any:
        if self._writer is None:
            if not self._writes:
                raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
            system, path = locate(self._name)
            self._writer = system.open(path, "ab" if "a" in self._mode else "wb")
        return self._writer

    def _value(self, data: bytes) -> Any:
        return data if self._binary else data.decode()

    def size(self) -> int:
        """The number of bytes in the file now."""
        return Stat(self._name).length

    def write(self, file_content: Any) -> None:
        """Adds text or bytes (of pickle also its buffers) at the end.  Raises TypeError for anything else."""
        if not isinstance(file_content, (str, bytes, bytearray, PickleBuffer)):
            raise TypeError(f"Expected binary or unicode string, got {file_content!r}")
        file = self._writing()
        with op_errors(self._name):
            file.write(file_content.encode() if isinstance(file_content, str) else file_content)

    def read(self, n: int = -1) -> Any:
        """The next `n` bytes (all without `n`), as text or bytes."""
        file = self._reading()
        with op_errors(self._name):
            return self._value(file.read(n))

    def readline(self) -> Any:
        """The next line with its end, "" after the last; carriage returns are left out."""
        file = self._reading()
        with op_errors(self._name):
            return self._value(file.readline().replace(b"\r", b""))

    def readlines(self) -> list:
        """All lines that are left, with their ends."""
        return list(iter(self.readline, self._value(b"")))

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Goes to `offset` bytes from the begin (`whence` 0), from here (1) or from the end (2); `position`: its old name.

        Raises OutOfRangeError behind the end, InvalidArgumentError before the begin or for another `whence`, TypeError
        without an offset.
        """
        file = self._reading()
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if offset is not None and position is not None:
            raise TypeError("seek(): offset and position may not be set simultaneously.")
        place = position if offset is None else offset
        assert place is not None
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(None, None, f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
        place += (0, file.tell(), self.size())[whence] if whence else 0
        if place < 0:
            raise errors.InvalidArgumentError(None, None, f"Seeking to a negative position: {place}")
        size = self.size()
        with op_errors(self._name):
            file.seek(min(place, size))
        if place > size:
            raise errors.OutOfRangeError(None, None, "reached end of file")

    def tell(self) -> int:
        """Where the next byte is read; in a file that is only written, where it is written."""
        return (self._reading() if self._reads else self._writing()).tell()

    def seekable(self) -> bool:
        """True: ``seek`` works."""
        return True

    def readable(self) -> bool:
        """Whether the mode allows reading."""
        return self._reads

    def writable(self) -> bool:
        """Whether the mode allows writing."""
        return self._writes

    def flush(self) -> None:
        """Hands what was written to the system, so that others see it."""
        if self._writer is not None:
            with op_errors(self._name):
                self._writer.flush()

    def close(self) -> None:
        """Ends reading and writing; the next use opens the file anew."""
        files, self._reader, self._writer = (self._reader, self._writer), None, None
        for file in files:
            if file is not None:
                with op_errors(self._name):
                    file.close()

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __iter__(self) -> GFile:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def next(self) -> Any:
        """The next line.  Raises StopIteration after the last."""
        return next(self)


class FastGFile(GFile):
    """GFile under an older name."""


# -- paths ---------------------------------------------------------------------------------------------------------

def Exists(filename: Any) -> bool:
    """Whether there is a file or a folder of that path."""
    system, path = locate(filename)
    return system.exists(path)


def IsDirectory(dirname: Any) -> bool:
    """Whether there is a folder of that path."""
    system, path = locate(dirname)
    return system.is_directory(path)


def ListDirectory(dirname: Any) -> list[str]:
    """The names of what is in a folder.  Raises NotFoundError if it is no folder."""
    system, path = locate(dirname)
    if not system.is_directory(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {path_text(dirname)}")
    return system.children(path)


def Glob(filename: Any) -> list[str]:
    """The paths that match a pattern (or one of several, in a list) with ``*``, ``?`` and ``[...]``.

    No wildcard matches "/".  Raises NotFoundError if the folder before the first wildcard is not there.
    """
    patterns = [filename] if isinstance(filename, (str, bytes, os.PathLike)) else filename
    found: list[str] = []
    for pattern in patterns:
        system, path = locate(pattern)
        scheme = path_text(pattern).removesuffix(path)      # "file://", which the answer has too
        found.extend(scheme + one for one in system.matches(path))
    return found


def Stat(filename: Any) -> FileStatistics:
    """The ``length``, ``mtime_nsec`` and ``is_directory`` of a path.  Raises NotFoundError if there is nothing."""
    system, path = locate(filename)
    return system.stat(path)


def MkDir(dirname: Any) -> None:
    """Makes a folder, if nothing of that name is there.  Raises NotFoundError if the folder around it is not there."""
    system, path = locate(dirname)
    system.make_directory(path)


def MakeDirs(dirname: Any) -> None:
    """Makes a folder and those around it, where they are not there.  Raises FailedPreconditionError inside a file."""
    system, path = locate(dirname)
    system.make_directories(path)


def Remove(filename: Any) -> None:
    """Deletes a file.  Raises NotFoundError if it is not there, FailedPreconditionError for a folder."""
    system, path = locate(filename)
    system.remove(path)


def DeleteRecursively(dirname: Any) -> None:
    """Deletes a folder and all in it.  Raises NotFoundError if it is not there, FailedPreconditionError for a file."""
    system, path = locate(dirname)
    system.remove_all(path)


def Rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """Gives a file or folder another path.

    Raises NotFoundError if it is not there, AlreadyExistsError if `newname` is and not `overwrite`.
    """
    _together(oldname, newname, overwrite, "rename")


def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """Copies a file; the copy appears when it is whole.

    Raises NotFoundError if it is not there, AlreadyExistsError if `newpath` is and not `overwrite`, InvalidArgumentError
    for a folder.
    """
    _together(oldpath, newpath, overwrite, "copy")


def _together(source: Any, target: Any, overwrite: bool, what: str) -> None:
    """Copies or renames, between two file systems through this machine."""
    (here, path), (there, new) = locate(source), locate(target)
    if type(here) is type(there) and getattr(here, "system", None) is getattr(there, "system", None):
        getattr(here, what)(path, new, overwrite)
        return
    if not overwrite and there.exists(new):
        raise errors.AlreadyExistsError(None, None, "file already exists")
    with here.open(path, "rb") as file, there.open(new, "wb") as copy, op_errors(new):
        shutil.copyfileobj(file, copy)
    if what == "rename":
        here.remove(path)


def Walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """(path, names of the folders in it, names of the files in it) of the folder `top` and all below it.

    `in_order`: a folder comes before those in it; else after them.  Nothing if `top` is no folder.
    """
    return walked(top, in_order, None)


def walked(top: Any, in_order: bool, onerror: Any) -> Iterator[tuple[str, list[str], list[str]]]:
    """As ``Walk``; `onerror` is called with the error of a folder that cannot be listed."""
    path = path_text(top)
    try:
        names = ListDirectory(path)
    except errors.NotFoundError as error:
        if onerror is not None:
            onerror(error)
        return
    inside = {name: IsDirectory(os.path.join(path, name)) for name in names}
    here = path, [name for name in names if inside[name]], [name for name in names if not inside[name]]
    if in_order:
        yield here
    for name in here[1]:
        yield from walked(os.path.join(path, name), in_order, onerror)
    if not in_order:
        yield here
