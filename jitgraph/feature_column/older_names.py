"""Names of ``tensorflow.python.feature_column``'s modules: the columns by their older names, and where variables are kept."""
from __future__ import annotations

from typing import Any

from jitgraph.feature_column import categorical, column, combined, embedding, numeric, sequences
from jitgraph.feature_column.states import LayerState
from jitgraph.feature_column.transformations import FeatureTransformationCache
from jitgraph.feature_column.weighted_sums import LinearModel

_FeatureColumn = column.FeatureColumn
_DenseColumn = column.DenseColumn
_CategoricalColumn = column.CategoricalColumn
_SequenceDenseColumn = column.SequenceDenseColumn
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
_LinearModel = LinearModel
_LazyBuilder = FeatureTransformationCache


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
