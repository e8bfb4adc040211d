"""Embeddings of sparse ids by the functions of ``tf.nn``, whose `combiner` may be left open here."""
from __future__ import annotations

from typing import Any

from jitgraph.app import logs
from jitgraph.ops.checks.check_shapes import assert_same_float_dtype
from jitgraph.ops.nn import safe_embedding
from jitgraph.ops.nn.sparse_embedding import embedding_lookup_sparse


def safe_embedding_lookup_sparse(embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = None, combiner: str | None = None,
                                 default_id: int | None = None, name: str | None = None, partition_strategy: str = "div",
                                 max_norm: float | None = None) -> Any:
    """``tf.nn.safe_embedding_lookup_sparse``; without a `combiner` vectors are averaged.

    Raises what that raises, and ValueError for weights that are not of one floating type.
    """
    if combiner is None:
        logs.warn('The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.')
        combiner = "mean"
    if isinstance(embedding_weights, (list, tuple)):
        embedding_weights = [safe_embedding.as_table(table, sparse_weights) for table in embedding_weights]
        assert_same_float_dtype([*embedding_weights, sparse_weights])
    return safe_embedding.safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights, combiner, default_id, name,
                                                       partition_strategy, max_norm)


def embedding_lookup_sparse_with_distributed_aggregation(params: Any, sp_ids: Any, sp_weights: Any, partition_strategy: str = "mod",
                                                         name: str | None = None, combiner: str | None = None,
                                                         max_norm: float | None = None) -> Any:
    """``tf.nn.embedding_lookup_sparse``: on one device there is nothing to aggregate.  Raises what that raises."""
    if combiner is None:
        logs.warn('The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.')
        combiner = "mean"
    return embedding_lookup_sparse(params, sp_ids, sp_weights, partition_strategy, name, combiner, max_norm)
