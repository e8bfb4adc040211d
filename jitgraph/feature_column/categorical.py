"""Words and integers as ids: ``categorical_column_with_*``."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jitgraph.app import logs
from jitgraph.feature_column.column import CategoricalColumn, check_key, check_string_or_int
from jitgraph.feature_column.transformations import to_sparse
from jitgraph.filesystem import gfile
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.fill import fill
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_greater_equal, assert_less
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import logical_or
from jitgraph.ops.files.parsing import VarLenFeature
from jitgraph.ops.strings.string_hash import string_to_hash_bucket_fast
from jitgraph.ops.strings.strings import as_string
from jitgraph.resources.table_functions import index_table_from_file, index_table_from_tensor


class _OfOneFeature(CategoricalColumn):
    """A column of the ids that the values of one feature stand for."""

    key: str
    dtype: Any
    name = property(lambda self: self.key)
    parents = property(lambda self: [self.key])

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """{key: a VarLenFeature}."""
        return {self.key: VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """A SparseTensor of ids; in a dense feature, "" and -1 count as missing."""
        return self._ids(to_sparse(transformation_cache.get(self.key, state_manager)), state_manager)

    def _ids(self, feature: SparseTensor, state_manager: Any) -> Any:
        raise NotImplementedError

    def _check_dtype(self, feature: SparseTensor) -> None:
        if self.dtype.is_integer != feature.dtype.is_integer:
            raise ValueError(f"Column dtype and SparseTensors dtype must be compatible. key: {self.key}, column dtype: "
                             f"{self.dtype}, tensor dtype: {feature.dtype}")


class _Hashed(NamedTuple):
    key: str
    hash_bucket_size: int
    dtype: Any


class HashedCategoricalColumn(_OfOneFeature, _Hashed):
    """Hashes of the values; see ``categorical_column_with_hash_bucket``."""

    num_buckets = property(lambda self: self.hash_bucket_size)

    def _ids(self, feature: SparseTensor, state_manager: Any) -> Any:
        check_string_or_int(feature.dtype, f"column_name: {self.key} input_tensor")
        self._check_dtype(feature)
        values = feature.values if self.dtype == dtypes.string else as_string(feature.values)
        ids = string_to_hash_bucket_fast(values, self.hash_bucket_size, name="lookup")
        return SparseTensor(feature.indices, ids, feature.dense_shape)


class _InTable(_OfOneFeature):
    """A column whose values are looked up in a table."""

    def _ids(self, feature: SparseTensor, state_manager: Any) -> Any:
        self._check_dtype(feature)
        check_string_or_int(feature.dtype, f"column_name: {self.key} input_tensor")
        key_dtype = self.dtype
        if feature.dtype.is_integer:
            key_dtype = dtypes.int64
            feature = cast(feature, dtypes.int64)
        name = f"{self.key}_lookup"
        table = self._table(key_dtype, name)
        if state_manager is not None:
            state_manager.add_resource(self, name, table)
        return table.lookup(feature)

    def _table(self, key_dtype: Any, name: str) -> Any:
        raise NotImplementedError


class _OfFile(NamedTuple):
    key: str
    vocabulary_file: str
    vocabulary_size: int
    num_oov_buckets: int
    dtype: Any
    default_value: int


class VocabularyFileCategoricalColumn(_InTable, _OfFile):
    """Line numbers of the values; see ``categorical_column_with_vocabulary_file``."""

    num_buckets = property(lambda self: self.vocabulary_size + self.num_oov_buckets)

    def _table(self, key_dtype: Any, name: str) -> Any:
        return index_table_from_file(self.vocabulary_file, num_oov_buckets=self.num_oov_buckets,
                                     vocab_size=self.vocabulary_size, default_value=self.default_value,
                                     key_dtype=key_dtype, name=name)


class _OfList(NamedTuple):
    key: str
    vocabulary_list: tuple
    dtype: Any
    default_value: int
    num_oov_buckets: int


class VocabularyListCategoricalColumn(_InTable, _OfList):
    """Positions of the values in a list; see ``categorical_column_with_vocabulary_list``."""

    num_buckets = property(lambda self: len(self.vocabulary_list) + self.num_oov_buckets)

    def _table(self, key_dtype: Any, name: str) -> Any:
        return index_table_from_tensor(vocabulary_list=tuple(self.vocabulary_list), default_value=self.default_value,
                                       num_oov_buckets=self.num_oov_buckets, dtype=key_dtype, name=name)


class _Identity(NamedTuple):
    key: str
    number_buckets: int
    default_value: int | None


class IdentityCategoricalColumn(_OfOneFeature, _Identity):
    """The values themselves; see ``categorical_column_with_identity``."""

    dtype = dtypes.int64
    num_buckets = property(lambda self: self.number_buckets)

    def _ids(self, feature: SparseTensor, state_manager: Any) -> Any:
        if not feature.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {feature.dtype}")
        values = cast(feature.values, dtypes.int64, name="values")
        buckets = cast(self.num_buckets, dtypes.int64, name="num_buckets")
        zero = cast(0, dtypes.int64, name="zero")
        if self.default_value is None:
            below = assert_less(values, buckets, data=(values, buckets), name="assert_less_than_num_buckets",
                                message=f'Bucket index for categorical column "{self.name}" exceeds number of buckets')
            above = assert_greater_equal(values, zero, data=(values,), name="assert_greater_or_equal_0",
                                         message=f'Negative bucket index for categorical column "{self.name}"')
            with control_dependencies([below, above]):
                values = identity(values)
        else:
            outside = logical_or(values < zero, values >= buckets, name="out_of_range")
            default = fill(shape_of(values), cast(self.default_value, dtypes.int64), name="default_values")
            values = where_v2(outside, default, values)
        return SparseTensor(feature.indices, values, feature.dense_shape)


def categorical_column_with_hash_bucket(key: str, hash_bucket_size: int | None,
                                        dtype: Any = dtypes.string) -> HashedCategoricalColumn:
    """Strings or integers as their hashes from 0 to `hash_bucket_size` - 1: fingerprint64 of the text, modulo that.

    Raises ValueError for a size below 1, a key that is no string, or another dtype.
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}")
    check_key(key)
    check_string_or_int(dtype, f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, dtype)


