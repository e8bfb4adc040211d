"""``tf.contrib.learn.LogisticRegressor``: a model function whose predictions are probabilities, measured as such."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.learn.fitted import Estimator
from jitgraph.contrib.learn.model_ops import MetricKey, ModeKeys, ModelFnOps, ProblemType
from jitgraph.graph import dtypes
from jitgraph.metrics.counts import precision, recall
from jitgraph.metrics.means import accuracy, mean
from jitgraph.metrics.thresholds import auc
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import greater_equal


def LogisticRegressor(model_fn: Any, thresholds: Any = None, model_dir: Any = None, config: Any = None,
                      feature_engineering_fn: Any = None) -> Estimator:
    """An Estimator of a function (features, labels, mode) -> (probabilities [batch, 1], loss, train_op).

    `thresholds`: from which on a probability is yes, by default 0.5; each is measured by itself.
    """
    def with_metrics(features: Any, labels: Any, mode: str, params: dict) -> ModelFnOps:
        predictions, loss, train_op = model_fn(features, labels, mode)
        metrics = _metrics(labels, predictions, params.get("thresholds") or [0.5]) if mode == ModeKeys.EVAL else None
        return ModelFnOps(mode=mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics,
                          output_alternatives={"head": (ProblemType.LOGISTIC_REGRESSION, {"predictions": predictions})})

    return Estimator(with_metrics, model_dir, config, {"thresholds": thresholds}, feature_engineering_fn)


def _metrics(labels: Any, predictions: Any, thresholds: Any) -> dict[str, tuple]:
    if isinstance(labels, dict) and len(labels) == 1:
        labels = next(iter(labels.values()))
    found = {MetricKey.PREDICTION_MEAN: mean(predictions), MetricKey.LABEL_MEAN: mean(labels),
             MetricKey.ACCURACY_BASELINE: mean(labels), MetricKey.AUC: auc(labels, predictions)}
    for threshold in thresholds:
        decided = cast(greater_equal(predictions, threshold), dtypes.float32, name=f"predictions_at_threshold_{threshold:f}")
        found[MetricKey.ACCURACY_MEAN % threshold] = accuracy(labels, decided)
        found[MetricKey.PRECISION_MEAN % threshold] = precision(labels, decided)
        found[MetricKey.RECALL_MEAN % threshold] = recall(labels, decided)
    return found
