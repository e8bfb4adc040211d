"""What the heads of ready models share: predictions, losses, metrics and exports of logits."""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph.control.order_ops import group
from jitgraph.estimator.canned.keys import MetricKeys, PredictionKeys
from jitgraph.estimator.export_outputs import ClassificationOutput, ExportOutput, PredictOutput
from jitgraph.estimator.modes import ModeKeys
from jitgraph.estimator.spec import EstimatorSpec
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import get_collection, name_scope
from jitgraph.losses.losses import Reduction, compute_weighted_loss
from jitgraph.ops.arrays.fill import ones_like
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.ops.strings.strings import as_string
from jitgraph.resources.table_functions import index_table_from_tensor, index_to_string_table_from_tensor
from jitgraph.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from jitgraph.summary.summaries import scalar
from jitgraph.variables.global_steps import get_global_step

CLASSIFICATION, REGRESSION, PREDICT = "classification", "regression", "predict"


class LossSpec(NamedTuple):
    """The loss to train with, that of each example [..., 1], their weights, and the labels as the head uses them."""

    training_loss: Any
    unreduced_loss: Any
    weights: Any
    processed_labels: Any


class CannedHead:
    """Makes an EstimatorSpec of logits; a subclass says what is predicted, lost and measured.

    `name` goes behind the keys of its metrics and before its nodes; `weight_column` weighs examples; `loss_reduction` is one of
    ``tf.losses.Reduction``; `loss_fn` is a function of labels and logits that gives the loss of each example.
    """

    logits_dimension: Any

    def __init__(self, weight_column: Any = None, loss_reduction: str = Reduction.SUM, loss_fn: Any = None,
                 name: str | None = None):
        self._weight_column, self._loss_reduction, self._loss_fn = weight_column, loss_reduction, loss_fn
        self._name = name

    @property
    def name(self) -> str | None:
        """The name, or None."""
        return self._name

    def _key(self, key: str) -> str:
        return f"{key}/{self._name}" if self._name else key

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> LossSpec:
        """The losses of logits [..., n]."""
        unreduced, weights, labels = self.per_example(features, convert_to_tensor(logits), labels)
        total = compute_weighted_loss(unreduced, weights=weights, reduction=self._loss_reduction)
        return LossSpec(total, unreduced, weights, labels)

    def per_example(self, features: Any, logits: Any, labels: Any) -> tuple[Any, Any, Any]:
        """(the loss of each example [..., 1], or of each logit; their weights; the labels as the loss takes them)"""
        raise NotImplementedError("Calling an abstract method.")

    def predicted(self, logits: Any) -> tuple[Any, dict[str, Any]]:
        """(checked logits, predictions by name)"""
        raise NotImplementedError

    def exports(self, predictions: dict[str, Any]) -> dict[str, ExportOutput]:
        """{signature: what it gives} of the predictions"""
        raise NotImplementedError

    def _metrics(self, predictions: dict[str, Any], loss: LossSpec, labels: Any, regularization_loss: Any) -> dict[str, tuple]:
        """{name: (value, update)}"""
        raise NotImplementedError

    def create_estimator_spec(self, features: Any, mode: str, logits: Any, labels: Any = None, optimizer: Any = None,
                              train_op_fn: Any = None, regularization_losses: Any = None) -> EstimatorSpec:
        """The EstimatorSpec of a model with these logits [batch, logits_dimension].

        To train, one of `optimizer` and `train_op_fn` (a function of the loss) is needed.  `regularization_losses`: scalars that
        are added.  Raises ValueError for both or neither, and for labels that do not suit.
        """
        with name_scope(self._name, "head"):
            logits, predictions = self.predicted(logits)
            if mode == ModeKeys.PREDICT:
                exports = self.exports(predictions)
            else:
                loss = self.create_loss(features, mode, logits, labels)
                regularization = add_n(regularization_losses) if regularization_losses else None
                total = loss.training_loss if regularization is None else add_n([loss.training_loss, regularization])
            if mode not in (ModeKeys.PREDICT, ModeKeys.EVAL):
                train_op = with_updates(train_op_of(total, optimizer, train_op_fn))
                mean_loss = None
                if self._loss_reduction == Reduction.SUM:
                    mean_loss = loss.training_loss / reduce_sum(loss.weights * ones_like(loss.unreduced_loss))
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions=predictions, export_outputs=exports)
        if mode == ModeKeys.EVAL:
            metrics = self._metrics(predictions, loss, labels, regularization)
            return EstimatorSpec(mode, predictions=predictions, loss=total, eval_metric_ops=metrics)
        with name_scope(""):
            for key, value in ((MetricKeys.LOSS, total), (MetricKeys.LOSS_MEAN, mean_loss),
                               (MetricKeys.LOSS_REGULARIZATION, regularization)):
                if value is not None:
                    scalar(self._key(key), value)
        return EstimatorSpec(mode, predictions=predictions, loss=total, train_op=train_op)


def train_op_of(loss: Any, optimizer: Any, train_op_fn: Any) -> Any:
    """The training step of an optimizer, or what a function makes of the loss.  Raises ValueError for both or neither."""
    if optimizer is not None:
        if train_op_fn is not None:
            raise ValueError("train_op_fn and optimizer cannot both be set.")
        return optimizer.minimize(loss, global_step=get_global_step())
    if train_op_fn is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    return train_op_fn(loss)


def with_updates(train_op: Any) -> Any:
    """A training step with the updates of layers."""
    updates = get_collection(GraphKeys.UPDATE_OPS)
    return group(train_op, *updates) if updates else train_op


def all_class_ids(logits: Any, n_classes: Any) -> Any:
    """The ids of all classes, for each example: int32 [batch, n_classes]."""
    batch_size = shape_of(logits)[0]
    ids = range_of(n_classes)
    return tile(expand_dims(ids, axis=0), [batch_size, 1])


def all_classes(logits: Any, n_classes: Any, vocabulary: Any = None) -> Any:
    """The names of all classes, for each example: strings [batch, n_classes]."""
    batch_size = shape_of(logits)[0]
    names = vocabulary if vocabulary else as_string(range_of(n_classes))
    return tile(expand_dims(names, axis=0), [batch_size, 1])


def names_of(class_ids: Any, vocabulary: Any) -> Any:
    """The names of class ids: the words of a vocabulary, or the numbers."""
    if not vocabulary:
        return as_string(class_ids, name="str_classes")
    return index_to_string_table_from_tensor(vocabulary_list=vocabulary, name="class_string_lookup").lookup(class_ids)


def ids_of(labels: Any, vocabulary: Any) -> Any:
    """The positions of labels in a vocabulary."""
    return index_table_from_tensor(vocabulary_list=tuple(vocabulary), name="class_id_lookup").lookup(labels)


def classification_exports(predictions: dict[str, Any], n_classes: Any, vocabulary: Any,
                           **more: ExportOutput) -> dict[str, ExportOutput]:
    """The signatures of a classifier: its scores and classes by default, and all predictions."""
    scores = predictions[PredictionKeys.PROBABILITIES]
    output = ClassificationOutput(scores=scores, classes=all_classes(scores, n_classes, vocabulary))
    return {DEFAULT_SERVING_SIGNATURE_DEF_KEY: output, CLASSIFICATION: output, **more, PREDICT: PredictOutput(predictions)}
