"""The TensorFlow 1 graph language, compiled: ``import jitgraph as tf``.

All public names stand in one table, ``jitgraph.facade.names``, and are resolved when they are first used.
"""
from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

# the version of TensorFlow whose interface this is: programs ask for it.  `jitgraph --version` prints this project's own
__version__ = "1.15.5"


def __getattr__(name: str) -> Any:
    import importlib

    if name == "__all__":
        return [*importlib.import_module("jitgraph.facade.namespaces").members(""), "compat"]
    if name in ("__git_version__", "__compiler_version__"):
        return getattr(importlib.import_module("jitgraph.facade.version"), name.strip("_").upper())
    if name.startswith("__"):
        raise AttributeError(f"module 'jitgraph' has no attribute {name!r}")
    names = importlib.import_module("jitgraph.facade.names")
    importlib.import_module("jitgraph.tracebacks").install()        # not at the import, which loads nothing
    if name not in names.namespaces()[""] and importlib.import_module("jitgraph.facade.namespaces").is_module(name):
        return importlib.import_module(f"jitgraph.{name}")
    value = names.resolve(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    import importlib

    names = importlib.import_module("jitgraph.facade.names")
    return sorted(names.namespaces()[""] | {name for name in globals() if not name.startswith("_")} | {"__version__"})


class _Facade(ModuleType):
    """``vars(tf)`` holds all public names, those that were not used before as well."""

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        import importlib

        return importlib.import_module("jitgraph.facade.namespaces").opened(self, "")


sys.modules[__name__].__class__ = _Facade
