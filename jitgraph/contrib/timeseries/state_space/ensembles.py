"""Sums of state space models, and models of several features of which each has a model of its own."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.timeseries.covariances import block_diagonal
from jitgraph.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from jitgraph.contrib.timeseries.state_space.state_space_model import StateSpaceModel
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.variables.variable_scopes import variable_scope


class StateSpaceEnsemble(StateSpaceModel):
    """Models whose states stand side by side: transitions and noises are blocks along a diagonal, observations are added."""

    def __init__(self, ensemble_members: list, configuration: StateSpaceModelConfiguration):
        self._ensemble_members = ensemble_members
        super().__init__(configuration=configuration)

    def _set_input_statistics(self, input_statistics: Any = None) -> None:
        super()._set_input_statistics(input_statistics)
        for member in self._ensemble_members:
            member._set_input_statistics(input_statistics)

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        own = super()._loss_additions(times, values, mode)
        return own + add_n([member._loss_additions(times, values, mode) for member in self._ensemble_members])

    def _compute_blocked(self, member_fn: Callable, name: str) -> Any:
        with variable_scope(self._variable_scope):
            return block_diagonal([member_fn(member) for member in self._ensemble_members], dtype=self.dtype, name=name)

    def transition_to_powers(self, powers: Any) -> Any:
        """As the base class says it."""
        return self._compute_blocked(lambda member: member.transition_to_powers(powers), "ensemble_transition_to_powers")

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        with variable_scope(self._variable_scope):
            if observation_transition_tradeoff_log is None:
                observation_transition_tradeoff_log = self._variable_observation_transition_tradeoff_log()
            for member in self._ensemble_members:
                member._define_parameters(observation_transition_tradeoff_log)
            super()._define_parameters(observation_transition_tradeoff_log)

    def random_model_parameters(self, seed: int | None = None) -> dict:
        """As the base class says it, those of the members too."""
        found: dict = {}
        for i, member in enumerate(self._ensemble_members):
            found.update(member.random_model_parameters(seed=seed + i if seed else None))
        found.update(super().random_model_parameters(seed=seed))
        return found

    def get_prior_mean(self) -> Any:
        """The means of the members, one after the other."""
        return concat([member.get_prior_mean() for member in self._ensemble_members], axis=0, name="ensemble_prior_state_mean")

    def get_state_transition(self) -> Any:
        """The transitions of the members along a diagonal."""
        return self._compute_blocked(lambda member: member.get_state_transition(), "ensemble_state_transition")

    def get_noise_transform(self) -> Any:
        """The transforms of the members along a diagonal."""
        return self._compute_blocked(lambda member: member.get_noise_transform(), "ensemble_noise_transform")

    def get_observation_model(self, times: Any) -> Any:
        """Raises NotImplementedError: those of the members may have different ranks."""
        raise NotImplementedError("No un-broadcasted observation model defined for ensembles.")

    def get_broadcasted_observation_model(self, times: Any) -> Any:
        """The models of the members side by side, so that what they predict is added."""
        return concat([convert_to_tensor(member.get_broadcasted_observation_model(times), dtype=self.dtype)
                       for member in self._ensemble_members], axis=2)


class StateSpaceIndependentEnsemble(StateSpaceEnsemble):
    """The sum of models whose noises are independent."""

    def transition_power_noise_accumulator(self, num_steps: Any) -> Any:
        """As the base class says it."""
        return self._compute_blocked(lambda member: member.transition_power_noise_accumulator(num_steps),
                                     "ensemble_power_noise_accumulator")

    def get_prior_covariance(self) -> Any:
        """The covariances of the members along a diagonal."""
        return self._compute_blocked(lambda member: member.get_prior_covariance(), "ensemble_prior_state_covariance")

    def get_state_transition_noise_covariance(self, minimum_initial_variance: float = 1e-5) -> Any:
        """The covariances of the members along a diagonal."""
        return self._compute_blocked(lambda member: member.state_transition_noise_covariance, "ensemble_state_transition_noise")


class StateSpaceCorrelatedFeaturesEnsemble(StateSpaceEnsemble):
    """Models of one feature each, with one covariance of all their noises.

    Raises ValueError unless there is one member for each feature, each of one feature.
    """

    def __init__(self, ensemble_members: list, configuration: StateSpaceModelConfiguration):
        if len(ensemble_members) != configuration.num_features:
            raise ValueError("The number of members in a StateSpaceCorrelatedFeaturesEnsemble must equal the number of features in "
                             "the time series.")
        if any(member.num_features != 1 for member in ensemble_members):
            raise ValueError("StateSpaceCorrelatedFeaturesEnsemble components must be univariate.")
        super().__init__(ensemble_members=ensemble_members, configuration=configuration)

    def transition_power_noise_accumulator(self, num_steps: Any) -> Any:
        """As the base class says it; a single member may know a shorter way."""
        if len(self._ensemble_members) == 1:
            return self._ensemble_members[0].transition_power_noise_accumulator(num_steps=num_steps)
        return super().transition_power_noise_accumulator(num_steps=num_steps)

    def get_broadcasted_observation_model(self, times: Any) -> Any:
        """The models of the members along a diagonal: each observes its own feature."""
        return self._compute_blocked(
            lambda member: convert_to_tensor(member.get_broadcasted_observation_model(times), dtype=self.dtype),
            "feature_ensemble_observation_model")
