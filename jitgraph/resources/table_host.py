"""Lookup tables: from keys (integers, strings, floats) to values."""
from __future__ import annotations

import math
import os
import threading
from typing import Any

import numpy as np

from jitgraph.formats.files import local_path, op_errors
from jitgraph.graph import errors
from jitgraph.graph.dtypes import DType

WHOLE_LINE, LINE_NUMBER = -2, -1        # columns of a text file that are none


class Table:
    """A table whose values are arrays of one shape.  Keys are scalars, or vectors if `key_shape` says so."""

    kind = "table"

    def __init__(self, name: str, key_dtype: DType, value_dtype: DType, value_shape: tuple = (), key_shape: tuple = ()):
        self.name, self.key_dtype, self.value_dtype = name, key_dtype, value_dtype
        self.value_shape, self.key_shape = tuple(value_shape), tuple(key_shape)
        self.lock = threading.Lock()
        self.entries: dict[Any, Any] = {}

    def check_same(self, other: Table) -> None:
        """Raises InvalidArgumentError if a node of the same shared name describes another table."""
        if (self.kind, self.key_dtype, self.value_dtype) != (other.kind, other.key_dtype, other.value_dtype):
            raise errors.InvalidArgumentError(
                None, None, f"Table '{self.name}' is a {self.kind} from {self.key_dtype.name} to {self.value_dtype.name}, "
                            f"not a {other.kind} from {other.key_dtype.name} to {other.value_dtype.name}")

    def __len__(self) -> int:
        return len(self.entries)

    def keys_of(self, keys: np.ndarray) -> list:
        """The keys in an array, as they stand in ``entries``."""
        if not self.key_shape:
            return keys.reshape(-1).tolist()
        return [tuple(row) for row in keys.reshape(-1, *self.key_shape).tolist()]

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        """The value of each key, `default` for those that are not there."""
        shape = keys.shape[:keys.ndim - len(self.key_shape)]
        out = np.empty((math.prod(shape), *default.shape), default.dtype)
        entries, missing = self.entries, default.item() if default.ndim == 0 else default
        with self.lock:
            values = [entries.get(key, missing) for key in self.keys_of(keys)]
        if values:
            out[:] = values
        return out.reshape(shape + default.shape)

    def check_shapes(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Raises InvalidArgumentError unless there is a value for each key."""
        wanted = [*keys.shape[:keys.ndim - len(self.key_shape)], *self.value_shape]
        if list(values.shape) != wanted:
            raise errors.InvalidArgumentError(None, None, f"Expected shape {wanted} for value, got {list(values.shape)}")

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Adds entries; later ones replace earlier ones.  Raises InvalidArgumentError for values of other shapes."""
        self.check_shapes(keys, values)
        names = self.keys_of(keys)
        rows = values.reshape(len(names), *self.value_shape) if names else values
        with self.lock:
            for key, row in zip(names, np.array(rows)):
                self.entries[key] = row

    def remove(self, keys: np.ndarray) -> None:
        """Removes entries; keys that are not there do not matter."""
        with self.lock:
            for key in self.keys_of(keys):
                self.entries.pop(key, None)

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        """These entries in place of all others."""
        with self.lock:
            self.entries = {}
        self.insert(keys, values)

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        """All keys and values, in the order of insertion."""
        with self.lock:
            items = list(self.entries.items())
        keys = np.empty((len(items), *self.key_shape), self.key_dtype.as_numpy_dtype)
        values = np.empty((len(items), *self.value_shape), self.value_dtype.as_numpy_dtype)
        for row, (key, value) in enumerate(items):
            keys[row], values[row] = key, value
        return keys, values


class StaticTable(Table):
    """A table that is filled once, by its initializer, and then only read."""

    kind = "HashTable"

    def __init__(self, name: str, key_dtype: DType, value_dtype: DType):
        super().__init__(name, key_dtype, value_dtype)
        self.initialized = False

    def __len__(self) -> int:
        return len(self.entries) if self.initialized else 0

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        if not self.initialized:
            raise errors.FailedPreconditionError(None, None, "Table not initialized. Run tf.tables_initializer() first")
        return super().find(keys, default)

    def initialize(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Fills the table, if it is not filled already.

        Raises FailedPreconditionError if two entries of a key differ, InvalidArgumentError if there are none.
        """
        if len(keys) != len(values):
            raise errors.InvalidArgumentError(None, None, f"Keys and values must have the same size {len(keys)} vs "
                                                          f"{len(values)}")
        if not len(keys):
            raise errors.InvalidArgumentError(None, None, "keys and values cannot be empty tensors. Give the table at least one "
                                                          "entry, or use a mutable table, which may be empty.")
        entries: dict[Any, Any] = {}
        for key, value in zip(self.keys_of(keys), values.tolist()):
            if entries.setdefault(key, value) != value:
                raise errors.FailedPreconditionError(None, None, (
                    f"HashTable has different value for same key. Key {text_of(key)} has {text_of(entries[key])} and trying "
                    f"to add value {text_of(value)}"))
        with self.lock:
            if not self.initialized:
                self.entries, self.initialized = entries, True

    replace = initialize

    def initialize_from_file(self, path: bytes, key_index: int, value_index: int, size: int, delimiter: str) -> None:
        """Fills the table with the lines of a text file.

        Columns count from 0; -2 is the whole line, -1 its number.  `size`: only so many lines, -1 for all.  Raises
        InvalidArgumentError for lines without such a column and for files that are shorter than `size`.
        """
        with op_errors(os.fsdecode(path)), open(local_path(os.fsdecode(path)), "rb") as file:
            lines = file.read().splitlines()
        if not lines and size < 0:
            raise errors.OutOfRangeError(None, None, f"Read less bytes than requested: {os.fsdecode(path)} has no lines")
        if size >= 0:
            if len(lines) < size:
                raise errors.InvalidArgumentError(None, None, f"Invalid vocab_size in {os.fsdecode(path)}: expected {size} "
                                                              f"but got {len(lines)}")
            lines = lines[:size]
        if b"" in lines:
            raise errors.InvalidArgumentError(None, None, f"Invalid content in {os.fsdecode(path)}: empty line found at line "
                                                          f"{lines.index(b'')}")
        columns = [self._column(path, lines, index, delimiter, dtype) for index, dtype in
                   ((key_index, self.key_dtype), (value_index, self.value_dtype))]
        self.initialize(*columns)

    @staticmethod
    def _column(path: bytes, lines: list[bytes], index: int, delimiter: str, dtype: DType) -> np.ndarray:
        if index == LINE_NUMBER:
            return np.arange(len(lines), dtype=np.int64)
        found = np.empty(len(lines), object)
        for number, line in enumerate(lines):
            parts = line.split(delimiter.encode()) if index != WHOLE_LINE else [line]
            column = max(index, 0)
            if column >= len(parts):
                raise errors.InvalidArgumentError(None, None, (
                    f"Invalid number of columns in {os.fsdecode(path)} line {number} ({text_of(line)}) : expected "
                    f"{column + 1} got {len(parts)}"))
            found[number] = parts[column]
        if dtype.name == "string":
            return found
        try:
            return found.astype(str).astype(dtype.as_numpy_dtype)
        except ValueError as error:
            raise errors.InvalidArgumentError(None, None, f"Field {error} in {os.fsdecode(path)} is not a valid "
                                                          f"{dtype.name}.") from None


def text_of(value: Any) -> str:
    """A key or a value in a message."""
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
