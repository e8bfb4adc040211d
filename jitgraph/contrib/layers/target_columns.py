"""Columns of labels, from before there were heads: they say what the loss is, what is predicted and what is measured."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.losses.losses import hinge_loss
from jitgraph.contrib.metrics import reordered
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.fill import zeros_like
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import expand_dims, reshape, squeeze
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.arithmetic import div, multiply, squared_difference
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import greater_equal, less_equal
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.nn.functions import sigmoid_cross_entropy_with_logits
from jitgraph.ops.nn.softmax import softmax, sparse_softmax_cross_entropy_with_logits
from jitgraph.ops.reduce.reductions import argmax, reduce_mean, reduce_sum

Loss = Callable[[Any, Any], Any]
Metrics = dict[Any, Callable[..., tuple[Any, Any]]]


class ProblemType:
    """What a column of labels is for."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


class _TargetColumn:
    """Logits are float32 [batch, num_label_columns], labels [batch] or [batch, 1]; weights, if any, stand among the features."""

    def __init__(self, loss_fn: Loss, num_label_columns: int, label_name: str | None, weight_column_name: str | None,
                 problem_type: int):
        self._loss_fn = loss_fn
        self.num_label_columns = num_label_columns
        self.label_name, self.weight_column_name = label_name, weight_column_name
        self.problem_type = problem_type

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        """What logits predict; probabilities if `proba`."""
        raise NotImplementedError()

    def get_eval_ops(self, features: dict, logits: Any, labels: Any, metrics: Metrics | None = None) -> dict[str, tuple]:
        """{name: (value, update)} of the loss and of `metrics`, functions of predictions, labels and maybe ``weights``."""
        raise NotImplementedError

    def get_weight_tensor(self, features: dict) -> Any:
        """The weights of examples, float32 [batch], None if there are none."""
        if not self.weight_column_name:
            return None
        return reshape(cast(features[self.weight_column_name], dtypes.float32), shape=(-1,))

    def training_loss(self, logits: Any, target: Any, features: dict, name: str = "training_loss") -> Any:
        """The mean of the losses, each multiplied with its weight."""
        losses, _ = self._weighted(logits, target, features)
        return reduce_mean(losses, name=name)

    def loss(self, logits: Any, target: Any, features: dict) -> Any:
        """The mean of the losses, weighted."""
        losses, weights = self._weighted(logits, target, features)
        if weights is None:
            return reduce_mean(losses, name="loss")
        return div(reduce_sum(losses), cast(reduce_sum(weights), dtypes.float32), name="loss")

    def _weighted(self, logits: Any, target: Any, features: dict) -> tuple[Any, Any]:
        losses = self._loss_fn(logits, target[self.label_name] if isinstance(target, dict) else target)
        weights = self.get_weight_tensor(features)
        if weights is None:
            return losses, None
        return multiply(reshape(losses, shape=(-1,)), reshape(weights, shape=(-1,))), weights


class _RegressionTargetColumn(_TargetColumn):
    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        return squeeze(logits, axis=[1]) if self.num_label_columns == 1 else logits

    def get_eval_ops(self, features: dict, logits: Any, labels: Any, metrics: Metrics | None = None) -> dict[str, tuple]:
        result = {"loss": reordered.streaming_mean(self.loss(logits, labels, features))}
        if metrics:
            result.update(_measured(self.logits_to_predictions(logits), labels, metrics, self.get_weight_tensor(features)))
        return result


class _MultiClassTargetColumn(_TargetColumn):
    def __init__(self, loss_fn: Loss, n_classes: int, label_name: str | None, weight_column_name: str | None):
        if n_classes < 2:
            raise ValueError("n_classes must be >= 2")
        super().__init__(loss_fn, 1 if n_classes == 2 else n_classes, label_name, weight_column_name, ProblemType.CLASSIFICATION)

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        if self.num_label_columns == 1:
            logits = concat([zeros_like(logits), logits], 1)
        return softmax(logits) if proba else argmax(logits, 1)

    def get_eval_ops(self, features: dict, logits: Any, labels: Any, metrics: Metrics | None = None) -> dict[str, tuple]:
        """{name: (value, update)} of the loss, of what is always measured of two classes, and of `metrics`.

        A key of `metrics` is a name, or (name, "classes" or "probabilities"), which says what the predictions are that it
        measures; classes if it is a name.  Raises ValueError for other keys.
        """
        result = {"loss": reordered.streaming_mean(self.loss(logits, labels, features))}
        if metrics is None:
            metrics = {("accuracy", "classes"): reordered.streaming_accuracy}
        predictions, float_labels = sigmoid(logits), cast(labels, dtypes.float32)
        if self.num_label_columns == 1:
            for name, metric in get_default_binary_metrics_for_eval(thresholds=[0.5]).items():
                result[name] = metric(predictions, float_labels)
        wanted: dict[str, Metrics] = {"classes": {}, "probabilities": {}}
        for key, metric in metrics.items():
            name, of = _checked_key(key)
            wanted[of][name] = metric
        for of, some in wanted.items():
            if some:
                found = self.logits_to_predictions(logits, proba=of == "probabilities")
                result.update(_measured(found, labels, some, self.get_weight_tensor(features)))
        return result


