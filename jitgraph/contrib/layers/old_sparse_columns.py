"""The categorical columns of ``tf.contrib.layers``, and the dense ones that are made of them."""
from __future__ import annotations

import math
from typing import Any, NamedTuple

from jitgraph import raw_ops as raw
from jitgraph.app import logs
from jitgraph.contrib.layers.cross_ops import sparse_feature_cross
from jitgraph.contrib.layers.encoders import dense_to_sparse_tensor
from jitgraph.contrib.layers.old_columns import DeepLookup, OldColumn, WideLookup, _BucketizedColumn, of_rank, transformed_by
from jitgraph.contrib.layers.old_embeddings import EmbeddedColumn
from jitgraph.contrib.layers.rearranging import inner_flatten
from jitgraph.feature_column.column import CategoricalColumn, DenseColumn, IdWeightPair
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.fill import one_hot, zeros_like
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.files.parsing import VarLenFeature
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.ops.sparse.sparse_functions import sparse_concat, sparse_merge, sparse_slice, sparse_tensor_to_dense
from jitgraph.ops.strings.string_hash import string_to_hash_bucket_fast, string_to_hash_bucket_strong
from jitgraph.ops.strings.strings import as_string
from jitgraph.resources.table_functions import index_table_from_file, index_table_from_tensor
from jitgraph.variables.variable_initializers import truncated_normal_initializer


class _SparseIdLookupConfig(NamedTuple):
    vocabulary_file: Any = None
    keys: tuple | None = None
    num_oov_buckets: int = 0
    vocab_size: Any = None
    default_value: int = -1


class IdsColumn(OldColumn, CategoricalColumn):
    """A column of ids."""

    length: Any
    num_buckets = property(lambda self: self.length)                            # type: ignore[assignment]

    def id_tensor(self, input_tensor: Any) -> Any:
        """The ids among what the column made of features."""
        return input_tensor

    def weight_tensor(self, input_tensor: Any) -> Any:
        """Their weights; None if they have none."""
        return None

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> IdWeightPair:
        """(the ids, their weights or None)"""
        made = transformation_cache.get(self, state_manager)
        return IdWeightPair(self.id_tensor(made), self.weight_tensor(made))


class _SparseFields(NamedTuple):
    column_name: str
    is_integerized: bool = False
    bucket_size: int | None = None
    lookup_config: Any = None
    combiner: str = "sum"
    dtype: Any = dtypes.string


class SparseColumn(IdsColumn, _SparseFields):
    """Ids; a subclass says what they are of the feature."""

    name = property(lambda self: self.column_name)                              # type: ignore[assignment]
    config = property(lambda self: {self.column_name: VarLenFeature(self.dtype)})   # type: ignore[assignment]

    @property
    def length(self) -> int:
        """How many ids there are."""
        if self.bucket_size is not None:
            return self.bucket_size
        return self.lookup_config.vocab_size + self.lookup_config.num_oov_buckets

    def is_compatible(self, other_column: Any) -> bool:
        """Whether an embedding may be shared with another column."""
        if self.lookup_config and other_column.lookup_config:
            return self.lookup_config == other_column.lookup_config
        same_kind = self.dtype == other_column.dtype or (self.dtype.is_integer and other_column.dtype.is_integer)
        if self.length != other_column.length or not same_kind:
            return False
        logs.warn(f"Column {self.name} and {other_column.name} may not have the same vocabulary.")
        return True

    def _do_transform(self, input_tensor: SparseTensor) -> SparseTensor:
        raise NotImplementedError

    def insert_transformed_feature(self, columns_to_tensors: dict) -> None:
        """Adds the ids."""
        tensor = columns_to_tensors[self.name]
        if not isinstance(tensor, SparseTensor):
            nothing: Any = "" if tensor.dtype == dtypes.string else -1
            tensor = dense_to_sparse_tensor(of_rank(tensor, 2, self.name), ignore_value=nothing)
        columns_to_tensors[self] = self._do_transform(tensor)

    def _to_dnn_input_layer(self, input_tensor: Any, weight_collections: Any = None, trainable: bool = True,
                            output_rank: int = 2) -> Any:
        raise ValueError(f"SparseColumn is not supported in DNN. Please use embedding_column or one_hot_column. column: {self}")

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> WideLookup:
        return WideLookup(self.id_tensor(input_tensor), None, self.length, self.combiner)


