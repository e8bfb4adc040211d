"""``tf.estimator.Head``: what stands on a model's logits, each part of it a method; and what the heads of one kind share.

A head of the ready models (``jitgraph.estimator.canned``) says what is predicted and lost; here it is measured by objects.
"""
from __future__ import annotations

import abc
from typing import Any

from jitgraph.control.order_ops import group
from jitgraph.estimator.canned import checks
from jitgraph.estimator.canned.head import CannedHead
from jitgraph.estimator.canned.keys import MetricKeys
from jitgraph.estimator.modes import ModeKeys
from jitgraph.estimator.spec import EstimatorSpec
from jitgraph.graph.scopes import name_scope
from jitgraph.losses.losses import Reduction, compute_weighted_loss
from jitgraph.losses.weights import broadcast_weights
from jitgraph.metrics.objects import AUC, BinaryAccuracy, Mean, Metric, Precision, Recall
from jitgraph.ops.elementwise.cast import to_float
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.summary.summaries import scalar

OVER_BATCH = "sum_over_batch_size"
_REDUCTIONS = {"auto": Reduction.SUM_OVER_BATCH_SIZE, "sum": Reduction.SUM, OVER_BATCH: Reduction.SUM_OVER_BATCH_SIZE}
_ABSTRACT = "Calling an abstract method."


class Head(abc.ABC):
    """What makes predictions, a loss, metrics and an EstimatorSpec of logits.  A subclass says them all."""

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """The name, which goes behind the keys of the metrics and before the nodes, or None."""
        raise NotImplementedError(_ABSTRACT)

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> Any:
        """The last size of the logits."""
        raise NotImplementedError(_ABSTRACT)

    @property
    @abc.abstractmethod
    def loss_reduction(self) -> str:
        """How losses of examples become one: "sum", or "sum_over_batch_size" for their mean."""
        raise NotImplementedError(_ABSTRACT)

    @abc.abstractmethod
    def loss(self, labels: Any, logits: Any, features: Any = None, mode: Any = None, regularization_losses: Any = None) -> Any:
        """The loss to train with, a scalar; `regularization_losses` are scalars that are added."""
        raise NotImplementedError(_ABSTRACT)

    @abc.abstractmethod
    def predictions(self, logits: Any, keys: Any = None) -> dict:
        """{name: prediction}, by default all."""
        raise NotImplementedError(_ABSTRACT)

    @abc.abstractmethod
    def metrics(self, regularization_losses: Any = None) -> dict[str, Metric]:
        """{name: metric}, each still without updates."""
        raise NotImplementedError(_ABSTRACT)

    @abc.abstractmethod
    def update_metrics(self, eval_metrics: dict, features: Any, logits: Any, labels: Any, mode: Any = None,
                       regularization_losses: Any = None) -> dict[str, Metric]:
        """`eval_metrics`, to which the examples of a batch were added."""
        raise NotImplementedError(_ABSTRACT)

    def _summary_key(self, key: str) -> str:
        return f"{key}/{self.name}" if self.name else key

    def create_estimator_spec(self, features: Any, mode: str, logits: Any, labels: Any = None, optimizer: Any = None,
                              trainable_variables: Any = None, train_op_fn: Any = None, update_ops: Any = None,
                              regularization_losses: Any = None) -> EstimatorSpec:
        """The EstimatorSpec of a model with these logits.  Raises NotImplementedError for a subclass that does not say it."""
        raise NotImplementedError("Subclasses of Head must implement `create_estimator_spec()` or _create_tpu_estimator_spec().")


