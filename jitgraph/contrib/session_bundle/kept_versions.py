"""``tf.contrib.session_bundle.gc`` and ``tf.contrib.learn.utils.gc``: which of the numbered folders of exports are kept."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.filesystem import gfile

_OWN = deprecated(None, "Please implement your own file management or use Saver.")


class Path(NamedTuple):
    """A folder and its number, which may be None."""

    path: str
    export_version: Any


@_OWN
def largest_export_versions(n: int) -> Callable:
    """A function of Paths that gives the `n` with the largest numbers, in rising order."""
    def keep(paths: list[Path]) -> list[Path]:
        numbered = [(path.export_version, place) for place, path in enumerate(paths) if path.export_version is not None]
        return sorted(paths[place] for _, place in sorted(numbered, reverse=True)[:n])

    return keep


@_OWN
def one_of_every_n_export_versions(n: int) -> Callable:
    """A function of Paths that gives the one with the largest number of each of the intervals [1, n], [n + 1, 2n] ..."""
    def keep(paths: list[Path]) -> list[Path]:
        found: dict[int, Path] = {}
        for path in paths:
            if path.export_version is None:
                continue
            interval = (path.export_version - 1) // n if path.export_version else 0
            if interval not in found or found[interval].export_version < path.export_version:
                found[interval] = path
        return sorted(found.values())

    return keep


@_OWN
def mod_export_version(n: int) -> Callable:
    """A function of Paths that gives those whose numbers are multiples of `n`."""
    return lambda paths: sorted(path for path in paths if path.export_version % n == 0)


@_OWN
def union(lf: Callable, rf: Callable) -> Callable:
    """A function of Paths that gives those that either of two functions gives."""
    return lambda paths: sorted({*lf(paths), *rf(paths)})


@_OWN
def negation(f: Callable) -> Callable:
    """A function of Paths that gives those that a function does not."""
    return lambda paths: sorted({*paths} - {*f(paths)})


@deprecated(None, "Please implement your own file name management.")
def get_paths(base_dir: Any, parser: Callable) -> list[Path]:
    """What `parser` makes of the Paths in a folder, without numbers yet, in rising order; None leaves one out."""
    folder = os.fsdecode(base_dir)
    given = (Path(os.path.join(folder, os.fsdecode(name)), None) for name in gfile.ListDirectory(base_dir))
    return sorted(path for path in map(parser, given) if path)
