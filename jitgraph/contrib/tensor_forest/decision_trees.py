"""A decision tree that is split leaf by leaf, as arrays of its nodes."""
from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from jitgraph.protobuf.messages import DecisionTrees

LEAF, LESS_OR_EQUAL, LESS, EQUAL = -1, 0, 1, -2
_MATCHING = "type.googleapis.com/tensorflow.decision_trees.MatchingValuesTest"


class Split(NamedTuple):
    """Examples go to the left if their `feature` is, as `kind` says, at most, below or equal to `threshold`."""

    feature: int
    kind: int
    threshold: np.float32


def goes_left(values: np.ndarray, kinds: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Whether values pass tests, elementwise."""
    found = np.where(kinds == LESS, values < thresholds, values <= thresholds)
    return np.where(kinds == EQUAL, values == thresholds, found)


class DecisionTree:
    """The nodes behind a handle: node 0 is the root, and a leaf until it is split; leaves hold `outputs` numbers."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.is_initialized = False
        self._outputs = 0

    def check_same(self, other: DecisionTree) -> None:
        """Trees of one shared name are one."""

    def begin(self, outputs: int) -> None:
        """Becomes a single leaf of zeros."""
        self._outputs = outputs
        self.feature, self.kind, self.left, self.right = (np.full(1, fill, np.int32) for fill in (0, LEAF, 0, 0))
        self.threshold = np.zeros(1, np.float32)
        self.values = np.zeros((1, outputs), np.float32)
        self.is_initialized = True

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.kind)

    def leaves(self, data: np.ndarray) -> np.ndarray:
        """The leaf that each row of float32 [n, features] comes to: int32 [n]."""
        nodes = np.zeros(len(data), np.int32)
        rows = np.flatnonzero(self.kind[nodes] != LEAF)
        while len(rows):
            at = nodes[rows]
            left = goes_left(data[rows, self.feature[at]], self.kind[at], self.threshold[at])
            nodes[rows] = np.where(left, self.left[at], self.right[at])
            rows = rows[self.kind[nodes[rows]] != LEAF]
        return nodes

    def split(self, node: int, split: Split, left: np.ndarray, right: np.ndarray) -> tuple[int, int]:
        """Splits a leaf into two with these values; returns them."""
        first, second = self.size, self.size + 1
        self.feature = np.append(self.feature, np.zeros(2, np.int32))
        self.kind = np.append(self.kind, np.full(2, LEAF, np.int32))
        self.left, self.right = (np.append(array, np.zeros(2, np.int32)) for array in (self.left, self.right))
        self.threshold = np.append(self.threshold, np.zeros(2, np.float32))
        self.values = np.concatenate([self.values, [left, right]]).astype(np.float32)
        self.feature[node], self.kind[node], self.threshold[node] = split
        self.left[node], self.right[node] = first, second
        return first, second

    def feature_counts(self, features: int) -> np.ndarray:
        """How many nodes test each feature: int32 [features]."""
        return np.bincount(self.feature[self.kind != LEAF], minlength=features)[:features].astype(np.int32)

    def serialized(self) -> bytes:
        """The tree as a message ``tensorflow.decision_trees.Model``."""
        model = DecisionTrees.Model()
        for number in range(self.size):
            node = model.decision_tree.nodes.add()
            node.node_id.value = number
            if self.kind[number] == LEAF:
                for value in self.values[number]:
                    node.leaf.vector.value.add().float_value = value
            else:
                self._write(node.binary_node, number)
        data: bytes = model.SerializeToString(deterministic=True)
        return data

    def _write(self, message: Any, number: int) -> None:
        message.left_child_id.value, message.right_child_id.value = self.left[number], self.right[number]
        if self.kind[number] == EQUAL:
            test = DecisionTrees.MatchingValuesTest()
            test.feature_id.id.value = str(self.feature[number])
            test.value.add().float_value = self.threshold[number]
            message.custom_left_child_test.type_url = _MATCHING
            message.custom_left_child_test.value = test.SerializeToString()
            return
        inequality = message.inequality_left_child_test
        inequality.feature_id.id.value, inequality.type = str(self.feature[number]), self.kind[number]
        inequality.threshold.float_value = self.threshold[number]

    def load(self, serialized: bytes, outputs: int) -> None:
        """Takes a message over; an empty one begins with a leaf."""
        nodes = DecisionTrees.Model.FromString(serialized).decision_tree.nodes
        self.begin(outputs)
        if not nodes:
            return
        rows, values = [], np.zeros((len(nodes), outputs), np.float32)
        for number, node in enumerate(nodes):
            if node.WhichOneof("node_type") == "binary_node":
                rows.append(_read(node.binary_node))
            else:
                rows.append((0, LEAF, 0.0, 0, 0))
                found = [value.float_value for value in node.leaf.vector.value]
                values[number, :len(found)] = found
        columns = list(zip(*rows))
        self.feature, self.kind, self.left, self.right = (np.array(columns[i], np.int32) for i in (0, 1, 3, 4))
        self.threshold, self.values = np.array(columns[2], np.float32), values


def _read(message: Any) -> tuple:
    children = message.left_child_id.value, message.right_child_id.value
    if message.WhichOneof("left_child_test") == "custom_left_child_test":
        test = DecisionTrees.MatchingValuesTest.FromString(message.custom_left_child_test.value)
        return (int(test.feature_id.id.value), EQUAL, test.value[0].float_value, *children)
    test = message.inequality_left_child_test
    return (int(test.feature_id.id.value), test.type, test.threshold.float_value, *children)
