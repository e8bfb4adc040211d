"""The trees of an ensemble, as the message that checkpoints hold: how they grow, are pruned and predict.

The rules are those of TensorFlow's kernels for layer-by-layer boosting (after Chen and Guestrin, XGBoost, 2016).
"""
from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from jitgraph.estimator.boosted_trees.splits import Split
from jitgraph.protobuf.messages import TreeDebugOutput, TreeEnsemble

_WEIGHT = 1.0                   # of a tree: learning rates are applied to leaves
_SMALLEST_CHANGE = 0.01         # of the bias, relative, that centering goes on for
NO_PRUNING, PRE_PRUNING, POST_PRUNING = range(3)


class _Arrays(NamedTuple):
    """A tree as one array for each field of its nodes; `left` is -1 for leaves."""

    feature: np.ndarray
    threshold: np.ndarray
    equal: np.ndarray           # whether only examples in the bucket `threshold` go left, not those below it too
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray           # of leaves, and what split nodes were before


def _value_of(node: Any) -> float:
    return node.leaf.scalar if _is_leaf(node) else node.metadata.original_leaf.scalar


def _is_leaf(node: Any) -> bool:
    return not (node.HasField("bucketized_split") or node.HasField("categorical_split"))


def _split_of(node: Any) -> Any:
    return node.categorical_split if node.HasField("categorical_split") else node.bucketized_split


