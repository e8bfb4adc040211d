"""Keys of object code: named parts, so that a miss can say which part differed."""
from __future__ import annotations

import json
from collections.abc import Iterable

from .emit import native


def digest(parts: dict[str, str]) -> str:
    """The content address of object code."""
    return native.digest(json.dumps(parts, sort_keys=True).encode())[:40]


def difference(parts: dict[str, str], others: Iterable[dict[str, str]]) -> str:
    """Why nothing in the store fitted: the parts in which the nearest of `others` differs."""
    best: list[str] | None = None
    for other in others:
        names = [n for n in parts if other.get(n) != parts[n]]
        if best is None or len(names) < len(best):
            best = names
    if best is None:
        return "the store is empty"
    return "no entry differs in fewer parts than: " + ", ".join(best)
