"""The columns of ``tf.contrib.layers`` that came before ``tf.feature_column``: numbers, and buckets of them."""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph import raw_ops as raw
from jitgraph.app import logs
from jitgraph.contrib.layers.rearranging import inner_flatten
from jitgraph.feature_column.column import CategoricalColumn, DenseColumn, FeatureColumn, IdWeightPair
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.fill import one_hot, zeros
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.layout import tile, transpose
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.files.parsing import FixedLenFeature
from jitgraph.variables.variable_initializers import zeros_initializer


class WideLookup(NamedTuple):
    """How a linear model looks a column up: ids, their weights, how many there may be, how the rows are combined."""

    input_tensor: Any
    weight_tensor: Any
    vocab_size: int
    combiner: str
    initializer: Any = zeros_initializer()


class DeepLookup(NamedTuple):
    """How a deep model embeds a column."""

    input_tensor: Any
    weight_tensor: Any
    vocab_size: int
    initializer: Any
    combiner: str
    dimension: int
    shared_embedding_name: str | None
    max_norm: Any
    trainable: bool
    hash_key: int | None = None         # of scattered embeddings


class _OfCache(dict):
    """The features of a FeatureTransformationCache as the dict that columns add to."""

    def __init__(self, cache: Any, state_manager: Any):
        super().__init__()
        self._cache, self._state_manager = cache, state_manager

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: Any) -> Any:
        return self._cache.get(key, self._state_manager)


class OldColumn(FeatureColumn):
    """A column of ``tf.contrib.layers``; `key` says where it stands among others.

    ``tf.feature_column.input_layer`` and ``linear_model`` take those that are dense or categorical too.
    """

    in_layers = False
    config: dict[str, Any]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """How to parse the features that it uses."""
        return self.config

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """What it makes of the features, as ``insert_transformed_feature`` does."""
        tensors = _OfCache(transformation_cache, state_manager)
        self.insert_transformed_feature(tensors)
        return tensors[self]

    @property
    def key(self) -> str:
        """What tells the column apart."""
        return f"{self}"

    def _key_without(self, *left_out: str) -> str:
        fields = [f"{name}={value}" for name, value in self._asdict().items() if name not in left_out]  # type: ignore[attr-defined]
        return f"{type(self).__name__}({', '.join(fields)})"

    def insert_transformed_feature(self, columns_to_tensors: dict) -> None:
        """Adds what the column makes of the features in a dict to it."""
        raise NotImplementedError(f"Transform is not implemented for {self}.")

    def _to_dnn_input_layer(self, input_tensor: Any, weight_collections: Any = None, trainable: bool = True,
                            output_rank: int = 2) -> Any:
        raise ValueError("Calling an abstract method.")

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> DeepLookup:
        raise NotImplementedError(f"No deep embedding lookup arguments for column {self}.")

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> WideLookup:
        raise NotImplementedError(f"No wide embedding lookup arguments for column {self}.")

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        raise NotImplementedError(f"No dense tensor representation for column {self}.")

    def _checkpoint_path(self) -> tuple | None:
        return None


def transformed_by(columns_to_tensors: dict, column: Any) -> Any:
    """What a column made of features, or the feature of a name.  Raises ValueError if there is none."""
    if column not in columns_to_tensors:
        if isinstance(column, str):
            raise ValueError(f"features dictionary doesn't contain key ({column})")
        column.insert_transformed_feature(columns_to_tensors)
    if column not in columns_to_tensors:
        raise ValueError(f"Column {column.name} is not supported.")
    return columns_to_tensors[column]


def of_rank(tensor: Any, rank: int, column_name: str | None = None) -> Any:
    """A tensor of one dimension less, or of more, as one of that rank."""
    own = tensor.get_shape().ndims
    if own is not None:
        if rank > own + 1:
            raise ValueError((f"Error while processing column {column_name}." if column_name is not None else "")
                             + f"Rank of input Tensor ({own}) should be the same as output_rank ({rank}). For example, sequence "
                             "data should typically be 3 dimensional (rank 3) while non-sequence data is typically 2 dimensional "
                             "(rank 2).")
        if rank == own + 1:
            logs.warning("Rank of input Tensor (%s) should be the same as output_rank (%s) for column. Will attempt to expand "
                         "dims. It is highly recommended that you resize your input, as this behavior may change.", own, rank)
            return expand_dims(tensor, -1, name="expand_dims")
        if rank == own:
            return tensor
    return inner_flatten(tensor, rank)


class _RealValuedFields(NamedTuple):
    column_name: str
    dimension: int
    default_value: Any
    dtype: Any
    normalizer: Any


