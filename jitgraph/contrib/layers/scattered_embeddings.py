"""Embeddings whose numbers stand at hashed places of one vector: no table of words, and as little memory as wanted."""
from __future__ import annotations

from typing import Any

from jitgraph.app import logs
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.searching import unique
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.nn.embedding import embedding_lookup
from jitgraph.ops.reduce.sparse_segment import sparse_segment_mean, sparse_segment_sqrt_n, sparse_segment_sum
from jitgraph.ops.sparse.sparse_cross import sparse_cross_hashed
from jitgraph.ops.sparse.sparse_functions import sparse_fill_empty_rows, sparse_tensor_to_dense

SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = 0xDECAFCAFFE
"""A key for hashes that nobody chose."""

_NO_VALUE = {True: "6ZxWzWOHxZ", False: 1288896567}     # what rows without a value are hashed as: strings, numbers
COMBINED = {"sum": sparse_segment_sum, "mean": sparse_segment_mean, "sqrtn": sparse_segment_sqrt_n}


def _parts(params: Any) -> list:
    if hasattr(params, "_get_variable_list"):
        return list(params)
    return params if isinstance(params, list) else [params]


def scattered_embedding_lookup(params: Any, values: Any, dimension: int, name: str | None = None,
                               hash_key: int | None = None) -> Any:
    """For each value `dimension` numbers of a vector, at places that are hashes of the value and of 0, 1, 2 ...

    Args:
      params: the vector, or a list of its parts, of which the first may have one number more than the last.
      values: strings or integers of any shape; dimension: how many numbers stand for each.
      hash_key: a key for the hashes.
    Returns a tensor of the shape of `values` with the axis `dimension` behind it.  Raises ValueError for parts of other sizes, and
    for a `dimension` below 1.
    """
    if dimension is None:
        raise ValueError("You must specify dimension.")
    parts = _parts(params)
    with name_scope(name, "scattered_embedding_lookup", [*parts, dimension, values]):
        outer = shape_of(values)
        rows = reshape(values, [-1, 1])
        if dimension <= 0:
            raise ValueError(f"Dimension must be >0. Given is {dimension}")
        numbers = tile(expand_dims(range_of(0, dimension), 0), shape_of(rows))
        sizes = []
        for part in parts:
            part.get_shape().assert_has_rank(1)
            part.get_shape().assert_is_fully_defined()
            sizes += part.get_shape().as_list()
        total = sum(sizes)
        for number, size in enumerate(sizes):
            expected = (total - number - 1) // len(parts) + 1
            if size != expected:
                raise ValueError(f"Tensor {number} in params has size {size}, expected {expected}.")
        places = sparse_tensor_to_dense(sparse_cross_hashed([numbers, rows], num_buckets=total, hash_key=hash_key))
        return reshape(embedding_lookup(parts, places, partition_strategy="div"), concat([outer, [dimension]], 0))


def scattered_embedding_lookup_sparse(params: Any, sparse_values: Any, dimension: int, combiner: str | None = None,
                                      default_value: Any = None, name: str | None = None, hash_key: int | None = None) -> Any:
    """The scattered embeddings of the values of each row, combined: [rows, dimension].

    Args:
      params, dimension, hash_key: as in ``scattered_embedding_lookup``.
      sparse_values: a SparseTensor of strings or integers.
      combiner: "sum", "mean" (if None) or "sqrtn".
      default_value: what a row without values has.
    Raises TypeError for other values, ValueError for another combiner.
    """
    if combiner is None:
        logs.warn('The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.')
    parts = _parts(params)
    if not isinstance(sparse_values, SparseTensor):
        raise TypeError("sparse_values must be SparseTensor")
    with name_scope(name, "scattered_embedding_lookup_sparse", [*parts, sparse_values]) as scope:
        if default_value is None:
            default_value = _NO_VALUE[sparse_values.dtype == dtypes.string]
        filled, _ = sparse_fill_empty_rows(sparse_values, default_value)
        segments = cast(filled.indices[:, 0], dtypes.int32)
        values, places = unique(filled.values)
        embeddings = scattered_embedding_lookup(parts, values, dimension, hash_key=hash_key)
        if (combiner or "mean") not in COMBINED:
            raise ValueError("Combiner must be one of 'mean', 'sqrtn' or 'sum'.")
        return COMBINED[combiner or "mean"](embeddings, places, segments, name=scope)
