"""What a layer leaves in collections: its variables, and its outputs under the name of its scope."""
from __future__ import annotations

from collections import OrderedDict
from typing import Any

from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import add_to_collection, add_to_collections, get_collection


def collect_named_outputs(collections: Any, alias: str, outputs: Any) -> Any:
    """`outputs`, which have joined `collections` under the name `alias`."""
    if collections:
        append_tensor_alias(outputs, alias)
        add_to_collections(collections, outputs)
    return outputs


def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """`tensor`, with `alias` (without a slash at its end) among its names."""
    alias = alias.removesuffix("/")
    if hasattr(tensor, "aliases"):
        tensor.aliases.append(alias)
    else:
        tensor.aliases = [alias]
    return tensor


def get_tensor_aliases(tensor: Any) -> list[str]:
    """The names of a tensor: its aliases, or, without one, that of its operation or its own."""
    if hasattr(tensor, "aliases"):
        return list(tensor.aliases)
    return [tensor.op.name if tensor.name.endswith(":0") else tensor.name]


def gather_tensors_aliases(tensors: Any) -> list[str]:
    """The names of several tensors."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def convert_collection_to_dict(collection: str, clear_collection: bool = False) -> OrderedDict:
    """{name: tensor} of the tensors of a collection, which is emptied if `clear_collection`."""
    found = OrderedDict((alias, tensor) for tensor in get_collection(collection) for alias in get_tensor_aliases(tensor))
    if clear_collection:
        get_default_graph().clear_collection(collection)
    return found


def get_variable_collections(variables_collections: Any, name: str) -> Any:
    """The collections of the variable `name`: of a dict its entry, else all."""
    return variables_collections.get(name) if isinstance(variables_collections, dict) else variables_collections


def add_variable_to_collections(variable: Any, variables_collections: Any, name: str) -> None:
    """Puts a variable, or the parts of a partitioned one, into the collections of the variable `name`, once each."""
    parts = [variable] if hasattr(variable, "op") else list(variable)
    for collection in get_variable_collections(variables_collections, name) or []:
        for part in parts:
            if not any(part is known for known in get_collection(collection)):
                add_to_collection(collection, part)
