"""What is known of the leaves that may be split: candidates for splits, and how examples fall to their sides.

The rules are those of TensorFlow's kernels: the first examples of a leaf give the candidates, a random feature and the example's
value; later ones are counted on the side that each candidate sends them to (after Saffari et al., On-line random forests, 2009).
"""
from __future__ import annotations

import threading
from typing import Any

import numpy as np

from jitgraph.contrib.tensor_forest.decision_trees import EQUAL, DecisionTree, Split, goes_left
from jitgraph.contrib.tensor_forest.hashed_order import HashedOrder
from jitgraph.protobuf.messages import TensorForestParams, TensorForestStats

_ROWS = 64


def resolved(param: Any, depth: int) -> float:
    """The value of a DepthDependentParam at a depth of the tree."""
    kind = param.WhichOneof("ParamType")
    if kind == "linear":
        linear = param.linear
        return min(max(linear.slope * depth + linear.y_intercept, linear.min_val), linear.max_val)
    if kind == "exponential":
        curve = param.exponential
        return curve.bias + curve.multiplier * curve.base ** (curve.depth_multiplier * depth)
    if kind == "threshold":
        step = param.threshold
        return step.on_value if depth >= step.threshold else step.off_value
    return param.constant_value


class Growth:
    """The statistics behind a handle, a row for each leaf; a subclass says what is summed."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.is_initialized = False

    def check_same(self, other: Growth) -> None:
        """Statistics of one shared name are one."""

    def begin(self, params: Any, serialized: bytes) -> None:
        """Has a row for each slot of a message TensorForestStats, or for the root alone."""
        self._params, self._sums = params, _sums_of(params)
        most = max(int(resolved(params.num_splits_to_consider, depth)) for depth in range(_ROWS))
        self._feature, self._kind = (np.zeros((0, most), np.int32) for _ in range(2))
        self._threshold = np.zeros((0, most), np.float32)
        self._has, self._wanted, self._depth, self._node = (np.zeros(0, np.int32) for _ in range(4))
        self._split_after = np.zeros(0, np.float32)
        self._row_of: dict[int, int] = {}
        self._free: list[int] = []
        slots = TensorForestStats.FromString(serialized).node_to_slot
        for node, depth in [(slot.node_id, slot.depth) for slot in slots] or [(0, 0)]:
            self.allocate(node, depth)
        self.is_initialized = True

    def serialized(self) -> bytes:
        """The leaves that may be split, as a message TensorForestStats."""
        found = TensorForestStats()
        for node, row in sorted(self._row_of.items()):
            found.node_to_slot.add(node_id=node, depth=int(self._depth[row]))
        data: bytes = found.SerializeToString(deterministic=True)
        return data

    def allocate(self, node: int, depth: int) -> None:
        """Begins the statistics of a leaf."""
        if not self._free:
            self._free = list(range(len(self._has) + _ROWS - 1, len(self._has) - 1, -1))
            names = ("_feature", "_kind", "_threshold", "_has", "_wanted", "_depth", "_node", "_split_after")
            for name in names:
                array = getattr(self, name)
                setattr(self, name, np.concatenate([array, np.zeros((_ROWS, *array.shape[1:]), array.dtype)]))
            self._sums.grow(_ROWS, self._feature.shape[1])
        row = self._free.pop()
        self._row_of[node] = row
        self._node[row], self._depth[row], self._has[row] = node, depth, 0
        self._wanted[row] = int(resolved(self._params.num_splits_to_consider, depth))
        self._split_after[row] = resolved(self._params.split_after_samples, depth)
        self._sums.clear(row)

    def clear(self, node: int) -> None:
        """Forgets a leaf."""
        self._free.append(self._row_of.pop(node))

    def add(self, data: np.ndarray, labels: np.ndarray, weights: np.ndarray, leaves: np.ndarray, categorical: np.ndarray,
            random: Any) -> np.ndarray:
        """Takes examples in; returns the leaves that may be split now, int32 [m], in the order of TensorFlow's hash set."""
        rows = np.array([self._row_of[leaf] for leaf in leaves.tolist()], np.int64)
        by_row = np.argsort(rows, kind="stable")
        _, starts, counts = np.unique(rows[by_row], return_index=True, return_counts=True)
        rank = np.empty(len(rows), np.int64)
        rank[by_row] = np.arange(len(rows)) - np.repeat(starts, counts)
        begins = rank < (self._wanted - self._has)[rows]
        for example in np.flatnonzero(begins):
            self._add_candidate(rows[example], data[example], categorical, random)
        counted = np.flatnonzero(~begins)
        if not len(counted):
            return np.zeros(0, np.int32)
        at, data, labels, weights = rows[counted], data[counted], labels[counted], weights[counted]
        left = goes_left(np.take_along_axis(data, self._feature[at], 1), self._kind[at], self._threshold[at])
        before = self._sums.state(np.unique(at))
        self._sums.add(at, left, labels, weights)
        return self._finished(at, labels, weights, before)

    def _add_candidate(self, row: int, example: np.ndarray, categorical: np.ndarray, random: Any) -> None:
        feature, number = random.below(len(example)), self._has[row]
        self._feature[row, number], self._threshold[row, number] = feature, example[feature]
        self._kind[row, number] = EQUAL if categorical[feature] else self._params.inequality_test_type
        self._has[row] += 1

    def _finished(self, at: np.ndarray, labels: np.ndarray, weights: np.ndarray, before: dict) -> np.ndarray:
        ready = {row for row in np.unique(at).tolist() if self._sums.is_finished(row, self._split_after[row])}
        order = HashedOrder()
        for row, label, weight in zip(at.tolist(), labels, weights):
            if row in ready and self._sums.finishes(before[row], label, weight, self._split_after[row]):
                ready.discard(row)
                order.insert(int(self._node[row]))
            if not ready:
                break
        return np.array(order.items(), np.int32)

    def grow(self, tree: DecisionTree, nodes: np.ndarray) -> None:
        """Splits leaves by their best candidates, until the tree has `max_nodes`; those without any begin anew."""
        for node in nodes.tolist():
            if tree.size >= self._params.max_nodes:
                return
            row = self._row_of[node]
            depth = int(self._depth[row])
            best = self._sums.best(row, self._has[row])
            self.clear(node)
            if best < 0:
                self.allocate(node, depth)
                continue
            split = Split(self._feature[row, best], self._kind[row, best], self._threshold[row, best])
            values = self._sums.sides(row, best)
            for child in tree.split(node, split, *values):
                self.allocate(child, depth + 1)


def _sums_of(params: Any) -> Any:
    from jitgraph.contrib.tensor_forest.split_scores import ClassCounts, SquaredErrors

    return (SquaredErrors if params.is_regression else ClassCounts)(params.num_outputs)


def params_of(serialized: bytes) -> Any:
    """The parameters of a forest."""
    return TensorForestParams.FromString(serialized)