class Ensemble:
    """The trees behind a handle, and the stamp that says how often they changed."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.is_initialized = False
        self.stamp = 0
        self.trees = TreeEnsemble()
        self._arrays: dict[int, _Arrays] = {}

    def check_same(self, other: Ensemble) -> None:
        """Ensembles of one shared name are one."""

    def load(self, stamp: int, serialized: bytes) -> None:
        """Takes over a serialized ensemble."""
        self.trees = TreeEnsemble.FromString(serialized)
        self.stamp, self.is_initialized = stamp, True
        self._arrays.clear()

    def states(self) -> tuple[int, int, int, int, list[int]]:
        """(stamp, trees, finished trees, attempted layers, [first, last + 1) of the nodes that may be split)."""
        trees, growing = len(self.trees.trees), self.trees.growing_metadata
        unfinished = trees > 0 and not self.trees.tree_metadata[trees - 1].is_finalized
        return (self.stamp, trees, trees - unfinished, growing.num_layers_attempted,
                [growing.last_layer_node_start, max(1, growing.last_layer_node_end)])

    def add_tree(self) -> int:
        """The number of a new tree of one leaf."""
        self.trees.trees.add().nodes.add().leaf.scalar = 0
        self.trees.tree_weights.append(_WEIGHT)
        self.trees.tree_metadata.add()
        return len(self.trees.trees) - 1

    # -- growing ------------------------------------------------------------------------------------------------------

    def grow(self, splits: dict[int, Split], learning_rate: float, max_depth: int, pruning_mode: int) -> None:
        """Adds a layer: the best split for each node; begins a new tree when one has `max_depth` layers."""
        self.stamp += 1
        tree = self._growable_tree()
        if not splits:
            return
        metadata, nodes = self.trees.tree_metadata[tree], self.trees.trees[tree].nodes
        layers, first = metadata.num_layers_grown + 1, len(nodes)
        for node, split in sorted(splits.items()):
            if pruning_mode == PRE_PRUNING and split.gain < 0:
                continue
            _split(nodes, node, split, learning_rate)
        last = len(nodes)
        self._arrays.pop(tree, None)
        growing = self.trees.growing_metadata
        if layers >= max_depth:
            metadata.is_finalized = True
            if pruning_mode == POST_PRUNING:
                self._prune(tree)
            self.add_tree()
        if last > first:
            metadata.num_layers_grown = layers
            growing.last_layer_node_start, growing.last_layer_node_end = (0, 1) if layers >= max_depth else (first, last)

    def _growable_tree(self) -> int:
        trees, growing = self.trees, self.trees.growing_metadata
        growing.num_layers_attempted += 1
        count = len(trees.trees)
        if count == 0 or ((count == 1 or trees.tree_metadata[count - 2].is_finalized) and len(trees.trees[-1].nodes) == 1):
            growing.num_trees_attempted += 1
        return self.add_tree() if count == 0 else count - 1

    def center(self, change: float) -> bool:
        """Adds `change` to the bias, the first leaf of all; whether it is worth to go on."""
        self.stamp += 1
        if not self.trees.trees:
            self.add_tree()
        leaf = self.trees.trees[0].nodes[0].leaf
        current = np.float32(leaf.scalar)
        leaf.scalar = current + np.float32(change)
        self._arrays.pop(0, None)
        return bool(current == 0 or abs(np.float32(change) / current) > _SMALLEST_CHANGE)

    # -- pruning ------------------------------------------------------------------------------------------------------

    def _prune(self, tree: int) -> None:
        """Removes the splits below which nothing was gained, and notes what cached predictions have to be corrected by."""
        nodes = self.trees.trees[tree].nodes
        parents: dict[int, tuple[int, float]] = {}
        self._mark(nodes, 0, parents)
        if not parents:
            return
        kept = {old: new for new, old in enumerate(node for node in range(len(nodes)) if node not in parents)}
        notes = self.trees.tree_metadata[tree].post_pruned_nodes_meta
        for node in range(len(nodes)):
            change, place = np.float32(0), node
            while place in parents:
                place, own = parents[place]
                change += np.float32(own)
            notes.add(new_node_id=kept[place], logit_change=[change])
        left = [nodes[old] for old in kept]
        for node in left:
            if not _is_leaf(node):
                split = _split_of(node)
                split.left_id, split.right_id = kept[split.left_id], kept[split.right_id]
        copies = [type(node).FromString(node.SerializeToString()) for node in left]
        del nodes[:]
        nodes.extend(copies)

    def _mark(self, nodes: Any, place: int, parents: dict[int, tuple[int, float]]) -> None:
        """{pruned node: (its parent, what its prediction changes by)} of a subtree, which become leaves from below."""
        node = nodes[place]
        if _is_leaf(node):
            return
        left, right = _split_of(node).left_id, _split_of(node).right_id
        self._mark(nodes, left, parents)
        self._mark(nodes, right, parents)
        if _is_leaf(nodes[left]) and _is_leaf(nodes[right]) and node.metadata.gain < 0:
            own = np.float32(_value_of(node))
            for child in (left, right):
                parents[child] = place, float(own - np.float32(_value_of(nodes[child])))
            original = node.metadata.original_leaf.scalar
            node.leaf.scalar = original
            node.ClearField("metadata")

    # -- predicting ---------------------------------------------------------------------------------------------------

    def _tree(self, tree: int) -> _Arrays:
        found = self._arrays.get(tree)
        if found is None:
            nodes = self.trees.trees[tree].nodes
            splits = [None if _is_leaf(node) else _split_of(node) for node in nodes]
            equal = np.array([node.HasField("categorical_split") for node in nodes])
            buckets = [0 if split is None else split.value if other else split.threshold for split, other in zip(splits, equal)]
            column = lambda name, leaf: np.array([leaf if split is None else getattr(split, name) for split in splits], np.int32)
            found = self._arrays[tree] = _Arrays(
                column("feature_id", 0), np.array(buckets, np.int32), equal, column("left_id", -1), column("right_id", -1),
                np.array([_value_of(node) for node in nodes], np.float32))
        return found

    def _leaves(self, tree: int, nodes: np.ndarray, features: np.ndarray, examples: np.ndarray) -> np.ndarray:
        """The leaves that examples come to from `nodes`; `features` [feature, example] are their buckets."""
        arrays, nodes = self._tree(tree), nodes.copy()
        while True:
            inner = np.flatnonzero(arrays.left[nodes] >= 0)
            if not inner.size:
                return nodes
            at = nodes[inner]
            buckets, thresholds = features[arrays.feature[at], examples[inner]], arrays.threshold[at]
            goes_left = np.where(arrays.equal[at], buckets == thresholds, buckets <= thresholds)
            nodes[inner] = np.where(goes_left, arrays.left[at], arrays.right[at])

    def predict(self, features: np.ndarray) -> np.ndarray:
        """The sums [example] of the leaves of all trees."""
        total, examples = np.zeros(features.shape[1], np.float32), np.arange(features.shape[1])
        for tree, weight in enumerate(self.trees.tree_weights):
            leaves = self._leaves(tree, np.zeros(len(total), np.int32), features, examples)
            total += np.float32(weight) * self._tree(tree).value[leaves]
        return total

    def predict_further(self, tree_ids: np.ndarray, node_ids: np.ndarray, features: np.ndarray) -> tuple:
        """(what predictions changed by since examples were at these trees and nodes (-1: never), trees, nodes now)."""
        count, last = features.shape[1], len(self.trees.trees) - 1
        change = np.zeros(count, np.float32)
        if last < 0:
            return change, tree_ids.copy(), np.zeros(count, np.int32)
        trees, nodes = tree_ids.copy(), node_ids.copy()
        pending = np.zeros(count, np.float32)           # what the cached prediction has of the tree it was at
        for tree in np.unique(trees[nodes >= 0]):
            cached = np.flatnonzero((trees == tree) & (nodes >= 0))
            notes = self.trees.tree_metadata[tree].post_pruned_nodes_meta
            for example in cached if notes else ():
                if nodes[example] < len(notes):
                    note = notes[nodes[example]]
                    pending[example] += np.float32(note.logit_change[0]) if note.logit_change else 0
                    nodes[example] = note.new_node_id
            pending[cached] -= np.float32(self.trees.tree_weights[tree]) * self._tree(tree).value[nodes[cached]]
        nodes[nodes < 0] = 0
        for tree in range(int(trees.min()) if count else last + 1, last + 1):
            here = np.flatnonzero(trees == tree)
            nodes[here] = self._leaves(tree, nodes[here], features, here)
            change[here] += pending[here] + np.float32(self.trees.tree_weights[tree]) * self._tree(tree).value[nodes[here]]
            pending[here] = 0
            if tree < last:
                trees[here], nodes[here] = tree + 1, 0
        return change, np.full(count, last, np.int32), nodes

    def explain(self, features: np.ndarray) -> list[bytes]:
        """For each example a serialized message: the features that split it, and the prediction before and after each."""
        found = []
        for example in range(features.shape[1]):
            output = TreeDebugOutput()
            logit = past = np.float32(0)
            for tree, weight in enumerate(self.trees.tree_weights):
                arrays, node = self._tree(tree), 0
                if tree == 0:
                    logit = np.float32(weight) * arrays.value[0]
                    output.logits_path.append(logit)
                while arrays.left[node] >= 0:
                    feature = int(arrays.feature[node])
                    output.feature_ids.append(feature)
                    bucket, threshold = features[feature, example], arrays.threshold[node]
                    goes_left = bucket == threshold if arrays.equal[node] else bucket <= threshold
                    node = int(arrays.left[node] if goes_left else arrays.right[node])
                    logit = np.float32(weight) * arrays.value[node]
                    output.logits_path.append(logit + past)
                if tree == 0 or node > 0:
                    past += logit
            found.append(output.SerializeToString())
        return found


def _split(nodes: Any, place: int, split: Split, learning_rate: float) -> None:
    """Makes a leaf a split with two leaves, whose values are its own and what they contribute."""
    left = len(nodes)
    node = nodes[place]
    before = np.float32(0)
    if place != 0 or node.leaf.scalar != 0:
        before = np.float32(node.leaf.scalar)
        node.metadata.original_leaf.scalar = before
    node.metadata.gain = split.gain
    made = node.categorical_split if split.equal else node.bucketized_split
    setattr(made, "value" if split.equal else "threshold", split.threshold)
    made.feature_id, made.dimension_id, made.left_id, made.right_id = split.feature, split.dimension, left, left + 1
    for contribution in (split.left, split.right):
        nodes.add().leaf.scalar = before + np.float32(learning_rate) * np.float32(contribution)
