"""The ready models of ``tf.contrib.learn``: deep, linear, and both together."""
from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from jitgraph.app.logs import warning
from jitgraph.autodiff.gradients import gradients
from jitgraph.contrib.layers.dense import fully_connected
from jitgraph.contrib.layers.old_column_layers import (
    input_from_feature_columns,
    joint_weighted_sum_from_feature_columns,
    parse_feature_columns_from_examples,
    weighted_sum_from_feature_columns,
)
from jitgraph.contrib.layers.old_columns import OldColumn
from jitgraph.contrib.layers.old_sparse_columns import _EmbeddingColumn
from jitgraph.contrib.layers.optimizing import OPTIMIZER_CLS_NAMES, optimize_loss
from jitgraph.contrib.layers.rearranging import dropout as drop
from jitgraph.contrib.learn import bundled
from jitgraph.contrib.learn.dual_models import dual_model, dual_params
from jitgraph.contrib.learn.fitted import Estimator
from jitgraph.contrib.learn.heads import multi_class_head, regression_head
from jitgraph.contrib.learn.measured import MetricSpec
from jitgraph.contrib.learn.model_ops import ModeKeys, PredictionKey
from jitgraph.contrib.linear_optimizer.column_optimizer import SDCAOptimizer
from jitgraph.control.order_ops import group
from jitgraph.facade.names import resolve
from jitgraph.feature_column.dense_rows import input_layer
from jitgraph.feature_column.weighted_sums import linear_model
from jitgraph.graph.scopes import control_dependencies, get_collection
from jitgraph.ops.elementwise.clip import clip_by_global_norm
from jitgraph.ops.nn.functions import zero_fraction
from jitgraph.summary.summaries import histogram, scalar
from jitgraph.train.regularized import FtrlOptimizer
from jitgraph.variables.global_steps import get_global_step
from jitgraph.variables.partitioners import min_max_variable_partitioner
from jitgraph.variables.variable_scopes import variable_scope

_SLICE = 64 << 20
_INPUT = "input_from_feature_columns"


def _by_name(features: Any) -> dict:
    return features if isinstance(features, dict) else {"": features}


def _are_old(columns: Any) -> bool:
    return all(isinstance(column, OldColumn) for column in columns)


def _show(value: Any, tag: str, joint: str = "_") -> None:
    scalar(f"{tag}{joint}fraction_of_zero_values", zero_fraction(value))
    histogram(f"{tag}{joint}activation", value)


def _scope(name: str, features: dict, config: Any, partitioner: Any = None, **slices: int) -> Any:
    """The variable scope of a model, whose variables `partitioner` slices; without one, over the parameter servers."""
    replicas = config.num_ps_replicas if config else 0
    return variable_scope(name, values=tuple(features.values()), partitioner=partitioner or min_max_variable_partitioner(
        max_partitions=replicas, **slices))


def _deep_logits(features: dict, mode: str, params: dict, config: Any, units: int, joint: str = "_") -> Any:
    """The logits of hidden layers over columns."""
    activation, dropout = params["activation_fn"], params["dropout"]
    if isinstance(activation, str):
        activation = resolve(f"nn.{activation}")
    with _scope(_INPUT, features, config, params.get("partitioner"),
                min_slice_size=params.get("min_slice_size") or _SLICE) as scope:
        if _are_old(params["feature_columns"]):
            net = input_from_feature_columns(features, params["feature_columns"], weight_collections=["dnn"], scope=scope)
        else:
            net = input_layer(features=features, feature_columns=params["feature_columns"], weight_collections=["dnn"])
    for number, size in enumerate(params["hidden_units"]):
        with variable_scope(f"hiddenlayer_{number}", values=(net,)) as scope:
            net = fully_connected(net, size, activation_fn=activation, variables_collections=["dnn"], scope=scope)
            if dropout is not None and mode == ModeKeys.TRAIN:
                net = drop(net, keep_prob=1.0 - dropout)
        _show(net, scope.name, joint)
    with variable_scope("logits", values=(net,)) as scope:
        logits = fully_connected(net, units, activation_fn=None, variables_collections=["dnn"], scope=scope)
    _show(logits, scope.name, joint)
    return logits


