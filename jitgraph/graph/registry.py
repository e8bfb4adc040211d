"""The declared ops by type; what no imported module declares is looked for in the modules that may."""
from __future__ import annotations

import functools
import importlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jitgraph.graph.op_types import OpDef

REGISTRY: dict[str, OpDef] = {}
_all_loaded = False


def load_all() -> dict[str, OpDef]:
    """Imports every module that declares ops and returns the registry."""
    global _all_loaded
    if not _all_loaded:
        for module in _declaring():
            importlib.import_module(module)
        _all_loaded = True
    return REGISTRY


# the rooms with modules that declare ops: all that are in the first, and those of the others that are named so
ROOMS = ("ops", "contrib", "control", "data", "distribute", "estimator", "functions", "ragged", "resources", "summary",
         "tensor_arrays", "variables")
ENDING = "_ops.py"


@functools.cache
def _declaring() -> dict[str, str]:
    """The modules that declare ops: name -> file."""
    import jitgraph

    found = {}
    root = os.path.dirname(os.path.abspath(jitgraph.__file__ or ""))
    for room in ROOMS:
        for folder, inner, files in os.walk(os.path.join(root, room)):
            inner.sort()
            package = ".".join(["jitgraph", *os.path.relpath(folder, root).split(os.sep)])
            for file in sorted(files):
                if file.endswith(".py" if room == ROOMS[0] else ENDING) and file != "__init__.py":
                    found[f"{package}.{file[:-3]}"] = os.path.join(folder, file)
    return found


@functools.cache
def _sources() -> dict[str, bytes]:
    """The text of every such module: what one declares is found without importing all of them."""
    texts = {}
    for module, path in _declaring().items():
        with open(path, "rb", buffering=0) as file:
            texts[module] = file.read()
    return texts


def _load_declaring(op_type: str) -> None:
    """Imports the module whose text declares `op_type`, if one does so literally."""
    declarations = f'"{op_type}('.encode(), f"'{op_type}(".encode()
    for module, text in _sources().items():
        if any(d in text for d in declarations):
            importlib.import_module(module)


def variable_kind(op_type: str) -> str | None:
    """What nodes of a type are as variables, "reference" or "resource"; None for other types, also those not known here."""
    opdef = REGISTRY.get(op_type)
    if opdef is None and not _all_loaded:
        _load_declaring(op_type)
        opdef = REGISTRY.get(op_type)
    return None if opdef is None else opdef.variable


def lookup(op_type: str) -> OpDef:
    """The declaration of `op_type`.  Raises NotFoundError, naming it, if there is none."""
    found = REGISTRY.get(op_type)
    if found is None and not _all_loaded:
        _load_declaring(op_type)
        found = REGISTRY.get(op_type) or load_all().get(op_type)
    if found is None:
        import difflib

        from jitgraph.graph.errors import NotFoundError

        near = difflib.get_close_matches(op_type, REGISTRY, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise NotFoundError(None, None, f"Op type not registered '{op_type}'.{hint} Declare it with @op, see "
                                        "jitgraph.declare.op.")
    return found
