"""Linear and deep models in one: ``tf.estimator.DNNLinearCombinedClassifier`` and its kin."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from jitgraph.control.order_ops import group
from jitgraph.estimator.canned.classification import head_for
from jitgraph.estimator.canned.deep import SMALLEST_SLICE, check_features, dnn_logit_fn_builder, slices_over, summarize_layer
from jitgraph.estimator.canned.linear import linear_logit_fn_builder
from jitgraph.estimator.canned.optimizers import optimizer_of
from jitgraph.estimator.canned.regression import regression_head
from jitgraph.estimator.estimator import Estimator
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.scopes import control_dependencies, get_collection
from jitgraph.losses.losses import Reduction
from jitgraph.ops.elementwise.activation import relu
from jitgraph.train.optimizer import Optimizer
from jitgraph.train.sync_replicas import SyncReplicasOptimizer
from jitgraph.variables.assignments import assign_add
from jitgraph.variables.global_steps import get_global_step
from jitgraph.variables.variable_scopes import variable_scope

_DEEP_RATE = 0.001
_LINEAR_RATE = 0.005
_NO_COLUMNS = "Either linear_feature_columns or dnn_feature_columns must be defined."


class Parts(NamedTuple):
    """The arguments of both halves."""

    linear_feature_columns: Any
    linear_optimizer: Any
    dnn_feature_columns: Any
    dnn_optimizer: Any
    dnn_hidden_units: Any
    dnn_activation_fn: Any
    dnn_dropout: float | None
    input_layer_partitioner: Any
    batch_norm: bool
    linear_sparse_combiner: str


def _checked_optimizer(given: Any, rate: float) -> Optimizer:
    optimizer = optimizer_of(given, learning_rate=rate)
    if isinstance(optimizer, SyncReplicasOptimizer):
        raise ValueError("SyncReplicasOptimizer does not support multi optimizers case. Therefore, it is not supported in "
                         "DNNLinearCombined model. If you want to use this optimizer, please use either DNN or Linear model.")
    return optimizer


def _deep(parts: Parts, head: Any, features: Any, mode: str, config: Any, slices: Any) -> tuple[Any, Optimizer, str]:
    """(logits, optimizer, scope) of the deep half."""
    optimizer = _checked_optimizer(parts.dnn_optimizer, _DEEP_RATE)
    if not parts.dnn_hidden_units:
        raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
    with variable_scope("dnn", values=tuple(features.values()), partitioner=slices_over(config)) as scope:
        logit_fn = dnn_logit_fn_builder(head.logits_dimension, parts.dnn_hidden_units, parts.dnn_feature_columns,
                                        parts.dnn_activation_fn, parts.dnn_dropout, slices, parts.batch_norm)
        return logit_fn(features=features, mode=mode), optimizer, scope.name


def _linear(parts: Parts, head: Any, features: Any, slices: Any) -> tuple[Any, Optimizer, str]:
    """(logits, optimizer, scope) of the linear half."""
    columns = parts.linear_feature_columns
    optimizer = _checked_optimizer(parts.linear_optimizer, min(_LINEAR_RATE, 1 / math.sqrt(len(columns))))
    with variable_scope("linear", values=tuple(features.values()), partitioner=slices) as scope:
        logits = linear_logit_fn_builder(head.logits_dimension, columns, parts.linear_sparse_combiner)(features=features)
        summarize_layer(logits, scope.name)
        return logits, optimizer, scope.name


def combined_model_function(head: Any, parts: Parts) -> Callable:
    """The model function of both halves with a head."""

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        check_features(features)
        if not parts.linear_feature_columns and not parts.dnn_feature_columns:
            raise ValueError(_NO_COLUMNS)
        slices = parts.input_layer_partitioner or slices_over(config, SMALLEST_SLICE)
        halves = []
        if parts.dnn_feature_columns:
            halves.append(_deep(parts, head, features, mode, config, slices))
        if parts.linear_feature_columns:
            halves.append(_linear(parts, head, features, slices))
        logits = halves[0][0] if len(halves) == 1 else halves[0][0] + halves[1][0]

        def train_op_fn(loss: Any) -> Any:
            steps = [optimizer.minimize(loss, var_list=get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=scope))
                     for _, optimizer, scope in halves]
            with control_dependencies([group(*steps)]):
                return assign_add(get_global_step(), 1).op

        return head.create_estimator_spec(features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits)

    return model_fn


_ARGUMENTS = """

    The linear half has `linear_feature_columns`, an optimizer ("Ftrl" with a rate up to 0.005) and `linear_sparse_combiner`,
    see ``tf.estimator.LinearClassifier``; the deep half the arguments that begin with ``dnn_`` ("Adagrad" with 0.001) and
    `batch_norm`, see ``tf.estimator.DNNClassifier``.  Raises ValueError without columns, or hidden units for the deep half.
    """


class _Combined(Estimator):
    def _checked(self, parts: Parts) -> Parts:
        self._feature_columns = [*(parts.linear_feature_columns or []), *(parts.dnn_feature_columns or [])]
        if not self._feature_columns:
            raise ValueError(_NO_COLUMNS)
        return parts


class DNNLinearCombinedClassifier(_Combined):
    __doc__ = f"""A classifier, linear and deep: `n_classes`, ids or words of `label_vocabulary`.{_ARGUMENTS}"""

    def __init__(self, model_dir: Any = None, linear_feature_columns: Any = None, linear_optimizer: Any = "Ftrl",
                 dnn_feature_columns: Any = None, dnn_optimizer: Any = "Adagrad", dnn_hidden_units: Any = None,
                 dnn_activation_fn: Any = relu, dnn_dropout: float | None = None, n_classes: int = 2,
                 weight_column: Any = None, label_vocabulary: Any = None, input_layer_partitioner: Any = None,
                 config: Any = None, warm_start_from: Any = None, loss_reduction: str = Reduction.SUM, batch_norm: bool = False,
                 linear_sparse_combiner: str = "sum"):
        parts = self._checked(Parts(linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer,
                                    dnn_hidden_units, dnn_activation_fn, dnn_dropout, input_layer_partitioner, batch_norm,
                                    linear_sparse_combiner))
        head = head_for(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(combined_model_function(head, parts), model_dir=model_dir, config=config, warm_start_from=warm_start_from)


class DNNLinearCombinedEstimator(_Combined):
    __doc__ = f"""A model, linear and deep, with a head.{_ARGUMENTS}"""

    def __init__(self, head: Any, model_dir: Any = None, linear_feature_columns: Any = None, linear_optimizer: Any = "Ftrl",
                 dnn_feature_columns: Any = None, dnn_optimizer: Any = "Adagrad", dnn_hidden_units: Any = None,
                 dnn_activation_fn: Any = relu, dnn_dropout: float | None = None, input_layer_partitioner: Any = None,
                 config: Any = None, linear_sparse_combiner: str = "sum"):
        parts = self._checked(Parts(linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer,
                                    dnn_hidden_units, dnn_activation_fn, dnn_dropout, input_layer_partitioner, False,
                                    linear_sparse_combiner))
        super().__init__(combined_model_function(head, parts), model_dir=model_dir, config=config)


class DNNLinearCombinedRegressor(_Combined):
    __doc__ = f"""A regression, linear and deep, to `label_dimension` numbers.{_ARGUMENTS}"""

    def __init__(self, model_dir: Any = None, linear_feature_columns: Any = None, linear_optimizer: Any = "Ftrl",
                 dnn_feature_columns: Any = None, dnn_optimizer: Any = "Adagrad", dnn_hidden_units: Any = None,
                 dnn_activation_fn: Any = relu, dnn_dropout: float | None = None, label_dimension: int = 1,
                 weight_column: Any = None, input_layer_partitioner: Any = None, config: Any = None,
                 warm_start_from: Any = None, loss_reduction: str = Reduction.SUM, batch_norm: bool = False,
                 linear_sparse_combiner: str = "sum"):
        parts = self._checked(Parts(linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer,
                                    dnn_hidden_units, dnn_activation_fn, dnn_dropout, input_layer_partitioner, batch_norm,
                                    linear_sparse_combiner))
        head = regression_head(weight_column, label_dimension, loss_reduction)
        super().__init__(combined_model_function(head, parts), model_dir=model_dir, config=config, warm_start_from=warm_start_from)
