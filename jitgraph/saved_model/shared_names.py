"""The names under which what is loaded shares its tables and variables with nothing else."""
from __future__ import annotations

import itertools
from typing import Any

from jitgraph.graph.errors import NotFoundError
from jitgraph.graph.registry import lookup
from jitgraph.protobuf import messages

_loads = itertools.count(1)


def load_suffix() -> str:
    """What the shared names of one load end in."""
    return f"_load_{next(_loads)}"


def make_own(node: Any, suffix: str, function: str = "") -> None:
    """Gives a NodeDef, of a function or of the graph, a shared name that ends in `suffix`, if nodes of its type have one."""
    declared = _attributes(node.op)
    if "shared_name" not in node.attr and "shared_name" not in declared:
        return
    if "use_node_name_sharing" in declared:
        node.attr["use_node_name_sharing"].b = True     # else TensorFlow takes equal names, once they are saved, for different ones
    name = node.attr["shared_name"].s.decode()
    node.attr["shared_name"].s = f"{name or '_'.join(filter(None, (function, node.name)))}{suffix}".encode()


def _attributes(op_type: str) -> Any:
    try:
        return lookup(op_type).attrs
    except NotFoundError:
        return ()           # a function, or a type that importing will refuse


def with_own_names(library: Any, suffix: str) -> Any:
    """A FunctionDefLibrary whose resources have shared names that end in `suffix`."""
    renamed = messages.FunctionDefLibrary()
    renamed.CopyFrom(library)
    for definition in renamed.function:
        for node in definition.node_def:
            make_own(node, suffix, definition.signature.name)
    return renamed
