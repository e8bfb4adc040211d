"""The filter of Kalman: what is known of the hidden state of a linear model, before and after each observation."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.timeseries.densities import mvn_tril_log_prob
from jitgraph.contrib.timeseries.matrix_powers import batch_times_matrix
from jitgraph.control.conditionals import cond
from jitgraph.graph import dtypes
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.matrix_parts import eye, matrix_diag_part, matrix_transpose
from jitgraph.ops.arrays.shape import expand_dims, rank, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.assertion import Assert, verify_tensor_all_finite
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.matrix_ops import cholesky, matrix_solve
from jitgraph.ops.reduce.reductions import reduce_min

_ADVICE = ("This may occur due to numerically unstable filtering when there is a large difference in posterior variances, or when "
           "inferences are near-deterministic. Considering tuning the 'filtering_maximum_posterior_variance_ratio' or "
           "'filtering_minimum_posterior_variance' parameters in your StateSpaceModelConfiguration, or tuning the transition "
           "matrix.")


class KalmanFilter:
    """Means [batch, n] and covariances [batch, n, n] of states, of which [batch, m] are observed, all of `dtype`.

    observation = observation_model . state + noise, with observation_model [batch, m, n].
    `simplified_posterior_covariance_computation`: (I - gain . model) . covariance after an observation, which takes less time and
    is less stable than Joseph's form.
    """

    def __init__(self, dtype: Any = dtypes.float32, simplified_posterior_covariance_computation: bool = False):
        self._simplified_posterior_covariance_computation = simplified_posterior_covariance_computation
        self.dtype = dtype

    def do_filter(self, estimated_state: Any, estimated_state_covariance: Any, predicted_observation: Any,
                  predicted_observation_covariance: Any, observation: Any, observation_model: Any, observation_noise: Any) -> tuple:
        """(mean, covariance) of the state after `observation` [batch, m], and the log density [batch] it was predicted with.

        A run raises InvalidArgumentError for a predicted covariance [batch, m, m] that is not finite or has a negative variance.
        """
        symmetric = 0.5 * (predicted_observation_covariance + matrix_transpose(predicted_observation_covariance))
        symmetric = verify_tensor_all_finite(symmetric, f"Predicted observation covariance was not finite. {_ADVICE}")
        least = reduce_min(matrix_diag_part(symmetric))
        message = f"The predicted observation covariance has a negative diagonal entry. {_ADVICE}"
        not_negative = Assert(least >= 0.0, [message, least])
        with control_dependencies([not_negative]):
            factor = cholesky(symmetric)
        log_probability = mvn_tril_log_prob(loc=predicted_observation, scale_tril=factor, x=observation)
        mean, covariance = self.posterior_from_prior_state(
            prior_state=estimated_state, prior_state_var=estimated_state_covariance, observation=observation,
            observation_model=observation_model, observation_noise=observation_noise,
            predicted_observations=(predicted_observation, predicted_observation_covariance))
        return mean, covariance, log_probability

    def predict_state_mean(self, prior_state: Any, transition_matrices: Any) -> Any:
        """The mean [batch, n] after `transition_matrices` [batch, n, n]."""
        return squeeze(matmul(transition_matrices, prior_state[..., None]), axis=[-1])

    def predict_state_var(self, prior_state_var: Any, transition_matrices: Any, transition_noise_sums: Any) -> Any:
        """The covariance [batch, n, n] after `transition_matrices`, with the noise that came meanwhile."""
        moved = matmul(matmul(transition_matrices, prior_state_var), transition_matrices, adjoint_b=True)
        return moved + transition_noise_sums

    def posterior_from_prior_state(self, prior_state: Any, prior_state_var: Any, observation: Any, observation_model: Any,
                                   predicted_observations: tuple, observation_noise: Any) -> tuple:
        """(mean, covariance) of the state after an `observation` [batch, m].

        `predicted_observations`: its mean and covariance; `observation_noise`: [batch, m, m] or [m, m].
        """
        predicted_mean, predicted_covariance = predicted_observations
        residual = observation - predicted_mean
        crossed = matmul(observation_model, prior_state_var, adjoint_b=True)
        # the adjoint of a symmetric matrix is itself; but rounding makes it differ, and series of several features need this one
        gain = matrix_solve(predicted_covariance, crossed, adjoint=True)
        mean = prior_state + squeeze(matmul(gain, expand_dims(residual, -1), adjoint_a=True), axis=[-1])
        gained = matmul(gain, observation_model, adjoint_a=True)
        left = eye(shape_of(gained)[1], dtype=gained.dtype)[None] - gained
        if self._simplified_posterior_covariance_computation:
            return mean, matmul(left, prior_state_var)
        noise = convert_to_tensor(observation_noise)
        covariance = matmul(left, matmul(left, prior_state_var), adjoint_b=True)

        def with_noises() -> Any:
            return covariance + matmul(matmul(gain, noise, adjoint_a=True), gain)

        def with_noise() -> Any:
            return covariance + matmul(batch_times_matrix(gain, noise, adj_x=True), gain)

        if noise.shape.ndims is None:
            return mean, cond(equal(rank(noise), 2), with_noise, with_noises)
        return mean, with_noise() if noise.shape.ndims == 2 else with_noises()

    def observed_from_state(self, state_mean: Any, state_var: Any, observation_model: Any, observation_noise: Any) -> tuple:
        """(mean [batch, m], covariance [batch, m, m]) of what is observed of a state; `observation_noise` 0 for none."""
        mean = squeeze(matmul(expand_dims(state_mean, 1), observation_model, adjoint_b=True), axis=[1])
        covariance = matmul(matmul(observation_model, state_var), observation_model, adjoint_b=True)
        covariance += observation_noise
        return mean, covariance
