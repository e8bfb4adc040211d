"""Scopes of names and devices, and the seed of a graph."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import scopes
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.seeds import set_random_seed


class name_scope:
    """``with name_scope("layer") as scope:`` puts new operations of the default graph under a name, made unique.

    A name that ends in "/" is entered as it stands.  The object can be entered again, also within itself.  Raises
    ValueError for a name that is no string.
    """

    def __init__(self, name: str):
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = name
        self._entered: list[Any] = []

    @property
    def name(self) -> str:
        """The name that was asked for."""
        return self._name

    def __enter__(self) -> str:
        scope = get_default_graph().name_scope(self._name)
        name = scope.__enter__()
        self._entered.append(scope)
        return name

    def __exit__(self, *raised: Any) -> None:
        self._entered.pop().__exit__(*raised)


def device(device_name: Any) -> Any:
    """``with device("/cpu:0"):`` places new operations; `device_name` is a string, a DeviceSpec or None.

    Raises RuntimeError for a function.
    """
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions.")
    return scopes.device(device_name)


def set_seed(seed: Any) -> None:
    """Sets the seed of the default graph, as ``tf.compat.v1.set_random_seed``."""
    set_random_seed(seed)
