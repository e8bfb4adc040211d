"""The heads of ``tf.contrib.learn``: predictions, losses and metrics of logits."""
from __future__ import annotations

import abc
from typing import Any

from jitgraph.app import logs
from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.contrib.layers.dense import linear
from jitgraph.contrib.learn.model_ops import MetricKey, ModeKeys, ModelFnOps, PredictionKey, ProblemType
from jitgraph.control.order_ops import group
from jitgraph.estimator.arguments import argument_names
from jitgraph.facade.names import resolve
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor, convert_to_tensor_or_sparse_tensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.losses.weights import broadcast_weights
from jitgraph.metrics.means import accuracy, mean
from jitgraph.metrics.thresholds import auc, precision_at_thresholds, recall_at_thresholds
from jitgraph.ops.arrays.fill import zeros, zeros_like
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, reshape, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, greater_equal
from jitgraph.ops.elementwise.elementary import exp
from jitgraph.ops.reduce.reductions import reduce_mean, reduce_sum
from jitgraph.ops.strings.strings import as_string
from jitgraph.resources.table_functions import index_table_from_tensor, index_to_string_table_from_tensor
from jitgraph.summary.summaries import scalar
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_scopes import variable_scope

SWITCH = "Please switch to tf.contrib.estimator.*_head."


def weighted(loss: Any, weights: Any) -> tuple[Any, Any]:
    """(the loss to train with, that to show): means, the second by the sum of the weights."""
    with name_scope(None, default_name="weighted_loss", values=[loss, weights]) as scope:
        if weights is None:
            found = reduce_mean(loss, name=scope)
            return found, found
        weights = broadcast_weights(weights, loss)
        total = loss * weights
        return reduce_mean(total, name=scope), reduce_sum(total) / reduce_sum(weights)


def _weights_in(features: Any, column: Any) -> Any:
    """The weights [batch, 1] in a feature, None without a column.  Raises ValueError for a feature that is not there."""
    if not column:
        return None
    if column not in features:
        raise ValueError(f"Weights {column} missing from features.")
    weights = cast(features[column], dtypes.float32)
    return reshape(weights, (-1, 1)) if weights.get_shape().ndims == 1 else weights


def mean_of(values: Any, weights: Any = None, class_id: int | None = None) -> tuple:
    """The weighted mean of values [batch, n], or of the column of a class."""
    values = cast(values, dtypes.float32)
    if weights is not None:
        weights = broadcast_weights(weights, values)
    if class_id is not None:
        values, weights = values[:, class_id], None if weights is None else weights[:, class_id]
    return mean(values, weights)


def area_of(scores: Any, labels: Any, weights: Any = None, class_id: int | None = None, curve: str = "ROC") -> tuple:
    """The area under a curve of scores [batch, n], or of the column of a class."""
    if labels.dtype.base_dtype != dtypes.bool_:
        logs.warning("Casting %s labels to bool.", labels.dtype)
        labels = cast(labels, dtypes.bool_)
    if weights is not None:
        weights = broadcast_weights(weights, scores)
    if class_id is not None:
        scores, labels = scores[:, class_id], labels[:, class_id]
        weights = None if weights is None else weights[:, class_id]
    return auc(labels, scores, weights, curve=curve)


def _column(labels: Any) -> Any:
    labels = convert_to_tensor(labels)
    return expand_dims(labels, axis=1) if len(labels.get_shape()) == 1 else labels


def _columns(labels: Any, logits: Any) -> tuple[Any, Any]:
    """(labels, logits) as [batch, n].  Raises ValueError if they differ in n."""
    labels, logits = _column(labels), _column(logits)
    logits.get_shape().assert_is_compatible_with(labels.get_shape())
    return labels, logits


def squared(labels: Any, logits: Any) -> Any:
    """The squared errors [batch, n] of logits."""
    with name_scope(None, "mean_squared_loss", (logits, labels)) as name:
        labels, logits = _columns(labels, logits)
        return resolve("squared_difference")(logits, cast(labels, dtypes.float32), name=name)


def _poisson(labels: Any, logits: Any) -> Any:
    with name_scope(None, "_poisson_loss", (logits, labels)) as name:
        labels, logits = _columns(labels, logits)
        return resolve("nn.log_poisson_loss")(labels, logits, compute_full_loss=True, name=name)


