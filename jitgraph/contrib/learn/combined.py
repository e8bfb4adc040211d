"""The models of ``tf.contrib.learn`` that are linear and deep at once."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.learn.fitted import Estimator
from jitgraph.contrib.learn.heads import multi_class_head, regression_head
from jitgraph.contrib.learn.ready import Classifier, Regressor, combined_model, deep_params, relu, wide_params


def _check_columns(linear: Any, deep: Any) -> None:
    """Raises ValueError for a model that has no columns."""
    if not linear and not deep:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")


class DNNLinearCombinedEstimator(Estimator):
    """A linear model and hidden layers whose logits are added, with a head."""

    def __init__(self, head: Any, model_dir: Any = None, linear_feature_columns: Any = None, linear_optimizer: Any = None,
                 _joint_linear_weights: bool = False, dnn_feature_columns: Any = None, dnn_optimizer: Any = None,
                 dnn_hidden_units: Any = None, dnn_activation_fn: Any = None, dnn_dropout: float | None = None,
                 gradient_clip_norm: float | None = None, config: Any = None, feature_engineering_fn: Any = None,
                 embedding_lr_multipliers: Any = None, fix_global_step_increment_bug: bool = False,
                 input_layer_partitioner: Any = None):
        _check_columns(linear_feature_columns, dnn_feature_columns)
        params = {"head": head, "counts_twice": not fix_global_step_increment_bug,
                  "wide": wide_params(linear_feature_columns, linear_optimizer, gradient_clip_norm, _joint_linear_weights),
                  "deep": deep_params(dnn_hidden_units, dnn_feature_columns, dnn_optimizer, dnn_activation_fn, dnn_dropout,
                                      gradient_clip_norm, None, embedding_lr_multipliers, input_layer_partitioner)}
        super().__init__(combined_model, model_dir, config, params, feature_engineering_fn)


class DNNLinearCombinedClassifier(Classifier):
    """A classifier that adds the logits of a linear model and of hidden layers."""

    def __init__(self, model_dir: Any = None, n_classes: int = 2, weight_column_name: Any = None,
                 linear_feature_columns: Any = None, linear_optimizer: Any = None, _joint_linear_weights: bool = False,
                 dnn_feature_columns: Any = None, dnn_optimizer: Any = None, dnn_hidden_units: Any = None,
                 dnn_activation_fn: Any = relu, dnn_dropout: float | None = None, gradient_clip_norm: float | None = None,
                 enable_centered_bias: bool = False, config: Any = None, feature_engineering_fn: Any = None,
                 embedding_lr_multipliers: Any = None, input_layer_min_slice_size: Any = None, label_keys: Any = None,
                 fix_global_step_increment_bug: bool = False):
        _check_columns(linear_feature_columns, dnn_feature_columns)
        head = multi_class_head(n_classes, weight_column_name=weight_column_name, enable_centered_bias=enable_centered_bias,
                                label_keys=label_keys)
        params = {"head": head, "counts_twice": not fix_global_step_increment_bug,
                  "wide": wide_params(linear_feature_columns, linear_optimizer, gradient_clip_norm, _joint_linear_weights),
                  "deep": deep_params(dnn_hidden_units, dnn_feature_columns, dnn_optimizer, dnn_activation_fn, dnn_dropout,
                                      gradient_clip_norm, input_layer_min_slice_size, embedding_lr_multipliers)}
        super().__init__(combined_model, model_dir, config, params, feature_engineering_fn)


class DNNLinearCombinedRegressor(Regressor):
    """A regression that adds the logits of a linear model and of hidden layers."""

    def __init__(self, model_dir: Any = None, weight_column_name: Any = None, linear_feature_columns: Any = None,
                 linear_optimizer: Any = None, _joint_linear_weights: bool = False, dnn_feature_columns: Any = None,
                 dnn_optimizer: Any = None, dnn_hidden_units: Any = None, dnn_activation_fn: Any = relu,
                 dnn_dropout: float | None = None, gradient_clip_norm: float | None = None, enable_centered_bias: bool = False,
                 label_dimension: int = 1, config: Any = None, feature_engineering_fn: Any = None,
                 embedding_lr_multipliers: Any = None, input_layer_min_slice_size: Any = None,
                 fix_global_step_increment_bug: bool = False):
        _check_columns(linear_feature_columns, dnn_feature_columns)
        head = regression_head(label_dimension=label_dimension, weight_column_name=weight_column_name,
                               enable_centered_bias=enable_centered_bias)
        params = {"head": head, "counts_twice": not fix_global_step_increment_bug,
                  "wide": wide_params(linear_feature_columns, linear_optimizer, gradient_clip_norm, _joint_linear_weights),
                  "deep": deep_params(dnn_hidden_units, dnn_feature_columns, dnn_optimizer, dnn_activation_fn, dnn_dropout,
                                      gradient_clip_norm, input_layer_min_slice_size, embedding_lr_multipliers)}
        super().__init__(combined_model, model_dir, config, params, feature_engineering_fn)