def _gradient_multipliers(params: dict) -> dict | None:
    """By what the gradients of which variables of a deep model are multiplied.

    Raises ValueError for a column that is no embedding, or is not among those of the model.
    """
    found = {}
    for column, multiplier in (params.get("multipliers") or {}).items():
        if not isinstance(column, _EmbeddingColumn):
            raise ValueError(f"learning rate multipler can only be defined for embedding columns. It is defined for {column}")
        variables = get_collection("dnn", f"dnn/{_INPUT}/{re.escape(column.name)}/")
        if not variables:
            raise ValueError(f"Couldn't find a variable for column {column}")
        found.update(dict.fromkeys(variables, multiplier))
    return found or None


def _deep_model(features: Any, labels: Any, mode: str, params: dict, config: Any = None) -> Any:
    features, optimizer = _by_name(features), params["optimizer"] or "Adagrad"
    def train(loss: Any) -> Any:
        return optimize_loss(loss=loss, global_step=get_global_step(), learning_rate=0.05,
                             optimizer=optimizer() if callable(optimizer) else optimizer,
                             gradient_multipliers=_gradient_multipliers(params),
                             clip_gradients=params["gradient_clip_norm"], name="dnn", summaries=[])

    with _scope("dnn", features, config):
        logits = _deep_logits(features, mode, params, config, params["head"].logits_dimension)
        return params["head"].create_model_fn_ops(features=features, mode=mode, labels=labels, train_op_fn=train, logits=logits)


def _linear_logits(features: dict, params: dict, units: int, scope: Any) -> Any:
    if not _are_old(params["feature_columns"]):
        return linear_model(features=features, feature_columns=params["feature_columns"], units=units,
                            weight_collections=["linear"])
    function = joint_weighted_sum_from_feature_columns if params.get("joint_weights") else weighted_sum_from_feature_columns
    return function(features, params["feature_columns"], num_outputs=units, weight_collections=["linear"], scope=scope)[0]


def _linear_optimizer(given: Any, columns: Any) -> Any:
    if given is None:
        return FtrlOptimizer(learning_rate=min(0.2, 1.0 / math.sqrt(len(columns))))
    if isinstance(given, str):
        return OPTIMIZER_CLS_NAMES[given](learning_rate=0.2)
    return given() if callable(given) else given


def _step(loss: Any, collection: str, optimizer: Any, clip_norm: Any, global_step: Any) -> Any:
    variables = get_collection(collection)
    found = gradients(loss, variables)
    if clip_norm:
        found, _ = clip_by_global_norm(found, clip_norm)
    return optimizer.apply_gradients(zip(found, variables), global_step=global_step)


def linear_model_of(features: Any, labels: Any, mode: str, params: dict, config: Any = None) -> Any:
    """The model function of linear models; `params`: head, feature_columns, optimizer, gradient_clip_norm, joint_weights."""
    features = _by_name(features)

    def train(loss: Any) -> Any:
        return _step(loss, "linear", _linear_optimizer(params["optimizer"], params["feature_columns"]),
                     params["gradient_clip_norm"], get_global_step())

    with _scope("linear", features, config, min_slice_size=_SLICE) as scope:
        logits = _linear_logits(features, params, params["head"].logits_dimension, scope)
        return params["head"].create_model_fn_ops(features=features, mode=mode, labels=labels, train_op_fn=train, logits=logits)


def combined_model(features: Any, labels: Any, mode: str, params: dict, config: Any = None) -> Any:
    """The model of logits that are added."""
    features, head = _by_name(features), params["head"]
    deep, wide = params["deep"], params["wide"]
    if not deep["feature_columns"] and not wide["feature_columns"]:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    parts = []
    if deep["feature_columns"]:
        if not deep["hidden_units"]:
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        with _scope("dnn", features, config):
            parts.append(_deep_logits(features, mode, deep, config, head.logits_dimension, joint="/"))
    if wide["feature_columns"]:
        with _scope("linear", features, config, min_slice_size=_SLICE) as scope:
            parts.append(_linear_logits(features, wide, head.logits_dimension, scope))
            _show(parts[-1], "linear", "/")

    def train(loss: Any) -> Any:
        steps, global_step, counts_twice = [], get_global_step(), params["counts_twice"]
        rate = min(0.2, 1.0 / math.sqrt(len(wide["feature_columns"]))) if wide["feature_columns"] else 0.2
        for name, part, default, speed in (("dnn", deep, "Adagrad", 0.05), ("linear", wide, "Ftrl", rate)):
            if part["feature_columns"]:
                optimizer = part["optimizer"] or default
                steps.append(optimize_loss(
                    loss=loss, global_step=global_step, learning_rate=speed, name=name, variables=get_collection(name),
                    optimizer=optimizer() if callable(optimizer) else optimizer, summaries=[],
                    gradient_multipliers=_gradient_multipliers(part), clip_gradients=part["gradient_clip_norm"],
                    increment_global_step=counts_twice))
        if counts_twice:
            return group(*steps)
        with control_dependencies([group(*steps)]):
            return global_step.assign_add(1).op

    return head.create_model_fn_ops(features=features, mode=mode, labels=labels, train_op_fn=train,
                                    logits=parts[0] if len(parts) == 1 else parts[0] + parts[1])


