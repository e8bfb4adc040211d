"""Series drawn from a state space model of one feature, in NumPy, with the parameters of a session."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.contrib.timeseries.feature_keys import TrainEvalFeatures
from jitgraph.contrib.timeseries.parameters import parameter_switch
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.ops.arrays.sequences import range as range_of


def _check_univariate(model: Any) -> None:
    if model.num_features != 1:
        raise NotImplementedError("Generation for multivariate state space models is not currently implemented.")


def random_parameters(model: Any, has_observation_noise: bool, seed: int | None) -> dict:
    """{parameter of the model: a value drawn for it}.  Raises NotImplementedError for several features."""
    _check_univariate(model)
    if seed:
        np.random.seed(seed)
    size, noises = convert_to_tensor(model.get_noise_transform()).shape.as_list()
    variances = 1.0 / np.random.gamma(shape=10.0, scale=10.0, size=[noises])
    state = np.random.normal(size=[size])
    drawn = {model.prior_state_mean: state, model.state_transition_noise_covariance: np.diag(variances),
             model.prior_state_var: np.zeros([size, size])}
    found: dict = {parameter: value for parameter, value in drawn.items() if parameter is not None}
    if has_observation_noise:
        found[model._observation_noise_covariance] = [[1.0 / np.random.gamma(shape=4, scale=4)]]
    return found


def drawn_series(model: Any, count: int, length: int, parameters: dict, seed: int | None, has_observation_noise: bool) -> dict:
    """Times [count, length] and values [count, length, 1].  Raises NotImplementedError for several features."""
    if seed is not None:
        np.random.seed(seed)
    _check_univariate(model)
    transition = convert_to_tensor(model.get_state_transition(), dtype=model.dtype).eval(feed_dict=parameters)
    noise_transform = convert_to_tensor(model.get_noise_transform()).eval(feed_dict=parameters)
    value_of = parameter_switch(parameters)
    deviations = np.sqrt(np.diag(value_of(model.state_transition_noise_covariance)))
    noise = np.sqrt(value_of(model._observation_noise_covariance)[0][0]) if has_observation_noise else 0.0
    state = np.tile(value_of(model.prior_state_mean)[None], [count, 1])
    values = np.zeros([count, length])
    observation_models = model.get_broadcasted_observation_model(times=range_of(length)).eval(feed_dict=parameters)
    for time, observation_model in enumerate(observation_models):
        state = np.dot(state, transition.T)
        drawn = np.random.normal(loc=np.zeros([count, len(deviations)]), scale=np.tile(deviations[None], [count, 1]))
        state += np.dot(drawn, noise_transform.T)
        mean = np.dot(state, observation_model[0].T)
        values[:, time] = np.random.normal(loc=mean, scale=noise) if has_observation_noise else mean
    times = np.tile(np.arange(length)[None], [count, 1])
    return {TrainEvalFeatures.TIMES: times, TrainEvalFeatures.VALUES: values[..., None]}
