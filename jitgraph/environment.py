"""The environment variables that a person sets: read in one place, and refused where what they say means nothing.

Each is read when it is needed, so that a program may still set it after the import.  `jitgraph.runtime.settings` lists
them.
"""
from __future__ import annotations

import os
from collections.abc import Iterable, Sequence


def text(name: str) -> str:
    """What a variable says, without blanks around it; "" if it is not set."""
    return os.environ.get(name, "").strip()


def flag(name: str, default: bool = False) -> bool:
    """A variable that is 0 or 1.  Raises ValueError for anything else."""
    given = text(name)
    if given not in ("", "0", "1"):
        raise ValueError(f"{name} is 0 or 1, not {given!r}")
    return given == "1" if given else default


def number(name: str, least: int = 1) -> int | None:
    """A variable that is an integer, None if it is not set.  Raises ValueError for anything else."""
    given = text(name)
    if not given:
        return None
    if not (given.isascii() and given.isdigit()) or int(given) < least:
        raise ValueError(f"{name} is a whole number, {least} or more, not {given!r}")
    return int(given)


def choice(name: str, allowed: Sequence[str], default: str) -> str:
    """A variable that is one of some words.  Raises ValueError for any other."""
    given = text(name) or default
    if given not in allowed:
        raise ValueError(f"{name} is one of {', '.join(allowed)}, not {given!r}")
    return given


def words(name: str, allowed: Iterable[str], given: str | None = None) -> frozenset[str]:
    """A variable, or what was `given` under another name, that holds some words joined by commas.  Raises ValueError for
    words that are not allowed."""
    found = frozenset((text(name) if given is None else given).replace(",", " ").split())
    allowed = list(allowed)
    unknown = sorted(found - set(allowed))
    if unknown:
        raise ValueError(f"{name} holds words among {', '.join(allowed)}, joined by commas; it does not know "
                         f"{', '.join(map(repr, unknown))}")
    return found
