"""Ids as vectors and as one-hot rows: ``embedding_column``, ``shared_embedding_columns``, ``indicator_column``."""
from __future__ import annotations

import math
from typing import Any, NamedTuple

from jitgraph.feature_column.column import CategoricalColumn, DenseColumn, SequenceDenseColumn, TensorSequenceLengthPair
from jitgraph.feature_column.combined import WeightedCategoricalColumn
from jitgraph.feature_column.sequences import SequenceCategoricalColumn
from jitgraph.feature_column.transformations import sequence_lengths
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import add_to_collection, get_collection, name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.fill import one_hot
from jitgraph.ops.arrays.gather import scatter_nd
from jitgraph.ops.nn.safe_embedding import safe_embedding_lookup_sparse
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.ops.sparse.sparse_functions import sparse_merge, sparse_slice, sparse_tensor_to_dense
from jitgraph.train.checkpoint_values import init_from_checkpoint
from jitgraph.variables.variable_initializers import truncated_normal_initializer


class OfIds(DenseColumn, SequenceDenseColumn):
    """What a categorical column's ids become, densely or step by step."""

    categorical_column: Any
    kind: str
    parents = property(lambda self: [self.categorical_column])
    parse_example_spec = property(lambda self: self.categorical_column.parse_example_spec)

    def _check_sequences(self, wanted: bool) -> None:
        column = self.categorical_column
        if isinstance(column, SequenceCategoricalColumn) == wanted:
            return
        given = f"Given (type {type(column)}): {column}"
        if wanted:
            raise ValueError(f"In {self.kind}: {self.name}. categorical_column must be of type SequenceCategoricalColumn to use "
                             f"SequenceFeatures. Suggested fix: Use one of sequence_categorical_column_with_*. {given}")
        raise ValueError(f"In {self.kind}: {self.name}. categorical_column must not be of type SequenceCategoricalColumn. "
                         "Suggested fix A: If you wish to use DenseFeatures, use a non-sequence categorical_column_with_*. "
                         "Suggested fix B: If you wish to create sequence input, use SequenceFeatures instead of DenseFeatures. "
                         f"{given}")


class _Embedding(NamedTuple):
    categorical_column: Any
    dimension: int
    combiner: str
    initializer: Any
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool


