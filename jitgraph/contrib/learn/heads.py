"""The heads of ``tf.contrib.learn``: predictions, losses and metrics of logits."""
from __future__ import annotations

from typing import Any

from jitgraph.app import logs
from jitgraph.contrib.layers.dense import linear
from jitgraph.contrib.learn.model_ops import MetricKey, ModeKeys, ModelFnOps, PredictionKey, ProblemType
from jitgraph.facade.names import resolve
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor, convert_to_tensor_or_sparse_tensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.metrics.means import accuracy, mean
from jitgraph.metrics.thresholds import auc, precision_at_thresholds, recall_at_thresholds
from jitgraph.ops.arrays.fill import zeros_like
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, reshape, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import greater_equal
from jitgraph.ops.reduce.reductions import reduce_mean, reduce_sum
from jitgraph.ops.strings.strings import as_string
from jitgraph.resources.table_functions import index_table_from_tensor, index_to_string_table_from_tensor
from jitgraph.summary.summaries import scalar
from jitgraph.variables.variable_scopes import variable_scope


def _weighted(loss: Any, weights: Any) -> tuple[Any, Any]:
    """(the loss to train with, that to show): means, the second by the sum of the weights."""
    with name_scope(None, default_name="weighted_loss", values=[loss, weights]) as scope:
        if weights is None:
            found = reduce_mean(loss, name=scope)
            return found, found
        weighted = loss * _broadcast(weights, loss)
        return reduce_mean(weighted, name=scope), reduce_sum(weighted) / reduce_sum(_broadcast(weights, loss))


def _broadcast(weights: Any, values: Any) -> Any:
    weights = cast(weights, dtypes.float32)
    if len(weights.get_shape()) < len(values.get_shape()):
        weights = expand_dims(weights, -1)
    return weights * (zeros_like(values) + 1)


def _column(labels: Any) -> Any:
    labels = convert_to_tensor(labels)
    return expand_dims(labels, axis=1) if len(labels.get_shape()) == 1 else labels


def _squared(labels: Any, logits: Any) -> Any:
    with name_scope(None, "mean_squared_loss", (logits, labels)) as name:
        return resolve("squared_difference")(_column(logits), cast(_column(labels), dtypes.float32), name=name)


def _log_loss(labels: Any, logits: Any) -> Any:
    with name_scope(None, "log_loss_with_two_classes", (logits, labels)) as name:
        labels = _column(cast(labels, dtypes.float32))
        return resolve("nn.sigmoid_cross_entropy_with_logits")(labels=labels, logits=logits, name=name)


def _softmax_loss(labels: Any, logits: Any) -> Any:
    with name_scope(None, "softmax_cross_entropy_loss", (logits, labels)) as name:
        labels = convert_to_tensor(labels)
        if not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer Instead got {labels.dtype}.")
        is_column = len(labels.get_shape()) == 2
        loss = resolve("nn.sparse_softmax_cross_entropy_with_logits")(
            labels=squeeze(labels, axis=(1,)) if is_column else labels, logits=logits, name=name)
        return expand_dims(loss, axis=(1,)) if is_column else loss