def categorical_column_with_vocabulary_file(key: str, vocabulary_file: str, vocabulary_size: int | None = None,
                                            num_oov_buckets: int | None = 0, default_value: int | None = None,
                                            dtype: Any = dtypes.string) -> VocabularyFileCategoricalColumn:
    """Strings or integers as the numbers of the lines of a file that hold them.

    `vocabulary_size`: only so many lines; by default all.  Other values have one of `num_oov_buckets` ids after those, or
    `default_value`, by default -1.  Raises ValueError for a missing file, a size below 1, buckets below 0, both of the
    last two, a key that is no string, or another dtype.
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        if not gfile.Exists(vocabulary_file):
            raise ValueError(f"vocabulary_file in {key} does not exist.")
        with gfile.GFile(vocabulary_file) as file:
            vocabulary_size = sum(1 for _ in file)
        logs.info("vocabulary_size = %d in %s is inferred from the number of elements in the vocabulary_file %s.",
                  vocabulary_size, key, vocabulary_file)
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    _check_buckets(num_oov_buckets, default_value is not None, key)
    check_string_or_int(dtype, f"column_name: {key}")
    check_key(key)
    return VocabularyFileCategoricalColumn(key, vocabulary_file, vocabulary_size, num_oov_buckets or 0, dtype,
                                           -1 if default_value is None else default_value)


def _check_buckets(num_oov_buckets: int | None, has_default: bool, key: str) -> None:
    if not num_oov_buckets:
        return
    if has_default:
        raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
    if num_oov_buckets < 0:
        raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


def categorical_column_with_vocabulary_list(key: str, vocabulary_list: Any, dtype: Any = None, default_value: int = -1,
                                            num_oov_buckets: int = 0) -> VocabularyListCategoricalColumn:
    """Strings or integers as their positions in a list.

    Other values have one of `num_oov_buckets` ids after those, or `default_value`.  Raises ValueError for an empty list, a
    value that stands in it twice, buckets below 0 or with a default, a `dtype` unlike the list's, or a key that is no string.
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    own = dtypes.as_dtype(np.array(vocabulary_list).dtype)
    _check_buckets(num_oov_buckets, default_value != -1, key)
    check_string_or_int(own, f"column_name: {key} vocabulary")
    if dtype is None:
        dtype = own
    elif dtype.is_integer != own.is_integer:
        raise ValueError(f"dtype {dtype} and vocabulary dtype {own} do not match, column_name: {key}")
    check_string_or_int(dtype, f"column_name: {key}")
    check_key(key)
    return VocabularyListCategoricalColumn(key, tuple(vocabulary_list), dtype, default_value, num_oov_buckets)


def categorical_column_with_identity(key: str, num_buckets: int, default_value: int | None = None) -> IdentityCategoricalColumn:
    """Integers from 0 to `num_buckets` - 1 as they are; others have `default_value`, or are an error of the run.

    Raises ValueError for no buckets, a default outside of them, or a key that is no string.
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    check_key(key)
    return IdentityCategoricalColumn(key, num_buckets, default_value)