class _RealValuedColumn(OldColumn, DenseColumn, _RealValuedFields):
    name = property(lambda self: self.column_name)      # type: ignore[assignment]
    key = property(lambda self: self._key_without("normalizer"))            # type: ignore[assignment]
    normalizer_fn = property(lambda self: self.normalizer)
    variable_shape = property(lambda self: TensorShape([self.dimension]))   # type: ignore[assignment]

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The numbers."""
        return transformation_cache.get(self, state_manager)

    @property
    def config(self) -> dict[str, Any]:         # type: ignore[override]
        default = self.default_value
        return {self.column_name: FixedLenFeature([self.dimension], self.dtype, default if default is None else list(default))}

    def insert_transformed_feature(self, columns_to_tensors: dict) -> None:
        tensor = columns_to_tensors[self.name]
        columns_to_tensors[self] = cast(self.normalizer(tensor) if self.normalizer is not None else tensor, dtypes.float32)

    def _to_dnn_input_layer(self, input_tensor: Any, weight_collections: Any = None, trainable: bool = True,
                            output_rank: int = 2) -> Any:
        if input_tensor.dtype != dtypes.float32:
            input_tensor = cast(input_tensor, dtypes.float32)
        return of_rank(input_tensor, output_rank, self.name)

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        return input_tensor


def _default_values(given: Any, dimension: int, dtype: Any) -> tuple | None:
    """The defaults of a column for its dtype; None if they do not suit."""
    values = given if isinstance(given, list) else [given] * dimension
    kind = int if all(isinstance(value, int) for value in values) else float
    if not all(isinstance(value, (int, float)) for value in values) or (dtype.is_integer and kind is float):
        return None
    return tuple(int(value) if dtype.is_integer else float(value) for value in values)


def real_valued_column(column_name: str, dimension: int = 1, default_value: Any = None, dtype: Any = dtypes.float32,
                       normalizer: Any = None) -> Any:
    """A column of `dimension` numbers, which `normalizer` is applied to.

    `default_value`: a number, or a list of them, for examples without the feature.  Raises TypeError or ValueError for arguments
    that do not suit.
    """
    if dimension is None:
        raise TypeError("dimension must be an integer. Use the _real_valued_var_len_column for variable length features."
                        f"dimension: {dimension}, column_name: {column_name}")
    if not isinstance(dimension, int):
        raise TypeError(f"dimension must be an integer. dimension: {dimension}, column_name: {column_name}")
    if dimension < 1:
        raise ValueError(f"dimension must be greater than 0. dimension: {dimension}, column_name: {column_name}")
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, column_name: {column_name}")
    if default_value is None:
        return _RealValuedColumn(column_name, dimension, None, dtype, normalizer)
    if isinstance(default_value, list) and len(default_value) != dimension:
        raise ValueError(f"The length of default_value must be equal to dimension. default_value: {default_value}, dimension: "
                         f"{dimension}, column_name: {column_name}")
    defaults = _default_values(default_value, dimension, dtype)
    if defaults is None:
        raise TypeError(f"default_value must be compatible with dtype. default_value: {default_value}, dtype: {dtype}, "
                        f"column_name: {column_name}")
    return _RealValuedColumn(column_name, dimension, defaults, dtype, normalizer)


class _BucketizedFields(NamedTuple):
    source_column: Any
    boundaries: tuple


class _BucketizedColumn(OldColumn, CategoricalColumn, DenseColumn, _BucketizedFields):
    name = property(lambda self: f"{self.source_column.name}_bucketized")       # type: ignore[assignment]
    length = property(lambda self: len(self.boundaries) + 1)
    config = property(lambda self: self.source_column.config)                   # type: ignore[assignment]
    num_buckets = property(lambda self: self.length * self.source_column.dimension)             # type: ignore[assignment]
    variable_shape = property(lambda self: TensorShape([self.num_buckets]))                     # type: ignore[assignment]

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> IdWeightPair:
        """(the buckets as ids, None)"""
        return IdWeightPair(self.to_sparse_tensor(transformation_cache.get(self, state_manager)), None)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """A one for each bucket."""
        return self._to_dnn_input_layer(transformation_cache.get(self, state_manager))

    def insert_transformed_feature(self, columns_to_tensors: dict) -> None:
        source = transformed_by(columns_to_tensors, self.source_column)
        columns_to_tensors[self] = raw.Bucketize(input=source, boundaries=list(self.boundaries), name="bucketize")

    def _to_dnn_input_layer(self, input_tensor: Any, weight_collections: Any = None, trainable: bool = True,
                            output_rank: int = 2) -> Any:
        if output_rank != 2:
            raise ValueError("BucketizedColumn currently only supports output_rank=2")
        hot = one_hot(cast(input_tensor, dtypes.int64), self.length, 1.0, 0.0, name="one_hot")
        return reshape(hot, [-1, self.length * self.source_column.dimension], name="reshape")

    def to_sparse_tensor(self, input_tensor: Any) -> SparseTensor:
        """The buckets as ids, those of each dimension apart."""
        dimension, batch_size = self.source_column.dimension, shape_of(input_tensor, name="shape")[0]
        flat = reshape(input_tensor, [-1], name="reshape")
        if dimension > 1:
            rows = expand_dims(range_of(0, batch_size), 1, name="expand_dims")
            rows = reshape(tile(rows, [1, dimension], name="tile"), [-1], name="reshape")
            columns = tile(range_of(0, dimension), [batch_size], name="tile")
            flat = flat + self.length * columns
        else:
            rows, columns = range_of(0, batch_size), zeros([batch_size], dtype=dtypes.int32, name="zeros")
        indices = cast(transpose(stack((rows, columns))), dtypes.int64)
        return SparseTensor(indices, flat, cast(stack([batch_size, dimension]), dtypes.int64))

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> WideLookup:
        return WideLookup(self.to_sparse_tensor(input_tensor), None, self.length * self.source_column.dimension, "sum")


def bucketized_column(source_column: Any, boundaries: Any) -> Any:
    """The buckets of a real valued column, between sorted `boundaries`.  Raises TypeError or ValueError for others."""
    if not isinstance(source_column, _RealValuedColumn):
        raise TypeError(f"source_column must be an instance of _RealValuedColumn. source_column: {source_column}")
    if not isinstance(boundaries, (list, tuple)) or not boundaries:
        raise ValueError(f"boundaries must be a non-empty list or tuple. boundaries: {boundaries}")
    if any(a > b for a, b in zip(boundaries, boundaries[1:])):
        raise ValueError(f"boundaries must be a sorted list. boundaries: {boundaries}")
    return _BucketizedColumn(source_column, tuple(dict.fromkeys(boundaries)))
