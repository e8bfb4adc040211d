"""The heads of ``tf.estimator`` that are of one kind: classes, labels, numbers."""
from __future__ import annotations

from typing import Any

from jitgraph.control.order_ops import no_op
from jitgraph.estimator.canned import checks
from jitgraph.estimator.canned.classification import BinaryHead
from jitgraph.estimator.canned.classification import MultiClassHead as CannedMultiClassHead
from jitgraph.estimator.canned.keys import MetricKeys as Keys
from jitgraph.estimator.canned.keys import PredictionKeys as Key
from jitgraph.estimator.canned.measures import keys_at
from jitgraph.estimator.canned.multi_label import MultiLabelHead as CannedMultiLabelHead
from jitgraph.estimator.canned.multi_label import checked_multi_label, of_class
from jitgraph.estimator.canned.regression import RegressionHead as CannedRegressionHead
from jitgraph.estimator.canned.regression import logistic_loss, poisson_loss
from jitgraph.estimator.heads.head import OVER_BATCH, HeadOfOneKind, areas, check_reduction, metrics_at, update_mean
from jitgraph.losses.losses import Reduction
from jitgraph.metrics.objects import Accuracy, Mean, Metric, Precision, Recall
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.elementary import exp, sigmoid

_UNUSED = Reduction.SUM             # the canned head reduces no loss here


def _check_loss(loss_reduction: Any, loss_fn: Any) -> None:
    check_reduction(loss_reduction)
    if loss_fn:
        checks.check_loss_function(loss_fn, "loss_reduction")


class _AtThresholds(HeadOfOneKind):
    """A head whose probabilities are measured at thresholds too."""

    _kind: BinaryHead | CannedMultiLabelHead

    def _metrics_at_thresholds(self) -> dict[str, Metric]:
        found = {}
        for threshold in self._kind.thresholds:
            shown = {key: self._summary_key(key) for key in keys_at(threshold)}
            made = metrics_at((*shown.values(),), threshold)        # type: ignore[arg-type]
            found.update({key: made[shown[key]] for key in shown})
        return found

    def _update_thresholds(self, metrics: dict, labels: Any, probabilities: Any, weights: Any) -> None:
        for threshold in self._kind.thresholds:
            for key in keys_at(threshold):
                metrics[key].update_state(labels, probabilities, weights)


class BinaryClassHead(_AtThresholds):
    """Yes or no, by the logistic function; labels [..., 1] are 0 or 1, or words of `label_vocabulary`.

    `weight_column`: a feature that weighs examples; `thresholds`: probabilities from which on it is yes, each measured by itself;
    `loss_reduction`: "sum_over_batch_size" or "sum"; `loss_fn`: a function of labels and logits that gives the losses [..., 1].
    Raises ValueError for arguments that do not suit.
    """

    def __init__(self, weight_column: Any = None, thresholds: Any = None, label_vocabulary: Any = None,
                 loss_reduction: str = OVER_BATCH, loss_fn: Any = None, name: str | None = None):
        checks.check_vocabulary(label_vocabulary)
        found = checks.checked_thresholds(thresholds)
        _check_loss(loss_reduction, loss_fn)
        super().__init__(BinaryHead(weight_column, found, label_vocabulary, _UNUSED, loss_fn, name), loss_reduction)

    def _own_metrics(self) -> dict[str, Metric]:
        return {Keys.ACCURACY: Accuracy(Keys.ACCURACY), Keys.PRECISION: Precision(Keys.PRECISION), Keys.RECALL: Recall(Keys.RECALL),
                Keys.PREDICTION_MEAN: Mean(Keys.PREDICTION_MEAN), Keys.LABEL_MEAN: Mean(Keys.LABEL_MEAN),
                Keys.ACCURACY_BASELINE: Mean(Keys.ACCURACY_BASELINE), **areas(), **self._metrics_at_thresholds()}

    def _update_own(self, metrics: dict, predictions: dict, labels: Any, weights: Any) -> None:
        for key in (Keys.ACCURACY, Keys.PRECISION, Keys.RECALL):
            metrics[key].update_state(labels, predictions[Key.CLASS_IDS], weights)
        logistic = predictions[Key.LOGISTIC]
        update_mean(metrics[Keys.PREDICTION_MEAN], logistic, weights)
        update_mean(metrics[Keys.LABEL_MEAN], labels, weights)
        _set_baseline(metrics[Keys.ACCURACY_BASELINE], metrics[Keys.LABEL_MEAN])
        for key in (Keys.AUC, Keys.AUC_PR):
            metrics[key].update_state(labels, logistic, weights)
        self._update_thresholds(metrics, labels, logistic, weights)


def _set_baseline(baseline: Mean, of_labels: Mean) -> None:
    """The accuracy of always saying what is more frequent: no counts of its own."""
    baseline.updates = [no_op()]
    baseline.total = maximum(of_labels.total, of_labels.count - of_labels.total)
    baseline.count = of_labels.count


