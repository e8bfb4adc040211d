"""Lookup tables that change while a session runs: ``tf.contrib.lookup.MutableHashTable`` and ``MutableDenseHashTable``."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import colocate_with, name_scope
from jitgraph.graph.shapes import raw_shape
from jitgraph.graph.tensor import Tensor
from jitgraph.resources.tables import LookupInterface, Table
from jitgraph.variables.saveables import SaveableObject, SaveSpec


class _MutableTable(Table):
    def _add_to_savers(self, name: str) -> None:
        get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _TableSaveable(self, name))

    def _gather_saveables_for_checkpoint(self) -> dict[str, Callable]:
        """How checkpoints of objects see it."""
        return {"table": functools.partial(_TableSaveable, self)}

    def _scope(self, name: str | None, what: str, values: list) -> Any:
        return name_scope(name, f"{self.name}_lookup_table_{what}", [self.resource_handle, *values])

    def size(self, name: str | None = None) -> Tensor:
        """The number of entries, int64."""
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]), colocate_with(self.resource_handle):
            return raw.LookupTableSizeV2(self.resource_handle)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The value of each key, the default for keys that are not there.  Raises TypeError for another dtype."""
        keys = self._checked(keys)
        with self._scope(name, "find", [self._default_value]), colocate_with(self.resource_handle):
            return self._find(keys)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Operation:
        """An operation that adds entries, in place of those with the same keys."""
        with self._scope(name, "insert", [keys, values]):
            keys = convert_to_tensor(keys, self._key_dtype, name="keys")
            values = convert_to_tensor(values, self._value_dtype, name="values")
            with colocate_with(self.resource_handle):
                return raw.LookupTableInsertV2(self.resource_handle, keys, values)

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> Operation:
        """The newer name of ``insert``."""
        return self.insert(keys, values, name)

    def remove(self, keys: Any, name: str | None = None) -> Operation:
        """An operation that removes entries; keys that are not there do not matter."""
        keys = self._checked(keys)
        with self._scope(name, "remove", [keys, self._default_value]):
            return raw.LookupTableRemoveV2(self.resource_handle, keys)

    def export(self, name: str | None = None) -> Any:
        """(keys, values) of all entries."""
        with self._scope(name, "export_values", []), colocate_with(self.resource_handle):
            return tuple(raw.LookupTableExportV2(self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype))


class MutableHashTable(_MutableTable):
    """A table that ``insert`` fills; keys that are not there have `default_value` (a scalar, or a vector).

    `checkpoint`: savers of all variables save it too.
    """

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any,
                 name: str = "MutableHashTable", checkpoint: bool = True, shared_name: str | None = None):
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert_to_tensor(default_value, self._value_dtype)
        shape = raw_shape(self._default_value.shape)
        self._attrs = {"container": get_default_graph()._container, "shared_name": shared_name or "",
                       "use_node_name_sharing": checkpoint and shared_name is None, "key_dtype": self._key_dtype,
                       "value_dtype": self._value_dtype, "name": name}
        if shape:
            self._attrs["value_shape"] = shape
        self.resource_handle = self._create_resource()
        if checkpoint:
            self._add_to_savers(name)

    def _create_resource(self) -> Tensor:
        make = raw.MutableHashTableOfTensorsV2 if "value_shape" in self._attrs else raw.MutableHashTableV2
        return make(**self._attrs)


class MutableDenseHashTable(_MutableTable):
    """As MutableHashTable; two keys, `empty_key` and `deleted_key`, are reserved and cannot be used."""

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, empty_key: Any, deleted_key: Any,
                 initial_num_buckets: int | None = None, name: str = "MutableDenseHashTable",
                 checkpoint: bool = True, shared_name: str | None = None):
        LookupInterface.__init__(self, key_dtype, value_dtype)
        self._default_value = convert_to_tensor(default_value, self._value_dtype, name="default_value")
        empty = convert_to_tensor(empty_key, self._key_dtype, name="empty_key")
        deleted = convert_to_tensor(deleted_key, self._key_dtype, name="deleted_key")
        buckets = {} if initial_num_buckets is None else {"initial_num_buckets": initial_num_buckets}
        self._reserved = empty, deleted
        self._attrs = {"container": get_default_graph()._container, "shared_name": shared_name or "",
                       "use_node_name_sharing": checkpoint and shared_name is None, "value_dtype": self._value_dtype,
                       "value_shape": raw_shape(self._default_value.shape), "name": name, **buckets}
        self.resource_handle = self._create_resource()
        if checkpoint:
            self._add_to_savers(name)

    def _create_resource(self) -> Tensor:
        return raw.MutableDenseHashTableV2(*self._reserved, **self._attrs)

    def erase(self, keys: Any, name: str | None = None) -> Operation:
        """The older name of ``remove``."""
        return self.remove(keys, name)


class _TableSaveable(SaveableObject):
    """How savers see a mutable table: two tensors, its keys and its values."""

    def __init__(self, table: _MutableTable, name: str):
        keys, values = table.export()
        specs = [SaveSpec(keys, "", name + "-keys"), SaveSpec(values, "", name + "-values")]
        super().__init__(table, specs, name)

    def restore(self, restored_tensors: list[Tensor], restored_shapes: list | None) -> Any:
        with name_scope(None, f"{self.op.name}_table_restore"), colocate_with(self.op.resource_handle):
            return raw.LookupTableImportV2(self.op.resource_handle, restored_tensors[0], restored_tensors[1])
