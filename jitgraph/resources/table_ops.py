"""Lookup tables as nodes.  The tables are in ``table_host``, the classes of ``tf`` in ``tables``.

As with queues, each op is there on a resource handle (``V2``) and, for older graph files, on a reference to a string.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.graph import shape_rules
from jitgraph.resources import dense_tables, shared, table_host

_TESTS = "tests/resources/test_lookup.py: a table"
_SHARING = ('container: string = "", shared_name: string = "", use_node_name_sharing: bool = false, key_dtype: type, '
            'value_dtype: type')


def _both(signature: str, shape: Any = shape_rules.no_outputs, **fields: Any) -> Callable[[Callable], Any]:
    """Declares an op on a table in both versions; gives the function of the newer one."""

    def declare(body: Callable) -> Any:
        made = [op(signature.replace("V?", suffix).replace("H?", kind), shape=shape, stateful=True, host=True,
                   tested_in=_TESTS, **fields)(body) for suffix, kind in (("V2", "resource"), ("", "&string"))]
        return made[0]

    return declare


# the pairs of dtypes for which TensorFlow has tables, keys before values, and those of single kinds of tables
_PAIRS = frozenset([("string", "bool"), *(("int32", value) for value in ("int32", "float32", "float64")),
                    *((key, value) for key in ("int64", "string") for value in ("int32", "int64", "float32", "float64"))])
_STATIC = _PAIRS | {("int32", "string"), ("int64", "string"), ("string", "string")}
_MUTABLE = _PAIRS | {("int64", "string")}
_DENSE = _PAIRS | {("int64", "bool")}


def _table(op: Any, state: Any, make: Callable[..., table_host.Table], pairs: frozenset = _MUTABLE) -> np.ndarray:
    attrs = op.attrs
    key, value = attrs["key_dtype"].name, attrs["value_dtype"].name
    if (key, value) not in pairs:
        known = ", ".join(f"{one} to {other}" for one, other in sorted(pairs))
        raise invalid(f"No OpKernel was registered to support Op '{op.type}' with keys of {key} and values of {value}: there are "
                      f"tables of {known}; cast the keys or the values.")
    name = attrs["shared_name"] or op.name
    return shared(state, op, "table", lambda: make(name, attrs["key_dtype"], attrs["value_dtype"]))


@_both(f"HashTableV?(; {_SHARING}) -> table_handle: H?", shape_rules.scalar, context=("state", "op"), asks=True,
       lasting=True)
def hash_table(state, op):
    """A table that is filled once."""
    return _table(op, state, table_host.StaticTable, _STATIC)


@_both(f"MutableHashTableV?(; {_SHARING}) -> table_handle: H?", shape_rules.scalar, context=("state", "op"), asks=True,
       lasting=True)
def mutable_hash_table(state, op):
    """A table from scalars to scalars that can be changed."""
    return _table(op, state, table_host.Table)


@_both(f"MutableHashTableOfTensorsV?(; {_SHARING}, value_shape: shape = []) -> table_handle: H?", shape_rules.scalar,
       context=("state", "op"), lasting=True)
def mutable_hash_table_of_tensors(state, op):
    """A table from scalars to vectors that can be changed."""
    return _table(op, state, lambda *common: table_host.Table(*common, op.attrs["value_shape"]))


@_both("MutableDenseHashTableV?(empty_key: key_dtype, deleted_key: key_dtype; container: string = \"\", shared_name: "
       "string = \"\", use_node_name_sharing: bool = false, value_dtype: type, value_shape: shape = [], "
       "initial_num_buckets: int = 131072, max_load_factor: float = 0.8) -> table_handle: H?", shape_rules.scalar,
       context=("state", "op"), grad=NOT_DIFFERENTIABLE)
def mutable_dense_hash_table(empty_key, deleted_key, state, op):
    """A table with two reserved keys that can be changed."""
    empty, deleted = np.array(empty_key), np.array(deleted_key)
    attrs = op.attrs
    return _table(op, state, lambda *common: dense_tables.DenseTable(
        *common, attrs["value_shape"], empty, deleted, attrs["initial_num_buckets"], attrs["max_load_factor"]), _DENSE)


# -- filling -------------------------------------------------------------------------------------------------------

@_both("InitializeTableV?(table_handle: H?, keys: Tkey, values: Tval)")
def initialize_table(table_handle, keys, values):
    """Fills a table with keys and values."""
    table_handle[()].initialize(keys.reshape(-1), values.reshape(-1))


def _from_file(c: Any) -> list:
    shape_rules.with_rank(c.shapes[1], 0, "filename")
    return []


@_both('InitializeTableFromTextFileV?(table_handle: H?, filename: string; key_index: int >= -2, value_index: int >= -2, '
       'vocab_size: int >= -1 = -1, delimiter: string = "\\t")', _from_file)
def initialize_table_from_text_file(table_handle, filename, key_index, value_index, vocab_size, delimiter):
    """Fills a table with the lines of a text file."""
    table_handle[()].initialize_from_file(bytes(filename[()]), key_index, value_index, vocab_size, delimiter)


def _same_length(c: Any) -> list:
    if c.running:               # a saver restores tables whose keys are vectors, whose shapes no graph knows
        return []
    keys, values = shape_rules.with_rank(c.shapes[1], 1, "keys"), shape_rules.with_rank_at_least(c.shapes[2], 1, "values")
    if values is not None:
        shape_rules.merge(tuple(keys), tuple(values[:1]))
    return []


@_both("LookupTableImportV?(table_handle: H?, keys: Tin, values: Tout)", _same_length)
def lookup_table_import(table_handle, keys, values):
    """These entries in place of all others."""
    table_handle[()].replace(keys, values)


@_both("LookupTableInsertV?(table_handle: H?, keys: Tin, values: Tout)")
def lookup_table_insert(table_handle, keys, values):
    """Adds entries to a table, in place of those with the same keys."""
    table_handle[()].insert(keys, values)


@_both("LookupTableRemoveV?(table_handle: H?, keys: Tin)")
def lookup_table_remove(table_handle, keys):
    """Removes entries from a table."""
    table_handle[()].remove(keys)


# -- reading -------------------------------------------------------------------------------------------------------

def _found_shape(c: Any) -> Any:
    keys, default = c.shapes[1], c.shapes[2]
    if keys is None or default is None:
        return None
    made = c.inputs[0].op
    if made.type.startswith("MutableDenseHashTable") and made.inputs[0]._shape:
        keys = keys[:-len(made.inputs[0]._shape)]
    return tuple(keys) + tuple(default)


def _finds_each(op: Any) -> bool:
    """A table of reserved keys refuses to look for these."""
    return op.inputs[0].op.type.removesuffix("V2") in ("HashTable", "MutableHashTable")


@_both("LookupTableFindV?(table_handle: H?, keys: Tin, default_value: Tout) -> values: Tout", _found_shape, asks=True,
       each=_finds_each, grad=NOT_DIFFERENTIABLE)
def lookup_table_find(table_handle, keys, default_value):
    """The value of each key, the default for those that are not in the table."""
    return table_handle[()].find(keys, default_value)


@_both("LookupTableSizeV?(table_handle: H?) -> size: int64", shape_rules.scalar, asks=True)
def lookup_table_size(table_handle):
    """The number of entries."""
    return np.array(len(table_handle[()]), np.int64)


def _exported(c: Any) -> list:
    table = c.inputs[0].op
    stated = table.attrs.get("value_shape", ()) or ()
    if table.inputs:                                                # the places of a table of reserved keys
        return [(None, table.inputs[0].shape.num_elements()), (None, math.prod(stated))]
    return [(None,), (None, *stated)]


@_both("LookupTableExportV?(table_handle: H?; Tkeys: type, Tvalues: type) -> keys: Tkeys, values: Tvalues", _exported,
       dynamic=True)
def lookup_table_export(table_handle):
    """All keys and values; of a table of reserved keys each place, empty ones too."""
    return table_handle[()].export()