def _of(predictions: Any, key: str, as_iterable: bool) -> Any:
    if not as_iterable:
        return predictions[key]
    return (prediction[key] for prediction in predictions)


class _Ready(Estimator):
    """A model over columns, which say too how it reads Examples where it is exported."""

    def _export(self, export_dir: Any, input_fn: Any, *more: Any) -> bytes:
        parts = [self.params] if "feature_columns" in self.params else [self.params["wide"], self.params["deep"]]
        columns = [column for part in parts for column in part["feature_columns"]]
        read = input_fn or (lambda _, examples: parse_feature_columns_from_examples(examples, columns))
        return bundled.export_bundle(self, export_dir, read, *more)


class Classifier(_Ready):
    """A classifier: predicts classes, or what `outputs` asks for."""

    def export(self, export_dir: Any, input_fn: Any = None, input_feature_key: str | None = None,     # type: ignore[override]
               use_deprecated_input_fn: bool = True, signature_fn: Any = None, default_batch_size: int = 1,
               exports_to_keep: int | None = None) -> bytes:
        """Writes a session bundle, as of every estimator; by default of scores, for Examples that the columns read."""
        return self._export(export_dir, input_fn, input_feature_key, use_deprecated_input_fn,
                            signature_fn or bundled.classification_signature_fn_with_prob, PredictionKey.PROBABILITIES,
                            default_batch_size, exports_to_keep)

    def predict(self, x: Any = None, input_fn: Any = None, batch_size: int | None = None,     # type: ignore[override]
                outputs: Any = None, as_iterable: bool = True) -> Any:
        """The classes of examples; with `outputs`, dicts of these predictions."""
        if not outputs:
            return self.predict_classes(x=x, input_fn=input_fn, batch_size=batch_size, as_iterable=as_iterable)
        return super().predict(x, input_fn, batch_size, outputs, as_iterable)

    def predict_classes(self, x: Any = None, input_fn: Any = None, batch_size: int | None = None, as_iterable: bool = True) -> Any:
        """The classes of examples."""
        key = PredictionKey.CLASSES
        return _of(super().predict(x, input_fn, batch_size, [key], as_iterable), key, as_iterable)

    def predict_proba(self, x: Any = None, input_fn: Any = None, batch_size: int | None = None,
                      as_iterable: bool = True) -> Iterator[Any]:
        """The probabilities of all classes."""
        key = PredictionKey.PROBABILITIES
        return _of(super().predict(x, input_fn, batch_size, [key], as_iterable), key, as_iterable)


