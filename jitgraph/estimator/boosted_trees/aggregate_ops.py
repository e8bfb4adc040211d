"""Gradients and hessians summed up by node, feature and bucket: BoostedTreesAggregateStats."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.op import op
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import shape_rules


def _summed(c: Any) -> Any:
    gradients, hessians = (shape_rules.with_rank(c.shapes[i], 2, "gradients and hessians")[1] for i in (1, 2))
    shape_rules.with_rank(c.shapes[0], 1, "node_ids")
    features = shape_rules.with_rank(c.shapes[3], 2, "feature")[1]
    both = None if gradients is None or hessians is None else gradients + hessians
    return (c.attrs["max_splits"], features, c.attrs["num_buckets"] + 1, both)


@op("BoostedTreesAggregateStats(node_ids: int32, gradients: float32, hessians: float32, feature: int32; max_splits: int >= 1, "
    "num_buckets: int >= 1) -> stats_summary: float32", shape=_summed, host=True,
    samples=lambda rng, dtype: [([ints(0, 1, 0), draw(rng, (3, 2), np.float32), draw(rng, (3, 1), np.float32),
                                  np.array([[0, 2], [1, -1], [0, 1]], np.int32)], {"max_splits": 2, "num_buckets": 3})])
def aggregate_stats(node_ids, gradients, hessians, feature, max_splits, num_buckets):
    """The sums [max_splits, features, num_buckets + 1, logits + hessians]; the last bucket is that of missing values, -1."""
    rows = np.concatenate([gradients, hessians], 1)
    out = np.zeros((max_splits, feature.shape[1], num_buckets + 1, rows.shape[1]), np.float32)
    for dim in range(feature.shape[1]):
        buckets = np.where(feature[:, dim] < 0, num_buckets, feature[:, dim])
        np.add.at(out, (node_ids, dim, buckets), rows)
    return out