class EmbeddingColumn(OfIds, _Embedding):
    """A vector for each example, joined of those of its ids; see ``embedding_column``."""

    kind = "embedding_column"
    name = property(lambda self: f"{self.categorical_column.name}_embedding")
    variable_shape = property(lambda self: TensorShape([self.dimension]))

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """What the categorical column makes of it."""
        return transformation_cache.get(self.categorical_column, state_manager)

    def create_state(self, state_manager: Any) -> None:
        """Makes ``embedding_weights`` [num_buckets, dimension]."""
        state_manager.create_variable(self, "embedding_weights", (self.categorical_column.num_buckets, self.dimension),
                                      dtype=dtypes.float32, trainable=self.trainable, use_resource=True,
                                      initializer=self.initializer)

    def _vectors(self, pair: Any, weights: Any) -> Any:
        if self.ckpt_to_load_from is not None:
            parts = weights._get_variable_list() if hasattr(weights, "_get_variable_list") else weights
            init_from_checkpoint(self.ckpt_to_load_from, {self.tensor_name_in_ckpt: parts})
        return safe_embedding_lookup_sparse(weights, pair.id_tensor, sparse_weights=pair.weight_tensor, combiner=self.combiner,
                                            name=f"{self.name}_weights", max_norm=self.max_norm)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The vectors [batch, dimension].  Raises ValueError for a column of sequences."""
        self._check_sequences(False)
        pair = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return self._vectors(pair, state_manager.get_variable(self, "embedding_weights"))

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """(the vectors [batch, steps, dimension], lengths).  Raises ValueError for a column without sequences."""
        self._check_sequences(True)
        pair = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        vectors = self._vectors(pair, state_manager.get_variable(self, "embedding_weights"))
        return TensorSequenceLengthPair(vectors, sequence_lengths(pair.id_tensor))


class _Shared(NamedTuple):
    categorical_column: Any
    dimension: int
    combiner: str
    initializer: Any
    shared_embedding_collection_name: str
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool


class SharedEmbeddingColumn(OfIds, _Shared):
    """An embedding whose variable is the one in a collection; see ``shared_embedding_columns``."""

    kind = "embedding_column"
    in_layers = False
    name = property(lambda self: f"{self.categorical_column.name}_shared_embedding")
    variable_shape = property(lambda self: TensorShape([self.dimension]))
    _var_scope_name = property(lambda self: self.shared_embedding_collection_name)

    transform_feature = EmbeddingColumn.transform_feature
    create_state = EmbeddingColumn.create_state
    _vectors = EmbeddingColumn._vectors

    def _weights(self, state_manager: Any) -> Any:
        """The variable of the collection, which the first of the columns makes."""
        key = self.shared_embedding_collection_name
        shape = (self.categorical_column.num_buckets, self.dimension)
        advice = ("Suggested fix A: Choose a unique name for this collection. Suggested fix B: Do not add any variables to this "
                  "collection. The feature_column library already adds a variable under the hood.")
        held = get_collection(key)
        if not held:
            weights = state_manager.get_variable(self, "embedding_weights")
            add_to_collection(key, weights)
            return weights
        if len(held) > 1:
            raise ValueError(f"Collection {held} can only contain one variable. {advice}")
        if held[0].get_shape() != TensorShape(shape):
            raise ValueError(f"Shared embedding collection {key} contains variable {held[0].name} of unexpected shape "
                             f"{held[0].get_shape()}. Expected shape is {shape}. {advice}")
        return held[0]

    def _looked_up(self, transformation_cache: Any, state_manager: Any) -> Any:
        with name_scope(None, default_name=self.name):
            pair = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
            return self._vectors(pair, self._weights(state_manager))

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The vectors [batch, dimension].  Raises ValueError for a column of sequences, or for others in the collection."""
        self._check_sequences(False)
        return self._looked_up(transformation_cache, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """(the vectors [batch, steps, dimension], lengths).  Raises ValueError for a column without sequences."""
        self._check_sequences(True)
        vectors = self._looked_up(transformation_cache, state_manager)
        pair = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return TensorSequenceLengthPair(vectors, sequence_lengths(pair.id_tensor))


class _Indicator(NamedTuple):
    categorical_column: Any


class IndicatorColumn(OfIds, _Indicator):
    """How often each id stands in an example; see ``indicator_column``."""

    kind = "indicator_column"
    name = property(lambda self: f"{self.categorical_column.name}_indicator")
    variable_shape = property(lambda self: TensorShape([1, self.categorical_column.num_buckets]))

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The counts, or sums of weights, of each id: [batch, num_buckets], of sequences [batch, steps, num_buckets]."""
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        if weights is not None:
            merged = sparse_merge(ids, weights, vocab_size=int(self.variable_shape[-1]))
            merged = sparse_slice(merged, [0, 0], merged.dense_shape)
            return scatter_nd(merged.indices, merged.values, merged.dense_shape)
        dense = sparse_tensor_to_dense(ids, default_value=-1)
        return reduce_sum(one_hot(dense, depth=self.variable_shape[-1], on_value=1.0, off_value=0.0), axis=[-2])

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The counts.  Raises ValueError for a column of sequences."""
        self._check_sequences(False)
        return transformation_cache.get(self, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """(the counts, lengths).  Raises ValueError for a column without sequences."""
        self._check_sequences(True)
        counts = transformation_cache.get(self, state_manager)
        pair = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return TensorSequenceLengthPair(counts, sequence_lengths(pair.id_tensor))


def _checked(dimension: Any, initializer: Any, checkpoint: Any, tensor: Any, of: str) -> Any:
    """The initializer of an embedding, by default truncated normal of deviation dimension**-0.5."""
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (checkpoint is None) != (tensor is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified.{of}")
    return truncated_normal_initializer(mean=0.0, stddev=1 / math.sqrt(dimension)) if initializer is None else initializer


def embedding_column(categorical_column: Any, dimension: int, combiner: str = "mean", initializer: Any = None,
                     ckpt_to_load_from: str | None = None, tensor_name_in_ckpt: str | None = None,
                     max_norm: float | None = None, trainable: bool = True) -> EmbeddingColumn:
    """A vector of `dimension` numbers for each example: the mean, "sum" or "sqrtn" of the rows of a variable.

    `initializer`: by default truncated normal of deviation dimension**-0.5; or the variable comes from a checkpoint.
    `max_norm`: rows are scaled down to it.  Raises ValueError for a dimension below 1, an initializer that cannot be called,
    or half of the place in a checkpoint.
    """
    initializer = _checked(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
                           f" Embedding of column_name: {categorical_column.name}")
    return EmbeddingColumn(categorical_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
                           max_norm, trainable)


def _plain(column: Any) -> Any:
    return column.categorical_column if isinstance(column, WeightedCategoricalColumn) else column


def shared_embedding_columns(categorical_columns: Any, dimension: int, combiner: str = "mean", initializer: Any = None,
                             shared_embedding_collection_name: str | None = None, ckpt_to_load_from: str | None = None,
                             tensor_name_in_ckpt: str | None = None, max_norm: float | None = None,
                             trainable: bool = True) -> list[SharedEmbeddingColumn]:
    """As ``embedding_column`` for several columns of one kind and number of buckets, which share one variable.

    It is held by the collection `shared_embedding_collection_name`, by default the names joined with "_shared_embedding".
    Raises ValueError for columns that differ.
    """
    initializer, name, _ = checked_shared(categorical_columns, dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
                                          shared_embedding_collection_name)
    return [SharedEmbeddingColumn(column, dimension, combiner, initializer, name, ckpt_to_load_from, tensor_name_in_ckpt,
                                  max_norm, trainable) for column in categorical_columns]


def checked_shared(categorical_columns: Any, dimension: Any, initializer: Any, checkpoint: Any, tensor: Any,
                   name: str | None) -> tuple[Any, str, int]:
    """(initializer, name of the variable, number of buckets) of columns that share an embedding.

    Raises ValueError for columns that differ.
    """
    initializer = _checked(dimension, initializer, checkpoint, tensor, "")
    ordered = sorted(categorical_columns, key=lambda column: column.name)
    first = ordered[0]
    if not isinstance(first, CategoricalColumn):
        raise ValueError(f"All categorical_columns must be subclasses of _CategoricalColumn. Given: {first}, of type: "
                         f"{type(first)}")
    buckets, first = first.num_buckets, _plain(first)
    for column in map(_plain, ordered[1:]):
        if not isinstance(column, type(first)):
            raise ValueError("To use shared_embedding_column, all categorical_columns must have the same type, or be "
                             f"weighted_categorical_column of the same type. Given column: {first} of type: {type(first)} does "
                             f"not match given column: {column} of type: {type(column)}")
        if buckets != column.num_buckets:
            raise ValueError("To use shared_embedding_column, all categorical_columns must have the same number of buckets. "
                             f"Given column: {first} with buckets: {buckets} does  not match column: {column} with buckets: "
                             f"{column.num_buckets}")
    return initializer, name or "_".join(column.name for column in ordered) + "_shared_embedding", buckets


def indicator_column(categorical_column: Any) -> IndicatorColumn:
    """How often each id of a categorical column stands in an example: [batch, num_buckets]."""
    return IndicatorColumn(categorical_column)
