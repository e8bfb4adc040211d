"""``tf.contrib.layers.safe_embedding_lookup_sparse``: that of ``tf.nn``, whose `combiner` may be left open."""
from __future__ import annotations

from typing import Any

from jitgraph.app import logs
from jitgraph.ops.nn import safe_embedding


def safe_embedding_lookup_sparse(embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = None, combiner: str | None = None,
                                 default_id: int | None = None, name: str | None = None, partition_strategy: str = "div",
                                 max_norm: float | None = None) -> Any:
    """``tf.nn.safe_embedding_lookup_sparse``; without a `combiner` vectors are averaged.  Raises what that raises."""
    if combiner is None:
        logs.warn('The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.')
        combiner = "mean"
    return safe_embedding.safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights, combiner, default_id, name,
                                                       partition_strategy, max_norm)
