"""Heads of classifiers: of one class of many, and of yes or no."""
from __future__ import annotations

from typing import Any

from jitgraph.estimator.canned import checks
from jitgraph.estimator.canned.head import (
    REGRESSION,
    CannedHead,
    LossSpec,
    all_class_ids,
    all_classes,
    classification_exports,
    ids_of,
    names_of,
)
from jitgraph.estimator.canned.keys import MetricKeys as Metric
from jitgraph.estimator.canned.keys import PredictionKeys as Key
from jitgraph.estimator.canned.measures import (
    area_under_curve,
    at_thresholds,
    baseline_of,
    labels_mean,
    predictions_mean,
)
from jitgraph.estimator.export_outputs import ExportOutput, RegressionOutput
from jitgraph.graph.scopes import name_scope
from jitgraph.losses.losses import Reduction, sparse_softmax_cross_entropy
from jitgraph.metrics.counts import precision, recall
from jitgraph.metrics.means import accuracy, mean
from jitgraph.ops.arrays.fill import zeros_like
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import expand_dims
from jitgraph.ops.elementwise.cast import to_float
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.nn.functions import sigmoid_cross_entropy_with_logits
from jitgraph.ops.nn.softmax import softmax
from jitgraph.ops.reduce.reductions import argmax


class MultiClassHead(CannedHead):
    """One of more than two classes, by softmax."""

    def __init__(self, n_classes: Any, weight_column: Any = None, label_vocabulary: Any = None,
                 loss_reduction: str = Reduction.SUM, loss_fn: Any = None, name: str | None = None):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        self._n_classes = checks.checked_number(n_classes)
        self._label_vocabulary = label_vocabulary

    @property
    def logits_dimension(self) -> Any:          # type: ignore[override]
        """The number of classes."""
        return self._n_classes

    def per_example(self, features: Any, logits: Any, labels: Any) -> tuple[Any, Any, Any]:
        """The cross entropy of labels [..., 1], ids or words of the vocabulary."""
        labels = checks.checked_labels(labels, logits, 1)
        checks.is_integer_or_string(labels.dtype, self._label_vocabulary)
        ids = labels if self._label_vocabulary is None else ids_of(labels, self._label_vocabulary)
        ids = checks.in_range(ids, self._n_classes)
        if self._loss_fn:
            unreduced = checks.called_loss(self._loss_fn, ids, logits, features)
        else:
            unreduced = expand_dims(sparse_softmax_cross_entropy(ids, logits, reduction=Reduction.NONE), axis=-1)
        return unreduced, checks.weights_of(features, self._weight_column, logits), ids

    def predicted(self, logits: Any) -> tuple[Any, dict[str, Any]]:
        logits = checks.checked_logits(logits, self.logits_dimension)
        with name_scope(None, "predictions", [logits]):
            ids_of_all = all_class_ids(logits, self._n_classes)
            names_of_all = all_classes(logits, self._n_classes, self._label_vocabulary)
            ids = expand_dims(argmax(logits, axis=-1, name=Key.CLASS_IDS), axis=-1)
            classes = names_of(ids, self._label_vocabulary)
            probabilities = softmax(logits, name=Key.PROBABILITIES)
        return logits, {Key.LOGITS: logits, Key.PROBABILITIES: probabilities, Key.CLASS_IDS: ids, Key.CLASSES: classes,
                        Key.ALL_CLASS_IDS: ids_of_all, Key.ALL_CLASSES: names_of_all}

    def exports(self, predictions: dict[str, Any]) -> dict[str, ExportOutput]:
        return classification_exports(predictions, self._n_classes, self._label_vocabulary)

    def _metrics(self, predictions: dict[str, Any], loss: LossSpec, labels: Any, regularization_loss: Any) -> dict[str, tuple]:
        ids, weights = predictions[Key.CLASS_IDS], loss.weights
        with name_scope(None, "metrics", [loss.processed_labels, ids, weights, loss.unreduced_loss, regularization_loss]):
            found = {Metric.LOSS_MEAN: mean(loss.unreduced_loss, weights=weights, name=Metric.LOSS_MEAN),
                     Metric.ACCURACY: accuracy(loss.processed_labels, ids, weights=weights, name=Metric.ACCURACY)}
            if regularization_loss is not None:
                found[Metric.LOSS_REGULARIZATION] = mean(regularization_loss, name=Metric.LOSS_REGULARIZATION)
        return {self._key(key): value for key, value in found.items()}


