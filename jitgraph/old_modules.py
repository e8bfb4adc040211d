"""Modules that Python has given up since TensorFlow 1's time: the parts of them that programs use.

`old_names.put_back()` has them found where Python, or a package in its place (setuptools has a `distutils`), has none.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def put_back() -> None:
    """Have `import` find the modules where nothing else does."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


class _Finder(MetaPathFinder, Loader):
    """The last one that is asked for a module."""

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        is_package = any(name.startswith(f"{fullname}.") for name in _MODULES)
        return ModuleSpec(fullname, self, is_package=is_package) if fullname in _MODULES else None

    def exec_module(self, module: ModuleType) -> None:
        module.__doc__ = f"The part of Python's old module `{module.__name__}` that programs use."
        vars(module).update(_MODULES[module.__name__])


def load_source(name: str, pathname: str) -> ModuleType:
    """Execute a file as the module `name`, and return that."""
    spec = importlib.util.spec_from_file_location(name, pathname)
    assert spec is not None and spec.loader is not None
    found = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


class _Version:
    """A version number that is compared with others of its class, or with texts of them."""

    vstring: str
    key: Any

    def __init__(self, vstring: str | None = None):
        if vstring:
            self.parse(vstring)

    def parse(self, vstring: str) -> None:
        """Read the text of a version."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__} ('{self}')"

    def _compared(self, other: Any, compare: Callable[[Any, Any], bool]) -> Any:
        other = type(self)(other) if isinstance(other, str) else other
        return compare(self.key, other.key) if isinstance(other, type(self)) else NotImplemented

    def __eq__(self, other: object) -> Any:
        return self._compared(other, lambda a, b: a == b)

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a < b)

    __hash__ = None     # type: ignore[assignment]


@functools.total_ordering
class LooseVersion(_Version):
    """`distutils.version.LooseVersion`: numbers and words between dots, compared one after the other.

    Comparing raises TypeError where a number meets a word, as it always did.
    """

    def parse(self, vstring: str) -> None:
        """Take the text apart into `version`, a list of ints and strings."""
        self.vstring = vstring
        parts = re.findall(r"\d+|[a-z]+|[^\da-z.]+", vstring)
        self.version = self.key = [int(part) if part.isdecimal() else part for part in parts]

    def __str__(self) -> str:
        return self.vstring


@functools.total_ordering
class StrictVersion(_Version):
    """`distutils.version.StrictVersion`: two or three numbers, and perhaps `a` or `b` and a number, which come before it.

    Raises ValueError for a text that is not of this form.
    """

    def parse(self, vstring: str) -> None:
        """Take the text apart into `version`, three ints, and `prerelease`, a letter and an int, or None."""
        form = re.fullmatch(r"(\d+)\.(\d+)(?:\.(\d+))?(?:([ab])(\d+))?", vstring, re.ASCII)
        if form is None:
            raise ValueError(f"invalid version number '{vstring}'")
        major, minor, patch, letter, number = form.groups()
        self.vstring = vstring
        self.version = int(major), int(minor), int(patch or 0)
        self.prerelease = (letter, int(number)) if letter else None
        self.key = self.version, self.prerelease is None, self.prerelease or ()

    def __str__(self) -> str:
        numbers = self.version if self.version[2] else self.version[:2]
        return ".".join(map(str, numbers)) + "".join(map(str, self.prerelease or ()))


def strtobool(val: str) -> int:
    """Return 1 for a word that means yes and 0 for one that means no; raises ValueError for any other."""
    word = val.lower()
    if word in ("y", "yes", "t", "true", "on", "1"):
        return 1
    if word in ("n", "no", "f", "false", "off", "0"):
        return 0
    raise ValueError(f"invalid truth value {word!r}")


def mkpath(name: str, mode: int = 0o777, verbose: int = 1, dry_run: int = 0) -> list[str]:
    """Make a folder with those above it, and return the ones that were missing."""
    missing, path = [], os.path.normpath(name)
    while path and not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    if not dry_run:
        os.makedirs(os.path.normpath(name) or ".", mode, exist_ok=True)
    return missing[::-1]


def copy_tree(src: str, dst: str, preserve_mode: int = 1, preserve_times: int = 1, preserve_symlinks: int = 0,
              update: int = 0, verbose: int = 1, dry_run: int = 0) -> list[str]:
    """Copy what a folder holds into another one, which may exist, and return the files there.

    Raises OSError where `src` is no folder. `update` leaves files that are newer there as they are.
    """
    if not os.path.isdir(src):
        raise OSError(f"cannot copy tree '{src}': not a directory")
    written = []
    for name in sorted(os.listdir(src)):
        source, target = os.path.join(src, name), os.path.join(dst, name)
        if preserve_symlinks and os.path.islink(source):
            if not dry_run:
                mkpath(dst)
                os.symlink(os.readlink(source), target)
            written.append(target)
        elif os.path.isdir(source):
            written += copy_tree(source, target, preserve_mode, preserve_times, preserve_symlinks, update, verbose, dry_run)
        else:
            older = update and os.path.exists(target) and os.path.getmtime(source) <= os.path.getmtime(target)
            if not dry_run and not older:
                mkpath(dst)
                (shutil.copy2 if preserve_times else shutil.copy if preserve_mode else shutil.copyfile)(source, target)
            written.append(target)
    if not dry_run:
        mkpath(dst)
    return written


def remove_tree(directory: str, verbose: int = 1, dry_run: int = 0) -> None:
    """Remove a folder and all that it holds, as far as that is possible."""
    if not dry_run:
        shutil.rmtree(directory, ignore_errors=True)


_HEADS: list[tuple[str, Callable[[bytes], bool]]] = [
    ("jpeg", lambda head: head[6:10] in (b"JFIF", b"Exif") or head[:4] == b"\xff\xd8\xff\xdb"),
    ("png", lambda head: head.startswith(b"\x89PNG\r\n\x1a\n")),
    ("gif", lambda head: head[:6] in (b"GIF87a", b"GIF89a")),
    ("tiff", lambda head: head[:2] in (b"MM", b"II")),
    ("bmp", lambda head: head.startswith(b"BM")),
    ("webp", lambda head: head.startswith(b"RIFF") and head[8:12] == b"WEBP"),
]


def what(file: Any, h: bytes | None = None) -> str | None:
    """Return of which kind an image is, by its first bytes (of a path, an open file, or `h`), or None."""
    if h is None:
        if isinstance(file, (str, os.PathLike)):
            with open(file, "rb") as opened:
                h = opened.read(32)
        else:
            place = file.tell()
            h = file.read(32)
            file.seek(place)
    assert h is not None
    return next((kind for kind, fits in _HEADS if fits(h)), None)


_MODULES: dict[str, dict[str, Any]] = {
    # Python had these until 3.11
    "imp": {"reload": importlib.reload, "load_source": load_source, "new_module": ModuleType},
    "distutils": {},
    "distutils.version": {"Version": _Version, "LooseVersion": LooseVersion, "StrictVersion": StrictVersion},
    "distutils.util": {"strtobool": strtobool},
    "distutils.dir_util": {"mkpath": mkpath, "copy_tree": copy_tree, "remove_tree": remove_tree},
    "distutils.spawn": {"find_executable": lambda executable, path=None: shutil.which(executable, path=path)},
    # and these until 3.12
    "pipes": {"quote": shlex.quote},
    "imghdr": {"what": what},
}
