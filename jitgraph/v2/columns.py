"""Columns of features."""
from __future__ import annotations

import weakref
from typing import Any, NamedTuple

from jitgraph.feature_column.column import TensorSequenceLengthPair, parse_example_spec_of
from jitgraph.feature_column.embedding import OfIds, checked_shared
from jitgraph.feature_column.transformations import sequence_lengths
from jitgraph.graph import dtypes
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.nn.safe_embedding import safe_embedding_lookup_sparse
from jitgraph.train.checkpoint_values import init_from_checkpoint
from jitgraph.v2.calls import from_v1
from jitgraph.variables.variable_scopes import get_variable


@from_v1("feature_column.categorical_column_with_vocabulary_file")
def categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size=None, dtype=dtypes.string, default_value=None,
                                            num_oov_buckets=0):
    """Strings or integers as the numbers of the lines of a file that hold them."""


def make_parse_example_spec(feature_columns: Any) -> dict[str, Any]:
    """What ``tf.io.parse_example`` needs for the features that columns use: {key: FixedLenFeature or VarLenFeature}.

    Raises ValueError for what is no column that layers take, and if two columns want a key parsed in different ways.
    """
    return parse_example_spec_of(feature_columns, "FeatureColumn")


class SharedWeights:
    """The variable [buckets, dimension] of columns that share an embedding: one in each graph, made at its first use."""

    def __init__(self, name: str, buckets: int, dimension: int, initializer: Any, checkpoint: str | None, tensor: str | None,
                 trainable: bool):
        self.name, self.buckets, self.dimension, self.initializer = name, buckets, dimension, initializer
        self.checkpoint, self.tensor, self.trainable = checkpoint, tensor, trainable
        self._made: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()

    @property
    def embedding_weights(self) -> Any:
        """The variable of the default graph."""
        made = self._made.get(get_default_graph())
        if made is None:
            made = get_variable(self.name, (self.buckets, self.dimension), dtypes.float32, self.initializer,
                                trainable=self.trainable)
            if self.checkpoint is not None:
                parts = made._get_variable_list() if hasattr(made, "_get_variable_list") else made
                init_from_checkpoint(self.checkpoint, {self.tensor: parts})
            self._made[get_default_graph()] = made
        return made


class _Shared(NamedTuple):
    categorical_column: Any
    shared_embedding_column_creator: SharedWeights
    combiner: str
    max_norm: float | None


class SharedEmbeddingColumn(OfIds, _Shared):
    """A vector for each example, joined of those of its ids; see ``shared_embeddings``."""

    kind = "embedding_column"
    in_scopes = False
    name = property(lambda self: f"{self.categorical_column.name}_shared_embedding")
    variable_shape = property(lambda self: TensorShape([self.shared_embedding_column_creator.dimension]))

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """What the categorical column makes of it."""
        return transformation_cache.get(self.categorical_column, state_manager)

    def _looked_up(self, transformation_cache: Any, state_manager: Any) -> tuple[Any, Any]:
        with name_scope(None, default_name=self.name):
            pair = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
            weights = self.shared_embedding_column_creator.embedding_weights
            return pair, safe_embedding_lookup_sparse(
                weights, pair.id_tensor, sparse_weights=pair.weight_tensor, combiner=self.combiner,
                name=f"{self.name}_weights", max_norm=self.max_norm)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The vectors [batch, dimension].  Raises ValueError for a column of sequences."""
        self._check_sequences(False)
        return self._looked_up(transformation_cache, state_manager)[1]

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """(the vectors [batch, steps, dimension], lengths).  Raises ValueError for a column without sequences."""
        self._check_sequences(True)
        pair, vectors = self._looked_up(transformation_cache, state_manager)
        return TensorSequenceLengthPair(vectors, sequence_lengths(pair.id_tensor))


def shared_embeddings(categorical_columns: Any, dimension: int, combiner: str = "mean", initializer: Any = None,
                      shared_embedding_collection_name: str | None = None, ckpt_to_load_from: str | None = None,
                      tensor_name_in_ckpt: str | None = None, max_norm: float | None = None,
                      trainable: bool = True) -> list[SharedEmbeddingColumn]:
    """As ``embedding_column`` for several columns of one kind and number of buckets, which share one variable.

    The variable has the name `shared_embedding_collection_name`, by default the columns' joined with "_shared_embedding".
    Raises ValueError for columns that differ.
    """
    initializer, name, buckets = checked_shared(categorical_columns, dimension, initializer, ckpt_to_load_from,
                                                tensor_name_in_ckpt, shared_embedding_collection_name)
    weights = SharedWeights(name, buckets, dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, trainable)
    return [SharedEmbeddingColumn(column, weights, combiner, max_norm) for column in categorical_columns]
