"""Names of ``tensorflow.python.feature_column``'s modules: the columns by their older names, and where variables are kept."""
from __future__ import annotations

from typing import Any

from jitgraph.feature_column import categorical, column, combined, embedding, numeric, sequences
from jitgraph.feature_column.states import LayerState
from jitgraph.feature_column.transformations import FeatureTransformationCache
from jitgraph.feature_column.weighted_sums import LinearModel
from jitgraph.graph.scopes import name_scope

_NumericColumn = numeric.NumericColumn
_BucketizedColumn = numeric.BucketizedColumn
_HashedCategoricalColumn = categorical.HashedCategoricalColumn
_IdentityCategoricalColumn = categorical.IdentityCategoricalColumn
_VocabularyFileCategoricalColumn = categorical.VocabularyFileCategoricalColumn
_VocabularyListCategoricalColumn = categorical.VocabularyListCategoricalColumn
_CrossedColumn = combined.CrossedColumn
_WeightedCategoricalColumn = combined.WeightedCategoricalColumn
_EmbeddingColumn = embedding.EmbeddingColumn
_SharedEmbeddingColumn = embedding.SharedEmbeddingColumn
_IndicatorColumn = embedding.IndicatorColumn
_SequenceCategoricalColumn = sequences.SequenceCategoricalColumn
_numeric_column = numeric.numeric_column
_bucketized_column = numeric.bucketized_column
_categorical_column_with_hash_bucket = categorical.categorical_column_with_hash_bucket
_categorical_column_with_identity = categorical.categorical_column_with_identity
_categorical_column_with_vocabulary_file = categorical.categorical_column_with_vocabulary_file
_categorical_column_with_vocabulary_list = categorical.categorical_column_with_vocabulary_list
_crossed_column = combined.crossed_column
_weighted_categorical_column = combined.weighted_categorical_column
_embedding_column = embedding.embedding_column
_indicator_column = embedding.indicator_column
_LinearModel = LinearModel
_LazyBuilder = FeatureTransformationCache


def _transform_features_v2(features: dict[str, Any], feature_columns: Any, state_manager: Any) -> dict[Any, Any]:
    """What columns make of `features`, {column: tensor or SparseTensor}: as ``input_layer`` and ``linear_model`` see them.

    Raises ValueError for what is no column and for two of a name.
    """
    columns = column.in_order(feature_columns, "_FeatureColumn")
    transformed = {}
    with name_scope(None, "transform_features", values=list(features.values())):
        cache = FeatureTransformationCache(features)
        for one in columns:
            with name_scope(None, one.name):
                transformed[one] = cache.get(one, state_manager)
    return transformed


def _transform_features(features: dict[str, Any], feature_columns: Any) -> dict[Any, Any]:
    """``_transform_features_v2`` of columns that need no variables for it."""
    return _transform_features_v2(features, feature_columns, None)


class StateManager(LayerState):
    """Where the variables of columns are, by column and name; to derive from."""

    def __init__(self) -> None:
        super().__init__(True)


class _StateManagerImpl(LayerState):
    """The variables that a layer has for its columns."""

    def __init__(self, layer: Any, trainable: bool):
        super().__init__(trainable)
        self._layer = layer


_StateManagerImplV2 = _StateManagerImpl
