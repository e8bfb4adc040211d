"""The best split of each node over all dimensions of a feature, with a default direction, and ensembles that take such splits."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.op import op
from jitgraph.estimator.boosted_trees.splits import EQUAL, weights_and_gains
from jitgraph.graph.texts import as_text

_TESTED = "tests/estimator/test_best_splits.py: statistics of nodes"
_LEFT, _RIGHT = b"INEQUALITY_DEFAULT_LEFT", b"INEQUALITY_DEFAULT_RIGHT"
_OUTPUTS = ("node_ids: int32, gains: float32, feature_dimensions: int32, thresholds: int32, left_node_contribs: float32, "
            "right_node_contribs: float32, split_with_default_directions: string")
_LIMITS = "l1: float32, l2: float32, tree_complexity: float32, min_node_weight: float32"


def _shapes(c: Any) -> list:
    logits = c.attrs["logits_dimension"]
    return [(None,)] * 4 + [(None, logits)] * 2 + [(None,)]


def leaf(g: np.ndarray, h: np.ndarray, l1: Any, l2: Any) -> tuple[np.ndarray, np.float32]:
    """(the values of a leaf, what it gains) for sums of gradients [logits] and hessians [logits] or [logits * logits]."""
    if g.size == 1:
        weight, gain = weights_and_gains(g, h, l1, l2)
        return weight, gain[0]
    if h.size == g.size:
        weight = -g / (h + l2)
    else:
        weight = -np.linalg.lstsq(h.reshape(g.size, g.size) + l2 * np.eye(g.size, dtype=np.float32), g, rcond=None)[0]
    return weight.astype(np.float32), np.float32(-(g * weight).sum())


def _candidates(stats: np.ndarray, split_type: str) -> Any:
    """(what goes left, bucket, kind) of the ways to split one dimension; `stats` [buckets + 1, sums], the last of no value."""
    if split_type == "equality":
        for bucket, sums in enumerate(stats[:-1]):
            yield sums, bucket, EQUAL
        return
    for bucket, sums in enumerate(np.cumsum(stats[:-1], axis=0, dtype=np.float32)):
        yield sums + stats[-1], bucket, _LEFT
        yield sums, bucket, _RIGHT


def _best(stats: np.ndarray, l1: Any, l2: Any, smallest: Any, logits: int, split_type: str) -> Any:
    """(gain, dimension, bucket, left values, right values, kind) of one node, None if it is too small."""
    total = stats[0].sum(axis=0, dtype=np.float32)
    if np.linalg.norm(total[logits:]) < smallest:
        return None
    own = leaf(total[:logits], total[logits:], l1, l2)[1]
    best: Any = None
    for dimension, of_dimension in enumerate(stats):
        whole = total if split_type == "equality" else of_dimension.sum(axis=0, dtype=np.float32)
        for left, bucket, kind in _candidates(of_dimension, split_type):
            right = whole - left
            left_values, left_gain = leaf(left[:logits], left[logits:], l1, l2)
            right_values, right_gain = leaf(right[:logits], right[logits:], l1, l2)
            gain = np.float32(left_gain + right_gain)
            if best is None or gain - best[0] >= 1e-15:
                best = (gain, dimension, bucket, left_values, right_values, kind)
    return best and (best[0] - own, *best[1:])


def _splits(node_id_range: np.ndarray, stats: np.ndarray, l1: Any, l2: Any, complexity: Any, smallest: Any, logits: int,
            split_type: Any) -> tuple:
    word = as_text(split_type)
    found = [(node, _best(stats[node], l1, l2, smallest, logits, word)) for node in range(*node_id_range.tolist())]
    nodes = [node for node, best in found if best is not None]
    gains, dimensions, buckets, lefts, rights, kinds = zip(*(best for _, best in found if best is not None)) if nodes else [()] * 6
    return (np.array(nodes, np.int32), np.array(gains, np.float32) - np.float32(complexity), np.array(dimensions, np.int32),
            np.array(buckets, np.int32), np.array(lefts, np.float32).reshape(-1, logits),
            np.array(rights, np.float32).reshape(-1, logits), np.array(kinds, object))


@op(f"BoostedTreesCalculateBestFeatureSplit(node_id_range: int32, stats_summary: float32, {_LIMITS}; logits_dimension: int >= 1, "
    f'split_type: string {{"inequality", "equality"}} = "inequality") -> {_OUTPUTS}', shape=_shapes, host=True, dynamic=True,
    tested_in=_TESTED)
def calculate_best_feature_split(node_id_range, stats_summary, l1, l2, tree_complexity, min_node_weight, logits_dimension,
                                 split_type):
    """The best split of each node in a range; `stats_summary` [nodes, dimensions, buckets + 1, sums], last those of no value."""
    return _splits(node_id_range, stats_summary, l1[()], l2[()], tree_complexity[()], min_node_weight[()], logits_dimension,
                   split_type)


@op("BoostedTreesSparseCalculateBestFeatureSplit(node_id_range: int32, stats_summary_indices: int32, "
    f"stats_summary_values: float32, stats_summary_shape: int32, {_LIMITS}; "
    f'logits_dimension: int >= 1, split_type: string {{"inequality"}} = "inequality") -> '
    f"{_OUTPUTS}", shape=_shapes, host=True, dynamic=True, tested_in=_TESTED)
def sparse_calculate_best_feature_split(node_id_range, stats_summary_indices, stats_summary_values, stats_summary_shape, l1, l2,
                                        tree_complexity, min_node_weight, logits_dimension, split_type):
    """BoostedTreesCalculateBestFeatureSplit for sums that stand where they are not 0."""
    stats = np.zeros(stats_summary_shape.tolist(), np.float32)
    stats[tuple(stats_summary_indices.T)] = stats_summary_values
    return _splits(node_id_range, stats, l1[()], l2[()], tree_complexity[()], min_node_weight[()], logits_dimension, split_type)
