"""Columns of sequences: ``sequence_numeric_column``, ``sequence_categorical_column_with_*``."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jitgraph.feature_column import categorical
from jitgraph.feature_column.column import CategoricalColumn, IdWeightPair, SequenceDenseColumn, TensorSequenceLengthPair
from jitgraph.feature_column.numeric import checked_shape
from jitgraph.feature_column.transformations import sequence_lengths
from jitgraph.graph import dtypes
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.files.parsing import VarLenFeature
from jitgraph.ops.reduce.reductions import reduce_prod
from jitgraph.ops.sparse.sparse_functions import sparse_reshape, sparse_tensor_to_dense


class _OfIds(NamedTuple):
    categorical_column: Any


class SequenceCategoricalColumn(CategoricalColumn, _OfIds):
    """The ids of a column as those of the steps of sequences: [batch, steps, ids of a step]."""

    name = property(lambda self: self.categorical_column.name)
    parents = property(lambda self: [self.categorical_column])
    parse_example_spec = property(lambda self: self.categorical_column.parse_example_spec)
    num_buckets = property(lambda self: self.categorical_column.num_buckets)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """What the column makes of it."""
        return self.categorical_column.transform_feature(transformation_cache, state_manager)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """(ids, weights or None) of three dimensions."""
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        shape = shape_of(ids)
        target = [shape[0], shape[1], reduce_prod(shape[2:])]
        return IdWeightPair(sparse_reshape(ids, target), None if weights is None else sparse_reshape(weights, target))


class _OfNumbers(NamedTuple):
    key: str
    shape: tuple
    default_value: float
    dtype: Any
    normalizer_fn: Any


class SequenceNumericColumn(SequenceDenseColumn, _OfNumbers):
    """The numbers of a sparse feature as sequences; see ``sequence_numeric_column``."""

    in_scopes = False
    name = property(lambda self: self.key)
    parents = property(lambda self: [self.key])
    variable_shape = property(lambda self: TensorShape(self.shape))

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """{key: a VarLenFeature}."""
        return {self.key: VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The feature, normalized."""
        feature = transformation_cache.get(self.key, state_manager)
        return feature if self.normalizer_fn is None else self.normalizer_fn(feature)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """(numbers [batch, steps, *shape], filled up with `default_value`, and the lengths)."""
        sparse = transformation_cache.get(self, state_manager)
        dense = sparse_tensor_to_dense(sparse, default_value=self.default_value)
        target = concat([shape_of(dense)[:1], [-1], self.variable_shape], axis=0)
        dense = reshape(dense, target)
        elements = self.variable_shape.num_elements() if sparse.shape.ndims == 2 else 1
        return TensorSequenceLengthPair(dense, sequence_lengths(sparse, elements))


def sequence_numeric_column(key: str, shape: Any = (1,), default_value: float = 0.0, dtype: Any = dtypes.float32,
                            normalizer_fn: Any = None) -> SequenceNumericColumn:
    """Sequences of numbers, each step of `shape`; `default_value` fills short ones up.

    Raises TypeError for a shape that has no integers or a normalizer that cannot be called, ValueError for sizes below 1 or
    a `dtype` that is no number.
    """
    shape = checked_shape(shape, key)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    return SequenceNumericColumn(key, shape, default_value, dtype, normalizer_fn)


def _of_sequences(make: Callable) -> Callable:
    def function(*args: Any, **kwargs: Any) -> SequenceCategoricalColumn:
        return SequenceCategoricalColumn(make(*args, **kwargs))

    function.__wrapped__ = make         # type: ignore[attr-defined]
    function.__name__ = function.__qualname__ = f"sequence_{make.__name__}"
    function.__doc__ = f"As ``{make.__name__}``, for sequences: each step may have any number of ids."
    return function


sequence_categorical_column_with_identity = _of_sequences(categorical.categorical_column_with_identity)
sequence_categorical_column_with_hash_bucket = _of_sequences(categorical.categorical_column_with_hash_bucket)
sequence_categorical_column_with_vocabulary_file = _of_sequences(categorical.categorical_column_with_vocabulary_file)
sequence_categorical_column_with_vocabulary_list = _of_sequences(categorical.categorical_column_with_vocabulary_list)
