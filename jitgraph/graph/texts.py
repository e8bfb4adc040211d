"""Texts that graph files give as bytes and programs as strings."""
from __future__ import annotations

from typing import Any


def as_text(value: Any) -> Any:
    """Bytes decoded as UTF-8; anything else as it is."""
    return value.decode() if isinstance(value, bytes) else value
