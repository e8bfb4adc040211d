"""Tables of two reserved keys, which leave them, whole, as TensorFlow lays them out: each place with its key and value.

TensorFlow takes the rows it reads from a checkpoint for the places themselves, so they have to be the same here.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph import errors
from jitgraph.graph.dtypes import DType
from jitgraph.ops.strings.string_hash import murmur64
from jitgraph.resources.table_host import Table, text_of

_WORD = 2 ** 64 - 1


def _hash(key: Any) -> int:
    """The 64 bits by which a key, an integer, a string or a tuple of them, is placed."""
    if not isinstance(key, tuple):
        return murmur64(key) if isinstance(key, bytes) else int(key) & _WORD
    if len(key) == 1:
        return _hash(key[0])
    found = 0
    for part in key:
        found ^= (_hash(part) + 0x9E3779B97F4A7800 + (found << 10) + (found >> 4)) & _WORD
    return found


class DenseTable(Table):
    """A table in which two keys are reserved: one marks empty, one deleted places.

    `buckets`: the places at first; they are doubled when more than the part `load` of them would be taken.  Raises
    InvalidArgumentError for equal reserved keys, and for numbers of places that are no power of two.
    """

    kind = "MutableDenseHashTable"

    def __init__(self, name: str, key_dtype: DType, value_dtype: DType, value_shape: tuple, empty: np.ndarray,
                 deleted: np.ndarray, buckets: int = 131072, load: float = 0.8):
        super().__init__(name, key_dtype, value_dtype, value_shape, empty.shape)
        (self._empty,), (self._deleted,) = super().keys_of(empty), super().keys_of(deleted)
        if self._empty == self._deleted:
            raise errors.InvalidArgumentError(None, None, f"Empty and deleted keys must have different values, got: "
                                                          f"{text_of(self._empty)}")
        if buckets < 4 or buckets & (buckets - 1):
            raise errors.InvalidArgumentError(None, None, f"Number of buckets must be at least 4 and a power of 2, got: {buckets}")
        self._buckets, self._load = buckets, load
        self._places: dict[Any, int] = {}           # of each key
        self._taken: dict[int, Any] = {}            # the key of each place
        self._left: dict[int, Any] = {}             # the values at places of removed keys

    def keys_of(self, keys: np.ndarray) -> list:
        found = super().keys_of(keys)
        for name, reserved in (("empty_key", self._empty), ("deleted_key", self._deleted)):
            if reserved in found:
                raise errors.InvalidArgumentError(None, None, f"Using the {name} as a table key is not allowed")
        return found

    def _place(self, key: Any) -> None:
        if key in self._places:
            return
        at, probes = _hash(key) & (self._buckets - 1), 0
        while at in self._taken:
            probes += 1
            at = (at + probes) & (self._buckets - 1)
        self._left.pop(at, None)
        self._places[key], self._taken[at] = at, key

    def _grow(self) -> None:
        keys = [self._taken[at] for at in sorted(self._taken)]
        self._places, self._taken, self._left = {}, {}, {}
        for key in keys:
            self._place(key)

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        names = self.keys_of(keys)
        super().insert(keys, values)
        with self.lock:
            before = self._buckets
            while len(self._places) + len(names) > self._buckets * self._load:
                self._buckets *= 2
            if self._buckets != before:
                self._grow()
            for key in names:
                self._place(key)

    def remove(self, keys: np.ndarray) -> None:
        with self.lock:
            for key in self.keys_of(keys):
                if key in self.entries:
                    at = self._places.pop(key)
                    del self._taken[at]
                    self._left[at] = self.entries.pop(key)

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        """The places as ``export`` gives them, or entries alone, in place of all others."""
        names = super().keys_of(keys)
        rows = np.array(values).reshape(len(names), *self.value_shape)
        with self.lock:
            self.entries, self._places, self._taken, self._left = {}, {}, {}, {}
            whole = len(names) >= 4 and not len(names) & (len(names) - 1) and self._empty in names
            if whole:
                self._buckets = len(names)
            for at, key in enumerate(names):
                if key == self._deleted:
                    self._left[at] = rows[at]
                elif key != self._empty:
                    self.entries[key] = rows[at]
                    if whole:
                        self._places[key], self._taken[at] = at, key
        if not whole:
            kept = [key for key in names if key in self.entries]
            self.insert(np.array(kept, self.key_dtype.as_numpy_dtype), np.array([self.entries[key] for key in kept]))

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        """The keys [places, elements of a key] and values [places, elements of a value]."""
        with self.lock:
            keys: np.ndarray = np.empty((self._buckets, int(np.prod(self.key_shape))), self.key_dtype.as_numpy_dtype)
            values: np.ndarray = np.zeros((self._buckets, int(np.prod(self.value_shape))), self.value_dtype.as_numpy_dtype)
            if values.dtype == object:
                values[...] = b""
            keys[...] = self._empty
            for key, at in self._places.items():
                keys[at], values[at] = key, np.reshape(self.entries[key], -1)
            for at, value in self._left.items():
                keys[at], values[at] = self._deleted, np.reshape(value, -1)
        return keys, values
