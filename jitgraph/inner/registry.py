"""``tensorflow.python.framework.registry``: objects by names, each name once."""
from __future__ import annotations

import sys
from collections.abc import KeysView
from typing import Any


class Registry:
    """Objects by names; `name` says in errors what they are."""

    def __init__(self, name: str):
        self._name = name
        self._registry: dict[str, tuple[Any, str]] = {}

    def register(self, candidate: Any, name: str | None = None) -> None:
        """Adds an object, by default under its ``__name__``.  Raises KeyError for a name that is taken, and says by whom."""
        key = name or candidate.__name__
        if key in self._registry:
            raise KeyError(f"Registering two {self._name} with name '{key}'! (Previous registration was in "
                           f"{self._registry[key][1]})")
        caller = sys._getframe(1)
        self._registry[key] = candidate, f"{caller.f_code.co_name} {caller.f_code.co_filename}:{caller.f_lineno}"

    def list(self) -> KeysView[str]:
        """The names."""
        return self._registry.keys()

    def lookup(self, name: Any) -> Any:
        """The object of a name.  Raises LookupError if there is none."""
        key = name.decode() if isinstance(name, bytes) else str(name)
        if key not in self._registry:
            raise LookupError(f"{self._name} registry has no entry for: {key}")
        return self._registry[key][0]
