"""Estimators of time series."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from jitgraph.contrib.timeseries import serving_inputs
from jitgraph.contrib.timeseries.autoregressive import AnomalyMixtureARModel, ARModel
from jitgraph.contrib.timeseries.heads import OneShotPredictionHead, TimeSeriesRegressionHead
from jitgraph.contrib.timeseries.input_statistics import InputStatisticsFromMiniBatch
from jitgraph.contrib.timeseries.state_managers import ChainingStateManager, FilteringOnlyStateManager, PassthroughStateManager
from jitgraph.contrib.timeseries.state_space.anomalies import StateInterpolatingAnomalyDetector
from jitgraph.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from jitgraph.contrib.timeseries.state_space.state_space_model import StateSpaceModel
from jitgraph.contrib.timeseries.state_space.structural import MultiResolutionStructuralEnsemble
from jitgraph.contrib.timeseries.window_networks import FlatPredictionModel, LSTMPredictionModel
from jitgraph.estimator.canned.optimizers import optimizer_of
from jitgraph.estimator.estimator import Estimator
from jitgraph.graph import dtypes
from jitgraph.train.adam import AdamOptimizer
from jitgraph.train.adaptive import AdagradOptimizer


class TimeSeriesRegressor(Estimator):
    """An Estimator of a ``TimeSeriesModel``.

    `state_manager` gives the states that windows begin with (None: what the model needs); `optimizer` is Adam with 0.02 if None;
    `head_type` a class of heads.  ``evaluate`` returns predictions and the state of the last batch beside the loss, from which
    ``predict_continuation_input_fn`` goes on.
    """

    def __init__(self, model: Any, state_manager: Any = None, optimizer: Any = None, model_dir: str | None = None,
                 config: Any = None, head_type: Any = TimeSeriesRegressionHead):
        statistics = InputStatisticsFromMiniBatch(dtype=model.dtype, num_features=model.num_features)
        if state_manager is None:
            state_manager = FilteringOnlyStateManager() if isinstance(model, ARModel) else PassthroughStateManager()
        self._model = model
        head = head_type(model=model, state_manager=state_manager, optimizer=optimizer or AdamOptimizer(0.02),
                         input_statistics_generator=statistics)
        super().__init__(model_fn=head.create_estimator_spec, model_dir=model_dir, config=config)

    def build_one_shot_parsing_serving_input_receiver_fn(
            self, filtering_length: int, prediction_length: int, default_batch_size: int | None = None,
            values_input_dtype: Any = None, truncate_values: bool = False) -> Callable:
        """The input of an exported model with an ``OneShotPredictionHead``: serialized ``tf.train.Example`` [batch].

        Each has `filtering_length` + `prediction_length` times and exogenous features, and `filtering_length` values (as many as
        times, of which the last are not used, if `truncate_values`) of `values_input_dtype`, float32 if None.
        """
        return functools.partial(
            serving_inputs.parsed, self._model, filtering_length, prediction_length, default_batch_size,
            values_input_dtype or dtypes.float32, filtering_length + prediction_length if truncate_values else filtering_length)

    def build_raw_serving_input_receiver_fn(self, default_batch_size: int | None = None,
                                            default_series_length: int | None = None) -> Callable:
        """The input of an exported model: arrays of times, values, exogenous features and states, in sizes that may be fixed."""
        return functools.partial(serving_inputs.raw, self._model, default_batch_size, default_series_length)


class ARRegressor(TimeSeriesRegressor):
    """An Estimator of an ``ARModel`` with layers of `hidden_layer_sizes`, or none; the optimizer is Adagrad with 0.1 if None.

    With an `anomaly_prior_probability` of an ``AnomalyMixtureARModel``; then `anomaly_distribution` is one of its distributions.
    The other arguments are those of the model.  Raises ValueError for a distribution without a probability, and for another loss.
    """

    def __init__(self, periodicities: Any, input_window_size: int, output_window_size: int, num_features: int,
                 exogenous_feature_columns: Any = None, num_time_buckets: int = 10, loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
                 hidden_layer_sizes: Any = None, anomaly_prior_probability: float | None = None,
                 anomaly_distribution: str | None = None, optimizer: Any = None, model_dir: str | None = None, config: Any = None):
        common = {"periodicities": periodicities, "num_features": num_features, "num_time_buckets": num_time_buckets,
                  "input_window_size": input_window_size, "output_window_size": output_window_size,
                  "exogenous_feature_columns": exogenous_feature_columns,
                  "prediction_model_factory": functools.partial(FlatPredictionModel, hidden_layer_sizes=hidden_layer_sizes)}
        model: ARModel
        if anomaly_prior_probability is None:
            if anomaly_distribution is not None:
                raise ValueError("anomaly_prior_probability is required if anomaly_distribution is specified.")
            model = ARModel(loss=loss, **common)
        else:
            if loss != ARModel.NORMAL_LIKELIHOOD_LOSS:
                raise ValueError("AnomalyMixtureARModel only supports ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS for its loss "
                                 "argument.")
            model = AnomalyMixtureARModel(anomaly_prior_probability=anomaly_prior_probability,
                                          anomaly_distribution=anomaly_distribution, **common)  # type: ignore[arg-type]
        super().__init__(model=model, state_manager=FilteringOnlyStateManager(), optimizer=optimizer or AdagradOptimizer(0.1),
                         model_dir=model_dir, config=config)


class LSTMAutoRegressor(TimeSeriesRegressor):
    """An Estimator of an ``ARModel`` whose network is an LSTM with `num_units`, exported with an ``OneShotPredictionHead``.

    `num_timesteps` are its time buckets, `extra_feature_columns` its exogenous ones; `optimizer` is a name (with 0.01) or one.
    """

    def __init__(self, periodicities: Any, input_window_size: int, output_window_size: int, model_dir: str | None = None,
                 num_features: int = 1, extra_feature_columns: Any = None, num_timesteps: int = 10,
                 loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS, num_units: int = 128, optimizer: Any = "Adam", config: Any = None):
        optimizer = optimizer_of(optimizer, learning_rate=0.01)
        model = ARModel(
            periodicities=periodicities, input_window_size=input_window_size, output_window_size=output_window_size,
            num_features=num_features, exogenous_feature_columns=extra_feature_columns, num_time_buckets=num_timesteps, loss=loss,
            prediction_model_factory=functools.partial(LSTMPredictionModel, num_units=num_units))
        super().__init__(model=model, state_manager=FilteringOnlyStateManager(), optimizer=optimizer, model_dir=model_dir,
                         config=config, head_type=OneShotPredictionHead)


class StateSpaceRegressor(TimeSeriesRegressor):
    """An Estimator of a ``StateSpaceModel``, whose windows begin with states that are kept.  Raises ValueError for other models."""

    def __init__(self, model: Any, state_manager: Any = None, optimizer: Any = None, model_dir: str | None = None,
                 config: Any = None, head_type: Any = TimeSeriesRegressionHead):
        if not isinstance(model, StateSpaceModel):
            raise ValueError("StateSpaceRegressor only supports state space models (children of StateSpaceModel) in its `model` "
                             f"argument, got {model}.")
        super().__init__(model=model, state_manager=state_manager or ChainingStateManager(), optimizer=optimizer,
                         model_dir=model_dir, config=config, head_type=head_type)


class StructuralEnsembleRegressor(StateSpaceRegressor):
    """An Estimator of a ``MultiResolutionStructuralEnsemble``: a level with a slope, a moving average, and cycles.

    `anomaly_prior_probability`: how probable an anomaly is that is to be ignored; None takes none.  `exogenous_feature_columns`
    and `exogenous_update_condition` are those of ``StateSpaceModelConfiguration``, the first five others those of the model.
    """

    def __init__(self, periodicities: Any, num_features: int, cycle_num_latent_values: Any = 11, moving_average_order: int = 4,
                 autoregressive_order: int = 0, exogenous_feature_columns: Any = None, exogenous_update_condition: Any = None,
                 dtype: Any = dtypes.float64, anomaly_prior_probability: float | None = None, optimizer: Any = None,
                 model_dir: str | None = None, config: Any = None, head_type: Any = TimeSeriesRegressionHead):
        detector = None if anomaly_prior_probability is None else StateInterpolatingAnomalyDetector(
            anomaly_prior_probability=anomaly_prior_probability)
        configuration = StateSpaceModelConfiguration(
            num_features=num_features, dtype=dtype, filtering_postprocessor=detector,
            exogenous_feature_columns=exogenous_feature_columns, exogenous_update_condition=exogenous_update_condition)
        model = MultiResolutionStructuralEnsemble(
            cycle_num_latent_values=cycle_num_latent_values, moving_average_order=moving_average_order,
            autoregressive_order=autoregressive_order, periodicities=periodicities, configuration=configuration)
        super().__init__(model=model, optimizer=optimizer, model_dir=model_dir, config=config, head_type=head_type)
