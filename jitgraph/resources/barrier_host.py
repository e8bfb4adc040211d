"""Barriers: values that arrive in parts, joined by key."""
from __future__ import annotations

import itertools
import threading

import numpy as np

from jitgraph.graph import errors, shapes
from jitgraph.graph.dtypes import int64, string
from jitgraph.resources.queue_host import PriorityQueue, Wait

FIRST_INDEX = -2 ** 63


class Barrier:
    """Tuples under construction, by key; those with all components are ready, in the order of their first insertion."""

    def __init__(self, name: str, types: list, stated: list | None):
        self.name, self.types, self.shapes = name, list(types), stated
        self.lock = threading.Lock()
        self.closed = False
        self._incomplete: dict[bytes, list] = {}        # key -> [index, component or None ...]
        self._indices = itertools.count(FIRST_INDEX)
        columns = None if stated is None else [(), (), *stated]
        self.ready = PriorityQueue(name, [int64, string, *types], columns, -1)
        self.ready.kind = "Barrier"

    def check_same(self, other: Barrier) -> None:
        """Raises InvalidArgumentError if a node of the same shared name describes another barrier."""
        if self.types != other.types or self.shapes != other.shapes:
            raise errors.InvalidArgumentError(None, None, f"Shared barrier '{self.name}' has other components")

    def incomplete(self) -> int:
        """How many keys lack a component."""
        return len(self._incomplete)

    def insert(self, keys: np.ndarray, values: np.ndarray, component: int, wait: Wait) -> None:
        """Gives each key its `component`.

        Raises InvalidArgumentError for a key that has it already, CancelledError for a new key once it is closed.
        """
        self._check(keys, values, component)
        with self.lock:
            index = None
            for position, key in enumerate(np.ravel(keys)):
                parts = self._incomplete.get(key)
                if parts is None:
                    if self.closed:
                        raise errors.CancelledError(None, None, (
                            f"Barrier {self.name} is closed, but attempted to insert a brand new key: "
                            f"{key.decode('latin-1')}.  Number of incomplete keys: {len(self._incomplete)}."))
                    index = next(self._indices) if index is None else index
                    parts = self._incomplete[key] = [index, *[None] * len(self.types)]
                elif parts[component + 1] is not None:
                    raise errors.InvalidArgumentError(None, None, f"Key {key.decode('latin-1')} already has a value for "
                                                                  f"component {component} in barrier {self.name}")
                parts[component + 1] = np.array(values[position:position + 1].reshape(values.shape[1:]))
                if all(part is not None for part in parts):
                    del self._incomplete[key]
                    self.ready.enqueue((np.array(parts[0]), np.array(key, object), *parts[1:]), wait)
            self._close_when_done(wait)

    def _check(self, keys: np.ndarray, values: np.ndarray, component: int) -> None:
        if keys.ndim != 1 or values.ndim < 1 or len(keys) != len(values):
            raise errors.InvalidArgumentError(None, None, f"Barrier {self.name} needs a vector of keys and as many rows of "
                                                          f"values, got shapes {shapes.brackets(keys.shape)} and "
                                                          f"{shapes.brackets(values.shape)}")
        if not 0 <= component < len(self.types):
            raise errors.InvalidArgumentError(None, None, f"The component ID is out of range {component} > num_components "
                                                          f"(= {len(self.types)})")
        if len(keys) and not values.size:
            raise errors.InvalidArgumentError(None, None, f"Tensors with no elements are not supported {self.name}: received shape "
                                                          f"{shapes.brackets(values.shape)}")
        if self.shapes is not None and values.shape[1:] != tuple(self.shapes[component]):
            raise errors.InvalidArgumentError(None, None, f"Shape mismatch in tuple component {component}. Expected "
                                                          f"{shapes.brackets((len(keys), *self.shapes[component]))}, got "
                                                          f"{shapes.brackets(values.shape)}")

    def take(self, count: int, partial: bool, wait: Wait) -> list[np.ndarray]:
        """(indices, keys, components ...) of `count` complete tuples, waiting for them; of a closed barrier, with
        `partial`, what is left.  Raises OutOfRangeError if it is closed and has less."""
        return self.ready.dequeue_many(count, partial, wait)

    def close(self, cancel: bool, wait: Wait) -> None:
        """No new keys from now on; with `cancel`, incomplete ones are dropped.  Raises CancelledError the second time."""
        with self.lock:
            if self.closed and not cancel:
                raise errors.CancelledError(None, None, f"Barrier '{self.name}' is already closed.")
            self.closed = True
            if cancel:
                self._incomplete.clear()
            self._close_when_done(wait)

    def _close_when_done(self, wait: Wait) -> None:
        if self.closed and not self._incomplete and not self.ready.closed:
            self.ready.close(True, wait)
