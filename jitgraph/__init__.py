"""The TensorFlow 1 graph language, compiled: ``import jitgraph as tf``.

All public names stand in one table, ``jitgraph.names``, and are resolved when they are first used.
"""
from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    import importlib
    import importlib.util

    if name.startswith("__"):
        raise AttributeError(f"module 'jitgraph' has no attribute {name!r}")
    if name in ("names", "graph", "op", "prim", "ops"):      # asked for by `from jitgraph import op`
        return importlib.import_module(f"jitgraph.{name}")
    names = importlib.import_module("jitgraph.names")
    if name not in names.namespaces()[""] and importlib.util.find_spec(f"jitgraph.{name}") is not None:
        return importlib.import_module(f"jitgraph.{name}")
    value = names.resolve(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    import importlib

    names = importlib.import_module("jitgraph.names")
    return sorted(names.namespaces()[""] | {name for name in globals() if not name.startswith("_")} | {"__version__"})


class _Facade(ModuleType):
    """Importing ``jitgraph.gradients`` must not put the module in the place of the function ``tf.gradients``.

    Nor may the package ``jitgraph.train`` take the place of the names ``tf.train.*``, unless it answers for them.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and value.__name__ == f"jitgraph.{name}" and name != "names":
            import importlib

            names = importlib.import_module("jitgraph.names")
            if name in names.table() or (name in names.namespaces()[""] and not names.answers(value)):
                return
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Facade
