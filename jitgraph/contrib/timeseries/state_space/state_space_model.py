"""``StateSpaceModel``: a linear model with a hidden state, filtered after Kalman."""
from __future__ import annotations

import abc
from typing import Any

from jitgraph.contrib.layers.dense import fully_connected
from jitgraph.contrib.timeseries.covariances import clip_covariance, transform_to_covariance_matrices, variable_covariance_matrix
from jitgraph.contrib.timeseries.matrix_powers import matrix_to_powers, power_sums_tensor
from jitgraph.contrib.timeseries.sequential_models import SequentialTimeSeriesModel
from jitgraph.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from jitgraph.contrib.timeseries.state_space.drawing import drawn_series, random_parameters
from jitgraph.contrib.timeseries.state_space.kalman_filter import KalmanFilter
from jitgraph.estimator.modes import ModeKeys
from jitgraph.graph import dtypes
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.matrix_parts import eye
from jitgraph.ops.arrays.searching import unique
from jitgraph.ops.arrays.shape import expand_dims, rank, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, less_equal
from jitgraph.ops.elementwise.elementary import log
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.reduce.reductions import reduce_all, reduce_max, reduce_mean
from jitgraph.variables.variable_scopes import get_variable, get_variable_scope, variable_scope


class StateSpaceModel(SequentialTimeSeriesModel):
    """state[t] = transition . state[t - 1] + noise_transform . noise[t]; observation[t] = model[t] . state[t] + noise.

    Noises are normal, and their covariances learned.  A subclass says the transition [n, n], the transform [n, m] and the model
    of observations.  Exogenous features are added to the state, or observe it.  The state is (mean [batch, n], covariance
    [batch, n, n], the times [batch] that it is of).  After ``initialize_graph``: ``prior_state_mean`` [n], ``prior_state_var``
    [n, n], ``state_transition_noise_covariance`` [m, m].  Variables stand in the scope where the model was made.
    """

    def __init__(self, configuration: StateSpaceModelConfiguration):
        self._configuration = configuration
        further = [] if configuration.filtering_postprocessor is None else configuration.filtering_postprocessor.output_names
        super().__init__(
            train_output_names=["mean", "covariance", "log_likelihood", *further], predict_output_names=["mean", "covariance"],
            num_features=configuration.num_features, normalize_features=True, dtype=configuration.dtype,
            exogenous_feature_columns=configuration.exogenous_feature_columns,
            exogenous_update_condition=configuration.exogenous_update_condition,
            static_unrolling_window_size_threshold=configuration.static_unrolling_window_size_threshold)
        self._kalman_filter: Any = None
        self.prior_state_mean: Any = None
        self.prior_state_var: Any = None
        self.state_transition_noise_covariance: Any = None
        self._observation_noise_covariance: Any = None
        self._variable_scope = get_variable_scope()

    # -- several steps at once -----------------------------------------------------------------------------------------

    def transition_power_noise_accumulator(self, num_steps: Any) -> Any:
        """The covariance [..., n, n] of the noise of `num_steps` [...] transitions; a subclass may know a shorter way."""
        transform = convert_to_tensor(self.get_noise_transform(), self.dtype)
        noise = matmul(matmul(transform, self.state_transition_noise_covariance), transform, transpose_b=True)
        sums = power_sums_tensor(reduce_max(num_steps) + 1, convert_to_tensor(self.get_state_transition(), dtype=self.dtype), noise)
        return gather(sums, num_steps)

    def transition_to_powers(self, powers: Any) -> Any:
        """The transition to the `powers` [...]: [..., n, n]; a subclass may know a shorter way."""
        return matrix_to_powers(convert_to_tensor(self.get_state_transition(), dtype=self.dtype), powers)

    def _window_initializer(self, times: Any, state: Any) -> None:
        """Computes the transitions over all gaps between times of the window once."""
        times, before = convert_to_tensor(times), convert_to_tensor(state[2])
        gaps = reshape(times[:, 1:] - times[:, :-1], [-1])
        first_gaps = maximum(times[:, 0] - before, 0)
        gaps, _ = unique(concat([gaps, first_gaps], axis=0))
        self._window_power_sums = self.transition_power_noise_accumulator(gaps)
        self._window_transition_powers = self.transition_to_powers(gaps)
        self._window_gap_sizes = gaps

    def _lookup_window_caches(self, caches: list, indices: Any) -> list:
        _, places = unique(concat([self._window_gap_sizes, cast(indices, self._window_gap_sizes.dtype)], axis=0))
        found = []
        for cache in caches:
            one = gather(cache, places[-shape_of(indices)[0]:])
            one.set_shape(indices.shape.concatenate(one.shape[-2:]))
            found.append(one)
        return found

    # -- the steps of a time -------------------------------------------------------------------------------------------

    def _imputation_step(self, current_times: Any, state: Any) -> tuple:
        mean, covariance, before = state
        gaps = maximum(current_times - before, 0)       # the start time is only an estimate
        transitions, noises = self._lookup_window_caches([self._window_transition_powers, self._window_power_sums], gaps)
        mean = self._kalman_filter.predict_state_mean(mean, transitions)
        covariance = self._kalman_filter.predict_state_var(covariance, transitions, noises)
        return mean, covariance, before + gaps

    def _prediction_step(self, current_times: Any, state: Any) -> tuple:
        mean, covariance, before = state
        imputed = Assert(reduce_all(less_equal(current_times, before)), ["Attempted to predict without imputation"])
        with control_dependencies([imputed]):
            model = self.get_broadcasted_observation_model(current_times)
            predicted, predicted_covariance = self._kalman_filter.observed_from_state(
                state_mean=mean, state_var=covariance, observation_model=model,
                observation_noise=self._observation_noise_covariance)
        size = self.num_features
        predicted.set_shape(current_times.shape.concatenate((size,)))
        predicted_covariance.set_shape(current_times.shape.concatenate((size, size)))
        return (mean, covariance, current_times), {"mean": predicted, "covariance": predicted_covariance}

    def _filtering_step(self, current_times: Any, current_values: Any, state: Any, predictions: dict) -> tuple:
        mean, covariance, before = state
        model = self.get_broadcasted_observation_model(current_times)
        imputed = Assert(reduce_all(equal(current_times, before)), ["Attempted to perform filtering without imputation/prediction"])
        with control_dependencies([imputed]):
            covariance = clip_covariance(covariance, self._configuration.filtering_maximum_posterior_variance_ratio,
                                         self._configuration.filtering_minimum_posterior_variance)
            mean, covariance, log_probability = self._kalman_filter.do_filter(
                estimated_state=mean, estimated_state_covariance=covariance, predicted_observation=predictions["mean"],
                predicted_observation_covariance=predictions["covariance"], observation=current_values,
                observation_model=model, observation_noise=self._observation_noise_covariance)
        filtered = (mean, covariance, current_times)
        log_probability.set_shape(current_times.shape)
        predictions["loss"] = -log_probability
        predictions["log_likelihood"] = log_probability
        postprocessor = self._configuration.filtering_postprocessor
        if postprocessor is None:
            return filtered, predictions
        found: tuple = postprocessor.process_filtering_step(
            current_times=current_times, current_values=current_values, predicted_state=state, filtered_state=filtered,
            outputs=predictions)
        return found

    def _scale_back_predictions(self, predictions: dict) -> dict:
        predictions["mean"] = self._scale_back_data(predictions["mean"])
        predictions["covariance"] = self._scale_back_variance(predictions["covariance"])
        return predictions

    def _exogenous_input_step(self, current_times: Any, current_exogenous_regressors: Any, state: Any) -> tuple:
        if self._configuration.exogenous_noise_decreases:
            state = self._exogenous_noise_decreasing(current_exogenous_regressors, state)
        if self._configuration.exogenous_noise_increases:
            state = self._exogenous_noise_increasing(current_exogenous_regressors, state)
        return state

    def _exogenous_noise_decreasing(self, values: Any, state: Any) -> tuple:
        """The state after `values` [batch, size] as an observation of all of it, linear in them."""
        mean, covariance, before = state
        size = convert_to_tensor(self.get_state_transition(), dtype=self.dtype).shape[0].value
        model = eye(size, batch_shape=shape_of(values)[:-1], dtype=self.dtype)
        with variable_scope("exogenous_noise_decreasing_covariance"):
            noise = transform_to_covariance_matrices(values, size)
        with variable_scope("exogenous_noise_decreasing_observation"):
            observation = fully_connected(values, size, activation_fn=None)
        mean, covariance = self._kalman_filter.posterior_from_prior_state(
            prior_state=mean, prior_state_var=covariance, observation=observation, observation_model=model,
            predicted_observations=(mean, noise + covariance), observation_noise=noise)
        return mean, covariance, before

    def _exogenous_noise_increasing(self, values: Any, state: Any) -> tuple:
        """The state after the addition of noise whose mean and covariance come from `values` [batch, size]."""
        mean, covariance, before = state
        with variable_scope("exogenous_noise_increasing_mean"):
            added = fully_connected(values, mean.shape[1].value, activation_fn=None)
        size = covariance.shape[1].value
        with variable_scope("exogenous_noise_increasing_covariance"):
            noise = transform_to_covariance_matrices(values, size)
        return mean + added, covariance + noise, before

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        """The priors of covariances, in training."""
        if mode != ModeKeys.TRAIN:
            return zeros([], dtype=self.dtype)
        if self._input_statistics is not None and self._configuration.bayesian_prior_weighting:
            weight = 1.0 / cast(self._input_statistics.total_observation_count, self.dtype)
        else:
            weight = 1.0 / cast(shape_of(times)[1], self.dtype)
        prior = self._configuration.covariance_prior_fn
        total = convert_to_tensor(prior(self.state_transition_noise_covariance), dtype=self.dtype)
        if self._configuration.use_observation_noise and self._observation_noise_covariance is not None:
            total = total + convert_to_tensor(prior(self._observation_noise_covariance), dtype=self.dtype)
        return -weight * total

    # -- parameters ----------------------------------------------------------------------------------------------------

    def _variable_observation_transition_tradeoff_log(self) -> Any:
        first = constant(-self._configuration.transition_covariance_initial_log_scale_bias, dtype=self.dtype)
        return get_variable("observation_transition_tradeoff_log_scale", initializer=first, dtype=self.dtype)

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        """Makes variables; those of an ensemble share the log by which noise of observations is larger than of transitions."""
        with variable_scope(self._variable_scope):
            if observation_transition_tradeoff_log is None:
                observation_transition_tradeoff_log = self._variable_observation_transition_tradeoff_log()
            self._observation_transition_tradeoff_log_scale = observation_transition_tradeoff_log
            self.state_transition_noise_covariance = self.get_state_transition_noise_covariance()

    def _set_input_statistics(self, input_statistics: Any = None) -> None:
        super().initialize_graph(input_statistics=input_statistics)

    def initialize_graph(self, input_statistics: Any = None) -> None:
        """As the base class says it; makes the variables of the model on top."""
        self._set_input_statistics(input_statistics=input_statistics)
        self._define_parameters()
        with variable_scope(self._variable_scope):
            self._observation_noise_covariance = convert_to_tensor(self.get_observation_noise_covariance(), dtype=self.dtype)
        self._kalman_filter = KalmanFilter(dtype=self.dtype)
        self.prior_state_var = self.get_prior_covariance()
        self.prior_state_mean = self.get_prior_mean()

    def get_prior_covariance(self) -> Any:
        """The covariance [n, n] of the state of the start."""
        with variable_scope(self._variable_scope):
            size = convert_to_tensor(self.get_state_transition()).shape[0].value
            if not self._configuration.trainable_start_state:
                return eye(size, dtype=self.dtype)
            covariance = variable_covariance_matrix(size, "prior_state_var", dtype=self.dtype)
            if self._input_statistics is None:
                return covariance
            largest = reduce_max(self._scale_variance(self._input_statistics.series_start_moments.variance))
            return covariance * maximum(largest, 1.0)

    def get_prior_mean(self) -> Any:
        """The mean [n] of the state of the start, a variable."""
        with variable_scope(self._variable_scope):
            size = convert_to_tensor(self.get_state_transition(), dtype=self.dtype).shape[0].value
            return get_variable("prior_state_mean", shape=[size], dtype=self.dtype,
                                trainable=self._configuration.trainable_start_state)

    def get_start_state(self) -> tuple:
        """(mean, covariance, the time before the first)"""
        start = zeros([], dtype=dtypes.int64) if self._input_statistics is None else self._input_statistics.start_time
        return self.prior_state_mean, self.prior_state_var, start - 1

    def _start_variance(self) -> Any:
        """The scaled variance [num_features] of the first values, or None."""
        if self._input_statistics is None:
            return None
        return self._scale_variance(self._input_statistics.series_start_moments.variance)

    def get_state_transition_noise_covariance(self, minimum_initial_variance: float = 1e-5) -> Any:
        """The covariance [m, m] of the noise of a transition; it begins low, as high noise is rarely what explains a series."""
        size = convert_to_tensor(self.get_noise_transform(), dtype=self.dtype).shape[1].value
        variance: Any = self._start_variance()
        scale: Any = 0.0
        if variance is not None:
            count = cast(self._input_statistics.total_observation_count, self.dtype)
            scale = log(maximum(reduce_mean(variance) / count, minimum_initial_variance))
        scale -= self._observation_transition_tradeoff_log_scale
        return variable_covariance_matrix(size, "state_transition_noise", dtype=self.dtype, initial_overall_scale_log=scale)

    def get_observation_noise_covariance(self, minimum_initial_variance: float = 1e-5) -> Any:
        """The covariance [num_features, num_features] of the noise of an observation."""
        size, name = self.num_features, "observation_noise_covariance"
        if not self._configuration.use_observation_noise:
            return zeros(shape=[size, size], name=name, dtype=self.dtype)
        variance = self._start_variance()
        if variance is not None:
            variance = maximum(variance, minimum_initial_variance)
        return variable_covariance_matrix(size, name, self.dtype, initial_diagonal_values=variance,
                                          initial_overall_scale_log=self._observation_transition_tradeoff_log_scale)

    # -- series drawn from the model -----------------------------------------------------------------------------------

    def random_model_parameters(self, seed: int | None = None) -> dict:
        """{parameter: a value drawn for it}, for ``generate``.  Raises NotImplementedError for several features."""
        return random_parameters(self, self._configuration.use_observation_noise, seed)

    def generate(self, number_of_series: int, series_length: int, model_parameters: dict | None = None, seed: int | None = None,
                 add_observation_noise: bool | None = None) -> dict:
        """As the base class says it; needs a default session.  Raises NotImplementedError for several features."""
        noisy = self._configuration.use_observation_noise if add_observation_noise is None else add_observation_noise
        return drawn_series(self, number_of_series, series_length, model_parameters or {}, seed, noisy)

    # -- what a subclass says ------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def get_state_transition(self) -> Any:
        """The matrix [n, n] by which the state of a time comes from that before."""

    @abc.abstractmethod
    def get_noise_transform(self) -> Any:
        """The matrix [n, m] by which noise [m] comes into the state."""

    @abc.abstractmethod
    def get_observation_model(self, times: Any) -> Any:
        """The matrix by which observations come from the state at `times` [batch]: [n] for one feature, [num_features, n], or
        [batch, num_features, n]."""

    def get_broadcasted_observation_model(self, times: Any) -> Any:
        """The model of observations as [batch, num_features, n]."""
        model = convert_to_tensor(self.get_observation_model(times), dtype=self.dtype)
        count = model.shape.with_rank_at_least(1).with_rank_at_most(3).ndims
        if count is None:
            with control_dependencies([Assert(equal(rank(model), 3), [shape_of(model)])]):
                return identity(model)
        if count == 1:
            return tile(reshape(model, [1, 1, -1]), [shape_of(times)[0], self.num_features, 1])
        return tile(expand_dims(model, axis=0), [shape_of(times)[0], 1, 1]) if count == 2 else model

    def get_features_for_timesteps(self, timesteps: Any) -> Any:
        """No features: [batch, 0]."""
        return zeros([shape_of(timesteps)[0], 0], dtype=self.dtype)
