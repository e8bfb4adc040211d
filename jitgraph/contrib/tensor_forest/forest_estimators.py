"""Forests as estimators: ``TensorForestEstimator`` of contrib.learn, and ``CoreTensorForestEstimator``."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.contrib.estimator import heads as core_heads
from jitgraph.contrib.layers.old_column_layers import transform_features
from jitgraph.contrib.learn import fitted
from jitgraph.contrib.learn.heads import multi_class_head, regression_head
from jitgraph.contrib.tensor_forest.forest_graphs import RandomForestGraphs
from jitgraph.control.order_ops import group
from jitgraph.estimator.estimator import Estimator as CoreEstimator
from jitgraph.estimator.export_outputs import PredictOutput
from jitgraph.estimator.modes import ModeKeys
from jitgraph.feature_column.states import ScopeState
from jitgraph.feature_column.transformations import FeatureTransformationCache
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.elementary import log
from jitgraph.summary.summaries import scalar
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunHook
from jitgraph.variables.assignments import assign_add
from jitgraph.variables.global_steps import get_global_step

_SMALL = 0.000001
VARIANCE, ALL = "prediction_variance", "tensorforest_all"


class TensorForestLossHook(SessionRunHook):
    """Stops when the loss has not become smaller, by a part of itself, for some steps."""

    def __init__(self, early_stopping_rounds: int, early_stopping_loss_threshold: float | None = None,
                 loss_op: Any = None):
        self._rounds, self._threshold, self._loss_op = early_stopping_rounds, early_stopping_loss_threshold, loss_op
        self._least: Any = None
        self._last_step, self._steps = -1, 0

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Asks for the loss and the step."""
        return SessionRunArgs({"global_step": get_global_step(), "current_loss": self._loss_op})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Compares the loss."""
        loss, step = run_values.results["current_loss"], run_values.results["global_step"]
        self._steps += 1
        if self._last_step == -1 or self._last_step > step:
            logs.info("TensorForestLossHook resetting last_step.")
            self._last_step, self._steps, self._least = step, 0, None
            return
        self._last_step = step
        if self._least is None or loss < self._least - self._least * self._threshold:
            self._least, self._steps = loss, 0
        if self._steps > self._rounds:
            logs.info("TensorForestLossHook requesting stop.")
            run_context.request_stop()


class _ShownAtEnd(SessionRunHook):
    def __init__(self, shown: dict[str, Any]):
        self._shown = shown

    def end(self, session: Any) -> None:
        """Logs values."""
        for name, tensor in sorted(self._shown.items()):
            logs.info(f"{name}: {session.run(tensor)}")


def _head_of(params: Any, weights_name: Any, core: bool) -> Any:
    if not core:
        if params.regression:
            return regression_head(weight_column_name=weights_name, label_dimension=params.num_outputs, enable_centered_bias=False)
        return multi_class_head(params.num_classes, weight_column_name=weights_name, enable_centered_bias=False)
    if params.regression:
        return core_heads.regression_head(weight_column=weights_name, label_dimension=params.num_outputs)
    if params.num_classes == 2:
        return core_heads.binary_classification_head(weight_column=weights_name)
    return core_heads.multi_class_head(n_classes=params.num_classes, weight_column=weights_name)


def _transformed(features: dict, columns: Any, core: bool) -> dict:
    found = dict(features)
    if not core:
        return {**found, **transform_features(found, columns)}
    cache = FeatureTransformationCache(features)
    for column in columns:
        found[column.name] = cache.get(column, ScopeState())
    return found


def _log_odds(probabilities: Any) -> Any:
    """The logits of two classes."""
    second = slice_of(probabilities, [0, 1], [-1, 1])
    return log(maximum(second / maximum(1.0 - second, _SMALL), _SMALL))


def _model_function(params: Any, graphs: Any, device_assigner: Any, feature_columns: Any, weights_name: Any, keys_name: Any,
                    head: Any, early_stopping: tuple, trainer: tuple, report_feature_importances: bool, local_eval: bool,
                    include_all_in_serving: bool, core: bool) -> Callable:
    head = head or _head_of(params, weights_name, core)
    rounds, threshold = early_stopping

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        features = {"features": features} if isinstance(features, (Tensor, SparseTensor)) else dict(features)
        if feature_columns:
            features = _transformed(features, feature_columns, core)
        weights = features.pop(weights_name, None) if weights_name else None
        keys = features.pop(keys_name, None) if keys_name else None
        alone = mode == ModeKeys.PREDICT or (local_eval and mode == ModeKeys.EVAL)
        forest = graphs(params, device_assigner=None if alone else device_assigner)
        logits, _, variance = forest.inference_graph(features)
        scalar("average_tree_size", forest.average_size())
        if not params.regression and params.num_classes == 2:
            logits = _log_odds(logits)
        step = None
        if labels is not None and mode == ModeKeys.TRAIN:
            with control_dependencies([logits.op]):
                step = group(forest.training_graph(features, labels, input_weights=weights, num_trainers=trainer[0],
                                                   trainer_id=trainer[1]), assign_add(get_global_step(), 1))
        if weights is not None:
            features[weights_name] = weights
        given = dict(features=features, mode=mode, labels=labels, train_op_fn=lambda loss: step, logits=logits)
        made = head.create_estimator_spec(**given) if core else head.create_model_fn_ops(**given)
        shown = {"1: feature_importances": forest.feature_importances()} if report_feature_importances else {}
        hooks: list[SessionRunHook] = [_ShownAtEnd(shown)]
        if rounds:
            hooks.append(TensorForestLossHook(rounds, threshold, made.loss))
        made.predictions.update({keys_name: keys} if keys is not None else {})
        made.predictions[VARIANCE] = variance
        if not core:
            made.training_hooks.extend(hooks)
            return _serving_all(made) if include_all_in_serving else made
        made = made._replace(training_hooks=[*hooks, *made.training_hooks])
        return made._replace(export_outputs={ALL: PredictOutput(made.predictions)}) if include_all_in_serving else made

    return model_fn


def _serving_all(made: Any) -> Any:
    outputs = {**(made.output_alternatives or {}), ALL: (0, made.predictions)}
    return made._replace(output_alternatives=outputs)


_ARGUMENTS = """

    `params`: a ForestHParams; `feature_columns`: columns that transform features; `weight_column`: the feature that weighs
    examples; `keys_column`: one that predictions repeat; training stops after `early_stopping_rounds` steps in which the loss did
    not fall by `early_stopping_loss_threshold` of itself; `head`: by default one of ``multi_class_head`` and ``regression_head``.
    """


class TensorForestEstimator(fitted.Estimator):
    __doc__ = f"""A forest that is fitted, as of contrib.learn.{_ARGUMENTS}"""

    def __init__(self, params: Any, device_assigner: Any = None, model_dir: Any = None, feature_columns: Any = None,
                 graph_builder_class: Any = RandomForestGraphs, config: Any = None, weight_column: Any = None,
                 keys_column: Any = None, feature_engineering_fn: Any = None, early_stopping_rounds: int = 100,
                 early_stopping_loss_threshold: float = 0.001, num_trainers: int = 1, trainer_id: int = 0,
                 report_feature_importances: bool = False, local_eval: bool = False, version: Any = None, head: Any = None,
                 include_all_in_serving: bool = False):
        if num_trainers == 1 and config is not None:
            num_trainers = max(1, config.num_worker_replicas)
        super().__init__(_model_function(
            params.fill(), graph_builder_class, device_assigner, feature_columns, weight_column, keys_column, head,
            (early_stopping_rounds, early_stopping_loss_threshold), (num_trainers, trainer_id), report_feature_importances,
            local_eval, include_all_in_serving, core=False),
            model_dir=model_dir, config=config, feature_engineering_fn=feature_engineering_fn)


class CoreTensorForestEstimator(CoreEstimator):
    __doc__ = f"""A forest as a ``tf.estimator.Estimator``.{_ARGUMENTS}"""

    def __init__(self, params: Any, device_assigner: Any = None, model_dir: Any = None, feature_columns: Any = None,
                 graph_builder_class: Any = RandomForestGraphs, config: Any = None, weight_column: Any = None,
                 keys_column: Any = None, feature_engineering_fn: Any = None, early_stopping_rounds: int = 100,
                 early_stopping_loss_threshold: float = 0.001, num_trainers: int = 1, trainer_id: int = 0,
                 report_feature_importances: bool = False, local_eval: bool = False, version: Any = None, head: Any = None,
                 include_all_in_serving: bool = False):
        if num_trainers == 1 and config is not None:
            num_trainers = max(1, config.num_worker_replicas)
        if trainer_id == 0 and config is not None:
            trainer_id = config.global_id_in_cluster or 0
        super().__init__(_model_function(
            params.fill(), graph_builder_class, device_assigner, feature_columns, weight_column, keys_column, head,
            (early_stopping_rounds, early_stopping_loss_threshold), (num_trainers, trainer_id), report_feature_importances,
            local_eval, include_all_in_serving, core=True), model_dir=model_dir, config=config)
