"""Lookup tables: ``tf.lookup.StaticHashTable``, ``tf.contrib.lookup.HashTable``, ``MutableHashTable`` and their kin.

A table lives in a session.  Static ones are filled by ``tf.tables_initializer()``, mutable ones by ``insert``.
"""
from __future__ import annotations

import collections
import uuid
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import group, no_op
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.elementwise.cast import cast
from jitgraph.resources.assets import TrackableAsset


def tables_initializer(name: str = "init_all_tables") -> Operation:
    """An operation that fills all static tables of the default graph."""
    initializers = get_default_graph().get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(*initializers, name=name) if initializers else no_op(name=name)


def initialize_all_tables(name: str = "init_all_tables") -> Operation:
    """The old name of ``tables_initializer``."""
    return tables_initializer(name)


class _KeysAndValues:
    """Something that maps keys of one dtype to values of another."""

    def __init__(self, key_dtype: Any, value_dtype: Any):
        self._key_dtype, self._value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return self._value_dtype


class LookupInterface(_KeysAndValues):
    """A table from keys of `key_dtype` to values of `value_dtype`; `resource_handle` is the handle of its node."""

    resource_handle: Tensor
    _checkpoint_dependencies: list[tuple[str, Any]] = []

    @property
    def name(self) -> str:
        """The name of the table."""
        raise NotImplementedError

    def size(self, name: str | None = None) -> Tensor:
        """The number of entries, int64."""
        raise NotImplementedError

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The value of each key, the default for keys that are not there."""
        raise NotImplementedError

    def _checked(self, keys: Any) -> Any:
        """Keys as a Tensor or SparseTensor.  Raises TypeError if they are of another dtype."""
        if not isinstance(keys, (Tensor, SparseTensor)):
            keys = convert_to_tensor(keys, self._key_dtype)
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}.")
        return keys


class Table(LookupInterface):
    """A table with a node of its own; saved models make it by ``_create_resource`` and fill it by ``_initialize``."""

    _default_value: Tensor

    def _create_resource(self) -> Tensor:
        """A node for the table, in the default graph."""
        raise NotImplementedError

    def _initialize(self) -> Any:
        """What fills the table of the handle, None if nothing does."""
        return None

    @property
    def name(self) -> str:
        """The name of the table's node, without its scope."""
        return self.resource_handle.op.name.split("/")[-1]

    @property
    def default_value(self) -> Tensor:
        """The value of keys that are not there."""
        return self._default_value

    def _find(self, keys: Any) -> Any:
        tensor = keys.values if isinstance(keys, SparseTensor) else keys
        values = raw.LookupTableFindV2(self.resource_handle, tensor, self._default_value)
        return SparseTensor(keys.indices, values, keys.dense_shape) if isinstance(keys, SparseTensor) else values


# -- static tables -------------------------------------------------------------------------------------------------

class TableInitializerBase(_KeysAndValues):
    """Fills a table whose keys and values have these dtypes."""

    _checkpoint_dependencies: list[tuple[str, Any]] = []

    @property
    def shared_name(self) -> str:
        """A name that tables filled in the same way share."""
        return f"hash_table_{uuid.uuid4()}"

    def initialize(self, table: Any) -> Operation:
        """The operation that fills `table`."""
        raise NotImplementedError

    def _check(self, table: Any) -> None:
        if (table.key_dtype, table.value_dtype) != (self._key_dtype, self._value_dtype):
            raise TypeError(f"Invalid key or value dtype, expected {self._key_dtype} and {self._value_dtype} but got "
                            f"{table.key_dtype} and {table.value_dtype}.")


class KeyValueTensorInitializer(TableInitializerBase):
    """Fills a table with `keys` and `values`, two vectors of one length."""

    def __init__(self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: str | None = None):
        self._keys = convert_to_tensor(keys, None if key_dtype is None else as_dtype(key_dtype), name="keys")
        self._values = convert_to_tensor(values, None if value_dtype is None else as_dtype(value_dtype), name="values")
        self._name = name if name is not None else "key_value_init"
        super().__init__(self._keys.dtype.base_dtype, self._values.dtype.base_dtype)

    def initialize(self, table: Any) -> Operation:
        self._check(table)
        with name_scope(self._name, values=[table.resource_handle, self._keys, self._values]):
            operation = raw.LookupTableImportV2(table.resource_handle, self._keys, self._values)
        get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, operation)
        return operation