def log_loss(labels: Any, logits: Any) -> Any:
    """The cross entropies [batch, 1] of logits of yes and no."""
    with name_scope(None, "log_loss_with_two_classes", (logits, labels)) as name:
        labels = _column(cast(labels, dtypes.float32))
        return resolve("nn.sigmoid_cross_entropy_with_logits")(labels=labels, logits=logits, name=name)


def softmax_loss(labels: Any, logits: Any) -> Any:
    """The cross entropies of logits [batch, classes].  Raises ValueError for labels that are no integers."""
    with name_scope(None, "softmax_cross_entropy_loss", (logits, labels)) as name:
        labels = convert_to_tensor(labels)
        if not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer Instead got {labels.dtype}.")
        is_column = len(labels.get_shape()) == 2
        loss = resolve("nn.sparse_softmax_cross_entropy_with_logits")(
            labels=squeeze(labels, axis=(1,)) if is_column else labels, logits=logits, name=name)
        return expand_dims(loss, axis=(1,)) if is_column else loss


class Head(abc.ABC):
    """Makes ModelFnOps of logits; a subclass says what is predicted, lost and measured."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The last size of the logits."""
        raise NotImplementedError("Calling an abstract method.")

    @abc.abstractmethod
    def create_model_fn_ops(self, features: Any, mode: str, labels: Any = None, train_op_fn: Any = None, logits: Any = None,
                            logits_input: Any = None, scope: Any = None) -> ModelFnOps:
        """The ModelFnOps of logits, or of what logits are a linear function of."""
        raise NotImplementedError("Calling an abstract method.")


