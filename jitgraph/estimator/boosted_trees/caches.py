"""What training on one batch that is all of the data keeps from step to step: buckets, and where examples are in the trees."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import group, no_op
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.fill import ones, zeros
from jitgraph.variables.variable import Variable


def kept(initial_value: Any, name: str) -> Any:
    """A variable that is not trained, of any shape."""
    return Variable(initial_value, trainable=False, validate_shape=False, name=name, use_resource=True)


def cached_features(transform: Callable[[], list], count: int, batch_size: Any, are_boundaries_ready: Any) -> tuple[list, Any]:
    """(`count` features, an operation): what `transform` gives, kept once it was computed with boundaries that count.

    The first bucket boundaries are none: as long as `are_boundaries_ready` does not hold nothing is kept.
    """
    stored = [kept(zeros([batch_size], dtype=dtypes.int32), f"cached_feature_{i}") for i in range(count)]
    are_cached = kept(False, "are_features_cached")

    def compute_and_keep() -> tuple:
        assigned = [variable.assign(feature) for variable, feature in zip(stored, transform())]
        with control_dependencies(assigned):
            return assigned, are_cached.assign(True).op

    def read() -> tuple:
        return [variable.read_value() for variable in stored], no_op()

    def with_cache() -> tuple:
        features, done = cond(are_cached, read, compute_and_keep, strict=True)
        return features, done.op

    features, done = cond(are_boundaries_ready, lambda: (transform(), no_op()), with_cache, strict=True)
    return features, done.op


class TrainingStates:
    """The trees and nodes that examples were at, and their logits then."""

    def __init__(self, batch_size: Any, logits_dimension: int):
        self._kept = [kept(zeros([batch_size], dtype=dtypes.int32), "tree_ids_cache"),
                      kept(-1 * ones([batch_size], dtype=dtypes.int32), "node_ids_cache"),
                      kept(zeros([batch_size, logits_dimension], dtype=dtypes.float32), "logits_cache")]

    def lookup(self) -> list:
        """(trees, nodes, logits)"""
        return [variable.read_value() for variable in self._kept]

    def insert(self, tree_ids: Any, node_ids: Any, logits: Any) -> Any:
        """An operation that keeps new ones."""
        return group(*[variable.assign(value) for variable, value in zip(self._kept, (tree_ids, node_ids, logits))],
                     name="cache_insert")
