"""Functions of TensorFlow's inner modules that are public by another name: ``array_ops.expand_dims_v2``.

``exported_names.tsv`` has a line for each inner module: its name without ``tensorflow.``, a tab, and pairs
``inner name=public name``; what begins with ``compat.v2.`` is public in TensorFlow 2 alone.  Names that a module's places
(``tensorflow_modules.py``) lead to by themselves are not listed.
"""
from __future__ import annotations

import functools
import importlib
from importlib import resources
from typing import Any

from jitgraph.facade import names_v2

_V2 = "compat.v2."


@functools.cache
def _table() -> dict[str, dict[str, str]]:
    lines = resources.files("jitgraph.facade").joinpath("exported_names.tsv").read_text().splitlines()
    return {module: dict(pair.split("=") for pair in pairs.split())
            for module, _, pairs in (line.partition("\t") for line in lines)}


def public_name(module: str, name: str) -> str | None:
    """The public name of `name` in the inner module `module` ("python.ops.array_ops"), if the two differ."""
    return _table().get(module, {}).get(name)


def find(module: str, name: str) -> Any:
    """What `name` of the inner module `module` is by its public name, or None where it has no other one."""
    public = public_name(module, name)
    if public is None:
        return None
    if public.startswith(_V2):
        return names_v2.resolve(public.removeprefix(_V2))
    holder = importlib.import_module("jitgraph")
    for part in public.split("."):
        holder = getattr(holder, part)
    return holder
