"""Arguments that TensorFlow renamed: both names are accepted, one at a time."""
from __future__ import annotations

from typing import Any


def renamed(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The value given under either name.  Raises ValueError if both are given."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{new_name}' and '{old_name}'")
    return old_value