class Regressor(_Ready):
    """A regression: predicts scores, or what `outputs` asks for."""

    def export(self, export_dir: Any, input_fn: Any = None, input_feature_key: str | None = None,     # type: ignore[override]
               use_deprecated_input_fn: bool = True, signature_fn: Any = None, default_batch_size: int = 1,
               exports_to_keep: int | None = None) -> bytes:
        """Writes a session bundle, as of every estimator; by default of scores, for Examples that the columns read."""
        return self._export(export_dir, input_fn, input_feature_key, use_deprecated_input_fn,
                            signature_fn or bundled.regression_signature_fn, PredictionKey.SCORES, default_batch_size,
                            exports_to_keep)

    def evaluate(self, x: Any = None, y: Any = None, input_fn: Any = None, feed_fn: Any = None, batch_size: int | None = None,
                 steps: int | None = None, metrics: Any = None, name: str | None = None, checkpoint_path: Any = None,
                 hooks: Any = None, log_progress: bool = True) -> Any:
        """As of every estimator; metric functions by name are those of scores."""
        given = {key if isinstance(metric, MetricSpec) or isinstance(key, tuple) else (key, PredictionKey.SCORES): metric
                 for key, metric in (metrics or {}).items()}
        return super().evaluate(x, y, input_fn, feed_fn, batch_size, steps, given, name, checkpoint_path, hooks, log_progress)

    def predict(self, x: Any = None, input_fn: Any = None, batch_size: int | None = None,     # type: ignore[override]
                outputs: Any = None, as_iterable: bool = True) -> Any:
        """The scores of examples; with `outputs`, dicts of these predictions."""
        if not outputs:
            return self.predict_scores(x=x, input_fn=input_fn, batch_size=batch_size, as_iterable=as_iterable)
        return super().predict(x, input_fn, batch_size, outputs, as_iterable)

    def predict_scores(self, x: Any = None, input_fn: Any = None, batch_size: int | None = None, as_iterable: bool = True) -> Any:
        """The scores of examples."""
        key = PredictionKey.SCORES
        return _of(super().predict(x, input_fn, batch_size, [key], as_iterable), key, as_iterable)


def relu(x: Any) -> Any:
    """``tf.nn.relu``."""
    return resolve("nn.relu")(x)


def deep_params(hidden_units: Any, columns: Any, optimizer: Any, activation_fn: Any, dropout: Any, clip: Any, size: Any,
                multipliers: Any = None, partitioner: Any = None) -> dict:
    """The arguments of a deep model; `multipliers`: {embedding column: by what the gradient of its table is multiplied}.

    `partitioner` slices the variables of the input layer.
    """
    return {"hidden_units": hidden_units, "feature_columns": tuple(columns or []), "optimizer": optimizer,
            "activation_fn": activation_fn, "dropout": dropout, "gradient_clip_norm": clip, "min_slice_size": size,
            "multipliers": multipliers, "partitioner": partitioner}


def wide_params(columns: Any, optimizer: Any, clip: Any, joint_weights: bool) -> dict:
    """The arguments of a linear model."""
    return {"feature_columns": tuple(columns or []), "optimizer": optimizer, "gradient_clip_norm": clip,
            "joint_weights": joint_weights}


class DNNClassifier(Classifier):
    """A classifier of hidden layers over columns."""

    def __init__(self, hidden_units: Any, feature_columns: Any, model_dir: Any = None, n_classes: int = 2,
                 weight_column_name: Any = None, optimizer: Any = None, activation_fn: Any = relu, dropout: float | None = None,
                 gradient_clip_norm: float | None = None, enable_centered_bias: bool = False, config: Any = None,
                 feature_engineering_fn: Any = None, embedding_lr_multipliers: Any = None,
                 input_layer_min_slice_size: Any = None, label_keys: Any = None):
        head = multi_class_head(n_classes, weight_column_name=weight_column_name, enable_centered_bias=enable_centered_bias,
                                label_keys=label_keys)
        params = deep_params(hidden_units, feature_columns, optimizer, activation_fn, dropout, gradient_clip_norm,
                             input_layer_min_slice_size, embedding_lr_multipliers)
        super().__init__(_deep_model, model_dir, config, {"head": head, **params}, feature_engineering_fn)


class DNNRegressor(Regressor):
    """A regression of hidden layers over columns."""

    def __init__(self, hidden_units: Any, feature_columns: Any, model_dir: Any = None, weight_column_name: Any = None,
                 optimizer: Any = None, activation_fn: Any = relu, dropout: float | None = None,
                 gradient_clip_norm: float | None = None, enable_centered_bias: bool = False, config: Any = None,
                 feature_engineering_fn: Any = None, label_dimension: int = 1, embedding_lr_multipliers: Any = None,
                 input_layer_min_slice_size: Any = None):
        head = regression_head(label_dimension=label_dimension, weight_column_name=weight_column_name,
                               enable_centered_bias=enable_centered_bias)
        params = deep_params(hidden_units, feature_columns, optimizer, activation_fn, dropout, gradient_clip_norm,
                             input_layer_min_slice_size, embedding_lr_multipliers)
        super().__init__(_deep_model, model_dir, config, {"head": head, **params}, feature_engineering_fn)


