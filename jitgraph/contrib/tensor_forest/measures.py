"""``tensor_forest.client.eval_metrics``: measures by name, with the predictions that each is of."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.contrib.learn.model_ops import PredictionKey
from jitgraph.contrib.losses.losses import log_loss, sigmoid_cross_entropy, sparse_softmax_cross_entropy
from jitgraph.graph import dtypes
from jitgraph.metrics import counts, means, thresholds
from jitgraph.ops.arrays.fill import one_hot
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.shape import squeeze
from jitgraph.ops.arrays.slicing import slice as part_of
from jitgraph.ops.arrays.top_k import in_top_k
from jitgraph.ops.elementwise.arithmetic import squared_difference
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.reduce.reductions import reduce_mean, reduce_sum

INFERENCE_PROB_NAME, INFERENCE_PRED_NAME = PredictionKey.PROBABILITIES, PredictionKey.CLASSES
FEATURE_IMPORTANCE_NAME = "global_feature_importance"
_STEPS: Any = np.arange(0, 1, 0.01, dtype=np.float32)


def _top_5(probabilities: Any, targets: Any) -> tuple:
    targets = cast(targets, dtypes.int32)
    return means.mean(in_top_k(probabilities, squeeze(targets, axis=[1]) if targets.get_shape().ndims > 1 else targets, 5))


def _accuracy(predictions: Any, targets: Any, weights: Any = None) -> tuple:
    return means.accuracy(labels=targets, predictions=predictions, weights=weights)


def _explained(probabilities: Any, targets: Any, weights: Any = None) -> tuple:
    targets = cast(targets, dtypes.float32)
    total = reduce_sum(squared_difference(targets, reduce_mean(targets, 0)), 0)
    left = reduce_sum(squared_difference(targets, probabilities), 0)
    return means.mean(1 - reduce_sum(left / total), weights=weights)


def _rows_of(targets: Any, probabilities: Any) -> Any:
    """A one for the class of each example, zeros for the others."""
    return one_hot(cast(squeeze(targets, axis=[1]), dtypes.int32), shape_of(probabilities)[1])


def _sigmoid_entropy(probabilities: Any, targets: Any, weights: Any = None) -> tuple:
    return means.mean(sigmoid_cross_entropy(probabilities, _rows_of(targets, probabilities)), weights=weights)


def _softmax_entropy(probabilities: Any, targets: Any, weights: Any = None) -> tuple:
    return means.mean(sparse_softmax_cross_entropy(probabilities, cast(targets, dtypes.int32)), weights=weights)


def _predictions(predictions: Any, unused_targets: Any, **unused_kwargs: Any) -> Any:
    return predictions


def _log_loss(probabilities: Any, targets: Any, weights: Any = None) -> tuple:
    return means.mean(log_loss(probabilities, _rows_of(targets, probabilities)), weights=weights)


def _precision(predictions: Any, targets: Any, weights: Any = None) -> tuple:
    return counts.precision(labels=targets, predictions=predictions, weights=weights)


def _recall(predictions: Any, targets: Any, weights: Any = None) -> tuple:
    return counts.recall(labels=targets, predictions=predictions, weights=weights)


def _of_second(probabilities: Any) -> Any:
    """The probability of the second class."""
    return part_of(probabilities, [0, 1], [-1, 1])


def _precision_at_thresholds(predictions: Any, targets: Any, weights: Any = None) -> tuple:
    return thresholds.precision_at_thresholds(labels=targets, predictions=_of_second(predictions), thresholds=_STEPS,
                                              weights=weights)


def _recall_at_thresholds(predictions: Any, targets: Any, weights: Any = None) -> tuple:
    return thresholds.recall_at_thresholds(labels=targets, predictions=_of_second(predictions), thresholds=_STEPS,
                                           weights=weights)


def _auc(probs: Any, targets: Any, weights: Any = None) -> tuple:
    return thresholds.auc(labels=targets, predictions=_of_second(probs), weights=weights)


_MEASURES: dict[str, tuple[Callable, str]] = {
    "auc": (_auc, INFERENCE_PROB_NAME), "sigmoid_entropy": (_sigmoid_entropy, INFERENCE_PROB_NAME),
    "softmax_entropy": (_softmax_entropy, INFERENCE_PROB_NAME), "accuracy": (_accuracy, INFERENCE_PRED_NAME),
    "r2": (_explained, PredictionKey.SCORES), "predictions": (_predictions, INFERENCE_PRED_NAME),
    "classification_log_loss": (_log_loss, INFERENCE_PROB_NAME), "precision": (_precision, INFERENCE_PRED_NAME),
    "precision_at_thresholds": (_precision_at_thresholds, INFERENCE_PROB_NAME), "recall": (_recall, INFERENCE_PRED_NAME),
    "recall_at_thresholds": (_recall_at_thresholds, INFERENCE_PROB_NAME), "top_5": (_top_5, INFERENCE_PROB_NAME)}


def get_metric(metric_name: str) -> Callable:
    """The function of (predictions, labels) that a measure is.  Raises KeyError for an unknown name."""
    return _MEASURES[metric_name][0]


def get_prediction_key(metric_name: str) -> str:
    """Of which predictions it is.  Raises KeyError for an unknown name."""
    return _MEASURES[metric_name][1]
