"""Autoregressive models: a window of values predicted from the window before it, and from the time."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.timeseries.densities import cauchy_log_prob, normal_log_prob
from jitgraph.contrib.timeseries.feature_keys import PredictionFeatures, TrainEvalFeatures
from jitgraph.contrib.timeseries.models import ModelOutputs, TimeSeriesModel
from jitgraph.contrib.timeseries.prediction_loop import predicted_windows
from jitgraph.contrib.timeseries.window_networks import FlatPredictionModel
from jitgraph.control.while_loops import while_loop
from jitgraph.estimator.modes import ModeKeys
from jitgraph.graph import dtypes
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones_like, zeros, zeros_like
from jitgraph.ops.arrays.join import concat, split
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.elementwise.arithmetic import maximum, minimum, squared_difference
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.composite_values import sqrt
from jitgraph.ops.elementwise.elementary import exp, log
from jitgraph.ops.reduce.reductions import reduce_mean, reduce_prod, reduce_sum
from jitgraph.tensor_arrays.tensor_array import TensorArray
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope

_TIMES, _VALUES, _STATE = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES, PredictionFeatures.STATE_TUPLE
_SMALLEST_VARIANCE = 1e-5


class ARModel(TimeSeriesModel):
    """A model of windows: `output_window_size` times predicted from `input_window_size` times before (0: from the time alone).

    Each of the `periodicities` (a number or several) is divided into `num_time_buckets`; how far a time is into its bucket is a
    feature.  `prediction_model_factory` makes the network of `num_features`, `input_window_size` and `output_window_size`.  `loss`
    is SQUARED_LOSS or NORMAL_LIKELIHOOD_LOSS, with which variances are learned.  Windows to train on have the sum of both sizes.
    """

    SQUARED_LOSS = "squared_loss"
    NORMAL_LIKELIHOOD_LOSS = "normal_likelihood_loss"

    def __init__(self, periodicities: Any, input_window_size: int, output_window_size: int, num_features: int,
                 prediction_model_factory: Any = FlatPredictionModel, num_time_buckets: int = 10,
                 loss: str = NORMAL_LIKELIHOOD_LOSS, exogenous_feature_columns: Any = None):
        self._model_factory = prediction_model_factory
        self.input_window_size, self.output_window_size = input_window_size, output_window_size
        self.window_size = input_window_size + output_window_size
        self.loss = loss
        super().__init__(num_features=num_features, exogenous_feature_columns=exogenous_feature_columns)
        self.exogenous_size = 0 if exogenous_feature_columns is None else self._get_exogenous_embedding_shape()[-1]
        self._buckets = int(num_time_buckets)
        several = periodicities if isinstance(periodicities, (list, tuple)) else [periodicities] if periodicities else []
        self._periodicities = [int(one) for one in several]
        if self._buckets <= 0 or output_window_size <= 0 or min(self._periodicities, default=1) <= 0:
            raise AssertionError("num_time_buckets, output_window_size and each of the periodicities must be positive: got "
                                 f"{num_time_buckets}, {output_window_size} and {self._periodicities}")
        if not self._periodicities and not input_window_size:
            raise AssertionError("a model without periodicities needs an input_window_size above 0")

    def initialize_graph(self, input_statistics: Any = None) -> None:
        """As the base class says it; makes the network."""
        super().initialize_graph(input_statistics=input_statistics)
        # with a slash the scope stands alone, whether the network is called in a loop (in prediction) or not (in training)
        self._model_scope = variable_scope("model/", use_resource=True)
        self._model_instance = self._model_factory(num_features=self.num_features, input_window_size=self.input_window_size,
                                                   output_window_size=self.output_window_size)

    def get_start_state(self) -> tuple:
        """(times, scaled values, exogenous features) of the known window, all 0."""
        size = self.input_window_size
        return (zeros([size], dtype=dtypes.int64), zeros([size, self.num_features], dtype=self.dtype),
                zeros([size, self.exogenous_size], dtype=self.dtype))

    def random_model_parameters(self, seed: int | None = None) -> None:
        """None: there is nothing to draw."""

    def generate(self, number_of_series: int, series_length: int, model_parameters: dict | None = None,
                 seed: int | None = None) -> Any:
        """None: nothing is drawn."""

    def prediction_ops(self, times: Any, values: Any, exogenous_regressors: Any) -> dict:
        """{"mean", "covariance"}, both [batch, output_window_size, num_features].

        `times` [batch, window_size]; `values` [batch, input_window_size, num_features], scaled; `exogenous_regressors` [batch,
        window_size, size].
        """
        times.shape.assert_is_compatible_with([None, self.window_size])
        batch_size = shape_of(times)[0]
        if self.input_window_size:
            values.shape.assert_is_compatible_with([None, self.input_window_size, self.num_features])
        if exogenous_regressors is not None:
            exogenous_regressors.shape.assert_is_compatible_with([None, self.window_size, self.exogenous_size])
        known, later, known_size, later_size = self._window_features(times, values, exogenous_regressors, batch_size)
        known = concat(known, axis=2)
        later = concat(later, axis=2) if later else zeros([batch_size, self.output_window_size, 0], dtype=self.dtype)
        count = times.shape[0].value
        known.set_shape([count, self.input_window_size, known_size])
        later.set_shape([count, self.output_window_size, later_size])
        with self._model_scope:
            predictions: dict = self._model_instance(known, later)
            for prediction in predictions.values():
                prediction.set_shape([None, self.output_window_size, self.num_features])
            return predictions

    def _window_features(self, times: Any, values: Any, exogenous_regressors: Any, batch_size: Any) -> tuple:
        """(features of the known window, features of the predicted one, the sums of their sizes)"""
        known: list = []
        later: list = []
        known_size = later_size = 0
        sizes = (self.input_window_size, self.output_window_size)
        if self._periodicities:
            _, features = self._compute_time_features(times)
            count = self._buckets * len(self._periodicities)
            features = reshape(features, [batch_size, self.window_size, count])
            for found, part in zip((known, later), split(features, sizes, axis=1)):
                found.append(part)
            known_size += count
            later_size += count
        if self.input_window_size:
            before = slice_of(values, [0, 0, 0], [-1, self.input_window_size, -1])
            known.append(reshape(before, [batch_size, self.input_window_size, self.num_features]))
            known_size += self.num_features
        if self.exogenous_size:
            for found, part in zip((known, later), split(exogenous_regressors, sizes, axis=1)):
                found.append(part)
            known_size += self.exogenous_size
            later_size += self.exogenous_size
        return known, later, known_size, later_size

    def _compute_time_features(self, time: Any) -> tuple:
        """(how many periods have passed, [batch, window, periodicities, 1]; how far each bucket is passed, [..., buckets])"""
        count = len(self._periodicities)
        batch_size = shape_of(time)[0]
        periods = constant(self._periodicities, shape=[1, 1, count, 1], dtype=time.dtype)
        time = reshape(time, [batch_size, -1, 1, 1])
        passed = time / self._periodicities
        place = cast(time % periods, self.dtype) * self._buckets / cast(periods, self.dtype)
        buckets = reshape(range_of(self._buckets, dtype=self.dtype), [1, 1, 1, self._buckets])
        place = relu(place - buckets)
        return passed, where_v2(place < 1.0, place, zeros_like(place))

    def loss_op(self, targets: Any, prediction_ops: dict) -> Any:
        """The mean loss of a value: `targets` and predictions [batch, output_window_size, num_features]."""
        prediction = prediction_ops["mean"]
        if self.loss == ARModel.NORMAL_LIKELIHOOD_LOSS:
            sigma = sqrt(maximum(prediction_ops["covariance"], _SMALLEST_VARIANCE))
            loss = -reduce_sum(normal_log_prob(targets, sigma, prediction))
        elif self.loss == ARModel.SQUARED_LOSS:
            loss = reduce_sum(squared_difference(prediction, targets))
        else:
            raise AssertionError(self.loss)
        return loss / cast(reduce_prod(shape_of(targets)), loss.dtype)

    def _process_exogenous_features(self, times: Any, features: dict) -> Any:
        embedded = super()._process_exogenous_features(times=times, features=features)
        return zeros(concat([shape_of(times), constant([0])], axis=0)) if embedded is None else embedded

    def predict(self, features: dict) -> dict:
        """{"mean", "covariance"}, both [batch, window, num_features], for times [batch, window] and the state before them.

        Windows are predicted one after the other, each from the means of the one before.
        """
        if not self._graph_initialized:
            self.initialize_graph()
        times = cast(convert_to_tensor(features[PredictionFeatures.TIMES]), dtypes.int32)
        regressors = self._process_exogenous_features(
            times=times, features={key: value for key, value in features.items() if key not in (_TIMES, _VALUES, _STATE)})
        mean, covariance = predicted_windows(self, times, regressors, features[_STATE], self.loss != ARModel.SQUARED_LOSS)
        if covariance is None:
            covariance = ones_like(mean)
        return {"mean": self._scale_back_data(mean), "covariance": self._scale_back_variance(covariance)}

    def _process_window(self, features: dict, mode: str, exogenous_regressors: Any) -> ModelOutputs:
        """The outputs of a window of exactly `window_size` times."""
        times = cast(features[_TIMES], dtypes.int64)
        original = cast(features[_VALUES], dtype=self.dtype)
        exogenous_regressors = cast(exogenous_regressors, dtype=self.dtype)
        known, predicted, size = self.input_window_size, self.output_window_size, self.window_size
        if not times.shape.is_compatible_with([None, size]):
            raise ValueError(
                f"ARModel with input_window_size={known} and output_window_size={predicted} expects feature '{_TIMES}' to have "
                f"shape (batch_size, {size}) (for any batch_size), but got shape {times.shape}. If you are using "
                f"RandomWindowInputFn, set window_size={size} or adjust the input_window_size and "
                "output_window_size arguments to ARModel.")
        values = self._scale_data(original)
        found = self.prediction_ops(times, values[:, :known, :] if known > 0 else None, exogenous_regressors)
        targets = slice_of(values, [0, known, 0], [-1, -1, -1])
        targets.shape.assert_is_compatible_with(found["mean"].shape)
        if mode == ModeKeys.EVAL and self.loss == ARModel.SQUARED_LOSS:     # in evaluation, of the values as they came
            loss = self.loss_op(self._scale_back_data(targets), {"mean": self._scale_back_data(found["mean"])})
        else:
            loss = self.loss_op(targets, found)
        mean, covariance = self._scale_back_data(found["mean"]), self._scale_back_variance(found["covariance"])
        state = (times[:, -known:], values[:, -known:, :], exogenous_regressors[:, -known:, :])
        return ModelOutputs(
            loss=loss, end_state=state, predictions={"mean": mean, "covariance": covariance, "observed": original[:, -predicted:]},
            prediction_times=times[:, -predicted:])

    def get_batch_loss(self, features: dict, mode: str, state: Any) -> ModelOutputs:
        """The outputs for windows of `window_size` times in training.  In evaluation they may be longer: then as many predicted
        windows as there is room for, side by side, at the end.  `state` is replaced by the end of what it and the window hold.

        Raises ValueError for an unknown mode, and for shorter windows.
        """
        features = {name: convert_to_tensor(value) for name, value in features.items()}
        times = features[_TIMES]
        regressors = self._process_exogenous_features(
            times=times, features={key: value for key, value in features.items() if key not in (_TIMES, _VALUES, _STATE)})
        if mode == ModeKeys.TRAIN:
            return self._process_window(features, mode=mode, exogenous_regressors=regressors)
        if mode != ModeKeys.EVAL:
            raise ValueError(f"Unknown mode '{mode}' passed to get_batch_loss.")
        times.shape.assert_has_rank(2)
        length = times.shape[1].value
        if length is not None and length < self.window_size:
            raise ValueError("ARModel requires a window of at least input_window_size + output_window_size to evaluate on "
                             f"(input_window_size={self.input_window_size}, output_window_size={self.output_window_size}, and got "
                             f"shape {times.shape} for feature '{_TIMES}' (batch size, window size)).")
        return self._evaluated(features, times, regressors, state)

    def _evaluated(self, features: dict, times: Any, regressors: Any, state: tuple) -> ModelOutputs:
        step = self.output_window_size
        count = (shape_of(times)[1] - self.input_window_size) // step
        size = count * step
        used = size + self.input_window_size
        features = {name: value[:, -used:] for name, value in features.items()}

        def evaluate(number: Any, losses: Any, means: Any, covariances: Any) -> tuple:
            start = number * step
            outputs = self._process_window(
                features={name: value[:, start:start + self.window_size] for name, value in features.items()},
                mode=ModeKeys.EVAL, exogenous_regressors=regressors[:, start:start + self.window_size])
            return (number + 1, losses.write(number, outputs.loss), means.write(number, outputs.predictions["mean"]),
                    covariances.write(number, outputs.predictions["covariance"]))

        _, losses, means, covariances = while_loop(
            lambda number, *_: number < count, evaluate,
            [0, *(TensorArray(dtype=self.dtype, size=count) for _ in range(3))])
        values = cast(features[_VALUES], dtype=self.dtype)
        shape = [shape_of(times)[0], step * count, self.num_features]
        state = self._end_state(state, times, values, regressors)
        loss = reduce_mean(losses.stack(), axis=0)
        mean, covariance = (reshape(transpose(one.stack(), [1, 0, 2, 3]), shape) for one in (means, covariances))
        found = {"mean": mean, "covariance": covariance, "observed": values[:, -size:]}
        return ModelOutputs(loss=loss, end_state=state, predictions=found, prediction_times=times[:, -size:])

    def _end_state(self, state: tuple, times: Any, values: Any, regressors: Any) -> tuple:
        """The last window that the state and what came after it hold."""
        size = self.input_window_size
        if size == 0:
            return state
        before_times, before_values, before_regressors = state
        new_times = concat([before_times, cast(times, dtype=dtypes.int64)], axis=1)[:, -size:]
        new_values = concat([before_values, self._scale_data(values)], axis=1)[:, -size:, :]
        new_regressors = concat([before_regressors, regressors], axis=1)[:, -size:, :]
        new_times.set_shape((None, size))
        new_values.set_shape((None, size, self.num_features))
        new_regressors.set_shape((None, size, self.exogenous_size))
        return new_times, new_values, new_regressors


class AnomalyMixtureARModel(ARModel):
    """An ``ARModel`` whose loss takes each value for an anomaly with a probability of `anomaly_prior_probability`.

    Anomalies are distributed as `anomaly_distribution` says, GAUSSIAN_ANOMALY or CAUCHY_ANOMALY, around the same mean.
    """

    GAUSSIAN_ANOMALY = "gaussian"
    CAUCHY_ANOMALY = "cauchy"

    def __init__(self, periodicities: Any, anomaly_prior_probability: float, input_window_size: int, output_window_size: int,
                 num_features: int, prediction_model_factory: Any = FlatPredictionModel,
                 anomaly_distribution: str = GAUSSIAN_ANOMALY, num_time_buckets: int = 10, exogenous_feature_columns: Any = None):
        if not 0.0 < anomaly_prior_probability < 1.0:
            raise AssertionError(f"anomaly_prior_probability must be between 0 and 1: got {anomaly_prior_probability}")
        if anomaly_distribution not in (self.GAUSSIAN_ANOMALY, self.CAUCHY_ANOMALY):
            raise AssertionError(f"anomaly_distribution must be '{self.GAUSSIAN_ANOMALY}' or '{self.CAUCHY_ANOMALY}': got "
                                 f"{anomaly_distribution!r}")
        self._anomaly_prior_probability = anomaly_prior_probability
        self._anomaly_distribution = anomaly_distribution
        super().__init__(
            periodicities=periodicities, num_features=num_features, num_time_buckets=num_time_buckets,
            input_window_size=input_window_size, output_window_size=output_window_size, loss=ARModel.NORMAL_LIKELIHOOD_LOSS,
            prediction_model_factory=prediction_model_factory, exogenous_feature_columns=exogenous_feature_columns)

    def prediction_ops(self, times: Any, values: Any, exogenous_regressors: Any) -> dict:
        """As in the base class, with "anomaly_params": the variance, or the scale, of anomalies."""
        found = super().prediction_ops(times, values, exogenous_regressors)
        parameter = get_variable("anomaly_log_param", shape=[], dtype=self.dtype, initializer=zeros_initializer())
        found["anomaly_params"] = exp(parameter)
        return found

    def _anomaly_log_prob(self, targets: Any, prediction_ops: dict) -> Any:
        parameter = prediction_ops["anomaly_params"]
        if self._anomaly_distribution == self.GAUSSIAN_ANOMALY:
            return normal_log_prob(targets, sqrt(maximum(parameter, _SMALLEST_VARIANCE)), prediction_ops["mean"])
        return cauchy_log_prob(targets, parameter, prediction_ops["mean"])

    def loss_op(self, targets: Any, prediction_ops: dict) -> Any:
        """The mean loss of a value under both distributions."""
        sigma = sqrt(maximum(prediction_ops["covariance"], _SMALLEST_VARIANCE))
        usual = normal_log_prob(targets, sigma, prediction_ops["mean"])
        usual += log(1 - self._anomaly_prior_probability)
        anomalous = self._anomaly_log_prob(targets, prediction_ops)
        anomalous += log(self._anomaly_prior_probability)
        lower, upper = minimum(usual, anomalous), maximum(usual, anomalous)
        mixed = upper + log(1 + exp(lower - upper))          # log(exp(usual) + exp(anomalous)), without overflow
        return -reduce_sum(mixed) / cast(reduce_prod(shape_of(targets)), self.dtype)
