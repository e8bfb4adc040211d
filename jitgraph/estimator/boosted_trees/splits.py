"""The best split of each node by the sums of gradients and hessians in buckets (Chen and Guestrin, XGBoost, 2016, eq. 7)."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

_EPSILON = 1e-15
EQUAL = b"EQUALITY_DEFAULT_RIGHT"


class Split(NamedTuple):
    """A split of a node: of which feature, up to which bucket to the left, what is gained, and what the leaves contribute."""

    feature: int
    threshold: int
    gain: float
    left: float
    right: float
    dimension: int = 0
    equal: bool = False             # whether only examples in the bucket itself go left


def weights_and_gains(g: np.ndarray, h: np.ndarray, l1: np.float32, l2: np.float32) -> tuple[np.ndarray, np.ndarray]:
    """(the value of a leaf, what it gains) for sums of gradients and hessians: -(g +- l1) / (h + l2) and g**2 / (h + l2)."""
    g = np.asarray(g, np.float32)
    if l1 > 0:
        g = np.where(g > l1, g - l1, np.where(g < -l1, g + l1, np.float32(0)))
    below = np.asarray(h, np.float32) + l2
    small = below <= _EPSILON
    weight = np.where(small, np.float32(0), -g / np.where(small, np.float32(1), below)).astype(np.float32)
    return weight, (-g * weight).astype(np.float32)


def best_gains(node_range: tuple[int, int], stats: np.ndarray, l1: np.float32, l2: np.float32, complexity: np.float32,
               smallest: np.float32) -> tuple:
    """For the nodes of a range whose hessians sum up to `smallest`: (nodes, gains, buckets, left values, right values).

    `stats` [node, bucket, 2]: the sums of gradients and hessians.  Of buckets with equal gains the first one counts.
    """
    nodes = np.arange(*node_range, dtype=np.int32)
    sums = np.cumsum(stats[node_range[0]:node_range[1]], axis=1, dtype=np.float32)
    total = sums[:, -1]
    kept = ~(total[:, 1] < smallest)
    nodes, sums, total = nodes[kept], sums[kept], total[kept]
    left, left_gain = weights_and_gains(sums[..., 0], sums[..., 1], l1, l2)
    right, right_gain = weights_and_gains(total[:, None, 0] - sums[..., 0], total[:, None, 1] - sums[..., 1], l1, l2)
    _, own_gain = weights_and_gains(total[:, 0], total[:, 1], l1, l2)
    gains = left_gain + right_gain
    buckets = gains.argmax(axis=1).astype(np.int32) if len(nodes) else np.zeros(0, np.int32)
    rows = np.arange(len(nodes))
    return (nodes, (gains[rows, buckets] - own_gain - complexity).astype(np.float32), buckets,
            left[rows, buckets][:, None], right[rows, buckets][:, None])


def best_of(feature_ids: np.ndarray, node_ids: list, gains: list, thresholds: list, lefts: list, rights: list,
            *more: list) -> dict[int, Split]:
    """{node: its split with the largest gain} of the candidates of all features; of equal gains, that of the first feature.

    `more`: the dimensions of splits, and whether they are of equality.
    """
    found: dict[int, Split] = {}
    for feature, nodes, *columns in zip(feature_ids.tolist(), node_ids, gains, thresholds, lefts, rights, *more):
        for node, gain, threshold, left, right, *kind in zip(nodes.tolist(), *(np.ravel(column).tolist() for column in columns)):
            best = found.get(node)
            equal = best is not None and abs(gain - best.gain) < _EPSILON
            if best is None or (feature < best.feature if equal else gain - best.gain >= _EPSILON):
                found[node] = Split(feature, threshold, gain, left, right, *kind)
    return found