class HeadOfOneKind(Head):
    """A head that predicts and loses what one of the ready models does."""

    def __init__(self, kind: CannedHead, loss_reduction: str):
        self._kind, self._loss_reduction = kind, loss_reduction

    @property
    def name(self) -> str | None:
        """The name, or None."""
        return self._kind.name

    @property
    def logits_dimension(self) -> Any:
        """The last size of the logits."""
        return self._kind.logits_dimension

    @property
    def loss_reduction(self) -> str:
        """How losses of examples become one."""
        return self._loss_reduction

    def loss(self, labels: Any, logits: Any, features: Any = None, mode: Any = None, regularization_losses: Any = None) -> Any:
        """The loss to train with, a float32 scalar; `regularization_losses` are scalars that are added.

        Raises ValueError for labels and logits that do not suit.
        """
        with name_scope(None, "losses", [logits, labels, regularization_losses, *(features or {}).values()]):
            unreduced, weights, _ = self._per_example(features, logits, labels)
            total = compute_weighted_loss(unreduced, weights, scope="weighted_loss", loss_collection=None,
                                          reduction=_REDUCTIONS[self._loss_reduction])
            return total if regularization_losses is None else total + add_n(regularization_losses)

    def _per_example(self, features: Any, logits: Any, labels: Any) -> tuple[Any, Any, Any]:
        logits = checks.checked_logits(logits, self.logits_dimension)
        return self._kind.per_example(features, logits, labels)

    def predictions(self, logits: Any, keys: Any = None) -> dict:
        """{name: prediction} of logits [..., logits_dimension].  Raises ValueError for a name that is none of them."""
        _, found = self._kind.predicted(logits)
        for key in keys or ():
            if key not in found:
                raise ValueError(f"Prediction key must be in PredictionKeys, given: {key}.Valid prediction keys include "
                                 f"{list(found)}.")
        return {key: value for key, value in found.items() if not keys or key in keys}

    def metrics(self, regularization_losses: Any = None) -> dict[str, Metric]:
        """{name: metric}, each still without updates; with "regularization_loss" if there are such losses."""
        with name_scope(None, "metrics", [regularization_losses]):
            found: dict[str, Metric] = {MetricKeys.LOSS_MEAN: Mean(MetricKeys.LOSS_MEAN), **self._own_metrics()}
            if regularization_losses is not None:
                found[MetricKeys.LOSS_REGULARIZATION] = Mean(MetricKeys.LOSS_REGULARIZATION)
        return {self._summary_key(key): metric for key, metric in found.items()}

    def update_metrics(self, eval_metrics: dict, features: Any, logits: Any, labels: Any,      # type: ignore[override]
                       regularization_losses: Any = None) -> dict[str, Metric]:
        """`eval_metrics`, to which the examples of a batch were added."""
        predictions = self.predictions(logits)
        unreduced, weights, processed = self._per_example(features, logits, labels)
        found = {key: eval_metrics[self._summary_key(key)] for key in self._keys(eval_metrics)}
        found[MetricKeys.LOSS_MEAN].update_state(unreduced, weights)
        self._update_own(found, predictions, processed, weights)
        if regularization_losses is not None:
            found[MetricKeys.LOSS_REGULARIZATION].update_state(add_n(regularization_losses))
        return eval_metrics

    def _keys(self, eval_metrics: dict) -> list[str]:
        behind = f"/{self.name}" if self.name else ""
        return [key.removesuffix(behind) for key in eval_metrics]

    def _own_metrics(self) -> dict[str, Metric]:
        raise NotImplementedError

    def _update_own(self, metrics: dict, predictions: dict, labels: Any, weights: Any) -> None:
        raise NotImplementedError

    def create_estimator_spec(self, features: Any, mode: str, logits: Any, labels: Any = None, optimizer: Any = None,
                              trainable_variables: Any = None, train_op_fn: Any = None, update_ops: Any = None,
                              regularization_losses: Any = None) -> EstimatorSpec:
        """The EstimatorSpec of a model with these logits [batch, logits_dimension].

        To train, `train_op_fn` makes the step of the loss, and `update_ops` are a list of operations that run with it;
        `optimizer` would have to be one of Keras.  Raises ValueError for labels, logits and such arguments that do not suit.
        """
        with name_scope(self.name, "head"):
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions=predictions, export_outputs=self._kind.exports(predictions))
            loss = self.loss(labels, logits, features, mode, regularization_losses)
            metrics = self.metrics(regularization_losses) if mode == ModeKeys.EVAL else None
            if metrics is None:
                train_op = train_op_of(loss, optimizer, trainable_variables, train_op_fn, update_ops)
        if metrics is not None:
            updated = self.update_metrics(metrics, features, logits, labels, regularization_losses)
            return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=updated)
        summarize(self._summary_key, loss, regularization_losses)
        return EstimatorSpec(ModeKeys.TRAIN, predictions=predictions, loss=loss, train_op=train_op)


def check_reduction(reduction: Any) -> None:
    """Raises ValueError unless `reduction` gives a scalar."""
    if reduction not in _REDUCTIONS:
        raise ValueError(f"Invalid loss_reduction: {reduction}. See `tf.losses.Reduction` for valid options.")


def train_op_of(loss: Any, optimizer: Any, trainable_variables: Any, train_op_fn: Any, update_ops: Any) -> Any:
    """The training step that a function makes of the loss, with updates.  Raises ValueError if there is none, or an optimizer."""
    if update_ops is not None and not isinstance(update_ops, (list, tuple)):
        raise ValueError(f"update_ops should be a list or a tuple. Given type: {type(update_ops)}.")
    if optimizer is not None:
        if train_op_fn is not None:
            raise ValueError("train_op_fn and optimizer cannot both be set.")
        raise ValueError("The given optimizer is not a tf.keras.optimizers.Optimizer instance. Given: "
                         f"{optimizer}. Write train_op_fn=lambda loss: optimizer.minimize(loss, global_step).")
    if train_op_fn is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    with name_scope(""), name_scope("training"):
        train_op = train_op_fn(loss)
        return train_op if update_ops is None else group(train_op, *update_ops)


def summarize(key: Any, loss: Any, regularization_losses: Any) -> None:
    """Summaries of the loss and of its part that is regularization."""
    with name_scope(""):
        scalar(key(MetricKeys.LOSS), loss)
        if regularization_losses is not None:
            scalar(key(MetricKeys.LOSS_REGULARIZATION), add_n(regularization_losses))


def update_mean(metric: Mean, values: Any, weights: Any) -> None:
    """Adds values with a weight for each."""
    values = to_float(values)
    metric.update_state(values, broadcast_weights(weights, values))


def metrics_at(keys: tuple[str, str, str], threshold: float) -> dict[str, Metric]:
    """Accuracy, precision and recall at a threshold."""
    accuracy, precision, recall = keys
    return {accuracy: BinaryAccuracy(accuracy, threshold), precision: Precision(precision, threshold),
            recall: Recall(recall, threshold)}


def areas(roc: str = MetricKeys.AUC, pr: str = MetricKeys.AUC_PR) -> dict[str, Metric]:
    """The areas under the two curves."""
    return {roc: AUC(roc), pr: AUC(pr, "PR")}
