"""Embeddings of rows of ids that may be empty or invalid: ``tf.nn.safe_embedding_lookup_sparse``."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import unknown_shape
from jitgraph.ops.arrays.fill import ones_like, zeros_like
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import reshape, size
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import greater, greater_equal, logical_and
from jitgraph.ops.nn.sparse_embedding import embedding_lookup_sparse
from jitgraph.ops.reduce.reductions import reduce_prod
from jitgraph.ops.sparse.sparse_functions import sparse_fill_empty_rows, sparse_reshape, sparse_retain


def as_table(table: Any, sparse_weights: Any) -> Any:
    """A table of vectors as a tensor of the dtype of `sparse_weights`; a resource variable stays one, so that rows are read.

    Raises ValueError for one of another dtype.
    """
    dtype = None if sparse_weights is None else sparse_weights.dtype
    return table if hasattr(table, "handle") and dtype in (None, table.dtype) else convert_to_tensor(table, dtype=dtype)


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
    given = list(embedding_weights) if isinstance(embedding_weights, (list, tuple)) else [embedding_weights]
    if not given:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    tables = [as_table(table, sparse_weights) for table in given]
    with name_scope(name, "embedding_lookup", [*tables, sparse_ids, sparse_weights]) as scope:
        shape = sparse_ids.dense_shape
        known = shape.get_shape()[0].value
        rank = size(shape) if known is None else known
        rows = reduce_prod(slice_of(shape, [0], [rank - 1]))
        sparse_ids = sparse_reshape(sparse_ids, [rows, gather(shape, rank - 1)])
        if sparse_weights is not None:
            sparse_weights = SparseTensor(sparse_ids.indices, sparse_weights.values, sparse_ids.dense_shape)
        sparse_ids, sparse_weights = _valid(sparse_ids, sparse_weights, combiner)
        sparse_ids, is_empty = sparse_fill_empty_rows(sparse_ids, default_id or 0)
        if sparse_weights is not None:
            sparse_weights, _ = sparse_fill_empty_rows(sparse_weights, 1.0)
        result = embedding_lookup_sparse(tables, sparse_ids, sparse_weights, combiner=combiner,
                                         partition_strategy=partition_strategy, max_norm=max_norm,
                                         name=None if default_id is None else scope)
        if default_id is None:
            empty = tile(reshape(is_empty, [-1, 1]), stack([1, shape_of(result)[1]]))
            result = where(empty, zeros_like(result), result, name=scope)
        outer = slice_of(cast(shape, dtypes.int32), [0], [rank - 1])
        final = reshape(result, concat([outer, slice_of(shape_of(result), [1], [-1])], 0))
        final.set_shape(unknown_shape(None if known is None else known - 1).concatenate(result.get_shape()[1:]))
        return final


def _valid(ids: SparseTensor, weights: Any, combiner: str) -> tuple:
    """Ids from 0 on and their weights; with a combiner other than "sum", those whose weight is positive."""
    kept = greater_equal(ids.values, 0)
    if weights is not None:
        kept = logical_and(kept, ones_like(weights.values, dtype=dtypes.bool_))
    ids = sparse_retain(ids, kept)
    if weights is None:
        return ids, None
    weights = sparse_retain(weights, kept)
    if combiner == "sum":
        return ids, weights
    positive = greater(weights.values, 0)
    return sparse_retain(ids, positive), sparse_retain(weights, positive)


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