class MultiClassHead(HeadOfOneKind):
    """One of more than two classes, by softmax; labels [..., 1] are ids, or words of `label_vocabulary`.

    The other arguments are those of BinaryClassHead.  Raises ValueError for arguments that do not suit.
    """

    def __init__(self, n_classes: Any, weight_column: Any = None, label_vocabulary: Any = None, loss_reduction: str = OVER_BATCH,
                 loss_fn: Any = None, name: str | None = None):
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        checks.check_vocabulary(label_vocabulary)
        if label_vocabulary is not None and len(label_vocabulary) != n_classes:
            raise ValueError(f'"label_vocabulary" does not have "n_classes" items. len(label_vocabulary)={len(label_vocabulary)}, '
                             f"n_classes={n_classes}, label_vocabulary={label_vocabulary}")
        _check_loss(loss_reduction, loss_fn)
        super().__init__(CannedMultiClassHead(n_classes, weight_column, label_vocabulary, _UNUSED, loss_fn, name), loss_reduction)

    def _own_metrics(self) -> dict[str, Metric]:
        return {Keys.ACCURACY: Accuracy(Keys.ACCURACY)}

    def _update_own(self, metrics: dict, predictions: dict, labels: Any, weights: Any) -> None:
        metrics[Keys.ACCURACY].update_state(labels, predictions[Key.CLASS_IDS], weights)


class MultiLabelHead(_AtThresholds):
    """Any number of classes for each example: labels are 0 and 1 [..., n_classes], or a SparseTensor of ids or words.

    `classes_for_class_based_metrics`: ids or words of the classes that are measured each by itself; the other arguments are
    those of BinaryClassHead.  Raises ValueError for arguments that do not suit.
    """

    _kind: CannedMultiLabelHead

    def __init__(self, n_classes: int, weight_column: Any = None, thresholds: Any = None, label_vocabulary: Any = None,
                 loss_reduction: str = OVER_BATCH, loss_fn: Any = None, classes_for_class_based_metrics: Any = None,
                 name: str | None = None):
        found, measured = checked_multi_label(n_classes, thresholds, label_vocabulary, classes_for_class_based_metrics)
        _check_loss(loss_reduction, loss_fn)
        super().__init__(CannedMultiLabelHead(n_classes, weight_column, found, label_vocabulary, _UNUSED, loss_fn, measured, name),
                         loss_reduction)

    def _own_metrics(self) -> dict[str, Metric]:
        found = {**areas(), **self._metrics_at_thresholds()}
        for class_id in self._kind.measured_classes:
            average, area, area_pr = self._kind.keys_of_class(class_id)
            found.update({average: Mean(self._summary_key(average)), **areas(area, area_pr)})
        return found

    def _update_own(self, metrics: dict, predictions: dict, labels: Any, weights: Any) -> None:
        probabilities = predictions[Key.PROBABILITIES]
        for key in (Keys.AUC, Keys.AUC_PR):
            metrics[key].update_state(labels, probabilities, weights)
        self._update_thresholds(metrics, labels, probabilities, weights)
        for class_id in self._kind.measured_classes:
            own_probabilities, own_labels = of_class(class_id, probabilities, labels)
            average, *both = self._kind.keys_of_class(class_id)
            update_mean(metrics[average], own_probabilities, weights)
            for key in both:
                metrics[key].update_state(own_labels, own_probabilities, weights)


class RegressionHead(HeadOfOneKind):
    """Numbers [..., label_dimension], by default with the squared error; `inverse_link_fn` makes predictions of logits.

    The other arguments are those of BinaryClassHead; weights may be one for each number.  Raises ValueError for arguments that
    do not suit.
    """

    def __init__(self, label_dimension: int = 1, weight_column: Any = None, loss_reduction: str = OVER_BATCH, loss_fn: Any = None,
                 inverse_link_fn: Any = None, name: str | None = None):
        kind = CannedRegressionHead(label_dimension, weight_column, _UNUSED, loss_fn, inverse_link_fn, name)
        _check_loss(loss_reduction, loss_fn)
        super().__init__(kind, loss_reduction)

    def _own_metrics(self) -> dict[str, Metric]:
        return {Keys.PREDICTION_MEAN: Mean(Keys.PREDICTION_MEAN), Keys.LABEL_MEAN: Mean(Keys.LABEL_MEAN)}

    def _update_own(self, metrics: dict, predictions: dict, labels: Any, weights: Any) -> None:
        metrics[Keys.LABEL_MEAN].update_state(labels, weights)
        update_mean(metrics[Keys.PREDICTION_MEAN], predictions[Key.PREDICTIONS], weights)


class PoissonRegressionHead(RegressionHead):
    """Counts, whose logarithm of the mean is the logit.

    `compute_full_loss`: whether the loss has Stirling's approximation of the part that depends on the labels alone; the other
    arguments are those of RegressionHead.
    """

    def __init__(self, label_dimension: int = 1, weight_column: Any = None, loss_reduction: str = OVER_BATCH,
                 compute_full_loss: bool = True, name: str | None = None):
        super().__init__(label_dimension, weight_column, loss_reduction, poisson_loss(compute_full_loss), exp, name)


class LogisticRegressionHead(RegressionHead):
    """A probability, learnt from labels between 0 and 1; the arguments are those of RegressionHead."""

    def __init__(self, weight_column: Any = None, loss_reduction: str = OVER_BATCH, name: str | None = None):
        super().__init__(1, weight_column, loss_reduction, logistic_loss, sigmoid, name)
