"""Rates of false predictions, and counts, curves and scores at thresholds."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import group
from jitgraph.graph import dtypes
from jitgraph.metrics.counts import false_negatives, false_positives, ratio, true_negatives, true_positives
from jitgraph.metrics.streaming import collected, squeezed
from jitgraph.metrics.thresholds import TINY, checked_counts, counts_at, spread
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.elementwise.arithmetic import abs as abs_of
from jitgraph.ops.elementwise.arithmetic import div
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import greater_equal
from jitgraph.ops.reduce.reductions import argmax, argmin, reduce_max, reduce_sum
from jitgraph.variables.variable_scopes import variable_scope


def _rate(scope: str, wrong: Callable, right: Callable, predictions: Any, labels: Any, weights: Any, metrics_collections: Any,
          updates_collections: Any, name: str | None) -> tuple:
    with variable_scope(name, scope, (predictions, labels, weights)):
        predictions, labels, weights = squeezed(cast(predictions, dtypes.bool_), cast(labels, dtypes.bool_), weights)
        found = [of(labels, predictions, weights, metrics_collections=None, updates_collections=None, name=None)
                 for of in (wrong, right)]
        (value, more), (other, more_other) = found
        rate = collected(metrics_collections, ratio(value, other, "value"))
        return rate, collected(updates_collections, ratio(more, more_other, "update_op"))


def streaming_false_positive_rate(predictions: Any, labels: Any, weights: Any = None, metrics_collections: Any = None,
                                  updates_collections: Any = None, name: str | None = None) -> tuple:
    """(which part of the false labels is predicted true, the operation that adds more)"""
    return _rate("false_positive_rate", false_positives, true_negatives, predictions, labels, weights, metrics_collections,
                 updates_collections, name)


def streaming_false_negative_rate(predictions: Any, labels: Any, weights: Any = None, metrics_collections: Any = None,
                                  updates_collections: Any = None, name: str | None = None) -> tuple:
    """(which part of the true labels is predicted false, the operation that adds more)"""
    return _rate("false_negative_rate", false_negatives, true_positives, predictions, labels, weights, metrics_collections,
                 updates_collections, name)


def _counts(labels: Any, predictions: Any, thresholds: list, weights: Any, kinds: tuple = ("tp", "fn", "tn", "fp")) -> tuple:
    """``counts_at`` of predictions of any range."""
    predictions, labels, weights = squeezed(predictions, labels, weights)
    return counts_at(labels, predictions, thresholds, weights, kinds)


def _one_count(kind: str, predictions: Any, labels: Any, thresholds: list, weights: Any) -> tuple:
    values, updates = _counts(labels, predictions, thresholds, weights, (kind,))
    return values[kind], updates[kind]


def streaming_true_positives_at_thresholds(predictions: Any, labels: Any, thresholds: list, weights: Any = None) -> tuple:
    """(a variable of the counts at `thresholds`, the operation that adds more)"""
    return _one_count("tp", predictions, labels, thresholds, weights)


def streaming_false_negatives_at_thresholds(predictions: Any, labels: Any, thresholds: list, weights: Any = None) -> tuple:
    """(a variable of the counts at `thresholds`, the operation that adds more)"""
    return _one_count("fn", predictions, labels, thresholds, weights)


def streaming_false_positives_at_thresholds(predictions: Any, labels: Any, thresholds: list, weights: Any = None) -> tuple:
    """(a variable of the counts at `thresholds`, the operation that adds more)"""
    return _one_count("fp", predictions, labels, thresholds, weights)


def streaming_true_negatives_at_thresholds(predictions: Any, labels: Any, thresholds: list, weights: Any = None) -> tuple:
    """(a variable of the counts at `thresholds`, the operation that adds more)"""
    return _one_count("tn", predictions, labels, thresholds, weights)


def _rate_at(scope: str, short: str, kinds: tuple, predictions: Any, labels: Any, thresholds: list, weights: Any,
             metrics_collections: Any, updates_collections: Any, name: str | None) -> tuple:
    with variable_scope(name, scope, (predictions, labels, weights)):
        values, updates = _counts(labels, predictions, thresholds, weights, kinds)
        wrong, right = kinds

        def rate(counts: dict, what: str) -> Any:
            return div(counts[wrong], TINY + counts[wrong] + counts[right], name=f"{short}_{what}")

        found = collected(metrics_collections, rate(values, "value"))
        return found, collected(updates_collections, rate(updates, "update_op"))


def streaming_false_positive_rate_at_thresholds(predictions: Any, labels: Any, thresholds: list, weights: Any = None,
                                                metrics_collections: Any = None, updates_collections: Any = None,
                                                name: str | None = None) -> tuple:
    """(the rates of false positives at `thresholds`, the operation that adds more)"""
    return _rate_at("false_positive_rate_at_thresholds", "fpr", ("fp", "tn"), predictions, labels, thresholds, weights,
                    metrics_collections, updates_collections, name)


def streaming_false_negative_rate_at_thresholds(predictions: Any, labels: Any, thresholds: list, weights: Any = None,
                                                metrics_collections: Any = None, updates_collections: Any = None,
                                                name: str | None = None) -> tuple:
    """(the rates of false negatives at `thresholds`, the operation that adds more)"""
    return _rate_at("false_negative_rate_at_thresholds", "fnr", ("fn", "tp"), predictions, labels, thresholds, weights,
                    metrics_collections, updates_collections, name)


def streaming_curve_points(labels: Any = None, predictions: Any = None, weights: Any = None, num_thresholds: int = 200,
                           metrics_collections: Any = None, updates_collections: Any = None, curve: str = "ROC",
                           name: str | None = None) -> tuple:
    """(points [num_thresholds, 2] of the curve, the operation that adds more).

    `curve`: "ROC" (false positive rate, recall) or "PR" (recall, precision).  Raises ValueError for others.
    """
    with variable_scope(name, "curve_points", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        values, updates = _counts(labels, predictions, spread(num_thresholds), weights)
        tiny = 1e-6
        tp, fn, tn, fp = (values[kind] for kind in ("tp", "fn", "tn", "fp"))
        recall = div(tp + tiny, tp + fn + tiny)
        axes = (div(fp, fp + tn + tiny), recall) if curve == "ROC" else (recall, div(tp + tiny, tp + fp + tiny))
        points = collected(metrics_collections, stack(axes, axis=1))
        return points, collected(updates_collections, group(*updates.values()))


def _recall_at(tp: Any, fp: Any, fn: Any, precision: float, name: str, strict_mode: bool) -> Any:
    precisions = div(tp, tp + fp + TINY)
    if not strict_mode:
        best = argmin(abs_of(precisions - precision), 0, output_type=dtypes.int32)
        return div(tp[best], tp[best] + fn[best] + TINY, name)
    best = argmax(div(1.0, precisions - precision + TINY), 0, output_type=dtypes.int32)
    return cond(precisions[best] >= precision, lambda: div(tp[best], tp[best] + fn[best] + TINY, name),
                lambda: constant(0.0))


def recall_at_precision(labels: Any, predictions: Any, precision: float, weights: Any = None, num_thresholds: int = 200,
                        metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None,
                        strict_mode: bool = False) -> tuple:
    """(the recall at the threshold whose precision is nearest to `precision`, the operation that adds more).

    `strict_mode`: the precision must be reached, else the recall is 0.  Raises ValueError for one outside of [0, 1].
    """
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")
    with variable_scope(name, "recall_at_precision", (predictions, labels, weights)):
        values, updates = _counts(labels, predictions, spread(num_thresholds), weights)
        found = [_recall_at(counts["tp"], counts["fp"], counts["fn"], precision, what, strict_mode)
                 for counts, what in ((values, "value"), (updates, "update_op"))]
        return collected(metrics_collections, found[0]), collected(updates_collections, found[1])


def precision_at_recall(labels: Any, predictions: Any, target_recall: float, weights: Any = None, num_thresholds: int = 200,
                        metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> tuple:
    """(the precision at the highest threshold whose recall is at least `target_recall`, the operation that adds more).

    Raises ValueError for a recall outside of [0, 1].
    """
    if target_recall < 0 or target_recall > 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")
    with variable_scope(name, "precision_at_recall", (predictions, labels, weights)):
        values, updates = _counts(labels, predictions, spread(num_thresholds), weights)

        def precision(counts: dict, what: str) -> Any:
            tp, fp, fn = counts["tp"], counts["fp"], counts["fn"]
            reached = cast(greater_equal(div(tp, tp + fn + TINY), target_recall), dtypes.int64)
            best = reduce_sum(reached) - 1
            return div(tp[best] + TINY, tp[best] + fp[best] + TINY, what)

        found = collected(metrics_collections, precision(values, "value"))
        return found, collected(updates_collections, precision(updates, "update_op"))


def f1_score(labels: Any, predictions: Any, weights: Any = None, num_thresholds: int = 200, metrics_collections: Any = None,
             updates_collections: Any = None, name: str | None = None) -> tuple:
    """(the best of the F1 scores at `num_thresholds` thresholds, the operation that adds more)."""
    with variable_scope(name, "f1", (labels, predictions, weights)):
        predictions, labels, weights = squeezed(predictions, labels, weights)
        values, updates = checked_counts(labels, predictions, spread(num_thresholds), weights, ("tp", "fp", "fn"))

        def best(counts: dict, what: str) -> Any:
            tp, fp, fn = counts["tp"], counts["fp"], counts["fn"]
            precision = div(tp, TINY + tp + fp, name=f"precision_{what}")
            recall = div(tp, TINY + tp + fn, name=f"recall_{what}")
            return reduce_max(2.0 * precision * recall / (precision + recall + TINY))

        found = collected(metrics_collections, best(values, "value"))
        return found, collected(updates_collections, best(updates, "update"))
