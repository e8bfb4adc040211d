"""The head of regressions."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.estimator.canned import checks
from jitgraph.estimator.canned.head import PREDICT, REGRESSION, CannedHead, LossSpec
from jitgraph.estimator.canned.keys import MetricKeys as Metric
from jitgraph.estimator.canned.keys import PredictionKeys as Key
from jitgraph.estimator.canned.measures import predictions_mean
from jitgraph.estimator.export_outputs import ExportOutput, PredictOutput, RegressionOutput
from jitgraph.losses.losses import Reduction, mean_squared_error
from jitgraph.metrics.means import mean
from jitgraph.ops.elementwise.cast import to_float
from jitgraph.ops.nn.functions import log_poisson_loss, sigmoid_cross_entropy_with_logits
from jitgraph.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY


class RegressionHead(CannedHead):
    """Numbers [..., label_dimension], by default with the squared error; `inverse_link_fn` makes predictions of logits."""

    def __init__(self, label_dimension: int, weight_column: Any = None, loss_reduction: str = Reduction.SUM,
                 loss_fn: Any = None, inverse_link_fn: Any = None, name: str | None = None):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        self.logits_dimension = label_dimension
        self._inverse_link_fn = inverse_link_fn

    def per_example(self, features: Any, logits: Any, labels: Any) -> tuple[Any, Any, Any]:
        """The squared error of labels [..., label_dimension]."""
        labels = to_float(checks.checked_labels(labels, logits, self.logits_dimension))
        if self._loss_fn:
            unreduced = checks.called_loss(self._loss_fn, labels, logits, features, self.logits_dimension)
        else:
            unreduced = mean_squared_error(labels, logits, reduction=Reduction.NONE)
        return unreduced, checks.weights_of(features, self._weight_column, logits, per_logit=True), labels

    def predicted(self, logits: Any) -> tuple[Any, dict[str, Any]]:
        logits = checks.checked_logits(logits, self.logits_dimension)
        if self._inverse_link_fn:
            return logits, {Key.PREDICTIONS: self._inverse_link_fn(logits), Key.LOGITS: logits}
        return logits, {Key.PREDICTIONS: logits}

    def exports(self, predictions: dict[str, Any]) -> dict[str, ExportOutput]:
        output = RegressionOutput(predictions[Key.PREDICTIONS])
        return {DEFAULT_SERVING_SIGNATURE_DEF_KEY: output, REGRESSION: output, PREDICT: PredictOutput(predictions)}

    def _metrics(self, predictions: dict[str, Any], loss: LossSpec, labels: Any, regularization_loss: Any) -> dict[str, tuple]:
        found = {Metric.LOSS_MEAN: mean(loss.unreduced_loss, weights=loss.weights),
                 Metric.PREDICTION_MEAN: predictions_mean(predictions[Key.PREDICTIONS], loss.weights, name=Metric.PREDICTION_MEAN),
                 Metric.LABEL_MEAN: mean(labels, weights=loss.weights)}
        if regularization_loss is not None:
            found[Metric.LOSS_REGULARIZATION] = mean(regularization_loss, name=Metric.LOSS_REGULARIZATION)
        return {self._key(key): value for key, value in found.items()}


def regression_head(weight_column: Any = None, label_dimension: int = 1, loss_reduction: str = Reduction.SUM,
                    loss_fn: Any = None, inverse_link_fn: Any = None, name: str | None = None) -> RegressionHead:
    """A checked RegressionHead.  Raises ValueError for arguments that do not suit."""
    checks.check_reduction(loss_reduction)
    if loss_fn:
        checks.check_loss_function(loss_fn)
    return RegressionHead(label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name)


def poisson_loss(compute_full_loss: bool) -> Callable:
    """The loss of counts, whose logarithm of the mean is the logit; in full with Stirling's approximation of the labels' part."""
    def loss_fn(labels: Any, logits: Any) -> Any:
        return log_poisson_loss(targets=labels, log_input=logits, compute_full_loss=compute_full_loss)

    return loss_fn


def logistic_loss(labels: Any, logits: Any) -> Any:
    """The cross entropy of labels that are probabilities; a run raises InvalidArgumentError for others."""
    labels = checks.in_range(labels, n_classes=2, message="Labels must be in range [0, 1]")
    return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