class Head:
    """Makes ModelFnOps of logits; a subclass says what is predicted, lost and measured."""

    default_name, problem_type = "head", ProblemType.UNSPECIFIED

    def __init__(self, logits_dimension: int, label_name: Any = None, weight_column_name: Any = None,
                 enable_centered_bias: bool = False, head_name: str | None = None, loss_fn: Any = None):
        if logits_dimension is None or logits_dimension < 1:
            raise ValueError(f"Invalid logits_dimension {logits_dimension}.")
        if enable_centered_bias:
            raise ValueError("jitgraph has no centered bias: leave enable_centered_bias False")
        self.logits_dimension, self.label_name = logits_dimension, label_name
        self.weight_column_name, self.head_name, self._loss_fn = weight_column_name, head_name, loss_fn

    def create_model_fn_ops(self, features: Any, mode: str, labels: Any = None, train_op_fn: Any = None, logits: Any = None,
                            logits_input: Any = None, scope: Any = None) -> ModelFnOps:
        """The ModelFnOps of logits, or of what logits are a linear function of."""
        with variable_scope(scope, default_name=self.head_name or self.default_name):
            ModeKeys.validate(mode)
            labels = None if mode == ModeKeys.INFER or labels is None else self._labels(labels)
            logits = self._logits(logits, logits_input)
            with name_scope(None, "predictions", (logits,)):
                predictions = self._predictions(logits)
            loss = train_op = metrics = None
            if labels is not None:
                weights = None
                if self.weight_column_name:
                    weights = cast(features[self.weight_column_name], dtypes.float32)
                loss, shown = self._loss(labels, logits, weights)
                with name_scope(""):
                    scalar(self._key(MetricKey.LOSS), identity(shown))
                if mode == ModeKeys.TRAIN:
                    if train_op_fn is None:
                        raise ValueError("train_op_fn can not be None in TRAIN mode")
                    shape_of(logits)
                    with name_scope(None, "train_op", (loss,)):
                        train_op = train_op_fn(loss)
                with name_scope("metrics"):
                    metrics = {self._key(MetricKey.LOSS): mean(shown), **self._metrics(predictions, labels, weights)}
            return ModelFnOps(mode=mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics,
                              output_alternatives={self.head_name: (self.problem_type, self._exported(predictions))})

    def _key(self, key: str) -> str:
        return f"{key}/{self.head_name}" if self.head_name else key

    def _logits(self, logits: Any, logits_input: Any) -> Any:
        if logits is not None:
            if logits_input is not None:
                raise ValueError("Both logits and logits_input supplied.")
            return convert_to_tensor(logits, name="logits")
        if logits_input is None:
            raise ValueError("Neither logits nor logits_input supplied.")
        return linear(logits_input, self.logits_dimension, scope="logits")

    def _labels(self, labels: Any) -> Any:
        found = convert_to_tensor_or_sparse_tensor(labels[self.label_name] if isinstance(labels, dict) else labels)
        if isinstance(found, SparseTensor):
            raise ValueError("SparseTensor is not supported.")
        return found

    def _loss(self, labels: Any, logits: Any, weights: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    def _predictions(self, logits: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _metrics(self, predictions: dict[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _exported(self, predictions: dict[str, Any]) -> dict[str, Any]:
        return predictions


class _RegressionHead(Head):
    default_name, problem_type = "regression_head", ProblemType.LINEAR_REGRESSION
    link_fn: Any = staticmethod(identity)

    def _loss(self, labels: Any, logits: Any, weights: Any) -> tuple[Any, Any]:
        return _weighted((self._loss_fn or _squared)(labels, logits), weights)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        if self.logits_dimension == 1:
            logits = squeeze(logits, axis=(1,), name=PredictionKey.SCORES)
        return {PredictionKey.SCORES: self.link_fn(logits)}

    def _metrics(self, predictions: dict[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        return {}


def _class_names(probabilities: Any, label_keys: Any = None) -> Any:
    with name_scope(None, "_classification_output_alternatives", (probabilities,)):
        rows = shape_of(probabilities)[0]
        if label_keys:
            return tile(expand_dims(label_keys, axis=0), [rows, 1], name="classes_tensor")
        columns = shape_of(probabilities)[1]
        return as_string(tile(expand_dims(range_of(columns), axis=0), [rows, 1]), name="classes_tensor")


class _ClassHead(Head):
    label_keys: Any = None

    def _exported(self, predictions: dict[str, Any]) -> dict[str, Any]:
        scores = predictions[PredictionKey.PROBABILITIES]
        return {PredictionKey.PROBABILITIES: scores, PredictionKey.CLASSES: _class_names(scores, self.label_keys)}


class _BinaryLogisticHead(_ClassHead):
    default_name, problem_type = "binary_logistic_head", ProblemType.LOGISTIC_REGRESSION
    thresholds: Any = (0.5,)

    def _loss(self, labels: Any, logits: Any, weights: Any) -> tuple[Any, Any]:
        return _weighted((self._loss_fn or _log_loss)(labels, logits), weights)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        both = concat((zeros_like(logits), logits), 1)
        return {PredictionKey.LOGITS: logits,
                PredictionKey.LOGISTIC: resolve("sigmoid")(logits, name=PredictionKey.LOGISTIC),
                PredictionKey.PROBABILITIES: resolve("nn.softmax")(both, name=PredictionKey.PROBABILITIES),
                PredictionKey.CLASSES: resolve("argmax")(both, 1, name=PredictionKey.CLASSES)}

    def _metrics(self, predictions: dict[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        logistic, numbers = predictions[PredictionKey.LOGISTIC], cast(labels, dtypes.float32)
        of_labels = None if weights is None else _broadcast(weights, numbers)
        of_scores = None if weights is None else _broadcast(weights, logistic)
        found = {MetricKey.ACCURACY: accuracy(labels, predictions[PredictionKey.CLASSES], weights),
                 MetricKey.PREDICTION_MEAN: mean(logistic, of_scores), MetricKey.LABEL_MEAN: mean(numbers, of_labels),
                 MetricKey.ACCURACY_BASELINE: mean(numbers, of_labels)}
        logs.warning("Casting %s labels to bool.", labels.dtype)
        truth = cast(labels, dtypes.bool_)
        found[MetricKey.AUC] = auc(truth, logistic, of_scores)
        found[MetricKey.AUC_PR] = auc(truth, logistic, of_scores, curve="PR")
        for threshold in self.thresholds:
            above = cast(greater_equal(logistic, threshold), dtypes.float32)
            found[MetricKey.ACCURACY_MEAN % threshold] = accuracy(labels, above, weights)
            for key, function in ((MetricKey.PRECISION_MEAN, precision_at_thresholds),
                                  (MetricKey.RECALL_MEAN, recall_at_thresholds)):
                value, update = function(labels, logistic, [threshold], weights)
                found[key % threshold] = squeeze(value), squeeze(update)
        return {self._key(key): value for key, value in found.items()}


class _MultiClassHead(_ClassHead):
    default_name, problem_type = "multi_class_head", ProblemType.CLASSIFICATION

    def _loss(self, labels: Any, logits: Any, weights: Any) -> tuple[Any, Any]:
        ids = index_table_from_tensor(self.label_keys, name="label_id_lookup").lookup(labels) if self.label_keys else labels
        return _weighted((self._loss_fn or _softmax_loss)(ids, logits), weights)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        classes = resolve("argmax")(logits, 1, name=PredictionKey.CLASSES)
        if self.label_keys:
            classes = index_to_string_table_from_tensor(self.label_keys, name="class_string_lookup").lookup(classes)
        return {PredictionKey.LOGITS: logits, PredictionKey.CLASSES: classes,
                PredictionKey.PROBABILITIES: resolve("nn.softmax")(logits, name=PredictionKey.PROBABILITIES)}

    def _metrics(self, predictions: dict[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        classes = predictions[PredictionKey.CLASSES]
        if labels.get_shape().ndims == 2:
            classes = reshape(classes, [-1, 1])
        return {self._key(MetricKey.ACCURACY): accuracy(labels, classes, weights)}


def regression_head(label_name: Any = None, weight_column_name: Any = None, label_dimension: int = 1,
                    enable_centered_bias: bool = False, head_name: str | None = None, link_fn: Any = None) -> Head:
    """A head of numbers with the mean squared error; `link_fn` makes scores of logits."""
    head = _RegressionHead(label_dimension, label_name, weight_column_name, enable_centered_bias, head_name)
    head.link_fn = link_fn or identity
    return head


def multi_class_head(n_classes: int, label_name: Any = None, weight_column_name: Any = None, enable_centered_bias: bool = False,
                     head_name: str | None = None, thresholds: Any = None, metric_class_ids: Any = None, loss_fn: Any = None,
                     label_keys: Any = None) -> Head:
    """A head of `n_classes` with the cross entropy.  Raises ValueError for fewer than two."""
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    if n_classes == 2:
        if metric_class_ids:
            raise ValueError("metric_class_ids invalid for n_classes==2.")
        if label_keys:
            raise ValueError("label_keys is not supported for n_classes=2.")
        binary = _BinaryLogisticHead(1, label_name, weight_column_name, enable_centered_bias, head_name, loss_fn)
        binary.thresholds = thresholds or (0.5,)
        return binary
    if label_keys and len(label_keys) != n_classes:
        raise ValueError("Length of label_keys must equal n_classes.")
    head = _MultiClassHead(n_classes, label_name, weight_column_name, enable_centered_bias, head_name, loss_fn)
    head.label_keys = label_keys
    return head


def no_op_train_fn(loss: Any) -> Any:
    """A training step that does nothing."""
    return resolve("no_op")()