class TextFileIndex:
    """Columns of a text file that are none: the whole line, its number."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(TableInitializerBase):
    """Fills a table with the lines of a text file.

    `key_index` and `value_index`: the column (from 0, separated by `delimiter`), TextFileIndex.WHOLE_LINE (of dtype
    string) or TextFileIndex.LINE_NUMBER (int64).  `vocab_size`: only so many lines.  Raises ValueError for dtypes and
    indices that do not go together.
    """

    def __init__(self, filename: Any, key_dtype: Any, key_index: int, value_dtype: Any, value_index: int,
                 vocab_size: int | None = None, delimiter: str = "\t", name: str | None = None):
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError("Filename required")
        key_dtype, value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        for what, index, dtype in (("Key", key_index, key_dtype), ("Value", value_index, value_dtype)):
            if index < -2:
                raise ValueError(f"Invalid {what.lower()} index {index}.")
            if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
                raise ValueError(f"Signature mismatch. {what}s must be dtype {dtypes.int64}, got {dtype}.")
            if index == TextFileIndex.WHOLE_LINE and what == "Value" and dtype != dtypes.string:
                raise ValueError(f"Signature mismatch. {what}s must be dtype {dtypes.string}, got {dtype}.")
            if index == TextFileIndex.WHOLE_LINE and what == "Key" and not dtype.is_integer and dtype != dtypes.string:
                raise ValueError(f"Signature mismatch. Keys must be integer or string, got {dtype}.")
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}.")
        super().__init__(key_dtype, value_dtype)
        self._file, self._key_index, self._value_index = filename, key_index, value_index
        self._vocab_size, self._delimiter, self._name = vocab_size, delimiter, name
        asset = TrackableAsset(filename)
        self._filename, self._checkpoint_dependencies = asset.asset_path, [("_filename", asset)]
        if self._filename.op.type == "Const":
            get_default_graph().add_to_collection(GraphKeys.ASSET_FILEPATHS, self._filename)

    @property
    def shared_name(self) -> str:
        size = "" if self._vocab_size is None else f"{self._vocab_size}_"
        file = self._file.name if isinstance(self._file, Tensor) else self._file
        return f"hash_table_{file}_{size}{self._key_index}_{self._value_index}"

    def initialize(self, table: Any) -> Operation:
        self._check(table)
        with name_scope(self._name, "text_file_init", [table.resource_handle]):
            operation = raw.InitializeTableFromTextFileV2(
                table.resource_handle, self._filename, key_index=self._key_index, value_index=self._value_index,
                vocab_size=-1 if self._vocab_size is None else self._vocab_size, delimiter=self._delimiter)
        get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, operation)
        return operation


class TextFileStringTableInitializer(TextFileInitializer):
    """Fills a table from line numbers (int64) to lines (strings)."""

    def __init__(self, filename: Any, key_column_index: int = TextFileIndex.LINE_NUMBER,
                 value_column_index: int = TextFileIndex.WHOLE_LINE, vocab_size: int | None = None, delimiter: str = "\t",
                 name: str = "text_file_string_table_init"):
        super().__init__(filename, dtypes.int64, key_column_index, dtypes.string, value_column_index, vocab_size,
                         delimiter, name)


class TextFileIdTableInitializer(TextFileInitializer):
    """Fills a table from lines (strings, or integers) to line numbers (int64)."""

    def __init__(self, filename: Any, key_column_index: int = TextFileIndex.WHOLE_LINE,
                 value_column_index: int = TextFileIndex.LINE_NUMBER, vocab_size: int | None = None, delimiter: str = "\t",
                 name: str = "text_file_id_table_init", key_dtype: Any = dtypes.string):
        super().__init__(filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size, delimiter,
                         name)


class InitializableLookupTableBase(Table):
    """A table filled once by an initializer: run ``tf.tables_initializer()`` first."""

    def __init__(self, default_value: Any, initializer: TableInitializerBase):
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default_value = convert_to_tensor(default_value, self._value_dtype)
        if self._default_value.shape.ndims not in (None, 0):
            raise ValueError(f"the default value of a table is a scalar, not of shape {self._default_value.shape}")
        self._initializer, self._checkpoint_dependencies = initializer, [("_initializer", initializer)]
        self.resource_handle = self._create_resource()
        self._init_op = self._initialize()

    def _initialize(self) -> Operation:
        return self._initializer.initialize(self)

    @property
    def initializer(self) -> Operation:
        """The operation that fills the table."""
        return self._init_op

    @property
    def init(self) -> Operation:
        """The operation that fills the table."""
        return self._init_op

    @property
    def table_ref(self) -> Tensor:
        """The handle of the table."""
        return self.resource_handle

    def size(self, name: str | None = None) -> Tensor:
        """The number of entries, int64."""
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]):
            return raw.LookupTableSizeV2(self.resource_handle)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The value of each key (a Tensor or SparseTensor), the default for keys that are not there.

        Raises TypeError for keys of another dtype; a run raises FailedPreconditionError before the table is filled.
        """
        keys = self._checked(keys)
        with name_scope(name, f"{self.name}_Lookup", [self.resource_handle, self._default_value]):
            return self._find(keys)


