"""The store: object code on disk, found by content address, and what the passes made of programs.

One file per kernel, `<address>.jgo`: a line of magic, a line of JSON (the named parts of the key, the symbol, times), a
line with the SHA-256 of what follows, then the object file.  One per program, `<address>.jgp`: a line of magic, a line with
the SHA-256 of what follows, then what `compiler.stored` writes.  Files appear by atomic rename in a directory that only its
owner may enter, and everything is checked on load: a truncated, foreign or altered file is a miss, and is replaced.
No error of the file system ever reaches a run: a directory that cannot be written means an in-memory store.
"""
from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

from jitgraph import environment
from jitgraph.compiler.emit.native import digest

MAGIC = b"jitgraph object 1\n"
SUFFIX = ".jgo"
PROGRAM_MAGIC = b"jitgraph program 1\n"
PROGRAM_SUFFIX = ".jgp"


class Entry(NamedTuple):
    """One stored kernel: its address, the named parts of its key, when it was made and how big it is."""

    key: str
    parts: dict[str, str]
    symbol: str
    seconds: float
    size: int
    path: Path
    created: float


def directory() -> Path:
    """Where the store is: JITGRAPH_CACHE, or the user's cache directory of the platform."""
    given = environment.text("JITGRAPH_CACHE")
    if given:
        return Path(given).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", "~\\AppData\\Local")).expanduser()
    elif sys.platform == "darwin":
        base = Path("~/Library/Caches").expanduser()
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser()
    return base / "jitgraph"


def checked_directory() -> Path:
    """The same.  Raises ValueError if what JITGRAPH_CACHE names is no folder."""
    found = directory()
    if found.exists() and not found.is_dir():
        raise ValueError(f"JITGRAPH_CACHE names a folder, which is made if it is not there; {str(found)!r} is a file")
    return found


def is_empty() -> bool:
    """Whether nothing was ever put into the store."""
    try:
        with os.scandir(directory()) as found:
            return next(found, None) is None
    except OSError:
        return True


def has(key: str) -> bool:
    """Whether there is a file for a key."""
    return (directory() / (key + SUFFIX)).exists()


def load(key: str) -> tuple[dict[str, Any], bytes] | None:
    """(header, object code) under a key, or None if there is none that is whole and ours."""
    try:
        data = (directory() / (key + SUFFIX)).read_bytes()
    except OSError:
        return None
    return _parse(data)


def _parse(data: bytes) -> tuple[dict[str, Any], bytes] | None:
    if not data.startswith(MAGIC):
        return None
    try:
        header, checksum, code = data[len(MAGIC):].split(b"\n", 2)
        fields = json.loads(header)
    except ValueError:
        return None
    if digest(header + code).encode() != checksum or "symbol" not in fields:
        return None
    return fields, code


def save(key: str, parts: dict[str, str], symbol: str, code: bytes, seconds: float) -> bool:
    """Stores object code; True if it is on disk now."""
    header = json.dumps({"parts": parts, "symbol": symbol, "seconds": round(seconds, 4)}).encode()
    return _write(key + SUFFIX, MAGIC + header + b"\n" + digest(header + code).encode() + b"\n" + code)


def load_program(key: str) -> bytes | None:
    """What the passes made of the program of a key, or None if there is nothing that is whole and ours."""
    try:
        data = (directory() / (key + PROGRAM_SUFFIX)).read_bytes()
    except OSError:
        return None
    checksum, _, content = data[len(PROGRAM_MAGIC):].partition(b"\n")
    return content if data.startswith(PROGRAM_MAGIC) and digest(content).encode() == checksum else None


def save_program(key: str, content: bytes) -> bool:
    """Stores what the passes made of a program; True if it is on disk now."""
    return _write(key + PROGRAM_SUFFIX, PROGRAM_MAGIC + digest(content).encode() + b"\n" + content)


def _write(name: str, data: bytes) -> bool:
    import tempfile

    where, temporary = directory(), None
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".", dir=where)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, where / name)
    except OSError:
        if temporary is not None:
            try:
                os.unlink(temporary)
            except OSError:
                pass
        return False
    return True


def entries() -> list[Entry]:
    """All whole entries, newest first."""
    found = []
    try:
        paths = sorted(directory().glob("*" + SUFFIX))
    except OSError:
        return []
    for path in paths:
        try:
            data, stat = path.read_bytes(), path.stat()
        except OSError:
            continue
        parsed = _parse(data)
        if parsed is not None:
            fields = parsed[0]
            found.append(Entry(path.stem, fields["parts"], fields["symbol"], fields.get("seconds", 0.0), stat.st_size, path,
                               stat.st_mtime))
    return sorted(found, key=lambda e: -e.created)


def programs() -> list[int]:
    """The sizes of the files of programs, in bytes."""
    try:
        return [path.stat().st_size for path in directory().glob("*" + PROGRAM_SUFFIX)]
    except OSError:
        return []


def explain(parts: dict[str, str]) -> str:
    """Why the store has nothing under a key with these parts: which parts differ from the nearest entry."""
    from jitgraph.compiler import key

    others = [e.parts for e in entries() if e.parts != parts]
    return key.difference(parts, [o for o in others if o.get("name") == parts.get("name")] or others)


def clear() -> int:
    """Removes all kernels, programs and left-over temporary files; returns how many of the two there were."""
    count = 0
    where = directory()
    if not where.is_dir():
        return 0
    for path in where.iterdir():
        if path.suffix in (SUFFIX, PROGRAM_SUFFIX) or path.name.startswith("."):
            try:
                path.unlink()
                count += not path.name.startswith(".")
            except OSError:
                pass
    return count