class _BinarySvmTargetColumn(_MultiClassTargetColumn):
    def __init__(self, label_name: str | None, weight_column_name: str | None):
        super().__init__(_hinge_loss, 2, label_name, weight_column_name)

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        if proba:
            raise ValueError("logits to probabilities is not supported for _BinarySvmTargetColumn")
        return super().logits_to_predictions(logits)


def _checked_key(key: Any) -> tuple[str, str]:
    if isinstance(key, tuple):
        if len(key) != 2:
            raise ValueError(f"Ignoring metric {key}. It returned a tuple with len {len(key)}, expected 2.")
        if key[1] not in ("classes", "probabilities"):
            raise ValueError(f"Ignoring metric {key}. The 2nd element of its name should be either 'classes' or 'probabilities'.")
        return key
    if isinstance(key, str):
        return key, "classes"
    raise ValueError(f"Ignoring metric {key}. Its name is not in the correct form.")


def regression_target(label_name: str | None = None, weight_column_name: str | None = None, label_dimension: int = 1) -> Any:
    """A column of numbers: squared differences are the loss.

    Args:
      label_name: the key of the labels, if they are a dictionary.
      weight_column_name: the feature with the weights of examples, if there is one.
      label_dimension: how many numbers an example has.
    """
    return _RegressionTargetColumn(_squared_loss, label_dimension, label_name, weight_column_name,
                                   ProblemType.LINEAR_REGRESSION)


def multi_class_target(n_classes: int, label_name: str | None = None, weight_column_name: str | None = None) -> Any:
    """A column of integer classes: one logit for two of them, else one each.  Raises ValueError for fewer than two.

    `label_name` and `weight_column_name` are as in ``regression_target``.
    """
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    return _MultiClassTargetColumn(_log_loss if n_classes == 2 else _softmax_loss, n_classes, label_name, weight_column_name)


def binary_svm_target(label_name: str | None = None, weight_column_name: str | None = None) -> Any:
    """A column of two classes with the hinge loss; the arguments are those of ``regression_target``."""
    return _BinarySvmTargetColumn(label_name, weight_column_name)


def _column(target: Any) -> Any:
    return expand_dims(target, axis=1) if len(target.get_shape()) == 1 else target


def _squared_loss(logits: Any, target: Any) -> Any:
    target = _column(target)
    logits.get_shape().assert_is_compatible_with(target.get_shape())
    return squared_difference(logits, cast(target, dtypes.float32))


def _log_loss(logits: Any, target: Any) -> Any:
    return sigmoid_cross_entropy_with_logits(labels=cast(_column(target), dtypes.float32), logits=logits)


def _softmax_loss(logits: Any, target: Any) -> Any:
    if not target.dtype.is_integer:
        raise ValueError(f"Target's dtype should be integer Instead got {target.dtype}.")
    if len(target.get_shape()) == 2:
        target = squeeze(target, axis=[1])
    return sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)


def _hinge_loss(logits: Any, target: Any) -> Any:
    fits = Assert(less_equal(rank_of(target), 2), ["target's shape should be either [batch_size, 1] or [batch_size]"])
    with control_dependencies([fits]):
        target = reshape(target, shape=[shape_of(target)[0], 1])
    return hinge_loss(logits, target)


def _measured(predictions: Any, labels: Any, metrics: Metrics, weights: Any) -> dict[str, tuple]:
    labels = cast(labels, predictions.dtype)
    named = {} if weights is None else {"weights": weights}
    return {name: metric(predictions, labels, **named) for name, metric in metrics.items()}


def get_default_binary_metrics_for_eval(thresholds: list[float]) -> Metrics:
    """{name: a function of probabilities, float labels and ``weights``} of what is always measured of two classes."""
    metrics: Metrics = {
        "labels/prediction_mean": lambda predictions, labels, weights=None: reordered.streaming_mean(predictions, weights=weights),
        "labels/actual_target_mean": _mean_label, "accuracy/baseline_target_mean": _mean_label,
        "auc": lambda predictions, labels, weights=None: reordered.streaming_auc(predictions, labels, weights=_floats(weights))}
    for threshold in thresholds:
        metrics[f"accuracy/threshold_{threshold:f}_mean"] = _accuracy_at(threshold)
        metrics[f"precision/positive_threshold_{threshold:f}_mean"] = _at(reordered.streaming_precision_at_thresholds, threshold)
        metrics[f"recall/positive_threshold_{threshold:f}_mean"] = _at(reordered.streaming_recall_at_thresholds, threshold)
    return metrics


def _mean_label(predictions: Any, labels: Any, weights: Any = None) -> tuple[Any, Any]:
    return reordered.streaming_mean(labels, weights=weights)


def _floats(weights: Any) -> Any:
    return None if weights is None else cast(weights, dtypes.float32)


def _accuracy_at(threshold: float) -> Callable[..., tuple[Any, Any]]:
    def measured(predictions: Any, labels: Any, weights: Any = None) -> tuple[Any, Any]:
        above = cast(greater_equal(predictions, threshold), dtypes.float32)
        return reordered.streaming_accuracy(predictions=above, labels=labels, weights=weights)

    return measured


def _at(metric: Callable[..., tuple[Any, Any]], threshold: float) -> Callable[..., tuple[Any, Any]]:
    def measured(predictions: Any, labels: Any, weights: Any = None) -> tuple[Any, Any]:
        values, update = metric(predictions, labels=labels, thresholds=[threshold], weights=_floats(weights))
        return squeeze(values), update

    return measured
