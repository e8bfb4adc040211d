"""``tf.contrib.layers.sequence_input_from_feature_columns``: columns of ``tf.contrib.layers`` over the steps of sequences."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.layers.old_column_layers import input_of_rank
from jitgraph.contrib.layers.old_columns import OldColumn, _BucketizedColumn, _RealValuedColumn
from jitgraph.contrib.layers.old_sparse_columns import _CrossedColumn, _EmbeddingColumn, _OneHotColumn


def sequence_input_from_feature_columns(columns_to_tensors: dict, feature_columns: Any, weight_collections: Any = None,
                                        trainable: bool = True, scope: Any = None) -> Any:
    """What columns make of each step of sequences, side by side: float32 [batch, steps, n].

    Features are [batch, steps, ...], dense or sparse.  Raises ValueError for columns other than of numbers, one-hot and embedding
    ones, and for those that are made of crossed or bucketized ones.
    """
    for column in feature_columns:
        if not isinstance(column, (_OneHotColumn, _EmbeddingColumn, _RealValuedColumn)):
            raise ValueError(f"FeatureColumn type {type(column).__name__} is not currently supported for sequence data.")
    for column in _with_sources(feature_columns):
        if isinstance(column, (_BucketizedColumn, _CrossedColumn)):
            raise ValueError(f"Column {column.name} is of type {type(column).__name__}, which is not currently supported for "
                             "sequences.")
    return input_of_rank(3, columns_to_tensors, feature_columns, weight_collections, trainable, scope, None,
                         "sequence_input_from_feature_columns")


def _with_sources(columns: Any) -> list[OldColumn]:
    """Columns, and those that they are made of."""
    found = list(columns)
    for column in found:            # which grows
        sources = getattr(column, "columns", ()) or [getattr(column, name) for name in ("sparse_id_column", "source_column")
                                                     if hasattr(column, name)]
        found.extend(source for source in sources if source not in found)
    return found
