"""What holds files: the local machine, or what fsspec reaches behind a scheme (`gs://`, `s3://`, `memory://`).

Both answer in errors of `tf.errors`, as TensorFlow 1.15 raises them.
"""
from __future__ import annotations

import fnmatch
import os
import re
import shutil
from typing import Any, NamedTuple, Protocol

from jitgraph.formats.files import as_op_error, op_errors, replacing
from jitgraph.graph import errors

_SCHEME = re.compile(r"([A-Za-z][0-9A-Za-z.+-]*)://")
_SECOND = 10 ** 9


class FileStatistics(NamedTuple):
    """What is known of a file: its `length` in bytes, when it was written, in nanoseconds since 1970, whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


class FileSystem(Protocol):
    """The operations on paths; each raises an OpError if it fails."""

    def open(self, path: str, mode: str) -> Any: ...
    def exists(self, path: str) -> bool: ...
    def is_directory(self, path: str) -> bool: ...
    def children(self, path: str) -> list[str]: ...
    def matches(self, pattern: str) -> list[str]: ...
    def stat(self, path: str) -> FileStatistics: ...
    def make_directory(self, path: str) -> None: ...
    def make_directories(self, path: str) -> None: ...
    def remove(self, path: str) -> None: ...
    def remove_all(self, path: str) -> None: ...
    def rename(self, source: str, target: str, overwrite: bool) -> None: ...
    def copy(self, source: str, target: str, overwrite: bool) -> None: ...


def locate(path: Any) -> tuple[FileSystem, str]:
    """The file system of a path and the path in it.

    Raises TypeError for what is no path, UnimplementedError for a scheme that nothing here reaches.
    """
    text = path_text(path)
    scheme = _SCHEME.match(text)
    if scheme is None:
        return LOCAL, text
    if scheme[1] == "file":
        return LOCAL, text[scheme.end():]
    return Remote(scheme[1], text), text


def path_text(path: Any) -> str:
    """A path as text.  Raises TypeError for anything but text, bytes and path objects."""
    if isinstance(path, (str, bytes, os.PathLike)):
        return os.fsdecode(path)
    raise TypeError(f"Expected binary or unicode string, got {path!r}")


def _occupied() -> errors.OpError:
    return errors.AlreadyExistsError(None, None, "file already exists")


class Local:
    """The files of this machine."""

    def open(self, path: str, mode: str) -> Any:
        with op_errors(path):
            return open(path, mode)

    def exists(self, path: str) -> bool:
        return bool(path) and os.path.exists(path)

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(path)

    def children(self, path: str) -> list[str]:
        with op_errors(path):
            return sorted(os.listdir(path))

    def matches(self, pattern: str) -> list[str]:
        """The paths that match, folder by folder; raises NotFoundError if the part before the first wildcard is not there.

        Nothing matches a pattern that ends with a slash.
        """
        if pattern and not re.search(r"[*?[]", pattern):
            self.children(os.path.dirname(pattern) or ".")
        if pattern.endswith("/"):
            return []
        found = ["/"] if pattern.startswith("/") else [""]
        parts = [part for part in pattern.split("/") if part]
        for number, part in enumerate(parts):
            if not re.search(r"[*?[]", part):
                found = [os.path.join(folder, part) for folder in found]
                continue
            part = part.replace("[^", "[!")     # both mean "none of these"
            first = not any(re.search(r"[*?[]", earlier) for earlier in parts[:number])
            found = [os.path.join(folder, name) for folder in found if first or os.path.isdir(folder or ".")
                     for name in self.children(folder or ".") if fnmatch.fnmatchcase(name, part)]
        if parts and found and not pattern.startswith("/") and (len(parts) == 1 or re.search(r"[*?[]", parts[0])):
            found = [os.path.join(".", name) for name in found]         # as TensorFlow spells what has no folder
        return [path for path in found if os.path.lexists(path)]

    def stat(self, path: str) -> FileStatistics:
        with op_errors(path):
            found = os.stat(path)
        return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(path))

    def make_directory(self, path: str) -> None:
        if path and not self.exists(path):      # a file in its place is no error in TensorFlow either
            with op_errors(path):
                os.mkdir(path)

    def make_directories(self, path: str) -> None:
        if path and not self.exists(path):      # "" is the folder where the program runs
            with op_errors(path):
                os.makedirs(path, exist_ok=True)

    def remove(self, path: str) -> None:
        with op_errors(path):
            os.unlink(path)

    def remove_all(self, path: str) -> None:
        if not os.path.lexists(path):
            raise errors.NotFoundError(None, None, f"{path} not found")
        with op_errors(path):
            shutil.rmtree(path)

    def rename(self, source: str, target: str, overwrite: bool) -> None:
        if not overwrite and os.path.lexists(target):
            raise _occupied()
        with op_errors(source):
            os.replace(source, target)

    def copy(self, source: str, target: str, overwrite: bool) -> None:
        if not overwrite and os.path.lexists(target):
            raise _occupied()
        if os.path.isdir(source):
            raise errors.InvalidArgumentError(None, None, f"{source}; Is a directory, and one file is copied at a time")
        if os.path.isdir(target):
            raise errors.FailedPreconditionError(None, None, f"{target}; Is a directory")
        with op_errors(source), open(source, "rb") as file, replacing(target) as copy:
            shutil.copyfileobj(file, copy)


class Remote:
    """What fsspec reaches behind a scheme.  `text`: the path that was asked for, for messages."""

    def __init__(self, scheme: str, text: str):
        absent = f"File system scheme '{scheme}' not implemented (file: '{text}')"
        self.scheme = scheme
        try:
            import fsspec
        except ImportError:
            raise errors.UnimplementedError(None, None, f"{absent}: install fsspec, which reaches it, or copy the files to "
                                                        "this machine") from None
        try:
            self.system = fsspec.filesystem(scheme)
        except (ImportError, ValueError) as error:
            raise errors.UnimplementedError(None, None, f"{absent}: {error}") from None

    def open(self, path: str, mode: str) -> Any:
        with op_errors(path):
            return self.system.open(path, mode)

    def exists(self, path: str) -> bool:
        with op_errors(path):
            return bool(self.system.exists(path))

    def is_directory(self, path: str) -> bool:
        with op_errors(path):
            return bool(self.system.isdir(path))

    def children(self, path: str) -> list[str]:
        with op_errors(path):
            return sorted(name.rstrip("/").rpartition("/")[2] for name in self.system.ls(path, detail=False))

    def matches(self, pattern: str) -> list[str]:
        with op_errors(pattern):
            return sorted(f"{self.scheme}://{name.lstrip('/')}" for name in self.system.glob(pattern))

    def stat(self, path: str) -> FileStatistics:
        with op_errors(path):
            found = self.system.info(path)
            try:
                written = self.system.modified(path).timestamp()
            except (NotImplementedError, KeyError, FileNotFoundError):
                written = 0.0           # some keep no times of folders
        return FileStatistics(int(found.get("size") or 0), int(written * _SECOND), found["type"] == "directory")

    def make_directory(self, path: str) -> None:
        if not self.is_directory(path):
            with op_errors(path):
                self.system.mkdir(path, create_parents=False)

    def make_directories(self, path: str) -> None:
        with op_errors(path):
            self.system.makedirs(path, exist_ok=True)

    def remove(self, path: str) -> None:
        if self.is_directory(path):
            raise errors.FailedPreconditionError(None, None, f"{path}; Is a directory")
        with op_errors(path):
            self.system.rm_file(path)

    def remove_all(self, path: str) -> None:
        if not self.exists(path):
            raise errors.NotFoundError(None, None, f"{path} not found")
        if not self.is_directory(path):
            raise errors.FailedPreconditionError(None, None, f"{path}; Not a directory")
        with op_errors(path):
            self.system.rm(path, recursive=True)

    def rename(self, source: str, target: str, overwrite: bool) -> None:
        self._make_room(source, target, overwrite)
        with op_errors(source):
            self.system.mv(source, target, recursive=True)

    def copy(self, source: str, target: str, overwrite: bool) -> None:
        self._make_room(source, target, overwrite)
        with op_errors(source):
            self.system.cp_file(source, target)

    def _make_room(self, source: str, target: str, overwrite: bool) -> None:
        if not self.exists(source):
            raise as_op_error(FileNotFoundError(2, "No such file or directory", source))
        if not overwrite and self.exists(target):
            raise _occupied()


LOCAL = Local()
