"""How to parse examples for ready models: ``tf.estimator.classifier_parse_example_spec`` and its kin."""
from __future__ import annotations

from typing import Any

from jitgraph.feature_column.column import make_parse_example_spec
from jitgraph.feature_column.numeric import NumericColumn, numeric_column
from jitgraph.graph import dtypes
from jitgraph.ops.files.parsing import FixedLenFeature


def _with_label(feature_columns: Any, label_key: str, label: FixedLenFeature, weight_column: Any) -> dict[str, Any]:
    spec = make_parse_example_spec(feature_columns)
    if label_key in spec:
        raise ValueError(f"label should not be used as feature. label_key: {label_key}, features: {spec.keys()}")
    spec[label_key] = label
    if weight_column is None:
        return spec
    column = numeric_column(weight_column) if isinstance(weight_column, str) else weight_column
    if not isinstance(column, NumericColumn):
        raise ValueError("weight_column should be an instance of tf.feature_column.numeric_column. Given type: "
                         f"{type(column)} value: {column}")
    if column.key in spec:
        raise ValueError(f"weight_column should not be used as feature. weight_column: {column.key}, features: {spec.keys()}")
    return {**spec, **column.parse_example_spec}


def classifier_parse_example_spec(feature_columns: Any, label_key: str, label_dtype: Any = dtypes.int64,
                                  label_default: Any = None, weight_column: Any = None) -> dict[str, Any]:
    """As ``tf.feature_column.make_parse_example_spec``, with one label, and a weight.

    Raises ValueError if a column uses the key of either, or for another `weight_column`.
    """
    return _with_label(feature_columns, label_key, FixedLenFeature((1,), label_dtype, label_default), weight_column)


def regressor_parse_example_spec(feature_columns: Any, label_key: str, label_dtype: Any = dtypes.float32,
                                 label_default: Any = None, label_dimension: int = 1,
                                 weight_column: Any = None) -> dict[str, Any]:
    """As ``classifier_parse_example_spec``, with `label_dimension` numbers as label."""
    return _with_label(feature_columns, label_key, FixedLenFeature((label_dimension,), label_dtype, label_default), weight_column)
