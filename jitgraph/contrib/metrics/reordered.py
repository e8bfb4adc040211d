"""The metrics of ``tf.metrics`` under their older names, with the predictions before the labels."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from jitgraph.metrics import at_k, counts, means, thresholds

_ALL = "weights=None metrics_collections=None updates_collections=None name=None"


def _reordered(metric: Callable, name: str, first: str, last: str = "", **renamed: str) -> Callable:
    """`metric` as a function `name` of the arguments `first`, those of all metrics, and `last`; `renamed` says its own names."""
    parts = [part.partition("=") for part in f"{first} {last or _ALL}".split()]
    signature = inspect.Signature([
        inspect.Parameter(part, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=_DEFAULTS[value] if value else
                          inspect.Parameter.empty) for part, _, value in parts])

    def streaming(*args: Any, **kwargs: Any) -> tuple:
        given = signature.bind(*args, **kwargs).arguments
        return metric(**{renamed.get(key, key): value for key, value in given.items()})

    streaming.__name__ = streaming.__qualname__ = name
    streaming.__doc__ = f"``tf.metrics.{metric.__name__}``, with its arguments in another order."
    streaming.__signature__ = signature  # type: ignore[attr-defined]
    return streaming


_DEFAULTS: dict[str, Any] = {"None": None, "200": 200, "'ROC'": "ROC"}
_BOTH = "predictions labels"

streaming_true_positives = _reordered(counts.true_positives, "streaming_true_positives", _BOTH)
streaming_true_negatives = _reordered(counts.true_negatives, "streaming_true_negatives", _BOTH)
streaming_false_positives = _reordered(counts.false_positives, "streaming_false_positives", _BOTH)
streaming_false_negatives = _reordered(counts.false_negatives, "streaming_false_negatives", _BOTH)
streaming_precision = _reordered(counts.precision, "streaming_precision", _BOTH)
streaming_recall = _reordered(counts.recall, "streaming_recall", _BOTH)
streaming_mean = _reordered(means.mean, "streaming_mean", "values")
streaming_mean_tensor = _reordered(means.mean_tensor, "streaming_mean_tensor", "values")
streaming_accuracy = _reordered(means.accuracy, "streaming_accuracy", _BOTH)
streaming_mean_absolute_error = _reordered(means.mean_absolute_error, "streaming_mean_absolute_error", _BOTH)
streaming_mean_relative_error = _reordered(means.mean_relative_error, "streaming_mean_relative_error", f"{_BOTH} normalizer")
streaming_mean_squared_error = _reordered(means.mean_squared_error, "streaming_mean_squared_error", _BOTH)
streaming_root_mean_squared_error = _reordered(means.root_mean_squared_error, "streaming_root_mean_squared_error", _BOTH)
streaming_percentage_less = _reordered(means.percentage_below, "streaming_percentage_less", "values threshold")
streaming_mean_iou = _reordered(means.mean_iou, "streaming_mean_iou", f"{_BOTH} num_classes")
streaming_auc = _reordered(
    thresholds.auc, "streaming_auc", _BOTH,
    "weights=None num_thresholds=200 metrics_collections=None updates_collections=None curve='ROC' name=None")
_LEVELS = "weights=None num_thresholds=200 metrics_collections=None updates_collections=None name=None"
streaming_specificity_at_sensitivity = _reordered(
    thresholds.specificity_at_sensitivity, "streaming_specificity_at_sensitivity", f"{_BOTH} sensitivity", _LEVELS)
streaming_sensitivity_at_specificity = _reordered(
    thresholds.sensitivity_at_specificity, "streaming_sensitivity_at_specificity", f"{_BOTH} specificity", _LEVELS)
streaming_precision_at_thresholds = _reordered(
    thresholds.precision_at_thresholds, "streaming_precision_at_thresholds", f"{_BOTH} thresholds")
streaming_recall_at_thresholds = _reordered(
    thresholds.recall_at_thresholds, "streaming_recall_at_thresholds", f"{_BOTH} thresholds")
streaming_sparse_recall_at_k = _reordered(at_k.recall_at_k, "streaming_sparse_recall_at_k", f"{_BOTH} k class_id=None")
streaming_sparse_precision_at_k = _reordered(at_k.precision_at_k, "streaming_sparse_precision_at_k", f"{_BOTH} k class_id=None")
streaming_sparse_average_precision_at_k = _reordered(
    at_k.average_precision_at_k, "streaming_sparse_average_precision_at_k", f"{_BOTH} k")
streaming_sparse_average_precision_at_top_k = _reordered(
    at_k.average_precision_at_top_k, "streaming_sparse_average_precision_at_top_k", "top_k_predictions labels",
    top_k_predictions="predictions_idx")