class BinaryHead(CannedHead):
    """Yes or no, by the logistic function."""

    logits_dimension = 1

    def __init__(self, weight_column: Any = None, thresholds: Any = None, label_vocabulary: Any = None,
                 loss_reduction: str = Reduction.SUM, loss_fn: Any = None, name: str | None = None):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self.thresholds = tuple(thresholds) if thresholds else ()
        self._label_vocabulary = label_vocabulary

    def per_example(self, features: Any, logits: Any, labels: Any) -> tuple[Any, Any, Any]:
        """The cross entropy of labels [..., 1], 0 or 1 or words of the vocabulary."""
        labels = checks.checked_labels(labels, logits, 1)
        if self._label_vocabulary is not None:
            labels = ids_of(labels, self._label_vocabulary)
        labels = checks.in_range(to_float(labels), 2)
        if self._loss_fn:
            unreduced = checks.called_loss(self._loss_fn, labels, logits, features)
        else:
            unreduced = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return unreduced, checks.weights_of(features, self._weight_column, logits), labels

    def predicted(self, logits: Any) -> tuple[Any, dict[str, Any]]:
        with name_scope(None, "predictions", [logits]):
            logits = checks.checked_logits(logits, self.logits_dimension)
            logistic = sigmoid(logits, name=Key.LOGISTIC)
            both = concat((zeros_like(logits), logits), axis=-1, name="two_class_logits")
            probabilities = softmax(both, name=Key.PROBABILITIES)
            ids = expand_dims(argmax(both, axis=-1, name=Key.CLASS_IDS), axis=-1)
            ids_of_all = all_class_ids(logits, 2)
            names_of_all = all_classes(logits, 2, self._label_vocabulary)
            classes = names_of(ids, self._label_vocabulary)
        return logits, {Key.LOGITS: logits, Key.LOGISTIC: logistic, Key.PROBABILITIES: probabilities, Key.CLASS_IDS: ids,
                        Key.CLASSES: classes, Key.ALL_CLASS_IDS: ids_of_all, Key.ALL_CLASSES: names_of_all}

    def exports(self, predictions: dict[str, Any]) -> dict[str, ExportOutput]:
        return classification_exports(predictions, 2, self._label_vocabulary,
                                      **{REGRESSION: RegressionOutput(predictions[Key.LOGISTIC])})

    def _metrics(self, predictions: dict[str, Any], loss: LossSpec, labels: Any, regularization_loss: Any) -> dict[str, tuple]:
        labels, weights = loss.processed_labels, loss.weights
        ids, logistic = predictions[Key.CLASS_IDS], predictions[Key.LOGISTIC]
        with name_scope(None, "metrics", [labels, predictions[Key.LOGITS], logistic, ids, weights, loss.unreduced_loss,
                                          regularization_loss]):
            of_labels = labels_mean(labels, weights, name=Metric.LABEL_MEAN)
            found = {Metric.LOSS_MEAN: mean(loss.unreduced_loss, weights=weights, name=Metric.LOSS_MEAN),
                     Metric.ACCURACY: accuracy(labels, ids, weights=weights, name=Metric.ACCURACY),
                     Metric.PRECISION: precision(labels, ids, weights=weights, name=Metric.PRECISION),
                     Metric.RECALL: recall(labels, ids, weights=weights, name=Metric.RECALL),
                     Metric.PREDICTION_MEAN: predictions_mean(logistic, weights, name=Metric.PREDICTION_MEAN),
                     Metric.LABEL_MEAN: of_labels,
                     Metric.ACCURACY_BASELINE: baseline_of(of_labels),
                     Metric.AUC: area_under_curve(labels, logistic, weights, name=Metric.AUC),
                     Metric.AUC_PR: area_under_curve(labels, logistic, weights, "PR", name=Metric.AUC_PR)}
            if regularization_loss is not None:
                found[Metric.LOSS_REGULARIZATION] = mean(regularization_loss, name=Metric.LOSS_REGULARIZATION)
            found.update(at_thresholds(labels, logistic, weights, self.thresholds))
        return {self._key(key): value for key, value in found.items()}


def multi_class_head(n_classes: Any, weight_column: Any = None, label_vocabulary: Any = None,
                     loss_reduction: str = Reduction.SUM, loss_fn: Any = None, name: str | None = None) -> MultiClassHead:
    """A checked MultiClassHead.  Raises ValueError for arguments that do not suit."""
    checks.check_vocabulary(label_vocabulary)
    checks.check_reduction(loss_reduction)
    if loss_fn:
        checks.check_loss_function(loss_fn)
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


def binary_head(weight_column: Any = None, thresholds: Any = None, label_vocabulary: Any = None,
                loss_reduction: str = Reduction.SUM, loss_fn: Any = None, name: str | None = None) -> BinaryHead:
    """A checked BinaryHead.  Raises TypeError for a vocabulary that is no list, ValueError for other arguments."""
    found = tuple(thresholds) if thresholds else ()
    checks.check_vocabulary(label_vocabulary, TypeError, "")
    checks.checked_thresholds(found)
    checks.check_reduction(loss_reduction)
    if loss_fn:
        checks.check_loss_function(loss_fn)
    return BinaryHead(weight_column, found, label_vocabulary, loss_reduction, loss_fn, name)


def head_for(n_classes: Any, weight_column: Any, label_vocabulary: Any, loss_reduction: str) -> CannedHead:
    """The head of a classifier of so many classes."""
    if n_classes == 2:
        return binary_head(weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction)
    return multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
