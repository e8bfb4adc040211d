"""Heads of ``tf.contrib.learn`` that are not of the ready models: a margin, several labels, a loss alone, several heads."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.contrib.learn.heads import SWITCH, ClassHead, Head, SingleHead, area_of, check_class_ids, check_loss_fn, mean_of
from jitgraph.contrib.learn.model_ops import MetricKey, ModeKeys, ModelFnOps, PredictionKey, ProblemType
from jitgraph.control.order_ops import group, no_op
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor, convert_to_tensor_or_sparse_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.losses.losses import Reduction, hinge_loss
from jitgraph.metrics.means import accuracy
from jitgraph.ops.arrays.fill import zeros_like
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import rank, reshape
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.arithmetic import multiply
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import greater, less_equal
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.nn.functions import sigmoid_cross_entropy_with_logits
from jitgraph.ops.reduce.reductions import argmax
from jitgraph.ops.sparse.sparse_functions import sparse_to_indicator
from jitgraph.summary.summaries import scalar
from jitgraph.variables.variable_scopes import variable_scope


class _BinarySvmHead(SingleHead):
    """Yes or no, by the hinge loss."""

    default_name, problem_type = "binary_svm_head", ProblemType.LOGISTIC_REGRESSION

    def _unreduced(self, labels: Any, logits: Any) -> Any:
        with name_scope(None, "hinge_loss", (logits, labels)) as name:
            fits = Assert(less_equal(rank(labels), 2), ("labels shape should be either [batch_size, 1] or [batch_size]",))
            with control_dependencies((fits,)):
                labels = reshape(labels, shape=(-1, 1))
            return hinge_loss(labels=labels, logits=logits, scope=name, reduction=Reduction.NONE)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        both = concat((zeros_like(logits), logits), 1)
        return {PredictionKey.LOGITS: logits, PredictionKey.CLASSES: argmax(both, 1, name=PredictionKey.CLASSES)}

    def _metrics(self, predictions: dict[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        return {self._key(MetricKey.ACCURACY): accuracy(labels, predictions[PredictionKey.CLASSES], weights)}


class _MultiLabelHead(ClassHead):
    """Any number of classes for each example, each by the logistic function."""

    default_name, problem_type = "multi_label_head", ProblemType.CLASSIFICATION
    metric_class_ids: tuple[int, ...] = ()

    def _labels(self, labels: Any) -> Any:
        found = convert_to_tensor_or_sparse_tensor(labels[self.label_name] if isinstance(labels, dict) else labels)
        if isinstance(found, SparseTensor):
            return cast(sparse_to_indicator(found, self.logits_dimension), dtypes.int64)
        return found

    def _unreduced(self, labels: Any, logits: Any) -> Any:
        with name_scope(None, "sigmoid_cross_entropy_loss", (logits, labels)) as name:
            return sigmoid_cross_entropy_with_logits(labels=cast(labels, dtypes.float32), logits=logits, name=name)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        return {PredictionKey.LOGITS: logits,
                PredictionKey.PROBABILITIES: sigmoid(logits, name=PredictionKey.PROBABILITIES),
                PredictionKey.CLASSES: cast(greater(logits, 0), dtypes.int64, name=PredictionKey.CLASSES)}

    def _metrics(self, predictions: dict[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        classes, logits = predictions[PredictionKey.CLASSES], predictions[PredictionKey.LOGITS]
        probabilities = predictions[PredictionKey.PROBABILITIES]
        found = {MetricKey.ACCURACY: accuracy(labels, classes, weights), MetricKey.AUC: area_of(probabilities, labels, weights),
                 MetricKey.AUC_PR: area_of(probabilities, labels, weights, curve="PR")}
        for class_id in self.metric_class_ids:
            found.update({MetricKey.CLASS_PREDICTION_MEAN % class_id: mean_of(classes, weights, class_id),
                          MetricKey.CLASS_LABEL_MEAN % class_id: mean_of(labels, weights, class_id),
                          MetricKey.CLASS_PROBABILITY_MEAN % class_id: mean_of(probabilities, weights, class_id),
                          MetricKey.CLASS_LOGITS_MEAN % class_id: mean_of(logits, weights, class_id),
                          MetricKey.CLASS_AUC % class_id: area_of(probabilities, labels, weights, class_id),
                          MetricKey.CLASS_AUC_PR % class_id: area_of(probabilities, labels, weights, class_id, curve="PR")})
        return {self._key(key): value for key, value in found.items()}


class _LossOnlyHead(Head):
    """A loss of no logits, such as a penalty of parameters."""

    def __init__(self, loss_fn: Any, head_name: str | None):
        self._loss_fn, self.head_name = loss_fn, head_name or "loss_only_head"

    @property
    def logits_dimension(self) -> int:
        """0."""
        return 0

    def create_model_fn_ops(self, features: Any, mode: str, labels: Any = None, train_op_fn: Any = None, logits: Any = None,
                            logits_input: Any = None, scope: Any = None) -> ModelFnOps:
        """ModelFnOps of the loss alone."""
        ModeKeys.validate(mode)
        loss = train_op = None
        if mode != ModeKeys.INFER:
            with variable_scope(scope, default_name=self.head_name):
                loss = self._loss_fn()
                loss = add_n(loss) if isinstance(loss, list) else loss
                with name_scope(""):
                    scalar(f"{MetricKey.LOSS}/{self.head_name}", identity(loss))
                if mode == ModeKeys.TRAIN:
                    if train_op_fn is None:
                        raise ValueError("train_op_fn can not be None in TRAIN mode")
                    with name_scope(None, "train_op", (loss,)):
                        train_op = train_op_fn(loss)
        return ModelFnOps(mode=mode, loss=loss, train_op=train_op, predictions={}, eval_metric_ops={})


class _MultiHead(Head):
    """Heads whose logits lie side by side, or in a dict by their names; their losses are added."""

    def __init__(self, heads: list, loss_weights: Any):
        for head in heads:
            if not head.head_name:
                raise ValueError("Members of MultiHead must have names.")
        self._heads, self._loss_weights = heads, loss_weights

    @property
    def logits_dimension(self) -> int:
        """The sum of the heads' sizes."""
        return sum(head.logits_dimension for head in self._heads)

    def create_model_fn_ops(self, features: Any, mode: str, labels: Any = None, train_op_fn: Any = None, logits: Any = None,
                            logits_input: Any = None, scope: Any = None) -> ModelFnOps:
        """The ModelFnOps of all heads; predictions are named (head, key).  Raises ValueError for another mode."""
        ModeKeys.validate(mode)
        if mode == ModeKeys.TRAIN and train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode.")
        given = [{"logits_input": logits_input} for _ in self._heads] if logits is None else [
            {"logits": one} for one in self._parts(logits)]
        made = [head.create_model_fn_ops(features=features, mode=mode, labels=labels, train_op_fn=lambda loss: no_op(),
                                         scope=scope, **one) for head, one in zip(self._heads, given)]
        if mode == ModeKeys.INFER:
            with_logits = [(head, ops) for head, ops in zip(self._heads, made) if not isinstance(head, _LossOnlyHead)]
            return ModelFnOps(mode=mode, predictions=_named(with_logits), output_alternatives={
                head.head_name: ops.output_alternatives[head.head_name] for head, ops in with_logits})
        metrics = {key: value for ops in made for key, value in ops.eval_metric_ops.items()}
        loss = self._joined([ops.loss for ops in made])
        if mode == ModeKeys.EVAL:
            return ModelFnOps(mode=mode, predictions=_named(zip(self._heads, made)), loss=loss, eval_metric_ops=metrics)
        train_op = group(train_op_fn(loss), *(ops.train_op for ops in made))
        return ModelFnOps(mode=mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    def _joined(self, losses: list) -> Any:
        if self._loss_weights:
            losses = [multiply(loss, weight) for loss, weight in zip(losses, self._loss_weights)]
        return add_n(losses)

    def _parts(self, logits: Any) -> list:
        if isinstance(logits, dict):
            return [None if isinstance(head, _LossOnlyHead) else logits[head.head_name] for head in self._heads]
        found, begin = [], 0
        for head in self._heads:
            found.append(slice_of(logits, [0, begin], [-1, head.logits_dimension]))
            begin += head.logits_dimension
        return found


def _named(made: Any) -> dict:
    return {(head.head_name, key): value for head, ops in made for key, value in ops.predictions.items()}


@deprecated(None, SWITCH)
def binary_svm_head(label_name: Any = None, weight_column_name: Any = None, enable_centered_bias: bool = False,
                    head_name: str | None = None, thresholds: Any = None) -> Head:
    """A head of yes or no with the hinge loss; labels [batch] or [batch, 1] are 0 or 1."""
    return _BinarySvmHead(1, label_name, weight_column_name, enable_centered_bias, head_name)


@deprecated(None, SWITCH)
def multi_label_head(n_classes: int, label_name: Any = None, weight_column_name: Any = None, enable_centered_bias: bool = False,
                     head_name: str | None = None, thresholds: Any = None, metric_class_ids: Any = None,
                     loss_fn: Any = None) -> Head:
    """A head of any number of classes for each example: labels are 0 and 1 [batch, n_classes], or a SparseTensor of ids.

    `metric_class_ids`: the classes that are measured each by itself.  Raises ValueError for fewer than two classes.
    """
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    check_loss_fn(loss_fn)
    head = _MultiLabelHead(n_classes, label_name, weight_column_name, enable_centered_bias, head_name, loss_fn)
    head.metric_class_ids = check_class_ids(metric_class_ids, n_classes)
    return head


@deprecated(None, SWITCH)
def loss_only_head(loss_fn: Any, head_name: str | None = None) -> Head:
    """A head of the loss that a function of nothing gives, or of the sum of a list of them."""
    return _LossOnlyHead(loss_fn, head_name)


@deprecated(None, SWITCH)
def multi_head(heads: list, loss_weights: Any = None) -> Head:
    """One head of several, whose losses are added, weighed by `loss_weights`.

    Raises ValueError for heads without a name, and for another number of weights.
    """
    if loss_weights and len(loss_weights) != len(heads):
        raise ValueError("heads and loss_weights must have same size")
    return _MultiHead(heads, loss_weights)
