"""Tables between words and ids: ``tf.contrib.lookup.index_table_from_tensor``, ``index_table_from_file`` and their kin."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import size
from jitgraph.ops.elementwise.cast import cast
from jitgraph.resources.tables import (
    FastHashSpec,
    HasherSpec,
    IdTableWithHashBuckets,
    KeyValueTensorInitializer,
    StaticHashTable,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileStringTableInitializer,
)


def _checked_key_dtype(dtype: Any) -> Any:
    dtype = as_dtype(dtype)
    if not dtype.is_integer and dtype != dtypes.string:
        raise TypeError("Only integer and string keys are supported.")
    return dtype


def _check_buckets(num_oov_buckets: int) -> None:
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")


def _check_file(vocabulary_file: Any, vocab_size: int | None) -> None:
    if vocabulary_file is None or isinstance(vocabulary_file, (str, bytes)) and not vocabulary_file:
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}. vocabulary_file: {vocabulary_file}")


def _with_buckets(table: Any, num_oov_buckets: int, hasher_spec: HasherSpec, dtype: Any) -> Any:
    if not num_oov_buckets:
        return table
    return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, key_dtype=dtype)


def index_table_from_tensor(mapping: Any = None, num_oov_buckets: int = 0, default_value: int = -1,
                            hasher_spec: HasherSpec = FastHashSpec, dtype: Any = dtypes.string, name: str | None = None,
                            vocabulary_list: Any = None) -> Any:
    """A table from the entries of `mapping`, a vector of strings or integers, to their positions (int64).

    Other keys have one of `num_oov_buckets` ids after those, by their hash, or `default_value` without buckets.  Raises
    ValueError without a mapping or if its dtype is not `dtype`, TypeError unless that is string or an integer type.
    """
    mapping = vocabulary_list if mapping is None else mapping
    if mapping is None:
        raise ValueError("mapping must be specified.")
    _check_buckets(num_oov_buckets)
    dtype = _checked_key_dtype(dtype)
    with name_scope(name, "string_to_index"):
        keys = convert_to_tensor(mapping)
        if keys.dtype.is_integer != dtype.is_integer:
            raise ValueError(f"Expected {'integer' if dtype.is_integer else 'non-integer'}, got {keys.dtype}.")
        if not dtype.is_integer and keys.dtype.base_dtype != dtype:
            raise ValueError(f"Expected {dtype}, got {keys.dtype}.")
        values = cast(range_of(size(keys)), dtypes.int64)
        with name_scope(None, "hash_table"):
            keys = cast(keys, dtypes.int64) if keys.dtype.is_integer else keys
            initializer = KeyValueTensorInitializer(keys, values, keys.dtype.base_dtype, dtypes.int64, name="table_init")
            table = StaticHashTable(initializer, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, dtype)


def index_table_from_file(vocabulary_file: Any = None, num_oov_buckets: int = 0, vocab_size: int | None = None,
                          default_value: int = -1, hasher_spec: HasherSpec = FastHashSpec, key_dtype: Any = dtypes.string,
                          name: str | None = None, key_column_index: int = TextFileIndex.WHOLE_LINE,
                          value_column_index: int = TextFileIndex.LINE_NUMBER, delimiter: str = "\t") -> Any:
    """A table from the lines of a text file to their numbers (int64); see ``index_table_from_tensor``.

    `vocab_size`: only so many lines.  Raises ValueError without a file or for a size below 1.
    """
    _check_file(vocabulary_file, vocab_size)
    _check_buckets(num_oov_buckets)
    key_dtype = _checked_key_dtype(key_dtype)
    with name_scope(name, "string_to_index"):
        with name_scope(None, "hash_table"):
            initializer = TextFileIdTableInitializer(
                vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter, name="table_init",
                key_dtype=dtypes.int64 if key_dtype.is_integer else key_dtype)
            table = StaticHashTable(initializer, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, key_dtype)


def index_to_string_table_from_file(vocabulary_file: Any, vocab_size: int | None = None, default_value: str = "UNK",
                                    name: str | None = None, key_column_index: int = TextFileIndex.LINE_NUMBER,
                                    value_column_index: int = TextFileIndex.WHOLE_LINE, delimiter: str = "\t") -> Any:
    """A table from line numbers (int64) to the lines of a text file; other keys have `default_value`."""
    _check_file(vocabulary_file, vocab_size)
    with name_scope(name, "index_to_string"):
        initializer = TextFileStringTableInitializer(vocabulary_file, key_column_index, value_column_index, vocab_size,
                                                     delimiter, name="table_init")
        return StaticHashTable(initializer, default_value)


def index_to_string_table_from_tensor(mapping: Any = None, default_value: str = "UNK", name: str | None = None,
                                      vocabulary_list: Any = None) -> Any:
    """A table from positions (int64) to the entries of `mapping`, a vector of strings; others have `default_value`."""
    mapping = vocabulary_list if mapping is None else mapping
    if mapping is None:
        raise ValueError("mapping must be specified.")
    with name_scope(name, "index_to_string"):
        words = convert_to_tensor(mapping, dtypes.string)
        positions = cast(range_of(size(words)), dtypes.int64)
        initializer = KeyValueTensorInitializer(positions, words, dtypes.int64, dtypes.string, name="table_init")
        return StaticHashTable(initializer, default_value)


def string_to_index(tensor: Any, mapping: Any, default_value: int = -1, name: str | None = None) -> Tensor:
    """The position of each string in `mapping`, by a table made for this call."""
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


def index_to_string(tensor: Any, mapping: Any, default_value: str = "UNK", name: str | None = None) -> Tensor:
    """The string of each position in `mapping`, by a table made for this call."""
    return index_to_string_table_from_tensor(mapping, default_value, name=name).lookup(tensor)


def string_to_index_table_from_file(vocabulary_file: Any = None, num_oov_buckets: int = 0, vocab_size: int | None = None,
                                    default_value: int = -1, hasher_spec: HasherSpec = FastHashSpec,
                                    name: str | None = None) -> Any:
    """The older name of ``index_table_from_file``."""
    return index_table_from_file(vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, name=name)


def string_to_index_table_from_tensor(mapping: Any, num_oov_buckets: int = 0, default_value: int = -1,
                                      hasher_spec: HasherSpec = FastHashSpec, name: str | None = None) -> Any:
    """The older name of ``index_table_from_tensor``."""
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, name=name)
