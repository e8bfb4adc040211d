"""What the host keeps for a graph between runs: queues, barriers, tables, readers.

Nodes that make such a thing give a handle: an object array without dimensions that holds the Python object.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def handle(thing: Any) -> np.ndarray:
    """`thing` as the value of a handle."""
    array = np.empty((), object)
    array[()] = thing
    return array


def shared(state: Any, op: Any, kind: str, make: Callable[[], Any]) -> np.ndarray:
    """The handle of the session's object behind the node `op`, which nodes of one container and shared name share.

    `make` gives a new object for the node; it is asked once per node, to make the object or to be compared with the one
    that is there by ``check_same``, which raises InvalidArgumentError.
    """
    def find() -> np.ndarray:
        own = make()
        name = op.attrs.get("shared_name") or op.name
        found = state.owner(op).resource((kind, op.attrs.get("container") or "", name), lambda: own)
        if found is not own:
            found.check_same(own)
        return handle(found)

    return state.resource(("handle", op), find)
