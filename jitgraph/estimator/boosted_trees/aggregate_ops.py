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


def _sparse_shapes(c: Any) -> list:
    return [(None, 4), (None,), (4,)]


@op("BoostedTreesSparseAggregateStats(node_ids: int32, gradients: float32, hessians: float32, feature_indices: int32, "
    "feature_values: int32, feature_shape: int32; max_splits: int >= 1, num_buckets: int >= 1) -> stats_summary_indices: int32, "
    "stats_summary_values: float32, stats_summary_shape: int32", shape=_sparse_shapes, host=True, dynamic=True,
    tested_in="tests/estimator/test_aggregate_stats.py: rows and columns that a sparse tensor has")
def sparse_aggregate_stats(node_ids, gradients, hessians, feature_indices, feature_values, feature_shape, max_splits, num_buckets):
    """The sums of BoostedTreesAggregateStats of nodes and buckets that examples are in; a sparse tensor has the known buckets."""
    rows = np.concatenate([gradients, hessians], 1)
    shape = np.array([max_splits, feature_shape[1], num_buckets + 1, rows.shape[1]], np.int32)
    found: dict[tuple, np.ndarray] = {}
    known = {(int(example), int(dim)): int(bucket) for (example, dim), bucket in zip(feature_indices, feature_values)}
    for example in range(int(feature_shape[0])):
        for dim in range(int(feature_shape[1])):
            place = (int(node_ids[example]), dim, known.get((example, dim), num_buckets))
            found[place] = found.get(place, np.zeros(rows.shape[1], np.float32)) + rows[example]
    places = sorted(found)
    indices = [(*place, k) for place in places for k in range(rows.shape[1])]
    values = [value for place in places for value in found[place]]
    return np.array(indices, np.int32).reshape(-1, 4), np.array(values, np.float32), shape