class SingleHead(Head):
    """A head of one kind; with `enable_centered_bias` it learns a constant besides, by itself."""

    default_name, problem_type = "head", ProblemType.UNSPECIFIED

    def __init__(self, logits_dimension: int, label_name: Any = None, weight_column_name: Any = None,
                 enable_centered_bias: bool = False, head_name: str | None = None, loss_fn: Any = None):
        if logits_dimension is None or logits_dimension < 1:
            raise ValueError(f"Invalid logits_dimension {logits_dimension}.")
        self._logits_dimension, self.label_name = logits_dimension, label_name
        self.weight_column_name, self.head_name, self._loss_fn = weight_column_name, head_name, loss_fn
        self._enable_centered_bias = enable_centered_bias

    @property
    def logits_dimension(self) -> int:
        """The last size of the logits."""
        return self._logits_dimension

    def create_model_fn_ops(self, features: Any, mode: str, labels: Any = None, train_op_fn: Any = None, logits: Any = None,
                            logits_input: Any = None, scope: Any = None) -> ModelFnOps:
        """The ModelFnOps of logits [batch, logits_dimension], or of what logits are a linear function of.

        Raises ValueError for both or neither of the two, for another mode, and for labels and weights that are not there.
        """
        with variable_scope(scope, default_name=self.head_name or self.default_name):
            ModeKeys.validate(mode)
            labels = None if mode == ModeKeys.INFER or labels is None else self._labels(labels)
            logits = self._logits(logits, logits_input)
            bias = centered_bias(self.logits_dimension, self._key) if self._enable_centered_bias else None
            logits = logits if bias is None else bias_add(logits, bias)
            with name_scope(None, "predictions", (logits,)):
                predictions = self._predictions(logits)
            loss = train_op = metrics = None
            if labels is not None:
                weights = _weights_in(features, self.weight_column_name)
                loss, shown = self._loss(labels, logits, weights)
                with name_scope(""):
                    scalar(self._key(MetricKey.LOSS), identity(shown))
                if mode == ModeKeys.TRAIN:
                    if train_op_fn is None:
                        raise ValueError("train_op_fn can not be None in TRAIN mode")
                    rows = shape_of(logits)[0]
                    step = None if bias is None else bias_step(bias, rows, lambda own: self._loss(labels, own, weights))
                    with name_scope(None, "train_op", (loss,)):
                        train_op = train_op_fn(loss) if step is None else group(train_op_fn(loss), step)
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
            logits = convert_to_tensor(logits, name="logits")
            if logits.get_shape().ndims:
                logits.get_shape()[-1].assert_is_compatible_with(self.logits_dimension)
            return logits
        if logits_input is None:
            raise ValueError("Neither logits nor logits_input supplied.")
        return linear(logits_input, self.logits_dimension, scope="logits")

    def _labels(self, labels: Any) -> Any:
        found = convert_to_tensor_or_sparse_tensor(labels[self.label_name] if isinstance(labels, dict) else labels)
        if isinstance(found, SparseTensor):
            raise ValueError("SparseTensor is not supported.")
        return found

    def _loss(self, labels: Any, logits: Any, weights: Any) -> tuple[Any, Any]:
        """(the loss to train with, that to show)"""
        if self._loss_fn is not None:
            loss = self._loss_fn(labels, logits) if weights is None else self._loss_fn(labels, logits, weights)
            return loss, loss
        return weighted(self._unreduced(labels, logits), weights)

    def _unreduced(self, labels: Any, logits: Any) -> Any:
        raise NotImplementedError

    def _predictions(self, logits: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _metrics(self, predictions: dict[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _exported(self, predictions: dict[str, Any]) -> dict[str, Any]:
        return predictions


def centered_bias(units: int, key: Any) -> Any:
    """A variable of zeros [units], and its summaries."""
    bias = Variable(zeros(shape=(units,)), name="centered_bias_weight", trainable=True)
    for unit in range(units):
        scalar(key(f"centered_bias/bias_{unit}"), bias[unit])
    return bias


def bias_step(bias: Any, rows: Any, loss_of: Any) -> Any:
    """A step that fits the constant alone, by Adagrad with a rate of 0.1."""
    with name_scope(None, "centered_bias_step") as name:
        logits = reshape(tile(bias, (rows,)), (rows, shape_of(bias)[0]))
        with name_scope(None, "centered_bias", (logits,)):
            loss = reduce_mean(loss_of(logits), name="training_loss")
    return resolve("train.AdagradOptimizer")(0.1).minimize(loss, var_list=(bias,), name=name)


class _RegressionHead(SingleHead):
    default_name, problem_type = "regression_head", ProblemType.LINEAR_REGRESSION
    link_fn: Any = staticmethod(identity)
    losses_of: Any = staticmethod(squared)

    def _unreduced(self, labels: Any, logits: Any) -> Any:
        return self.losses_of(labels, logits)

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


class ClassHead(SingleHead):
    """A head whose signature has probabilities and the names of classes."""

    label_keys: Any = None

    def _exported(self, predictions: dict[str, Any]) -> dict[str, Any]:
        scores = predictions[PredictionKey.PROBABILITIES]
        return {PredictionKey.PROBABILITIES: scores, PredictionKey.CLASSES: _class_names(scores, self.label_keys)}


class _BinaryLogisticHead(ClassHead):
    default_name, problem_type = "binary_logistic_head", ProblemType.LOGISTIC_REGRESSION
    thresholds: Any = (0.5,)

    def _unreduced(self, labels: Any, logits: Any) -> Any:
        return log_loss(labels, logits)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        both = concat((zeros_like(logits), logits), 1)
        return {PredictionKey.LOGITS: logits,
                PredictionKey.LOGISTIC: resolve("sigmoid")(logits, name=PredictionKey.LOGISTIC),
                PredictionKey.PROBABILITIES: resolve("nn.softmax")(both, name=PredictionKey.PROBABILITIES),
                PredictionKey.CLASSES: resolve("argmax")(both, 1, name=PredictionKey.CLASSES)}

    def _metrics(self, predictions: dict[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        logistic = predictions[PredictionKey.LOGISTIC]
        found = {MetricKey.ACCURACY: accuracy(labels, predictions[PredictionKey.CLASSES], weights),
                 MetricKey.PREDICTION_MEAN: mean_of(logistic, weights), MetricKey.LABEL_MEAN: mean_of(labels, weights),
                 MetricKey.ACCURACY_BASELINE: mean_of(labels, weights),
                 MetricKey.AUC: area_of(logistic, labels, weights),
                 MetricKey.AUC_PR: area_of(logistic, labels, weights, curve="PR")}
        for threshold in self.thresholds:
            above = cast(greater_equal(logistic, threshold), dtypes.float32)
            found[MetricKey.ACCURACY_MEAN % threshold] = accuracy(labels, above, weights)
            for key, function in ((MetricKey.PRECISION_MEAN, precision_at_thresholds),
                                  (MetricKey.RECALL_MEAN, recall_at_thresholds)):
                value, update = function(labels, logistic, [threshold], weights)
                found[key % threshold] = squeeze(value), squeeze(update)
        return {self._key(key): value for key, value in found.items()}


class _MultiClassHead(ClassHead):
    default_name, problem_type = "multi_class_head", ProblemType.CLASSIFICATION

    metric_class_ids: tuple[int, ...] = ()

    def _loss(self, labels: Any, logits: Any, weights: Any) -> tuple[Any, Any]:
        ids = index_table_from_tensor(self.label_keys, name="label_id_lookup").lookup(labels) if self.label_keys else labels
        return super()._loss(ids, logits, weights)

    def _unreduced(self, labels: Any, logits: Any) -> Any:
        return softmax_loss(labels, logits)

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
        found = {MetricKey.ACCURACY: accuracy(labels, classes, weights)}
        for class_id in self.metric_class_ids if not self.label_keys else ():
            found.update({
                MetricKey.CLASS_PREDICTION_MEAN % class_id: _part_of_class(predictions[PredictionKey.CLASSES], weights, class_id),
                MetricKey.CLASS_LABEL_MEAN % class_id: _part_of_class(labels, weights, class_id),
                MetricKey.CLASS_PROBABILITY_MEAN % class_id: mean_of(predictions[PredictionKey.PROBABILITIES], weights, class_id),
                MetricKey.CLASS_LOGITS_MEAN % class_id: mean_of(predictions[PredictionKey.LOGITS], weights, class_id)})
        return {self._key(key): value for key, value in found.items()}


def _part_of_class(ids: Any, weights: Any, class_id: int) -> tuple:
    return mean(cast(equal(class_id, cast(ids, dtypes.int32)), dtypes.float32), weights)


def check_class_ids(class_ids: Any, n_classes: int) -> tuple[int, ...]:
    """Ids of classes as a tuple.  Raises ValueError for one that is not below `n_classes`."""
    found = tuple(class_ids or ())
    for class_id in found:
        if not 0 <= class_id < n_classes:
            raise ValueError(f"Class ID {class_id} not in [0, {n_classes}).")
    return found


def check_loss_fn(loss_fn: Any) -> None:
    """Raises ValueError for a loss function without labels, logits and weights."""
    for name in ("labels", "logits", "weights") if loss_fn else ():
        if name not in argument_names(loss_fn):
            raise ValueError(f"Argument {name} not found in loss_fn.")


@deprecated(None, SWITCH)
def regression_head(label_name: Any = None, weight_column_name: Any = None, label_dimension: int = 1,
                    enable_centered_bias: bool = False, head_name: str | None = None, link_fn: Any = None) -> Head:
    """A head of numbers with the mean squared error; `link_fn` makes scores of logits."""
    head = _RegressionHead(label_dimension, label_name, weight_column_name, enable_centered_bias, head_name)
    head.link_fn = link_fn or identity
    return head


@deprecated(None, SWITCH)
def poisson_regression_head(label_name: Any = None, weight_column_name: Any = None, label_dimension: int = 1,
                            enable_centered_bias: bool = False, head_name: str | None = None) -> Head:
    """A head of counts, whose logarithm of the mean is the logit; labels are float32."""
    head = _RegressionHead(label_dimension, label_name, weight_column_name, enable_centered_bias, head_name)
    head.link_fn, head.losses_of = exp, _poisson
    return head


@deprecated(None, SWITCH)
def multi_class_head(n_classes: int, label_name: Any = None, weight_column_name: Any = None, enable_centered_bias: bool = False,
                     head_name: str | None = None, thresholds: Any = None, metric_class_ids: Any = None, loss_fn: Any = None,
                     label_keys: Any = None) -> Head:
    """A head of `n_classes` with the cross entropy.  Raises ValueError for fewer than two."""
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    check_loss_fn(loss_fn)
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
    head.label_keys, head.metric_class_ids = label_keys, check_class_ids(metric_class_ids, n_classes)
    return head


@deprecated(None, "Use 'lambda _: tf.no_op()'.")
def no_op_train_fn(loss: Any) -> Any:
    """A training step that does nothing."""
    return resolve("no_op")()
