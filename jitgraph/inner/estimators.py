"""Names of the modules of ``tensorflow_estimator`` that ``tf.estimator`` does not have: heads, and model functions that programs
put their own around."""
from __future__ import annotations

from typing import Any

from jitgraph.estimator import training_executor
from jitgraph.estimator.canned.baseline import baseline_model_function
from jitgraph.estimator.canned.checks import checked_labels, checked_logits, weights_of
from jitgraph.estimator.canned.classification import binary_head, head_for, multi_class_head
from jitgraph.estimator.canned.combined import Parts, combined_model_function
from jitgraph.estimator.canned.deep import deep_model_function
from jitgraph.estimator.canned.dual_model import DualModel, SparseColumn
from jitgraph.estimator.canned.head import CannedHead
from jitgraph.estimator.canned.head import LossSpec as LossSpec
from jitgraph.estimator.canned.linear import fraction_of_zero, linear_model_function
from jitgraph.estimator.canned.optimizers import optimizer_of
from jitgraph.estimator.canned.regression import regression_head
from jitgraph.estimator.canned.sharded_tables import ShardedTable
from jitgraph.estimator.estimator import Estimator
from jitgraph.estimator.inputs_of_model import DatasetInitializerHook, parsed_input
from jitgraph.estimator.tpu.spec import TPUEstimatorSpec
from jitgraph.feature_column.weighted_sums import parts_of
from jitgraph.losses.losses import Reduction
from jitgraph.ops.elementwise.activation import relu

EstimatorV2 = Estimator

# canned.head
_Head = CannedHead
_multi_class_head_with_softmax_cross_entropy_loss = multi_class_head
_binary_logistic_head_with_sigmoid_cross_entropy_loss = binary_head
_binary_logistic_or_multi_class_head = head_for
_regression_head = regression_head
_check_dense_labels_match_logits_and_reshape = checked_labels
_check_logits_final_dim = checked_logits


def _get_weights_and_check_match_logits(features: Any, weight_column: Any, logits: Any,
                                        allow_per_logit_weights: bool = False) -> Any:
    """The weights of examples, 1.0 without a column.  Raises ValueError for a column or shape that does not suit."""
    return weights_of(features, weight_column, logits, allow_per_logit_weights)


# canned.dnn, canned.linear and their kin
def _dnn_model_fn(features: Any, labels: Any, mode: str, head: Any, hidden_units: Any, feature_columns: Any,
                  optimizer: Any = "Adagrad", activation_fn: Any = relu, dropout: float | None = None,
                  input_layer_partitioner: Any = None, config: Any = None, use_tpu: bool = False, batch_norm: bool = False) -> Any:
    """The EstimatorSpec of ``tf.estimator.DNNEstimator``."""
    return deep_model_function(head, hidden_units, feature_columns, optimizer, activation_fn, dropout, input_layer_partitioner,
                               batch_norm)(features, labels, mode, config)


def _linear_model_fn(features: Any, labels: Any, mode: str, head: Any, feature_columns: Any, optimizer: Any, partitioner: Any,
                     config: Any, sparse_combiner: str = "sum") -> Any:
    """The EstimatorSpec of ``tf.estimator.LinearEstimator``."""
    return linear_model_function(head, feature_columns, optimizer, partitioner, sparse_combiner)(features, labels, mode, config)


def _dnn_linear_combined_model_fn(features: Any, labels: Any, mode: str, head: Any, linear_feature_columns: Any = None,
                                  linear_optimizer: Any = "Ftrl", dnn_feature_columns: Any = None, dnn_optimizer: Any = "Adagrad",
                                  dnn_hidden_units: Any = None, dnn_activation_fn: Any = relu, dnn_dropout: float | None = None,
                                  input_layer_partitioner: Any = None, config: Any = None, batch_norm: bool = False,
                                  linear_sparse_combiner: str = "sum") -> Any:
    """The EstimatorSpec of ``tf.estimator.DNNLinearCombinedEstimator``."""
    parts = Parts(linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn,
                  dnn_dropout, input_layer_partitioner, batch_norm, linear_sparse_combiner)
    return combined_model_function(head, parts)(features, labels, mode, config)


def _baseline_model_fn(features: Any, labels: Any, mode: str, head: Any, optimizer: Any, weight_column: Any = None,
                       config: Any = None) -> Any:
    """The EstimatorSpec of ``tf.estimator.BaselineEstimator``."""
    return baseline_model_function(head, optimizer, weight_column)(features, labels, mode, config)


# canned.boosted_trees
def _create_classification_head(n_classes: int, weight_column: Any = None, label_vocabulary: Any = None) -> Any:
    """The head of ``tf.estimator.BoostedTreesClassifier``.  Raises ValueError unless there are two classes."""
    if n_classes != 2:
        raise ValueError(f"For now only binary classification is supported.n_classes given as {n_classes}")
    return binary_head(weight_column, None, label_vocabulary, Reduction.SUM_OVER_BATCH_SIZE)


def _create_regression_head(label_dimension: int, weight_column: Any = None) -> Any:
    """The head of ``tf.estimator.BoostedTreesRegressor``.  Raises ValueError for more than one number."""
    if label_dimension != 1:
        raise ValueError(f"For now only 1 dimension regression is supported.label_dimension given as {label_dimension}")
    return regression_head(weight_column, label_dimension, Reduction.SUM_OVER_BATCH_SIZE)


# canned.optimizers, canned.linear_optimizer
def get_optimizer_instance(opt: Any, learning_rate: float | None = None) -> Any:
    """An Optimizer as it is, one of that name, or what a function gives.  Raises ValueError for others."""
    return optimizer_of(opt, learning_rate)


def _compute_fraction_of_zero(variables: Any) -> Any:
    """The fraction of zeros among all elements of variables, or lists of them."""
    return fraction_of_zero([part for one in variables for part in (one if isinstance(one, (list, tuple)) else parts_of(one))])


_SDCAModel = DualModel
_SparseFeatureColumn = SparseColumn
_ShardedMutableDenseHashTable = ShardedTable

# model_fn
_TPUEstimatorSpec = TPUEstimatorSpec
LOSS_METRIC_KEY, AVERAGE_LOSS_METRIC_KEY = "loss", "average_loss"

# training
_TrainingExecutor = training_executor.TrainingExecutor
_ContinuousEvalListener = training_executor.ContinuousEvalListener
_EvalResult = training_executor.EvalResult


class _EvalStatus:
    EVALUATED = training_executor.EVALUATED
    MISSING_CHECKPOINT = training_executor.MISSING_CHECKPOINT
    NO_NEW_CHECKPOINT = training_executor.NO_NEW_CHECKPOINT


# util
parse_input_fn_result = parsed_input
_DatasetInitializerHook = DatasetInitializerHook
