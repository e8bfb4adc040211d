"""The options of state space models."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jitgraph.contrib.timeseries.covariances import log_noninformative_covariance_prior
from jitgraph.graph import dtypes


class _Options(NamedTuple):
    num_features: int
    use_observation_noise: bool
    dtype: Any
    covariance_prior_fn: Callable
    bayesian_prior_weighting: bool
    filtering_postprocessor: Any
    trainable_start_state: bool
    exogenous_noise_increases: bool
    exogenous_noise_decreases: bool
    exogenous_feature_columns: Any
    exogenous_update_condition: Any
    filtering_maximum_posterior_variance_ratio: float
    filtering_minimum_posterior_variance: float
    transition_covariance_initial_log_scale_bias: float
    static_unrolling_window_size_threshold: int | None


class StateSpaceModelConfiguration(_Options):
    """Options of state space models.

    Args:
      num_features: how many values each time has.
      use_observation_noise: whether observations are noisy functions of the state; only for the model on top.
      dtype: that of the model.
      covariance_prior_fn: a function of a covariance matrix that gives a log prior, which training adds.
      bayesian_prior_weighting: whether the prior weighs as much as one observation of the whole series, or of the window.
      filtering_postprocessor: a ``FilteringStepPostprocessor``, or None.
      trainable_start_state: whether the state of the start is learned.
      exogenous_noise_increases: whether exogenous features are added to the state, which makes it less certain.
      exogenous_noise_decreases: whether they are taken as observations of it, which makes it more certain.
      exogenous_feature_columns: feature columns of these.
      exogenous_update_condition: a function of times [batch] and features [batch, ...] that says where they count; None: always.
      filtering_maximum_posterior_variance_ratio: of the largest to the smallest variance before an observation.
      filtering_minimum_posterior_variance: the smallest variance before an observation.
      transition_covariance_initial_log_scale_bias: the log by which the noise of transitions is larger than that of observations
        at first.  Without noise of observations, 0 or more.
      static_unrolling_window_size_threshold: loops over windows of up to so many times are unrolled.
    """

    def __new__(cls, num_features: int = 1, use_observation_noise: bool = True, dtype: Any = dtypes.float32,
                covariance_prior_fn: Callable = log_noninformative_covariance_prior, bayesian_prior_weighting: bool = True,
                filtering_postprocessor: Any = None, trainable_start_state: bool = False, exogenous_noise_increases: bool = True,
                exogenous_noise_decreases: bool = False, exogenous_feature_columns: Any = None,
                exogenous_update_condition: Any = None, filtering_maximum_posterior_variance_ratio: float = 1e6,
                filtering_minimum_posterior_variance: float = 0.0, transition_covariance_initial_log_scale_bias: float = -5.0,
                static_unrolling_window_size_threshold: int | None = None) -> StateSpaceModelConfiguration:
        return super().__new__(
            cls, num_features, use_observation_noise, dtype, covariance_prior_fn, bayesian_prior_weighting, filtering_postprocessor,
            trainable_start_state, exogenous_noise_increases, exogenous_noise_decreases, exogenous_feature_columns or [],
            exogenous_update_condition, filtering_maximum_posterior_variance_ratio, filtering_minimum_posterior_variance,
            transition_covariance_initial_log_scale_bias, static_unrolling_window_size_threshold)


DEFAULT = StateSpaceModelConfiguration()
