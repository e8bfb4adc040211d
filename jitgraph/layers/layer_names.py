"""The names of layers that are given none: those of their classes, numbered in each graph."""
from __future__ import annotations

import re

from jitgraph.graph.default_graph import get_default_graph

_NAMES_IN_USE = "jitgraph.layers.names"


def snake_case(name: str) -> str:
    """The name of a class with underscores: "batch_normalization"."""
    words = re.sub(r"([a-z])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)).lower()
    return words if words[0] != "_" else "private" + words


def unique(name: str) -> str:
    """`name` with the number of the layer in this graph: "dense_1"."""
    counts: dict[str, int] = get_default_graph().per_graph(_NAMES_IN_USE, dict)
    counts[name] = counts.get(name, 0) + 1
    return f"{name}_{counts[name]}"
