"""``tf.contrib.estimator.multi_label_head``: any number of classes for each example."""
from __future__ import annotations

from typing import Any

from jitgraph.estimator.canned import checks
from jitgraph.estimator.canned.head import CannedHead, LossSpec, classification_exports, ids_of
from jitgraph.estimator.canned.keys import MetricKeys as Metric
from jitgraph.estimator.canned.keys import PredictionKeys as Key
from jitgraph.estimator.canned.measures import area_under_curve, at_thresholds, predictions_mean
from jitgraph.estimator.export_outputs import ExportOutput
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.losses.losses import Reduction, sigmoid_cross_entropy
from jitgraph.metrics.means import mean
from jitgraph.metrics.thresholds import auc
from jitgraph.ops.arrays.fill import ones, zeros
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import rank
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.checks.check_shapes import assert_integer
from jitgraph.ops.checks.check_values import assert_less, assert_non_negative
from jitgraph.ops.elementwise.cast import to_int64
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.reduce.reductions import reduce_mean
from jitgraph.ops.sparse.sparse_functions import sparse_to_indicator


class MultiLabelHead(CannedHead):
    """Any number of classes, each by the logistic function."""

    def __init__(self, n_classes: int, weight_column: Any, thresholds: tuple, label_vocabulary: Any, loss_reduction: str,
                 loss_fn: Any, measured_classes: tuple, name: str | None):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self.logits_dimension = n_classes
        self.thresholds, self._label_vocabulary = thresholds, label_vocabulary
        self.measured_classes = measured_classes

    def _indicators(self, labels: Any) -> Any:
        """Labels as 0 and 1 for each class, [..., n_classes]."""
        checks.check_given(labels)
        if not isinstance(labels, SparseTensor):
            return checks.in_range(labels, 2, message="labels must be an integer indicator Tensor with values in [0, 1]")
        if labels.dtype == dtypes.string:
            ids = SparseTensor(labels.indices, ids_of(labels.values, self._label_vocabulary), labels.dense_shape)
            return to_int64(sparse_to_indicator(ids, self.logits_dimension))
        message = f"labels must be an integer SparseTensor with values in [0, {self.logits_dimension})"
        tests = [assert_integer(labels.values, message=message),
                 assert_less(labels.values, convert_to_tensor(self.logits_dimension, dtype=labels.dtype), message=message),
                 assert_non_negative(labels.values, message=message)]
        with control_dependencies(tests):
            return to_int64(sparse_to_indicator(labels, self.logits_dimension))

    def per_example(self, features: Any, logits: Any, labels: Any) -> tuple[Any, Any, Any]:
        """The cross entropy, averaged over classes, of labels [..., n_classes], or a SparseTensor of ids or words."""
        labels = checks.checked_labels(self._indicators(labels), logits, self.logits_dimension)
        if self._loss_fn:
            unreduced = checks.called_loss(self._loss_fn, labels, logits, features)
        else:
            unreduced = sigmoid_cross_entropy(labels, logits, reduction=Reduction.NONE)
            unreduced = reduce_mean(unreduced, axis=-1, keepdims=True)
        return unreduced, checks.weights_of(features, self._weight_column, logits), labels

    def predicted(self, logits: Any) -> tuple[Any, dict[str, Any]]:
        logits = checks.checked_logits(logits, self.logits_dimension)
        with name_scope(None, "predictions", (logits,)):
            return logits, {Key.LOGITS: logits, Key.PROBABILITIES: sigmoid(logits, name=Key.PROBABILITIES)}

    def exports(self, predictions: dict[str, Any]) -> dict[str, ExportOutput]:
        return classification_exports(predictions, self.logits_dimension, self._label_vocabulary)

    def _metrics(self, predictions: dict[str, Any], loss: LossSpec, labels: Any, regularization_loss: Any) -> dict[str, tuple]:
        probabilities, weights, labels = predictions[Key.PROBABILITIES], loss.weights, loss.processed_labels
        with name_scope(None, "metrics", [labels, probabilities, weights, loss.unreduced_loss, regularization_loss]):
            found = {Metric.LOSS_MEAN: mean(loss.unreduced_loss, weights=weights, name=Metric.LOSS_MEAN),
                     Metric.AUC: auc(labels, probabilities, weights=weights, name=Metric.AUC),
                     Metric.AUC_PR: auc(labels, probabilities, weights=weights, curve="PR", name=Metric.AUC_PR)}
            if regularization_loss is not None:
                found[Metric.LOSS_REGULARIZATION] = mean(regularization_loss, name=Metric.LOSS_REGULARIZATION)
            found.update(at_thresholds(labels, probabilities, weights, self.thresholds))
            for class_id in self.measured_classes:
                found.update(self._metrics_of_class(class_id, labels, probabilities, weights))
        return {self._key(key): value for key, value in found.items()}

    def _metrics_of_class(self, class_id: int, labels: Any, probabilities: Any, weights: Any) -> dict[str, tuple]:
        own_probabilities, own_labels = of_class(class_id, probabilities, labels)
        average, area, area_pr = self.keys_of_class(class_id)
        return {average: predictions_mean(own_probabilities, weights, name=average),
                area: area_under_curve(own_labels, own_probabilities, weights, name=area),
                area_pr: area_under_curve(own_labels, own_probabilities, weights, "PR", name=area_pr)}

    def keys_of_class(self, class_id: int) -> tuple[str, str, str]:
        """The names of a class's metrics: its mean probability, the areas under its two curves."""
        if self._label_vocabulary is None:
            patterns, shown = (Metric.PROBABILITY_MEAN_AT_CLASS, Metric.AUC_AT_CLASS, Metric.AUC_PR_AT_CLASS), class_id
        else:
            patterns, shown = (Metric.PROBABILITY_MEAN_AT_NAME, Metric.AUC_AT_NAME,
                               Metric.AUC_PR_AT_NAME), self._label_vocabulary[class_id]
        average, area, area_pr = (pattern % shown for pattern in patterns)
        return average, area, area_pr


