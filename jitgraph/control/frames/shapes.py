"""Static shapes of loop variables, as tuples with None for sizes that are not known, or None altogether."""
from __future__ import annotations

from typing import Any


def within(general: Any, special: Any) -> bool:
    """Whether every value of the one shape has the other."""
    return general is None or special is not None and len(general) == len(special) and all(
        g is None or g == s for g, s in zip(general, special))


def wider(a: Any, b: Any) -> Any:
    """What two shapes have in common."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b))
