"""The modules ``tf.nn``, ``tf.train`` and so on: views of the table of public names.

A package of that name (``jitgraph/train/``) is one itself if it says ``__getattr__ = namespace_getattr("train")``.
"""
from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from jitgraph.facade import names

_held: Any = vars(ModuleType)["__dict__"]


def kept(module: ModuleType) -> dict[str, Any]:
    """What a module holds so far."""
    return _held.__get__(module)


class Namespace(ModuleType):
    """A module such as ``tf.nn``, made of the public names with that prefix, each resolved at its first use.

    Who asks for all of them, by ``vars()`` or ``import *``, has them resolved then.
    """

    _prefix: str
    _names: Any = names     # the module of the table: its `namespaces()` says what is there, its `resolve(name)` gives it

    def __init__(self, prefix: str):
        super().__init__(f"jitgraph.{prefix}", f"The names tf.{prefix}.*.")
        self._prefix = prefix

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        return opened(self, self._prefix, self._names)

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return members(self._prefix, self._names)
        if name.startswith("__"):
            raise AttributeError(name)
        value = self._names.resolve(joined(self._prefix, name))
        return kept(self).setdefault(name, value)       # of a package: the module of that name, if resolving imported it

    def __dir__(self) -> list[str]:
        inside = self._names.namespaces()[self._prefix]
        return sorted(inside | {name for name in kept(self) if name.startswith("__")})


def joined(prefix: str, name: str) -> str:
    """The dotted name of a name in a namespace."""
    return f"{prefix}.{name}" if prefix else name


def members(prefix: str, table: Any = names) -> list[str]:
    """The names directly in a namespace that can be resolved, in order: its ``__all__``."""
    found = []
    for name in sorted(table.namespaces()[prefix]):
        try:
            table.resolve(joined(prefix, name))
        except AttributeError:
            continue
        found.append(name)
    return found


def opened(module: ModuleType, prefix: str, table: Any = names) -> dict[str, Any]:
    """The ``__dict__`` of a module after all names of its namespace have been put into it."""
    found = kept(module)
    for name in members(prefix, table):
        found.setdefault(name, table.resolve(joined(prefix, name)))
    return found


def is_module(dotted: str) -> bool:
    """Whether ``jitgraph.DOTTED`` is a module of this project."""
    try:
        return importlib.util.find_spec(f"jitgraph.{dotted}") is not None
    except ModuleNotFoundError:
        return False


@functools.cache
def namespace(prefix: str) -> ModuleType:
    """The module of a namespace: the package of that name if it answers for the names, else a Namespace."""
    package = importlib.import_module(f"jitgraph.{prefix}") if is_module(prefix) else None
    return package if package is not None and answers(package) else Namespace(prefix)


def answers(module: ModuleType) -> bool:
    """Whether a module resolves public names itself."""
    return isinstance(module, Namespace)


def namespace_getattr(prefix: str) -> Callable[[str], Any]:
    """Makes the package ``jitgraph/PREFIX/`` the public namespace PREFIX; gives its ``__getattr__``."""
    module: Any = sys.modules[f"jitgraph.{prefix}"]
    module.__class__ = Namespace
    module._prefix = prefix
    return module.__getattr__
