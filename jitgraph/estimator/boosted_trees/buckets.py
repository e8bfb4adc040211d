"""The features that trees split: each an int32 bucket per example, of dense, bucketized and indicator columns."""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph import raw_ops as raw
from jitgraph.feature_column.column import CategoricalColumn, DenseColumn
from jitgraph.feature_column.embedding import IndicatorColumn
from jitgraph.feature_column.numeric import BucketizedColumn
from jitgraph.feature_column.states import LayerState
from jitgraph.feature_column.transformations import FeatureTransformationCache
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.join import unstack
from jitgraph.ops.arrays.shape import squeeze
from jitgraph.ops.elementwise.cast import to_int32


def _size(column: Any) -> int:
    """How many features a column has."""
    if isinstance(column, IndicatorColumn):
        return column.categorical_column.num_buckets
    if isinstance(column, BucketizedColumn):
        return 1
    if isinstance(column, DenseColumn):
        return column.variable_shape[0].value if column.variable_shape.as_list() else 1
    if isinstance(column, CategoricalColumn):
        raise ValueError(f"CategoricalColumn must be wrapped by IndicatorColumn, got: {column}")
    raise ValueError(f"Got unexpected feature column type {column}")


def is_float(column: Any) -> bool:
    """Whether the boundaries between the buckets of a column have to be found.  Raises ValueError for another thing."""
    if isinstance(column, (CategoricalColumn, BucketizedColumn, IndicatorColumn)):
        return False
    if isinstance(column, DenseColumn):
        dense: Any = column
        return dense.dtype.is_floating
    raise ValueError(f"Encountered unexpected column {column}")


def count_of(columns: list) -> int:
    """How many features columns have together."""
    return sum(map(_size, columns))


def names_of(columns: list) -> list[str]:
    """For each feature the name of its column."""
    return [column.categorical_column.name if isinstance(column, IndicatorColumn) else column.name
            for column in columns for _ in range(_size(column))]


class Groups(NamedTuple):
    """Features that have equally many buckets."""

    bucket_counts: list[int]
    features: list[list[int]]


def grouped(columns: list, num_quantiles: int) -> Groups:
    """Features by their numbers of buckets: those of bucketized columns have as many as the largest of them."""
    found: dict[int, list[int]] = {}
    bucketized: list[int] = []
    most, feature = 2, 0
    for column in columns:
        places = list(range(feature, feature + _size(column)))
        feature += len(places)
        if isinstance(column, BucketizedColumn):
            most = max(most, len(column.boundaries) + 1)
            bucketized += places
        else:
            found.setdefault(2 if isinstance(column, IndicatorColumn) else num_quantiles, []).extend(places)
    if bucketized:
        found.setdefault(most, []).extend(bucketized)
    return Groups(list(found), list(found.values()))


def boundaries_by_column(float_columns: list, boundaries: list) -> dict[str, list]:
    """{name of a column: the boundaries of its features}"""
    found, first = {}, 0
    for column in float_columns:
        found[column.name] = boundaries[first:first + _size(column)]
        first += _size(column)
    return found


def tensors_of(features: Any, columns: list) -> dict[Any, Any]:
    """{column: what it makes of features}"""
    cache, state, found = FeatureTransformationCache(features), LayerState(False), {}
    with name_scope(None, default_name="transform_features"):
        for column in columns:
            with name_scope(None, default_name=column._var_scope_name):
                found[column] = cache.get(column, state)
    return found


def transformed(features: Any, columns: list, boundaries: dict[str, list] | None = None,
                known: dict[Any, Any] | None = None) -> list:
    """The features of columns: buckets; numbers, of dense columns, without `boundaries`.

    `known`: tensors of columns that were made before.
    Raises ValueError for columns whose features are not numbers.
    """
    found: list = []
    known = known or {}
    made = tensors_of(features, [column for column in columns if column not in known]) | known
    for column in columns:
        tensor = made[column]
        _size(column)
        if isinstance(column, BucketizedColumn):
            source = column.source_column.name
            bucket = squeeze(tensor, axis=1)
            if len(bucket.shape) > 1:
                raise ValueError(f"For now, only supports features equivalent to rank 1 but column `{source}` got: "
                                 f"{features[source].shape}")
            found.append(bucket)
        elif isinstance(column, IndicatorColumn):
            if len(tensor.shape) > 2:
                source = column.categorical_column.name
                raise ValueError(f"Rank of indicator column must be no more than 2, but column `{source}` got: "
                                 f"{features[source].shape}")
            found += unstack(to_int32(tensor), axis=1)
        else:
            found += _of_numbers(column, tensor, boundaries)
    return found


def _of_numbers(column: Any, tensor: Any, boundaries: dict[str, list] | None) -> list:
    if column.variable_shape.rank > 1:
        raise ValueError(f"For now, we only support Dense column with rank of 1, but column `{column.name}` got: "
                         f"{column.variable_shape}")
    numbers = unstack(tensor, axis=1)
    if not boundaries:
        return numbers
    return list(raw.BoostedTreesBucketize(float_values=numbers, bucket_boundaries=boundaries[column.name]))