def of_class(class_id: int, probabilities: Any, labels: Any) -> tuple[Any, Any]:
    """The parts [..., 1] of probabilities and labels [..., n_classes] that are those of a class."""
    dimensions = rank(probabilities) - 1
    begin = concat([zeros([dimensions], dtype=dtypes.int32), [class_id]], axis=0)
    size = concat([-1 * ones([dimensions], dtype=dtypes.int32), [1]], axis=0)
    return slice_of(probabilities, begin=begin, size=size), slice_of(labels, begin=begin, size=size)


def multi_label_head(n_classes: int, weight_column: Any = None, thresholds: Any = None, label_vocabulary: Any = None,
                     loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE, loss_fn: Any = None,
                     classes_for_class_based_metrics: Any = None, name: str | None = None) -> MultiLabelHead:
    """A head for any number of classes for each example: labels are 0 and 1 [..., n_classes], or a SparseTensor of ids or words.

    `thresholds`: probabilities from which on a class counts as there, each with its accuracy, precision and recall;
    `classes_for_class_based_metrics`: ids or words of the classes that are measured each by itself.  Raises ValueError for
    arguments that do not suit.
    """
    found, measured = checked_multi_label(n_classes, thresholds, label_vocabulary, classes_for_class_based_metrics)
    if loss_fn:
        checks.check_loss_function(loss_fn)
    checks.check_reduction(loss_reduction)
    return MultiLabelHead(n_classes, weight_column, found, label_vocabulary, loss_reduction, loss_fn, measured, name)


def checked_multi_label(n_classes: Any, thresholds: Any, label_vocabulary: Any, measured_classes: Any) -> tuple[tuple, tuple]:
    """(thresholds, ids of the classes that are measured each by itself).  Raises ValueError for what does not suit."""
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for multi-label classification. Given: {n_classes}")
    found = tuple(thresholds) if thresholds else ()
    for threshold in found:
        if not 0 < threshold < 1:
            raise ValueError(f"thresholds must be in (0, 1) range. Given: {threshold}")
    if label_vocabulary is not None:
        if not isinstance(label_vocabulary, (list, tuple)):
            raise ValueError(f"label_vocabulary must be a list or tuple. Given type: {type(label_vocabulary)}")
        if len(label_vocabulary) != n_classes:
            raise ValueError(f"Length of label_vocabulary must be n_classes ({n_classes}). Given: {len(label_vocabulary)}")
    return found, _class_ids(measured_classes, label_vocabulary, n_classes)


def _class_ids(classes: Any, vocabulary: Any, n_classes: int) -> tuple:
    found = tuple(classes or ())
    if found and isinstance(found[0], str):
        if not vocabulary:
            raise ValueError("label_vocabulary must be provided when classes_for_class_based_metrics are sting.")
        return tuple(vocabulary.index(one) for one in found)
    for one in found:
        if not 0 <= one < n_classes:
            raise ValueError(f"All classes_for_class_based_metrics must be in range [0, {n_classes - 1}]. Given: {one}")
    return found
