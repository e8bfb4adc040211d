"""Vectors of the ids of ``tf.contrib.layers`` columns: the variables that hold them, and columns whose vectors are scattered."""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph.contrib.framework.variables import model_variable
from jitgraph.contrib.layers.old_columns import DeepLookup, OldColumn
from jitgraph.contrib.layers.rearranging import inner_flatten
from jitgraph.contrib.layers.scattered_embeddings import COMBINED, scattered_embedding_lookup_sparse
from jitgraph.feature_column.column import DenseColumn
from jitgraph.graph import dtypes
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.files.parsing import VarLenFeature
from jitgraph.ops.nn.safe_embedding import safe_embedding_lookup_sparse
from jitgraph.train.checkpoint_values import init_from_checkpoint
from jitgraph.variables.variable_initializers import truncated_normal_initializer


def parts_of(variable: Any) -> list:
    """The variables that a variable is made of: a partitioned one of several."""
    return list(variable) if hasattr(variable, "_get_variable_list") else [variable]


def restore(path: tuple | None, variables: list) -> None:
    """Has variables begin as a tensor of a checkpoint, if there is a path (file, name)."""
    if path is not None:
        init_from_checkpoint(path[0], {path[1]: variables[0] if len(variables) == 1 else variables})


def _shared(given: Any, collections: Any, trainable: bool) -> Any:
    """The vectors of a shared name: made once in a graph."""
    key = "SHARED_EMBEDDING_COLLECTION_" + given.shared_embedding_name.upper()
    made = get_default_graph().get_collection_ref(key)
    shape = [given.vocab_size, given.dimension]
    if not made:
        made.append(model_variable(name=given.shared_embedding_name, shape=shape, dtype=dtypes.float32,
                                   initializer=given.initializer, trainable=trainable and given.trainable,
                                   collections=collections))
    elif made[0].get_shape() != shape:
        raise ValueError(f"The embedding variable with name {given.shared_embedding_name} already exists, but its shape does not "
                         "match required embedding shape here. Please make sure to use different shared_embedding_name for "
                         "different shared embeddings.")
    return made[0]


def embedded(column: Any, given: Any, collections: Any, trainable: bool, rank: int = 2) -> Any:
    """The vectors of a column's ids, which the DeepLookup `given` tells, combined: [batch, ..., dimension], of `rank` axes."""
    ids = inner_flatten(given.input_tensor, rank)
    weights = None if given.weight_tensor is None else inner_flatten(given.weight_tensor, rank)
    if given.hash_key:
        vector = model_variable(name="weights", shape=[given.vocab_size], dtype=dtypes.float32, initializer=given.initializer,
                                trainable=trainable and given.trainable, collections=collections)
        return scattered_embedding_lookup_sparse(vector, ids, given.dimension, hash_key=given.hash_key, combiner=given.combiner,
                                                 name="lookup")
    if given.shared_embedding_name is not None:
        vectors = _shared(given, collections, trainable)
    else:
        vectors = model_variable(name="weights", shape=[given.vocab_size, given.dimension], dtype=dtypes.float32,
                                 initializer=given.initializer, trainable=trainable and given.trainable, collections=collections)
    parts = parts_of(vectors)
    restore(column._checkpoint_path(), parts)
    return safe_embedding_lookup_sparse(parts, ids, sparse_weights=weights, combiner=given.combiner, name=column.name + "weights",
                                        max_norm=given.max_norm)


class EmbeddedColumn(OldColumn, DenseColumn):
    """A column of vectors, one for each id, whose numbers are variables."""

    dimension: int

    @property
    def variable_shape(self) -> TensorShape:    # type: ignore[override]
        """[dimension]"""
        return TensorShape([self.dimension])

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The vectors of the ids, combined: [batch, dimension]."""
        given = self._deep_embedding_lookup_arguments(transformation_cache.get(self, state_manager))
        return embedded(self, given, state_manager.collections, state_manager.trainable)


class _ScatteredFields(NamedTuple):
    column_name: str
    size: int
    dimension: int
    hash_key: int
    combiner: str
    initializer: Any


class _ScatteredEmbeddingColumn(EmbeddedColumn, _ScatteredFields):
    name = property(lambda self: f"{self.column_name}_scattered_embedding")                         # type: ignore[assignment]
    config = property(lambda self: {self.column_name: VarLenFeature(dtypes.string)})                # type: ignore[assignment]
    key = property(lambda self: self._key_without("initializer"))                                   # type: ignore[assignment]

    def insert_transformed_feature(self, columns_to_tensors: dict) -> None:
        columns_to_tensors[self] = columns_to_tensors[self.column_name]

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> DeepLookup:
        return DeepLookup(input_tensor, None, self.size, self.initializer, self.combiner, self.dimension, None, None, True,
                          self.hash_key)


def scattered_embedding_column(column_name: str, size: int, dimension: int, hash_key: int, combiner: str = "mean",
                               initializer: Any = None) -> Any:
    """A column of strings, each of which stands for `dimension` numbers at hashed places of one vector of `size` numbers.

    Args:
      column_name: the feature.
      hash_key: a key for the hashes, such as SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY.
      combiner: how several strings of a row are combined: "mean", "sqrtn" or "sum".
      initializer: of the vector; a normal of standard deviation 0.1, cut at two of them, if None.
    Raises ValueError for sizes below 1, another combiner, and an initializer that cannot be called.
    """
    if dimension < 1 or size < 1:
        raise ValueError(f"Dimension and size must be greater than 0. dimension: {dimension}, size: {size}, column_name: "
                         f"{column_name}")
    if combiner not in COMBINED:
        raise ValueError(f"Combiner must be one of 'mean', 'sqrtn' or 'sum'. combiner: {combiner}, column_name: {column_name}")
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. column_name: {column_name}")
    if initializer is None:
        initializer = truncated_normal_initializer(mean=0.0, stddev=0.1)
    return _ScatteredEmbeddingColumn(column_name, size, dimension, hash_key, combiner, initializer)