class DNNEstimator(Estimator):
    """Hidden layers over columns, with a head."""

    def __init__(self, head: Any, hidden_units: Any, feature_columns: Any, model_dir: Any = None, optimizer: Any = None,
                 activation_fn: Any = relu, dropout: float | None = None, gradient_clip_norm: float | None = None,
                 config: Any = None, feature_engineering_fn: Any = None, embedding_lr_multipliers: Any = None,
                 input_layer_min_slice_size: Any = None):
        params = deep_params(hidden_units, feature_columns, optimizer, activation_fn, dropout, gradient_clip_norm,
                             input_layer_min_slice_size, embedding_lr_multipliers)
        super().__init__(_deep_model, model_dir, config, {"head": head, **params}, feature_engineering_fn)


class LinearClassifier(Classifier):
    """A linear classifier over columns."""

    def __init__(self, feature_columns: Any, model_dir: Any = None, n_classes: int = 2, weight_column_name: Any = None,
                 optimizer: Any = None, gradient_clip_norm: float | None = None, enable_centered_bias: bool = False,
                 _joint_weight: bool = False, config: Any = None, feature_engineering_fn: Any = None, label_keys: Any = None):
        if isinstance(optimizer, SDCAOptimizer) and enable_centered_bias:
            raise ValueError("enable_centered_bias is not supported with SDCA")
        head = multi_class_head(n_classes, weight_column_name=weight_column_name, enable_centered_bias=enable_centered_bias,
                                label_keys=label_keys)
        if isinstance(optimizer, SDCAOptimizer):
            assert not _joint_weight, "_joint_weight is incompatible with the SDCAOptimizer"
            assert n_classes == 2, "SDCA only applies to binary classification."
            super().__init__(dual_model, model_dir, config, dual_params(head, feature_columns, optimizer, weight_column_name),
                             feature_engineering_fn)
            return
        params = wide_params(feature_columns, optimizer, gradient_clip_norm, _joint_weight)
        super().__init__(linear_model_of, model_dir, config, {"head": head, **params}, feature_engineering_fn)


class LinearRegressor(Regressor):
    """A linear regression over columns."""

    def __init__(self, feature_columns: Any, model_dir: Any = None, weight_column_name: Any = None, optimizer: Any = None,
                 gradient_clip_norm: float | None = None, enable_centered_bias: bool = False, label_dimension: int = 1,
                 _joint_weights: bool = False, config: Any = None, feature_engineering_fn: Any = None):
        if isinstance(optimizer, SDCAOptimizer) and enable_centered_bias:
            enable_centered_bias = False
            warning("centered_bias is not supported with SDCA, please disable it explicitly.")
        head = regression_head(label_dimension=label_dimension, weight_column_name=weight_column_name,
                               enable_centered_bias=enable_centered_bias)
        if isinstance(optimizer, SDCAOptimizer):
            assert label_dimension == 1, "SDCA only applies for label_dimension=1."
            assert not _joint_weights, "_joint_weights is incompatible with SDCAOptimizer."
            super().__init__(dual_model, model_dir, config, dual_params(head, feature_columns, optimizer, weight_column_name),
                             feature_engineering_fn)
            return
        params = wide_params(feature_columns, optimizer, gradient_clip_norm, _joint_weights)
        super().__init__(linear_model_of, model_dir, config, {"head": head, **params}, feature_engineering_fn)


class LinearEstimator(Estimator):
    """A linear model over columns, with a head."""

    def __init__(self, feature_columns: Any, head: Any, model_dir: Any = None, weight_column_name: Any = None,
                 optimizer: Any = None, gradient_clip_norm: float | None = None, _joint_weights: bool = False,
                 config: Any = None, feature_engineering_fn: Any = None):
        if isinstance(optimizer, SDCAOptimizer):
            raise ValueError("LinearEstimator does not support SDCA optimizer.")
        params = wide_params(feature_columns, optimizer, gradient_clip_norm, _joint_weights)
        super().__init__(linear_model_of, model_dir, config, {"head": head, **params}, feature_engineering_fn)
