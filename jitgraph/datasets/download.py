"""Files from the network: fetched once, checked, and put into place all at once."""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from jitgraph.formats.files import replacing

_PIECE = 1 << 16
_PATIENCE = 30.0  # seconds without an answer of the server


@dataclass(frozen=True, slots=True)
class Expected:
    """What a file is to be: its number of bytes and their SHA-256 in hexadecimal digits."""

    size: int
    sha256: str


class DownloadError(urllib.error.URLError):
    """A file that could not be fetched. Mend it by putting the file where the message says."""

    def __str__(self) -> str:
        return str(self.reason)


def fetch(url: str, path: str, expected: Expected | None = None, wanted: Sequence[str] = ()) -> int:
    """Copy what `url` gives into the file `path` and return its size in bytes.

    A progress bar runs on a terminal. The file appears when all of it is there and is what was `expected`; without
    `expected` it has to have the length that the server stated. Raises DownloadError, whose sentence says where to put
    the file by hand, with others that are `wanted` in its folder.
    """
    digest = hashlib.sha256()
    try:
        with urllib.request.urlopen(url, timeout=_PATIENCE) as answer:
            stated = answer.headers.get("Content-Length")
            total = int(stated) if stated and stated.isdigit() else None
            with replacing(path) as file, _bar(os.path.basename(path), total) as advance:
                size = _copy(answer, file, digest, advance)
                _check(url, size, digest.hexdigest(), total, expected)
    except DownloadError as error:
        raise DownloadError(f"{error}; {_advice(path, wanted)}") from None
    except (urllib.error.URLError, OSError, http.client.HTTPException) as error:
        if os.path.isdir(os.path.dirname(path) or "."):
            raise DownloadError(f"{url} cannot be fetched ({_reason(error)}); {_advice(path, wanted)}") from None
        raise
    return size


def _copy(answer: Any, file: Any, digest: Any, advance: Callable[[int], None]) -> int:
    size = 0
    while piece := answer.read(_PIECE):
        file.write(piece)
        digest.update(piece)
        size += len(piece)
        advance(len(piece))
    return size


def _check(url: str, size: int, digest: str, stated: int | None, expected: Expected | None) -> None:
    wanted = stated if expected is None else expected.size
    if wanted is not None and size != wanted:
        raise DownloadError(f"{url} gave {size:,} bytes where {wanted:,} were expected")
    if expected is not None and digest != expected.sha256:
        raise DownloadError(f"{url} gave another file than was expected: its SHA-256 is {digest}")


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answers {error.code}, {error.reason}"
    reason = getattr(error, "reason", None) or error
    return str(reason) or type(reason).__name__


def _advice(path: str, wanted: Sequence[str]) -> str:
    folder, name = os.path.split(os.path.abspath(path))
    missing = [name, *(other for other in wanted if other != name and not os.path.exists(os.path.join(folder, other)))]
    return f"get {' and '.join(missing)} by other means and put {'them' if missing[1:] else 'it'} into {folder}"


class _bar:
    """A progress bar on a terminal, nothing elsewhere; the block is given a function of the bytes that have come."""

    def __init__(self, name: str, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
        console = Console(stderr=True)
        self._progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._progress.add_task(name, total=total)

    def __enter__(self) -> Callable[[int], None]:
        self._progress.start()
        return lambda count: self._progress.update(self._task, advance=count)

    def __exit__(self, *error: Any) -> None:
        self._progress.stop()
