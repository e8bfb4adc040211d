"""Categorical columns made of others: ``weighted_categorical_column``, ``crossed_column``."""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph.feature_column.categorical import HashedCategoricalColumn
from jitgraph.feature_column.column import CategoricalColumn, FeatureColumn, IdWeightPair
from jitgraph.feature_column.transformations import to_sparse
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor, convert_to_tensor_or_sparse_tensor
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.files.parsing import VarLenFeature
from jitgraph.ops.sparse.sparse_cross import sparse_cross_hashed


class _Weighted(NamedTuple):
    categorical_column: Any
    weight_feature_key: str
    dtype: Any


class WeightedCategoricalColumn(CategoricalColumn, _Weighted):
    """The ids of a column with weights of their own; see ``weighted_categorical_column``."""

    name = property(lambda self: f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}")
    parents = property(lambda self: [self.categorical_column, self.weight_feature_key])
    num_buckets = property(lambda self: self.categorical_column.num_buckets)

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of the column, and a VarLenFeature of weights.  Raises ValueError if both have one key."""
        found = dict(self.categorical_column.parse_example_spec)
        if self.weight_feature_key in found:
            raise ValueError(f"Parse config {found[self.weight_feature_key]} already exists for {self.weight_feature_key}.")
        return {**found, self.weight_feature_key: VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """(ids, weights), two SparseTensors.  Raises ValueError for weights of another dtype."""
        weights = transformation_cache.get(self.weight_feature_key, state_manager)
        if weights is None:
            raise ValueError(f"Missing weights {self.weight_feature_key}.")
        weights = convert_to_tensor_or_sparse_tensor(weights)
        if self.dtype != weights.dtype.base_dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {weights.dtype}.")
        if not isinstance(weights, SparseTensor):
            weights = to_sparse(weights, ignore_value=0.0)
        if not weights.dtype.is_floating:
            weights = cast(weights, dtypes.float32)
        return transformation_cache.get(self.categorical_column, state_manager), weights

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The same."""
        return IdWeightPair(*transformation_cache.get(self, state_manager))


class _Crossed(NamedTuple):
    keys: tuple
    hash_bucket_size: int
    hash_key: int | None


class CrossedColumn(CategoricalColumn, _Crossed):
    """Hashes of all combinations of the values of features; see ``crossed_column``."""

    parents = property(lambda self: list(self.keys))
    num_buckets = property(lambda self: self.hash_bucket_size)

    def _leaves(self) -> list[Any]:
        """The keys and columns that are crossed, those of crossed columns instead of these."""
        return [leaf for key in self.keys for leaf in (key._leaves() if isinstance(key, CrossedColumn) else [key])]

    # the names of what is crossed, in order
    name = property(lambda self: "_X_".join(
        sorted(leaf.name if isinstance(leaf, FeatureColumn) else leaf for leaf in self._leaves())))

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of each column; a VarLenFeature of strings for a key."""
        found: dict[str, Any] = {}
        for key in self.keys:
            found.update(key.parse_example_spec if isinstance(key, FeatureColumn) else {key: VarLenFeature(dtypes.string)})
        return found

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """A SparseTensor of hashes.  Raises ValueError for a column with weights."""
        crossed = []
        for leaf in self._leaves():
            if isinstance(leaf, str):
                crossed.append(transformation_cache.get(leaf, state_manager))
                continue
            pair = leaf.get_sparse_tensors(transformation_cache, state_manager)
            if pair.weight_tensor is not None:
                raise ValueError("crossed_column does not support weight_tensor, but the given column populates weight_tensor. "
                                 f"Given column: {leaf.name}")
            crossed.append(pair.id_tensor)
        return sparse_cross_hashed(crossed, num_buckets=self.hash_bucket_size, hash_key=self.hash_key)


def weighted_categorical_column(categorical_column: Any, weight_feature_key: str,
                                dtype: Any = dtypes.float32) -> WeightedCategoricalColumn:
    """The ids of a column, each weighted by the number at its place in another feature (in a dense one, 0 is missing).

    Raises ValueError for a `dtype` that is no number.
    """
    if dtype is None or not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)


def crossed_column(keys: Any, hash_bucket_size: int, hash_key: int | None = None) -> CrossedColumn:
    """All combinations of the values of `keys` (of features, or categorical columns), as hashes below `hash_bucket_size`.

    `hash_key`: what the hashes are mixed with.  Raises ValueError for fewer than two keys, no buckets, other keys, or a
    column of hashes: cross the feature itself.
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn)):
            raise ValueError("Unsupported key type. All keys must be either string, or categorical column except "
                             f"HashedCategoricalColumn. Given: {key}")
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError("categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing will "
                             "increase probability of collision. Instead, use the feature name as a string. Given: "
                             f"{key}")
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)