class _SparseColumnIntegerized(SparseColumn):
    def _do_transform(self, input_tensor: SparseTensor) -> SparseTensor:
        return SparseTensor(input_tensor.indices, raw.FloorMod(x=input_tensor.values, y=self.bucket_size, name="mod"),
                            input_tensor.dense_shape)


class _SparseColumnHashed(SparseColumn):
    hash_keys: Any = None

    def _do_transform(self, input_tensor: SparseTensor) -> SparseTensor:
        values = as_string(input_tensor.values) if self.dtype.is_integer else input_tensor.values

        def ids(values: Any) -> SparseTensor:
            return SparseTensor(input_tensor.indices, values, input_tensor.dense_shape)

        if not self.hash_keys:
            return ids(string_to_hash_bucket_fast(values, self.bucket_size, name="lookup"))
        hashed = [ids(string_to_hash_bucket_strong(values, self.bucket_size, key)) for key in self.hash_keys]
        return sparse_concat(axis=1, sp_inputs=hashed, name="lookup")


class _SparseColumnKeys(SparseColumn):
    def _do_transform(self, input_tensor: SparseTensor) -> SparseTensor:
        table = index_table_from_tensor(tuple(self.lookup_config.keys), default_value=self.lookup_config.default_value,
                                        dtype=self.dtype, name="lookup")
        return table.lookup(input_tensor)


class _SparseColumnVocabulary(SparseColumn):
    def _do_transform(self, input_tensor: SparseTensor) -> SparseTensor:
        if self.dtype.is_integer:
            input_tensor = SparseTensor(input_tensor.indices, as_string(input_tensor.values), input_tensor.dense_shape)
        config = self.lookup_config
        return index_table_from_file(vocabulary_file=config.vocabulary_file, num_oov_buckets=config.num_oov_buckets,
                                     vocab_size=config.vocab_size, default_value=config.default_value,
                                     name=self.name + "_lookup").lookup(input_tensor)


def _checked(column: Any) -> Any:
    name, dtype = column.column_name, column.dtype
    if column.is_integerized and column.bucket_size is None:
        raise ValueError(f"bucket_size must be set if is_integerized is True. column_name: {name}")
    if column.is_integerized and not dtype.is_integer:
        raise ValueError(f"dtype must be an integer if is_integerized is True. dtype: {dtype}, column_name: {name}.")
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"dtype must be string or integer. dtype: {dtype}, column_name: {name}")
    if column.bucket_size is not None and column.bucket_size < 1:
        raise ValueError(f"bucket_size must be at least 1. bucket_size: {column.bucket_size}, column_name: {name}")
    return column


def sparse_column_with_integerized_feature(column_name: str, bucket_size: int, combiner: str = "sum",
                                           dtype: Any = dtypes.int64) -> Any:
    """Ids that are integers, modulo `bucket_size`."""
    return _checked(_SparseColumnIntegerized(column_name, True, bucket_size, None, combiner, dtype))


def sparse_column_with_hash_bucket(column_name: str, hash_bucket_size: int, combiner: str = "sum", dtype: Any = dtypes.string,
                                   hash_keys: Any = None) -> Any:
    """Ids that are hashes of words or integers; `hash_keys`: pairs of integers, for several ids of each."""
    if hash_keys is not None and (not isinstance(hash_keys, list) or not hash_keys):
        raise ValueError("hash_keys must be a non-empty list.")
    if any(not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(part, int) for part in pair)
           for pair in hash_keys or ()):
        raise ValueError("Each element of hash_keys must be a pair of integers.")
    column = _checked(_SparseColumnHashed(column_name, False, hash_bucket_size, None, combiner, dtype))
    column.hash_keys = hash_keys
    return column


def sparse_column_with_keys(column_name: str, keys: Any, default_value: int = -1, combiner: str = "sum",
                            dtype: Any = dtypes.string) -> Any:
    """Ids that are places among `keys`, `default_value` for others."""
    keys = tuple(keys)
    config = _SparseIdLookupConfig(keys=keys, vocab_size=len(keys), default_value=default_value)
    return _checked(_SparseColumnKeys(column_name, False, None, config, combiner, dtype))


