"""The TensorFlow 1 graph language, compiled: ``import jitgraph as tf``.

All public names stand in one table, ``jitgraph.names``, and are resolved when they are first used.
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
        return [*importlib.import_module("jitgraph.namespaces").members(""), "compat"]
    if name in ("__git_version__", "__compiler_version__"):
        return getattr(importlib.import_module("jitgraph.public"), name.strip("_").upper())
    if name.startswith("__"):
        raise AttributeError(f"module 'jitgraph' has no attribute {name!r}")
    if name in ("names", "graph", "op", "prim", "ops"):      # asked for by `from jitgraph import op`
        return importlib.import_module(f"jitgraph.{name}")
    names = importlib.import_module("jitgraph.names")
    importlib.import_module("jitgraph.tracebacks").install()        # not at the import, which loads nothing
    if name not in names.namespaces()[""] and importlib.import_module("jitgraph.namespaces").is_module(name):
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
            namespaces = importlib.import_module("jitgraph.namespaces")
            if name in names.table() or (name in names.namespaces()[""] and not namespaces.answers(value)):
                return
        super().__setattr__(name, value)

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        import importlib

        return importlib.import_module("jitgraph.namespaces").opened(self, "")


sys.modules[__name__].__class__ = _Facade
