"""``tf.io.gfile``: the functions on files under the names and arguments that they have there."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from jitgraph.filesystem import gfile
from jitgraph.filesystem.systems import FileStatistics


def exists(path: Any) -> bool:
    """Whether there is a file or a folder of that path."""
    return gfile.Exists(path)


def isdir(path: Any) -> bool:
    """Whether there is a folder of that path."""
    return gfile.IsDirectory(path)


def listdir(path: Any) -> list[str]:
    """The names of what is in a folder.  Raises NotFoundError if it is no folder."""
    return gfile.ListDirectory(path)


def glob(pattern: Any) -> list[str]:
    """The paths that match a pattern, or one of a list of them; see ``tf.gfile.Glob``."""
    return gfile.Glob(pattern)


def stat(path: Any) -> FileStatistics:
    """The ``length``, ``mtime_nsec`` and ``is_directory`` of a path.  Raises NotFoundError if there is nothing."""
    return gfile.Stat(path)


def mkdir(path: Any) -> None:
    """Makes a folder, if it is not there.  Raises NotFoundError if the folder around it is not there."""
    gfile.MkDir(path)


def makedirs(path: Any) -> None:
    """Makes a folder and those around it, where they are not there."""
    gfile.MakeDirs(path)


def remove(path: Any) -> None:
    """Deletes a file.  Raises NotFoundError if it is not there, FailedPreconditionError for a folder."""
    gfile.Remove(path)


def rmtree(path: Any) -> None:
    """Deletes a folder and all in it.  Raises NotFoundError if it is not there."""
    gfile.DeleteRecursively(path)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Gives a file or folder another path.  Raises AlreadyExistsError if `dst` is there and not `overwrite`."""
    gfile.Rename(src, dst, overwrite)


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies a file.  Raises AlreadyExistsError if `dst` is there and not `overwrite`."""
    gfile.Copy(src, dst, overwrite)


def walk(top: Any, topdown: bool = True, onerror: Callable | None = None) -> Iterator[tuple[str, list[str], list[str]]]:
    """(path, names of folders, names of files) of `top` and all below it; see ``tf.gfile.Walk``.

    `onerror` is called with the error of a folder that cannot be listed, which is left out.
    """
    return gfile.walked(top, topdown, onerror)
