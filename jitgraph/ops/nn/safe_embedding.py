"""Embeddings of rows of ids that may be empty or invalid: ``tf.nn.safe_embedding_lookup_sparse``."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.nn.sparse_embedding import embedding_lookup_sparse
from jitgraph.ops.sparse.sparse_functions import sparse_fill_empty_rows, sparse_reshape, sparse_retain


def safe_embedding_lookup_sparse(embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = None, combiner: str = "mean",
                                 default_id: int | None = None, name: str | None = None, partition_strategy: str = "div",
                                 max_norm: float | None = None) -> Any:
    """As ``embedding_lookup_sparse``, for ids [..., n] of which rows may be empty and elements negative (left out).

    A row without ids gets the vector of `default_id`, or zeros.  With a combiner other than "sum", ids whose weight is not
    positive are left out too.  Raises ValueError without weights, or where the dtypes of weights differ.
    """
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    if hasattr(embedding_weights, "_get_variable_list"):
        embedding_weights = embedding_weights._get_variable_list()
    tables = list(embedding_weights) if isinstance(embedding_weights, (list, tuple)) else [embedding_weights]
    if not tables:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    with name_scope(name, "embedding_lookup", [*tables, sparse_ids, sparse_weights]) as scope:
        shape = sparse_ids.dense_shape
        outer = raw.Slice(shape, [0], [raw.Size(shape) - 1])
        columns = raw.GatherV2(shape, raw.Size(shape) - 1, 0)
        flat_shape = raw.Pack([raw.Prod(outer, [0]), columns])
        sparse_ids = sparse_reshape(sparse_ids, flat_shape)
        if sparse_weights is not None:
            sparse_weights = SparseTensor(sparse_ids.indices, sparse_weights.values, sparse_ids.dense_shape)
        kept = raw.GreaterEqual(sparse_ids.values, 0 if sparse_ids.values.dtype is dtypes.int32 else np.int64(0))
        if sparse_weights is not None and combiner != "sum":
            positive = raw.Greater(sparse_weights.values, raw.ZerosLike(sparse_weights.values))
            kept = raw.LogicalAnd(kept, positive)
        sparse_ids = sparse_retain(sparse_ids, kept)
        if sparse_weights is not None:
            sparse_weights = sparse_retain(sparse_weights, kept)
        sparse_ids, is_empty = sparse_fill_empty_rows(sparse_ids, default_id or 0)
        if sparse_weights is not None:
            sparse_weights, _ = sparse_fill_empty_rows(sparse_weights, 1.0)
        result = embedding_lookup_sparse(tables, sparse_ids, sparse_weights, combiner=combiner,
                                         partition_strategy=partition_strategy, max_norm=max_norm,
                                         name=None if default_id is None else scope)
        if default_id is None:
            column = raw.ExpandDims(is_empty, -1)
            mask = raw.Tile(column, raw.Pack([1, raw.Shape(result)[1]]))
            result = raw.Select(mask, raw.ZerosLike(result), result, name=scope)
        final = reshape(result, raw.ConcatV2([raw.Cast(outer, DstT=dtypes.int32), raw.Shape(result)[1:]], 0))
        known = convert_to_tensor(tables[0]).shape[1:]
        final.set_shape(final.shape.merge_with([None] * (final.shape.ndims - len(known)) + known.as_list())
                        if final.shape.ndims is not None else None)
        return final


def scale_regularization_loss(regularization_loss: Any) -> Any:
    """The sum of the regularization losses; there is one replica, so that nothing is divided."""
    from jitgraph.ops.reduce.reductions import reduce_sum

    return reduce_sum(regularization_loss)


def compute_average_loss(per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None) -> Any:
    """The sum of the losses of examples, each times its weight, over the size of the batch (of `per_example_loss`)."""
    from jitgraph.ops.elementwise.cast import cast
    from jitgraph.ops.reduce.reductions import reduce_sum

    losses = convert_to_tensor(per_example_loss)
    kind = losses.dtype
    if sample_weight is not None:
        losses = losses * cast(sample_weight, kind)
    size = raw.Shape(losses)[0] if global_batch_size is None else global_batch_size
    return reduce_sum(losses) / cast(size, kind)