def sparse_column_with_vocabulary_file(column_name: str, vocabulary_file: Any, num_oov_buckets: int = 0, vocab_size: Any = None,
                                       default_value: int = -1, combiner: str = "sum", dtype: Any = dtypes.string) -> Any:
    """Ids that are lines of a file of `vocab_size` words; others go to `num_oov_buckets`, or are `default_value`."""
    if vocab_size is None:
        raise ValueError(f"vocab_size should be defined. column_name: {column_name}")
    config = _SparseIdLookupConfig(vocabulary_file, None, num_oov_buckets, vocab_size, default_value)
    return _checked(_SparseColumnVocabulary(column_name, False, None, config, combiner, dtype))


class _WeightedFields(NamedTuple):
    sparse_id_column: Any
    weight_column_name: str
    dtype: Any


class _WeightedSparseColumn(IdsColumn, _WeightedFields):
    name = property(lambda self: f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}")  # type: ignore[assignment]
    length = property(lambda self: self.sparse_id_column.length)
    lookup_config = property(lambda self: self.sparse_id_column.lookup_config)
    config = property(lambda self: {                                                                    # type: ignore[assignment]
        **self.sparse_id_column.config, self.weight_column_name: VarLenFeature(self.dtype)})

    def id_tensor(self, input_tensor: Any) -> Any:
        """The ids."""
        return input_tensor[0]

    def weight_tensor(self, input_tensor: Any) -> Any:
        """Their weights."""
        return input_tensor[1]

    def is_compatible(self, other_column: Any) -> bool:
        """Whether an embedding may be shared with another column."""
        if isinstance(other_column, _WeightedSparseColumn):
            return self.sparse_id_column.is_compatible(other_column.sparse_id_column)
        return self.sparse_id_column.is_compatible(other_column)

    def insert_transformed_feature(self, columns_to_tensors: dict) -> None:
        ids, weights = transformed_by(columns_to_tensors, self.sparse_id_column), columns_to_tensors[self.weight_column_name]
        if not isinstance(weights, SparseTensor):
            weights = dense_to_sparse_tensor(weights)
        columns_to_tensors[self] = ids, weights if self.dtype.is_floating else cast(weights, dtypes.float32)

    def _to_dnn_input_layer(self, input_tensor: Any, weight_collections: Any = None, trainable: bool = True,
                            output_rank: int = 2) -> Any:
        raise ValueError("WeightedSparseColumn is not supported in DNN. Please use embedding_column or one_hot_column. "
                         f"column: {self}")

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> WideLookup:
        return WideLookup(input_tensor[0], input_tensor[1], self.length, self.sparse_id_column.combiner)


def weighted_sparse_column(sparse_id_column: Any, weight_column_name: str, dtype: Any = dtypes.float32) -> Any:
    """The ids of a column, weighted by a feature.  Raises ValueError for weights that are no numbers."""
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype is not convertible to float. Given {dtype}")
    return _WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)


class _OneHotFields(NamedTuple):
    sparse_id_column: Any


class _OneHotColumn(OldColumn, DenseColumn, _OneHotFields):
    name = property(lambda self: f"{self.sparse_id_column.name}_one_hot")       # type: ignore[assignment]
    length = property(lambda self: self.sparse_id_column.length)
    config = property(lambda self: self.sparse_id_column.config)                # type: ignore[assignment]
    variable_shape = property(lambda self: TensorShape([self.length]))          # type: ignore[assignment]

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """How often each id is there."""
        return self._to_dnn_input_layer(transformation_cache.get(self, state_manager))

    def insert_transformed_feature(self, columns_to_tensors: dict) -> None:
        columns_to_tensors[self] = transformed_by(columns_to_tensors, self.sparse_id_column)

    def _to_dnn_input_layer(self, input_tensor: Any, weight_collections: Any = None, trainable: bool = True,
                            output_rank: int = 2) -> Any:
        ids = inner_flatten(self.sparse_id_column.id_tensor(input_tensor), output_rank)
        weights = self.sparse_id_column.weight_tensor(input_tensor)
        if weights is None:
            dense = sparse_tensor_to_dense(ids, default_value=-1)
            return reduce_sum(one_hot(dense, depth=self.length, on_value=1.0, off_value=0.0), axis=[output_rank - 1])
        merged = sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=self.length)
        merged = sparse_slice(merged, zeros_like(merged.dense_shape), merged.dense_shape)
        dense = sparse_tensor_to_dense(merged)
        return reshape(dense, concat([shape_of(dense)[:-1], [self.length]], axis=0))


