"""Heads of time series: what a model gives in training, evaluation, prediction and serving."""
from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from jitgraph.contrib.timeseries.feature_keys import (
    FilteringFeatures,
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    SavedModelLabels,
    State,
    TrainEvalFeatures,
)
from jitgraph.control.order_ops import group
from jitgraph.estimator.canned.keys import MetricKeys
from jitgraph.estimator.export_outputs import PredictOutput
from jitgraph.estimator.modes import ModeKeys
from jitgraph.estimator.spec import EstimatorSpec
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.composite import convert_to_tensor_or_sparse_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.metrics.means import mean
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.summary.summaries import scalar
from jitgraph.variables.assignments import assign
from jitgraph.variables.global_steps import get_global_step
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_scopes import variable_scope

_TIMES, _VALUES, _STATE = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES, State.STATE_TUPLE
_STATE_OF_KEY = re.compile(rf"^{State.STATE_PREFIX}_(\d+)$")


class _NoStatePredictOutput(PredictOutput):
    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """From all inputs but those of the state to all outputs."""
        return super().as_signature_def({key: value for key, value in receiver_tensors.items()
                                         if not key.startswith(State.STATE_PREFIX)})


class TimeSeriesRegressionHead:
    """Makes EstimatorSpecs of `model`, whose states come from `state_manager`, trained by `optimizer`.

    `input_statistics_generator` gives the statistics that the model takes; `name` goes before the nodes.
    """

    logits_dimension = 1

    def __init__(self, model: Any, state_manager: Any, optimizer: Any, input_statistics_generator: Any = None,
                 name: str | None = None):
        self.model, self.state_manager, self.optimizer = model, state_manager, optimizer
        self.input_statistics_generator = input_statistics_generator
        self._name = name

    @property
    def name(self) -> str | None:
        """The name, or None."""
        return self._name

    def create_loss(self, features: dict, mode: str, logits: Any = None, labels: Any = None) -> Any:
        """The ``ModelOutputs`` of windows, with a summary of their loss."""
        outputs = self.state_manager.define_loss(self.model, features, mode)
        scalar(f"{MetricKeys.LOSS}/{self._name}" if self._name else MetricKeys.LOSS, outputs.loss)
        return outputs

    def _train_ops(self, features: dict) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            outputs = self.create_loss(features, ModeKeys.TRAIN)
        train_op = self.optimizer.minimize(outputs.loss, global_step=get_global_step())
        return EstimatorSpec(loss=outputs.loss, mode=ModeKeys.TRAIN, train_op=train_op)

    def _evaluate_ops(self, features: dict) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            outputs = self.create_loss(features, ModeKeys.EVAL)
        metrics: dict[str, Any] = {key: _last_value(key, value) for key, value in outputs.predictions.items()}
        metrics[FilteringResults.TIMES] = _last_value(FilteringResults.TIMES, outputs.prediction_times)
        metrics[FilteringResults.STATE_TUPLE] = _last_values(FilteringResults.STATE_TUPLE, outputs.end_state)
        metrics[MetricKeys.LOSS_MEAN] = mean(outputs.loss, name="average_loss")
        return EstimatorSpec(loss=outputs.loss, mode=ModeKeys.EVAL, eval_metric_ops=metrics, predictions=outputs.predictions)

    def _predict_ops(self, features: dict) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            prediction = self.model.predict(features=features)
        prediction[PredictionResults.TIMES] = features[PredictionFeatures.TIMES]
        return EstimatorSpec(predictions=prediction, mode=ModeKeys.PREDICT)

    def _serving_ops(self, features: dict) -> EstimatorSpec:
        """Three signatures: predictions from a state, the state after values, and this from the state of the start."""
        with variable_scope("model", use_resource=True):
            predicted = self.model.predict(features=features)
        with variable_scope("model", reuse=True):
            filtered = self.create_loss(features, ModeKeys.EVAL)
        with variable_scope("model", reuse=True):
            stateless = {key: value for key, value in features.items() if not key.startswith(State.STATE_PREFIX)}
            cold = self.model.define_loss(features=stateless, mode=ModeKeys.EVAL)
        return EstimatorSpec(mode=ModeKeys.PREDICT, predictions={}, export_outputs={
            SavedModelLabels.PREDICT: PredictOutput(predicted),
            SavedModelLabels.FILTER: PredictOutput(state_to_dictionary(filtered.end_state)),
            SavedModelLabels.COLD_START_FILTER: _NoStatePredictOutput(state_to_dictionary(cold.end_state))})

    def _convert_feature_to_tensor(self, name: str, value: Any) -> Any:
        if name == _TIMES:
            return cast(value, dtypes.int64)
        if name == _VALUES:
            return cast(value, self.model.dtype)
        return value if name == _STATE else convert_to_tensor_or_sparse_tensor(value)

    def _gather_state(self, features: dict) -> tuple[dict, bool]:
        """Features whose numbered parts of a state are one structure, and whether there were any."""
        numbered = sorted((int(found[1]), key) for key in features if (found := _STATE_OF_KEY.search(key)))
        if not numbered:
            return features, False
        packed = {key: value for key, value in features.items() if not _STATE_OF_KEY.search(key)}
        packed[_STATE] = nest.pack_sequence_as(self.model.get_start_state(), [features[key] for _, key in numbered])
        return packed, True

    def _check_predict_features(self, features: dict) -> None:
        _check_there(features, (PredictionFeatures.TIMES, PredictionFeatures.STATE_TUPLE), "prediction")
        _check_windows(features, {_STATE})

    def _check_train_eval_features(self, features: dict) -> None:
        _check_there(features, (_TIMES, _VALUES), "training/evaluation")
        _check_times(features[_TIMES])
        size, known = self.model.num_features, features[_VALUES].shape
        if not known.is_compatible_with([None, None, size]):
            raise ValueError(f"Expected shape (batch dimension, window size, {size}) for feature '{_VALUES}', since the model was "
                             f"configured with num_features={size} (got shape {known})")
        _check_windows(features, {_STATE})

    def create_estimator_spec(self, features: dict, mode: str, labels: Any = None) -> EstimatorSpec:
        """The EstimatorSpec for features: times [batch, window], values [batch, window, num_features], and others.

        Raises ValueError for labels, for what is lacking, for other shapes, and for an unknown mode.
        """
        with name_scope(self._name, "head"):
            if labels is not None and labels != {}:
                raise ValueError("The model received a `labels`, which is not supported. "
                                 f"Pass '{_TIMES}' and '{_VALUES}' as features.")
            features = {name: self._convert_feature_to_tensor(name=name, value=value) for name, value in features.items()}
            statistics = None
            if self.input_statistics_generator is not None:
                statistics = self.input_statistics_generator.initialize_graph(features, update_statistics=mode == ModeKeys.TRAIN)
            self.model.initialize_graph(input_statistics=statistics)
            features, is_serving = self._gather_state(features)
            if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
                self._check_train_eval_features(features)
            elif mode == ModeKeys.PREDICT:
                self._check_predict_features(features)
            else:
                raise ValueError(f"Unknown mode '{mode}' passed to model_fn.")
            self.state_manager.initialize_graph(model=self.model, input_statistics=statistics)
            if mode == ModeKeys.TRAIN:
                return self._train_ops(features)
            if mode == ModeKeys.EVAL:
                return self._evaluate_ops(features)
            return self._serving_ops(features) if is_serving else self._predict_ops(features)


