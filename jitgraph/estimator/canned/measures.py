"""Metrics of heads, each in a scope of its name."""
from __future__ import annotations

from typing import Any

from jitgraph.estimator.canned.keys import MetricKeys
from jitgraph.graph.scopes import name_scope
from jitgraph.losses.weights import broadcast_weights
from jitgraph.metrics.means import accuracy, mean
from jitgraph.metrics.thresholds import auc, precision_at_thresholds, recall_at_thresholds
from jitgraph.ops.arrays.shape import squeeze
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import to_float
from jitgraph.ops.elementwise.compare import greater_equal


def _mean(values: Any, weights: Any, name: str | None, default: str, inner: str) -> tuple:
    with name_scope(name, default, [values, weights]) as scope:
        values = to_float(values, name=inner)
        if weights is not None:
            weights = broadcast_weights(weights, values)
        return mean(values, weights=weights, name=scope)


def labels_mean(labels: Any, weights: Any = None, name: str | None = None) -> tuple:
    """The weighted mean of labels 0 and 1."""
    return _mean(labels, weights, name, "labels_mean", "labels")


def predictions_mean(predictions: Any, weights: Any = None, name: str | None = None) -> tuple:
    """The weighted mean of predictions."""
    return _mean(predictions, weights, name, "predictions_mean", "predictions")


def baseline_of(mean_of_labels: tuple) -> tuple:
    """The accuracy of always saying what is more frequent."""
    with name_scope(None, "accuracy_baseline", mean_of_labels):
        value, update = mean_of_labels
        return maximum(value, 1.0 - value, name="value"), maximum(update, 1 - update, name="update_op")


def area_under_curve(labels: Any, predictions: Any, weights: Any = None, curve: str = "ROC", name: str | None = None) -> tuple:
    """``tf.metrics.auc`` with weights for each prediction."""
    with name_scope(name, "auc", [predictions, labels, weights]) as scope:
        predictions = to_float(predictions, name="predictions")
        if weights is not None:
            weights = broadcast_weights(weights, predictions)
        return auc(labels, predictions, weights=weights, curve=curve, name=scope)


def accuracy_at(labels: Any, predictions: Any, weights: Any, threshold: float, name: str | None = None) -> tuple:
    """The accuracy if predictions from `threshold` on are yes."""
    with name_scope(name, f"accuracy_at_{threshold}", [predictions, labels, weights, threshold]) as scope:
        decided = to_float(greater_equal(predictions, threshold))
        return accuracy(labels, decided, weights=weights, name=scope)


def precision_at(labels: Any, predictions: Any, weights: Any, threshold: float, name: str | None = None) -> tuple:
    """The precision if predictions from `threshold` on are yes."""
    with name_scope(name, f"precision_at_{threshold}", [predictions, labels, weights, threshold]) as scope:
        value, update = precision_at_thresholds(labels, predictions, [threshold], weights=weights, name=scope)
        return squeeze(value), squeeze(update)


def recall_at(labels: Any, predictions: Any, weights: Any, threshold: float, name: str | None = None) -> tuple:
    """The recall if predictions from `threshold` on are yes."""
    with name_scope(name, f"recall_at_{threshold}", [predictions, labels, weights, threshold]) as scope:
        value, update = recall_at_thresholds(labels, predictions, [threshold], weights=weights, name=scope)
        return squeeze(value), squeeze(update)


def at_thresholds(labels: Any, probabilities: Any, weights: Any, thresholds: Any) -> dict[str, tuple]:
    """Accuracy, precision and recall at each threshold, by their names."""
    found = {}
    for threshold in thresholds:
        for key, measure in zip(keys_at(threshold), (accuracy_at, precision_at, recall_at)):
            found[key] = measure(labels, probabilities, weights, threshold, name=key)
    return found


def keys_at(threshold: float) -> tuple[str, str, str]:
    """The names of accuracy, precision and recall at a threshold."""
    return (MetricKeys.ACCURACY_AT_THRESHOLD % threshold, MetricKeys.PRECISION_AT_THRESHOLD % threshold,
            MetricKeys.RECALL_AT_THRESHOLD % threshold)
