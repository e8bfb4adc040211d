"""``tf.contrib.feature_column``: columns of sequences side by side, and that of their numbers."""
from __future__ import annotations

from typing import Any

from jitgraph.feature_column import sequences
from jitgraph.feature_column.column import SequenceDenseColumn, in_order
from jitgraph.feature_column.dense_rows import all_equal
from jitgraph.feature_column.states import ScopeState
from jitgraph.feature_column.transformations import FeatureTransformationCache, check_batch_sizes
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_shapes import assert_rank, assert_type
from jitgraph.variables.variable_scopes import variable_scope


class ScopedSequenceNumericColumn(sequences.SequenceNumericColumn):
    """The numbers of a sparse feature as sequences, for ``sequence_input_layer``."""

    in_scopes = True
    in_layers = False


def sequence_numeric_column(key: str, shape: Any = (1,), default_value: float = 0.0, dtype: Any = dtypes.float32,
                            normalizer_fn: Any = None) -> ScopedSequenceNumericColumn:
    """``tf.feature_column.sequence_numeric_column``, for ``sequence_input_layer``."""
    return ScopedSequenceNumericColumn(*sequences.sequence_numeric_column(key, shape, default_value, dtype, normalizer_fn))


def sequence_input_layer(features: dict[str, Any], feature_columns: Any, weight_collections: Any = None,
                         trainable: bool = True) -> tuple[Any, Any]:
    """What columns of sequences make of `features`, side by side in the order of their names.

    Returns (float32 [batch, steps, n], int64 lengths [batch]).  Raises ValueError for columns that are not of sequences;
    that the columns' lengths are equal is checked when it runs.
    """
    columns = in_order(feature_columns, "_FeatureColumn")
    for column in columns:
        if not isinstance(column, SequenceDenseColumn):
            raise ValueError("All feature_columns must be of type _SequenceDenseColumn. You can wrap a "
                             "sequence_categorical_column with an embedding_column or indicator_column. "
                             f"Given (type {type(column)}): {column}")
    with variable_scope(None, default_name="sequence_input_layer", values=features.values()):
        cache, state = FeatureTransformationCache(features), ScopeState(weight_collections, trainable)
        found, lengths = [], []
        for column in columns:
            with variable_scope(None, default_name=column._var_scope_name):
                tensor, length = column.get_sequence_dense_tensor(cache, state)
                elements = column.variable_shape.num_elements()
                shape = shape_of(tensor)
                found.append(reshape(tensor, [shape[0], shape[1], elements]))
                lengths.append(length)
        check_batch_sizes(found, columns)
        check_batch_sizes(lengths, columns)
        length = all_equal(lengths)
        return concat(found, -1), length


def with_context(inputs: Any, context: Any) -> Any:
    """Each step of inputs [batch, steps, n], with a context [batch, m] behind it: [batch, steps, n + m], float32.

    Raises ValueError for other ranks, TypeError for other dtypes.
    """
    checks = []
    for name, tensor, rank in (("sequence_input", inputs, 3), ("context_input", context, 2)):
        checks.append(assert_rank(tensor, rank, message=f"{name} must have rank {rank}", data=[shape_of(tensor)]))
        checks.append(assert_type(tensor, dtypes.float32,
                                  message=f"{name} must have dtype float32; got {tensor.dtype}."))
    with control_dependencies(checks):
        steps = shape_of(inputs)[1]
        repeated = tile(expand_dims(context, 1), concat([[1], [steps], [1]], 0))
    return concat([inputs, repeated], 2)
