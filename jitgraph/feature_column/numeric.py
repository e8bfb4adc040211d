"""Numbers as they are, or in buckets: ``numeric_column``, ``bucketized_column``."""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph import raw_ops as raw
from jitgraph.feature_column.column import CategoricalColumn, DenseColumn, IdWeightPair, check_key
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.fill import one_hot
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.layout import tile, transpose
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.files.parsing import FixedLenFeature


class _Numeric(NamedTuple):
    key: str
    shape: tuple
    default_value: Any
    dtype: Any
    normalizer_fn: Any


class NumericColumn(DenseColumn, _Numeric):
    """The feature of a key as float32; see ``numeric_column``."""

    name = property(lambda self: self.key)
    parents = property(lambda self: [self.key])
    variable_shape = property(lambda self: TensorShape(self.shape))

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """{key: a FixedLenFeature}."""
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The feature, normalized, as float32.  Raises ValueError for a SparseTensor."""
        feature = transformation_cache.get(self.key, state_manager)
        if isinstance(feature, SparseTensor):
            raise ValueError("The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not supported. key: "
                             f"{self.key}")
        if self.normalizer_fn is not None:
            feature = self.normalizer_fn(feature)
        return cast(feature, dtypes.float32)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The same."""
        return transformation_cache.get(self, state_manager)


class _Bucketized(NamedTuple):
    source_column: Any
    boundaries: tuple


class BucketizedColumn(DenseColumn, CategoricalColumn, _Bucketized):
    """The bucket of each number of a NumericColumn; see ``bucketized_column``."""

    name = property(lambda self: f"{self.source_column.name}_bucketized")
    parents = property(lambda self: [self.source_column])
    parse_example_spec = property(lambda self: self.source_column.parse_example_spec)
    variable_shape = property(lambda self: TensorShape((*self.source_column.shape, len(self.boundaries) + 1)))
    num_buckets = property(lambda self: (len(self.boundaries) + 1) * self.source_column.shape[0])

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The int32 bucket of each number."""
        source = transformation_cache.get(self.source_column, state_manager)
        return raw.Bucketize(source, boundaries=list(self.boundaries))

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """A one-hot row for each number."""
        buckets = transformation_cache.get(self, state_manager)
        return one_hot(cast(buckets, dtypes.int64), depth=len(self.boundaries) + 1, on_value=1.0, off_value=0.0)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The buckets as ids; those of the i-th number of an example begin at i times their number."""
        buckets = transformation_cache.get(self, state_manager)
        batch_size = shape_of(buckets)[0]
        numbers = self.source_column.shape[0]
        rows = reshape(tile(expand_dims(range_of(0, batch_size), 1), [1, numbers]), (-1,))
        columns = tile(range_of(0, numbers), [batch_size])
        ids = reshape(buckets, (-1,)) + (len(self.boundaries) + 1) * columns
        indices = cast(transpose(stack((rows, columns))), dtypes.int64)
        dense_shape = cast(stack([batch_size, numbers]), dtypes.int64)
        return IdWeightPair(SparseTensor(indices, ids, dense_shape), None)


def checked_shape(shape: Any, key: str) -> tuple:
    """`shape` as a tuple.  Raises TypeError for what is no integer, ValueError below 1."""
    assert shape is not None
    shape = tuple(shape) if nest.is_sequence(shape) else (shape,)
    for size in shape:
        if not isinstance(size, int):
            raise TypeError(f"shape dimensions must be integer. shape: {shape}, key: {key}")
        if size < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {shape}, key: {key}")
    return shape


def _filled(shape: tuple, value: Any) -> Any:
    return tuple(_filled(shape[1:], value) for _ in range(shape[0])) if shape else value


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if nest.is_sequence(value) else value


def _has_shape(value: Any, shape: tuple) -> bool:
    if nest.is_sequence(value) != bool(shape):
        return False
    return not shape or len(value) == shape[0] and all(_has_shape(part, shape[1:]) for part in value)


def _checked_default(value: Any, shape: tuple, dtype: Any, key: str) -> Any:
    if value is None:
        return None
    if isinstance(value, int) or isinstance(value, float) and dtype.is_floating:
        return _filled(shape, value)
    given = value.tolist() if callable(getattr(value, "tolist", None)) else value
    if nest.is_sequence(given):
        if not _has_shape(given, shape):
            raise ValueError(f"The shape of default_value must be equal to given shape. default_value: {given}, shape: {shape}, "
                             f"key: {key}")
        parts = nest.flatten(given)
        if all(isinstance(part, int) for part in parts) or dtype.is_floating and any(isinstance(part, float) for part in parts):
            return _as_tuple(given)
    raise TypeError(f"default_value must be compatible with dtype. default_value: {given}, dtype: {dtype}, key: {key}")


def numeric_column(key: str, shape: Any = (1,), default_value: Any = None, dtype: Any = dtypes.float32,
                   normalizer_fn: Any = None) -> NumericColumn:
    """The numbers of a feature [batch, *shape], as float32.

    `default_value` (a number, or an array of `shape`) and `dtype` are for parsing examples; `normalizer_fn` is a function of
    the tensor.  Raises TypeError for a shape that has no integers, a default of another type, or a normalizer that cannot be
    called, ValueError for sizes below 1, a default of another shape, a dtype without order, or a key that is no string.
    """
    shape = checked_shape(shape, key)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")
    default_value = _checked_default(default_value, shape, dtype, key)
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    check_key(key)
    return NumericColumn(key, shape, default_value, dtype, normalizer_fn)


def bucketized_column(source_column: Any, boundaries: Any) -> BucketizedColumn:
    """Numbers as buckets: below the first boundary 0, from the i-th on i.

    `source_column`: a numeric column of one dimension; `boundaries`: a rising list or tuple.  Raises ValueError for others.
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(f"source_column must be a column generated with numeric_column(). Given: {source_column}")
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    if not isinstance(boundaries, (list, tuple)) or any(low >= high for low, high in zip(boundaries, boundaries[1:])):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))