class _HashTable(InitializableLookupTableBase):
    _node_name: str
    _shared_name: str

    def _create_resource(self) -> Tensor:
        return raw.HashTableV2(container=get_default_graph()._container, shared_name=self._shared_name,
                               key_dtype=self._key_dtype, value_dtype=self._value_dtype, name=self._node_name)

    def export(self, name: str | None = None) -> Any:
        """(keys, values) of all entries."""
        return tuple(raw.LookupTableExportV2(self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype,
                                             name=name or f"{self.name}_Export"))


class StaticHashTable(_HashTable):
    """A table that `initializer` fills; keys that are not there have `default_value`.

    Raises TypeError if the default is of another dtype than the values.
    """

    def __init__(self, initializer: TableInitializerBase, default_value: Any, name: str | None = None):
        self._node_name, self._shared_name = name or "hash_table", initializer.shared_name
        super().__init__(default_value, initializer)


class HashTable(_HashTable):
    """``tf.contrib.lookup.HashTable``: as StaticHashTable, shared under `shared_name`."""

    def __init__(self, initializer: TableInitializerBase, default_value: Any, shared_name: str | None = None,
                 name: str | None = None):
        self._node_name, self._shared_name = name or "hash_table", shared_name or ""
        super().__init__(default_value, initializer)


# -- buckets for what is not there ---------------------------------------------------------------------------------

class HasherSpec(collections.namedtuple("HasherSpec", ["hasher", "key"])):
    """A hash function by name, and its key."""

    __slots__ = ()


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """The keyed hash function; `key` is a list of two unsigned integers."""

    __slots__ = ()

    def __new__(cls, key: Any) -> StrongHashSpec:
        if len(key) != 2:
            raise ValueError(f"key must have size 2, got {len(key)}.")
        if any(not isinstance(part, int) or isinstance(part, bool) or part < 0 for part in key):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


def _bucket(strings: Tensor, count: int, spec: HasherSpec, name: str) -> Tensor:
    if spec.hasher == "fasthash":
        return raw.StringToHashBucketFast(strings, num_buckets=count, name=name)
    if spec.hasher == "stronghash":
        return raw.StringToHashBucketStrong(strings, num_buckets=count, key=list(spec.key), name=name)
    raise ValueError(f"Unknown hasher {spec.hasher}")