def one_hot_column(sparse_id_column: Any) -> Any:
    """How often each id is among those of a column."""
    return _OneHotColumn(sparse_id_column)


class _EmbeddingFields(NamedTuple):
    sparse_id_column: Any
    dimension: int
    combiner: str
    initializer: Any
    ckpt_to_load_from: Any
    tensor_name_in_ckpt: Any
    shared_embedding_name: str | None
    shared_vocab_size: int | None
    max_norm: Any
    trainable: bool


class _EmbeddingColumn(EmbeddedColumn, _EmbeddingFields):
    key = property(lambda self: self._key_without("initializer"))               # type: ignore[assignment]
    length = property(lambda self: self.sparse_id_column.length if self.shared_vocab_size is None else self.shared_vocab_size)
    config = property(lambda self: self.sparse_id_column.config)                # type: ignore[assignment]

    @property
    def name(self) -> str:                      # type: ignore[override]
        return f"{self.sparse_id_column.name}_{'embedding' if self.shared_embedding_name is None else 'shared_embedding'}"

    def insert_transformed_feature(self, columns_to_tensors: dict) -> None:
        columns_to_tensors[self] = transformed_by(columns_to_tensors, self.sparse_id_column)

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> DeepLookup:
        source = self.sparse_id_column
        return DeepLookup(source.id_tensor(input_tensor), source.weight_tensor(input_tensor), self.length, self.initializer,
                          self.combiner, self.dimension, self.shared_embedding_name, self.max_norm, self.trainable)

    def _checkpoint_path(self) -> tuple | None:
        return None if self.ckpt_to_load_from is None else (self.ckpt_to_load_from, self.tensor_name_in_ckpt)

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> WideLookup:
        raise ValueError(f"Column {self} is not supported in linear models. Please use sparse_column.")


def embedding_column(sparse_id_column: Any, dimension: int, combiner: str = "mean", initializer: Any = None,
                     ckpt_to_load_from: Any = None, tensor_name_in_ckpt: Any = None, max_norm: Any = None,
                     trainable: bool = True) -> Any:
    """The vectors of the ids of a column, combined.  Raises ValueError for arguments that do not go together."""
    return _embedded(sparse_id_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm,
                     trainable, None)


def _embedded(sparse_id_column: Any, dimension: int, combiner: str, initializer: Any, ckpt_to_load_from: Any,
              tensor_name_in_ckpt: Any, max_norm: Any, trainable: bool, shared_embedding_name: str | None,
              shared_vocab_size: int | None = None) -> Any:
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. Embedding of column_name: {sparse_id_column.name}")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is None:
        logs.warn('The default stddev value of initializer was changed from "1/sqrt(vocab_size)" to "1/sqrt(dimension)" in core '
                  "implementation (tf.feature_column.embedding_column).")
        initializer = truncated_normal_initializer(mean=0.0, stddev=1 / math.sqrt(sparse_id_column.length))
    return _EmbeddingColumn(sparse_id_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
                            shared_embedding_name, shared_vocab_size, max_norm, trainable)


def _shared_name(columns: Any) -> str:
    plain = sorted(column for column in columns if isinstance(column, SparseColumn))
    ordered = plain + sorted((column for column in columns if not isinstance(column, SparseColumn)), key=lambda c: c.name)
    name = "_".join(column.name for column in ordered[:3])
    return name + (f"_plus_{len(ordered) - 3}_others" if len(ordered) > 3 else "") + "_shared_embedding"


