"""``tf.contrib.layers.sequence_input_from_feature_columns``: columns of ``tf.contrib.layers`` over the steps of sequences."""
from __future__ import annotations

from typing import Any

from jitgraph.app import logs
from jitgraph.contrib.layers.old_column_layers import check_feature_columns, create_feature_spec_for_parsing, input_of_rank
from jitgraph.contrib.layers.old_columns import OldColumn, _BucketizedColumn, _RealValuedColumn
from jitgraph.contrib.layers.old_sparse_columns import _CrossedColumn, _EmbeddingColumn, _OneHotColumn
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.files.parsing import FixedLenSequenceFeature, VarLenFeature, parse_single_sequence_example


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


def parse_feature_columns_from_sequence_examples(serialized: Any, context_feature_columns: Any, sequence_feature_columns: Any,
                                                 name: str | None = None, example_name: Any = None) -> tuple[dict, dict]:
    """({key: tensor} of the context, {key: tensor} of the sequences) of one serialized SequenceExample.

    `serialized` is a string of one element; columns may be None; `example_name` is for messages.  A sequence whose column has a
    default value may be missing.  Raises ValueError for several elements.
    """
    try:
        serialized = reshape(serialized, [])
    except ValueError as error:
        raise ValueError("serialized must contain as single sequence example. Batching must be done after parsing for sequence "
                         f"examples. Error: {error}") from None
    specs = []
    for columns in (context_feature_columns or [], sequence_feature_columns or []):
        check_feature_columns(columns)
        specs.append(create_feature_spec_for_parsing(columns))
    sequences = {key: _of_sequences(key, feature) for key, feature in specs[1].items()}
    return parse_single_sequence_example(serialized, specs[0], sequences, example_name, name)


def _of_sequences(key: str, feature: Any) -> Any:
    if isinstance(feature, VarLenFeature):
        return feature
    missing = feature.default_value is not None
    if missing:
        logs.warning(f'Found default value {feature.default_value} for feature "{key}". Ignoring this value and setting '
                     "`allow_missing=True` instead.")
    return FixedLenSequenceFeature(shape=feature.shape, dtype=feature.dtype, allow_missing=missing)