class IdTableWithHashBuckets(LookupInterface):
    """A table of ids whose missing keys get one of `num_oov_buckets` ids after the table's own, by their hash.

    `table` may be None: then all keys are hashed.  Raises ValueError without table and buckets, TypeError if the table
    does not map strings or integers to int64.
    """

    def __init__(self, table: Any, num_oov_buckets: int, hasher_spec: HasherSpec = FastHashSpec, name: str | None = None,
                 key_dtype: Any = None):
        if key_dtype is None:
            key_dtype = table.key_dtype if table is not None else dtypes.string
        key_dtype = as_dtype(key_dtype)
        if not key_dtype.is_integer and key_dtype != dtypes.string:
            raise TypeError(f"Invalid key_dtype, expected integer or string, got {key_dtype}.")
        if table is not None:
            if key_dtype.is_integer != table.key_dtype.is_integer:
                raise TypeError(f"Invalid key dtype, expected integer or string as the table's, got {key_dtype}.")
            if table.value_dtype != dtypes.int64:
                raise TypeError(f"Invalid value dtype, expected {dtypes.int64} but got {table.value_dtype}.")
        elif num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0 if no table is supplied.")
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(f"hasher_spec must be of type HasherSpec, got {hasher_spec}")
        super().__init__(key_dtype, dtypes.int64)
        self._table, self._num_oov_buckets, self._hasher_spec = table, num_oov_buckets, hasher_spec
        self._checkpoint_dependencies = [] if table is None else [("_table", table)]
        self._name = name or "hash_bucket"

    @property
    def name(self) -> str:
        return self._name if self._table is None else self._table.name

    @property
    def initializer(self) -> Operation:
        """The operation that fills the table."""
        return no_op() if self._table is None else self._table.initializer

    init = initializer

    @property
    def resource_handle(self) -> Any:  # type: ignore[override]
        """The handle of the table behind this one, None if there is none."""
        return None if self._table is None else self._table.resource_handle

    def size(self, name: str | None = None) -> Tensor:
        """The number of ids, int64."""
        with name_scope(name, f"{self.name}_Size"):
            own = self._table.size() if self._table is not None else convert_to_tensor(0, dtypes.int64)
            return own + self._num_oov_buckets

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The id of each key (a Tensor or SparseTensor): its own, or that of its bucket."""
        keys = self._checked(keys)
        values = keys.values if isinstance(keys, SparseTensor) else keys
        if self._table is not None and self._table.key_dtype == dtypes.int64:
            values = cast(values, dtypes.int64)
        ids = self._table.lookup(values, name) if not self._num_oov_buckets else self._with_buckets(values, name)
        return SparseTensor(keys.indices, ids, keys.dense_shape) if isinstance(keys, SparseTensor) else ids

    def _with_buckets(self, values: Tensor, name: str | None) -> Tensor:
        with name_scope(name, f"{self.name}_Lookup"):
            strings = values if values.dtype.base_dtype == dtypes.string else raw.AsString(values)
            buckets = _bucket(strings, self._num_oov_buckets, self._hasher_spec, "hash_bucket")
            if self._table is None:
                return buckets
            ids = self._table.lookup(values)
            buckets = raw.Add(buckets, self._table.size())
            return raw.SelectV2(raw.NotEqual(ids, self._table.default_value), ids, buckets)


class StaticVocabularyTable(IdTableWithHashBuckets):
    """``tf.lookup.StaticVocabularyTable``: ids from `initializer` (None: none), hash buckets for everything else.

    Raises ValueError unless `num_oov_buckets` is positive, TypeError for keys that are neither int64 nor strings.
    """

    def __init__(self, initializer: Any, num_oov_buckets: int, lookup_key_dtype: Any = None, name: str | None = None):
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        if initializer is not None and initializer.key_dtype not in (dtypes.int64, dtypes.string):
            raise TypeError(f"Invalid key dtype, expected one of ({dtypes.int64!r}, {dtypes.string!r}), but got "
                            f"{initializer.key_dtype!r}.")
        table = None if initializer is None else StaticHashTable(initializer, -1)
        super().__init__(table, num_oov_buckets, FastHashSpec, name, lookup_key_dtype)
