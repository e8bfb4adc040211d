"""Metrics of bools: how many are right and wrong, precision and recall."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.tensor import Tensor
from jitgraph.metrics.streaming import collected, metric_variable, squeezed
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.checks.check_shapes import assert_rank_in, assert_type
from jitgraph.ops.elementwise.arithmetic import div, multiply
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, greater, logical_and
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.variables.assignments import assign_add
from jitgraph.variables.variable_scopes import variable_scope


def _as_bools(labels: Any, predictions: Any, weights: Any) -> tuple:
    return squeezed(cast(predictions, dtypes.bool_), cast(labels, dtypes.bool_), weights)


def _counted(scope: str, of_label: bool, of_prediction: bool, labels: Any, predictions: Any, weights: Any,
             metrics_collections: Any, updates_collections: Any, name: str | None) -> tuple:
    """(how often so far label and prediction were as asked for, the operation that adds these)"""
    with variable_scope(name, scope, (predictions, labels, weights)):
        predictions, labels, weights = _as_bools(labels, predictions, weights)
        held = logical_and(equal(labels, of_label), equal(predictions, of_prediction))
        assert_type(held, dtypes.bool_)
        count = metric_variable([], dtypes.float32, name="count")
        values = cast(held, dtypes.float32)
        if weights is not None:
            with control_dependencies((assert_rank_in(weights, (0, rank_of(values))),)):
                values = multiply(values, cast(weights, dtypes.float32))
        value = collected(metrics_collections, identity(count))
        return value, collected(updates_collections, assign_add(count, reduce_sum(values)))


def true_positives(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                   updates_collections: Any = None, name: str | None = None) -> tuple:
    """(the weight so far of true labels predicted true, the operation that adds these); float32 scalars.

    Labels and predictions are cast to bool.  The value is kept in a local variable "count".
    """
    return _counted("true_positives", True, True, labels, predictions, weights, metrics_collections, updates_collections, name)


def true_negatives(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                   updates_collections: Any = None, name: str | None = None) -> tuple:
    """(the weight so far of false labels predicted false, the operation that adds these); see ``true_positives``."""
    return _counted("true_negatives", False, False, labels, predictions, weights, metrics_collections, updates_collections, name)


def false_positives(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                    updates_collections: Any = None, name: str | None = None) -> tuple:
    """(the weight so far of false labels predicted true, the operation that adds these); see ``true_positives``."""
    return _counted("false_positives", False, True, labels, predictions, weights, metrics_collections, updates_collections, name)


def false_negatives(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                    updates_collections: Any = None, name: str | None = None) -> tuple:
    """(the weight so far of true labels predicted false, the operation that adds these); see ``true_positives``."""
    return _counted("false_negatives", True, False, labels, predictions, weights, metrics_collections, updates_collections, name)


def ratio(right: Tensor, wrong: Tensor, name: str) -> Tensor:
    return where(greater(right + wrong, 0), div(right, right + wrong), 0, name)


def _part(scope: str, count_wrong: Callable[..., tuple], labels: Any, predictions: Any, weights: Any, metrics_collections: Any,
          updates_collections: Any, name: str | None) -> tuple:
    """(the part of the true positives in these and what `count_wrong` counts, the operation that adds these)"""
    with variable_scope(name, scope, (predictions, labels, weights)):
        predictions, labels, weights = _as_bools(labels, predictions, weights)
        right, more_right = true_positives(labels, predictions, weights)
        wrong, more_wrong = count_wrong(labels, predictions, weights)
        value = collected(metrics_collections, ratio(right, wrong, "value"))
        return value, collected(updates_collections, ratio(more_right, more_wrong, "update_op"))


def precision(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
              updates_collections: Any = None, name: str | None = None) -> tuple:
    """(which part of the positive predictions so far is right, 0 without any; the operation that adds these)."""
    return _part("precision", false_positives, labels, predictions, weights, metrics_collections, updates_collections, name)


def recall(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
           updates_collections: Any = None, name: str | None = None) -> tuple:
    """(which part of the true labels so far was predicted, 0 without any; the operation that adds these)."""
    return _part("recall", false_negatives, labels, predictions, weights, metrics_collections, updates_collections, name)
