"""Names of nodes: which are valid, how they are made unique, and the current name scope of a graph."""
from __future__ import annotations

import re
import threading

_VALID_OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_./-]*$").match
_VALID_FIRST_SCOPE_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$").match
_VALID_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\\/>-]*$").match


def is_op_name(name: str) -> bool:
    """Whether a node may be called `name`."""
    return _VALID_OP_NAME(name) is not None


def check_op_name(name: str) -> None:
    """Raises ValueError if a node may not be called `name`."""
    if not is_op_name(name):
        raise ValueError(f"'{name}' is not a valid node name")


class _Current(threading.local):
    """The scope that one thread is in."""

    scope = ""


class NameTable:
    """The names in use in one graph, and the scope that new ones are put in.

    ``scope`` is the current scope of this thread without a trailing slash ("" at the root, where a new thread begins).
    """

    def __init__(self) -> None:
        self._current = _Current()
        self._in_use: dict[str, int] = {}

    @property
    def scope(self) -> str:
        return self._current.scope

    @scope.setter
    def scope(self, scope: str) -> None:
        self._current.scope = scope

    def unique(self, name: str, mark_as_used: bool = True) -> str:
        """`name` inside the current scope, with ``_1``, ``_2`` ... if it is taken (whatever its case)."""
        scope = self._current.scope
        if isinstance(name, bytes):
            name = name.decode()
        if scope:
            name = f"{scope}/{name}"
        in_use = self._in_use
        key = name.lower()
        count = in_use.get(key, 0)
        if mark_as_used:
            in_use[key] = count + 1
        if count == 0:
            return name
        candidate = key
        while candidate in in_use:
            candidate = f"{key}_{count}"
            count += 1
        if mark_as_used:
            in_use[candidate] = 1
        return f"{name}_{count - 1}"

    def take_over(self, other: NameTable) -> None:
        """Marks as used what is used in `other`."""
        self._in_use.update(other._in_use)

    def reserve(self, name: str) -> None:
        """Marks the full `name` as used (a node that is imported under a given name); its scopes stay free."""
        self._in_use.setdefault(name.lower(), 1)

    def enter(self, name: str | None) -> str:
        """Makes the scope that ``name_scope(name)`` means the current one; returns it without a slash.

        None and "" mean the root; a name that ends in "/" is re-entered as it stands; others are made unique.
        """
        current = self._current
        if not name:
            current.scope = ""
            return ""
        if isinstance(name, bytes):
            name = name.decode()
        if not isinstance(name, str):
            raise TypeError(f"A name scope is a string, not {name!r}.")
        valid = _VALID_SCOPE_NAME(name) if current.scope else _VALID_FIRST_SCOPE_NAME(name)
        if not valid:
            raise ValueError(f"'{name}' is not a valid scope name")
        scope = current.scope = name[:-1] if name[-1] == "/" else self.unique(name)
        return scope
