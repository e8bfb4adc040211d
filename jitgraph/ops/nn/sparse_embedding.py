"""Embeddings of bags of ids: ``tf.nn.embedding_lookup_sparse``."""
from __future__ import annotations

import warnings
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.fill import fill
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.searching import unique
from jitgraph.ops.arrays.shape import expand_dims, rank, reshape, shape
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.nn.embedding import embedding_lookup


def embedding_lookup_sparse(params: Any, sp_ids: Any, sp_weights: Any, partition_strategy: str = "mod",
                            name: str | None = None, combiner: str | None = None, max_norm: Any = None) -> Any:
    """One vector for each row of ids: the "mean", "sum" or "sqrtn" (the default is "mean") of their embeddings.

    `sp_ids`: a SparseTensor of ids, its rows in order and none empty; `sp_weights`: a SparseTensor of weights for them,
    or None.  Raises TypeError for other arguments, ValueError for another combiner.
    """
    if combiner is None:
        warnings.warn('embedding_lookup_sparse: give combiner="mean" (the default), "sum" or "sqrtn".', stacklevel=2)
        combiner = "mean"
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    if hasattr(params, "_get_variable_list"):
        params = list(params)
    params = params if isinstance(params, list) else [params]
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if sp_weights is not None and not isinstance(sp_weights, SparseTensor):
        raise TypeError("sp_weights must be either None or SparseTensor")
    with name_scope(name, "embedding_lookup_sparse", [*params, sp_ids]) as scope:
        segments = cast(sp_ids.indices[:, 0], dtypes.int32)
        ids, places = unique(sp_ids.values)
        rows = embedding_lookup(params, ids, partition_strategy, max_norm=max_norm)
        if rows.dtype.base_dtype in (dtypes.float16, dtypes.bfloat16):
            rows = cast(rows, dtypes.float32)
        if sp_weights is None:
            kind = {"sum": "SparseSegmentSum", "mean": "SparseSegmentMean", "sqrtn": "SparseSegmentSqrtN"}[combiner]
            return getattr(raw, kind)(rows, places, segments, name=scope)
        return _weighted(rows, places, segments, sp_weights.values, combiner, scope)


def _weighted(rows: Any, places: Any, segments: Any, weights: Any, combiner: str, scope: str) -> Any:
    weights = cast(weights, rows.dtype.base_dtype)
    rows = gather(rows, places)
    static = weights._shape
    ones = fill(expand_dims(rank(rows) - 1, 0), 1)
    weights = reshape(weights, concat([shape(weights), ones], 0))
    if rows._shape is not None and static is not None:
        weights.set_shape([*static, *[1] * (len(rows._shape) - 1)])
    rows = rows * weights
    if combiner == "sum":
        return raw.SegmentSum(rows, segments, name=scope)
    total = raw.SegmentSum(rows, segments)
    if combiner == "mean":
        return raw.RealDiv(total, raw.SegmentSum(weights, segments), name=scope)
    return raw.RealDiv(total, raw.Sqrt(raw.SegmentSum(raw.Pow(weights, 2), segments)), name=scope)