class OneShotPredictionHead(TimeSeriesRegressionHead):
    """A head whose exported model takes times [batch, n] and values [batch, m, num_features] of the first m < n of them.

    It begins with the state of the start, goes through these values, and predicts the n - m times after them.
    """

    def _check_predict_features(self, features: dict) -> None:
        _check_there(features, (PredictionFeatures.TIMES, _VALUES, PredictionFeatures.STATE_TUPLE), "prediction")
        _check_windows(features, {_STATE, _VALUES})

    def _evaluate_ops(self, features: dict) -> EstimatorSpec:
        spec = super()._evaluate_ops(features)
        del spec.eval_metric_ops[_STATE]
        return spec

    def _serving_ops(self, features: dict) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            known: dict[str, Any] = {}
            later: dict[str, Any] = {}
            length = shape_of(features[FilteringFeatures.VALUES])[1]
            for key, value in features.items():
                if key == FilteringFeatures.VALUES:
                    known[key] = value
                elif key != _STATE:
                    known[key], later[key] = value[:, :length], value[:, length:]
            later[_STATE] = self.model.define_loss(features=known, mode=ModeKeys.EVAL).end_state
        with variable_scope("model", reuse=True):
            predicted = self.model.predict(features=later)
        return EstimatorSpec(mode=ModeKeys.PREDICT, predictions={},
                             export_outputs={SavedModelLabels.PREDICT: _NoStatePredictOutput(predicted)})


def _check_there(features: dict, keys: Collection[str], purpose: str) -> None:
    for key in keys:
        if key not in features:
            raise ValueError(f"Expected a '{key}' feature for {purpose}.")


def _check_times(times: Any) -> None:
    if not times.shape.is_compatible_with([None, None]):
        raise ValueError(f"Expected shape (batch dimension, window size) for feature '{_TIMES}' (got shape {times.shape})")


def _check_windows(features: dict, ignored: Collection[str]) -> None:
    """Raises ValueError unless all features but those `ignored` have the shape of the times in front."""
    times = features[_TIMES]
    _check_times(times)
    for name, value in features.items():
        if name in ignored or value.shape.ndims is None:
            continue
        if value.shape.ndims < 2:
            raise ValueError("Features must have shape (batch dimension, window size, ...) "
                             f"(got rank {value.shape.ndims} for feature '{name}')")
        if not value.shape[:2].is_compatible_with(times.shape):
            raise ValueError("Features must have shape (batch dimension, window size, ...) where batch dimension and window size "
                             f"match the '{_TIMES}' feature (got shape {value.shape} for feature '{name}' but shape "
                             f"{times.shape} for feature '{_TIMES}')")


def _last_value(name: str, tensor: Any) -> tuple:
    """A metric that is the tensor at its last update: results that belong to the same batch."""
    kept = Variable(zeros([], dtype=tensor.dtype), name=f"{name}_identity_metric", collections=[GraphKeys.LOCAL_VARIABLES],
                    validate_shape=False)
    update = assign(kept, tensor, validate_shape=False)
    kept.set_shape(tensor.shape)
    return kept.value(), update


def _last_values(name: str, tensors: Any) -> tuple:
    metrics = [_last_value(f"{name}_{i}", tensor) for i, tensor in enumerate(nest.flatten(tensors))]
    return nest.pack_sequence_as(tensors, [value for value, _ in metrics]), group(*[update for _, update in metrics])


def state_to_dictionary(state_tuple: Any) -> dict[str, Any]:
    """{"model_state_00": the first tensor of a state, ...}"""
    return {f"{State.STATE_PREFIX}_{i:02d}": value for i, value in enumerate(nest.flatten(state_tuple))}
