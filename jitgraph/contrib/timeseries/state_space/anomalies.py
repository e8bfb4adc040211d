"""What happens to a state after an observation that may be an anomaly."""
from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from jitgraph.contrib.timeseries.densities import cauchy_log_prob, entropy_matched_cauchy_scale
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import rank, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_equal
from jitgraph.ops.elementwise.elementary import log, sigmoid
from jitgraph.ops.reduce.reductions import reduce_sum


class FilteringStepPostprocessor(abc.ABC):
    """Changes the state and the outputs after each observation."""

    @abc.abstractmethod
    def process_filtering_step(self, current_times: Any, current_values: Any, predicted_state: Any, filtered_state: Any,
                               outputs: dict) -> tuple:
        """(the new state, the outputs with further ones).

        `predicted_state` does not know `current_values` [batch, num_features], `filtered_state` does.
        """

    @property
    @abc.abstractmethod
    def output_names(self) -> list:
        """The names of the further outputs."""


def cauchy_alternative_to_gaussian(current_times: Any, current_values: Any, outputs: dict) -> Any:
    """The log densities [batch] of values [batch, num_features] as anomalies: independent Cauchy distributions around the means,
    whose entropies are those of the predicted normal ones."""
    scale = entropy_matched_cauchy_scale(outputs["covariance"])
    return reduce_sum(cauchy_log_prob(loc=outputs["mean"], scale=scale, x=current_values), axis=1)


def _interpolated(first: Any, second: Any, part: Any) -> Any:
    """`part` [batch] of the state `first`, and the rest of `second`; integers, which are times, must be equal."""
    found = []
    for one, other in zip(nest.flatten(first), nest.flatten(second)):
        if one.dtype != other.dtype:
            raise AssertionError(f"states to interpolate have dtypes {one.dtype} and {other.dtype}")
        if one.dtype.is_floating:
            padded = reshape(part, concat([shape_of(part), ones([rank(one) - 1], dtype=dtypes.int32)], 0))
            mixed = padded * one + (1.0 - padded) * other
            mixed.set_shape(one.shape)
            found.append(mixed)
        else:
            with control_dependencies([assert_equal(one, other)]):
                found.append(identity(one))
    return nest.pack_sequence_as(first, found)


class StateInterpolatingAnomalyDetector(FilteringStepPostprocessor):
    """Takes an observation for an anomaly with a probability, and keeps as much of the predicted state.

    `anomaly_log_likelihood` is a function of times, values and outputs that gives log densities [batch] of anomalies, which have
    `anomaly_prior_probability` beforehand; `responsibility_scaling` above 1 makes the choice sharper.  The output "anomaly_score"
    has the log odds of each observation being one.
    """

    output_names = ["anomaly_score"]

    def __init__(self, anomaly_log_likelihood: Callable = cauchy_alternative_to_gaussian, anomaly_prior_probability: float = 0.01,
                 responsibility_scaling: float = 1.0):
        self._anomaly_log_likelihood = anomaly_log_likelihood
        self._responsibility_scaling = responsibility_scaling
        self._anomaly_prior_probability = anomaly_prior_probability

    def process_filtering_step(self, current_times: Any, current_values: Any, predicted_state: Any, filtered_state: Any,
                               outputs: dict) -> tuple:
        """(the state between both, the outputs with "anomaly_score" and another "loss"); needs the output "log_likelihood"."""
        anomalous = self._anomaly_log_likelihood(current_times=current_times, current_values=current_values, outputs=outputs)
        prior = convert_to_tensor(self._anomaly_prior_probability, dtype=current_values.dtype)
        anomalous = anomalous + log(prior)
        usual = outputs["log_likelihood"] + log(1.0 - prior)
        log_odds = anomalous - usual
        part = sigmoid(-self._responsibility_scaling * log_odds)
        state = _interpolated(filtered_state, predicted_state, part)
        likelihood = part * usual + (1.0 - part) * anomalous
        outputs["loss"] = -likelihood
        outputs["anomaly_score"] = log_odds
        return state, outputs