def shared_embedding_columns(sparse_id_columns: Any, dimension: int, combiner: str = "mean",
                             shared_embedding_name: str | None = None, initializer: Any = None, ckpt_to_load_from: Any = None,
                             tensor_name_in_ckpt: Any = None, max_norm: Any = None, trainable: bool = True) -> Any:
    """As ``embedding_column`` of each of several columns, which share the vectors.  Raises TypeError or ValueError for others."""
    if not isinstance(sparse_id_columns, (list, tuple)):
        raise TypeError("sparse_id_columns must be a non-string sequence (ex: list or tuple) instead of type "
                        f"{type(sparse_id_columns)}.")
    if not sparse_id_columns:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    for column in sparse_id_columns:
        if not isinstance(column, (SparseColumn, _WeightedSparseColumn)):
            raise TypeError(f"Elements of sparse_id_columns must be _SparseColumn or _WeightedSparseColumn, but {column} is not.")
    first, *others = sparse_id_columns
    options = (dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable)
    if not others:
        return [_embedded(first, *options, shared_embedding_name)]
    if not all(first.is_compatible(column) if isinstance(first, _WeightedSparseColumn) else column.is_compatible(first)
               for column in others):
        raise ValueError("The input sparse id columns are not compatible.")
    name = shared_embedding_name or _shared_name(sparse_id_columns)
    return tuple(_embedded(column, *options, name, first.length) for column in sparse_id_columns)


class _CrossedFields(NamedTuple):
    columns: tuple
    hash_bucket_size: int
    hash_key: int | None
    combiner: str
    ckpt_to_load_from: Any
    tensor_name_in_ckpt: Any


class _CrossedColumn(IdsColumn, _CrossedFields):
    name = property(lambda self: "_X_".join(sorted(column.name for column in self.columns)))    # type: ignore[assignment]
    length = property(lambda self: self.hash_bucket_size)

    @property
    def config(self) -> dict[str, Any]:         # type: ignore[override]
        return {key: feature for column in self.columns for key, feature in column.config.items()}

    def _leaves(self) -> list:
        return [leaf for column in self.columns for leaf in (column._leaves() if isinstance(column, _CrossedColumn) else [column])]

    def insert_transformed_feature(self, columns_to_tensors: dict) -> None:
        crossed = []
        for leaf in self._leaves():
            if isinstance(leaf, _BucketizedColumn):
                crossed.append(leaf.to_sparse_tensor(transformed_by(columns_to_tensors, leaf)))
            else:
                crossed.append(transformed_by(columns_to_tensors, leaf.name))
        columns_to_tensors[self] = sparse_feature_cross(crossed, hashed_output=True, num_buckets=self.hash_bucket_size,
                                                        hash_key=self.hash_key, name="cross")

    def _to_dnn_input_layer(self, input_tensor: Any, weight_collections: Any = None, trainable: bool = True,
                            output_rank: int = 2) -> Any:
        raise ValueError(f"CrossedColumn is not supported in DNN. Please use embedding_column. column: {self}")

    def _checkpoint_path(self) -> tuple | None:
        return None if self.ckpt_to_load_from is None else (self.ckpt_to_load_from, self.tensor_name_in_ckpt)

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> WideLookup:
        return WideLookup(input_tensor, None, self.length, self.combiner)


def crossed_column(columns: Any, hash_bucket_size: int, combiner: str = "sum", ckpt_to_load_from: Any = None,
                   tensor_name_in_ckpt: Any = None, hash_key: int | None = None) -> Any:
    """Hashes of the combinations of categories of several columns.  Raises TypeError or ValueError for other columns."""
    for column in columns:
        if not isinstance(column, (SparseColumn, _CrossedColumn, _BucketizedColumn)):
            raise TypeError("columns must be a set of _SparseColumn, _CrossedColumn, or _BucketizedColumn instances. (column "
                            f"{column} is a {type(column).__name__})")
    if len(columns) < 2:
        raise ValueError(f"columns must contain at least 2 elements. columns: {columns}")
    if hash_bucket_size < 2:
        raise ValueError(f"hash_bucket_size must be at least 2. hash_bucket_size: {hash_bucket_size}")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    return _CrossedColumn(tuple(sorted(columns, key=lambda column: column.name)), hash_bucket_size, hash_key, combiner,
                          ckpt_to_load_from, tensor_name_in_ckpt)
