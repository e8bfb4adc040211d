"""Structural models: a level with a slope, a moving average, and cycles, added."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.timeseries.state_space.configuration import DEFAULT
from jitgraph.contrib.timeseries.state_space.ensembles import StateSpaceCorrelatedFeaturesEnsemble, StateSpaceIndependentEnsemble
from jitgraph.contrib.timeseries.state_space.level_trend import AdderStateSpaceModel
from jitgraph.contrib.timeseries.state_space.periodic import CycleStateSpaceModel, ResolutionCycleModel
from jitgraph.contrib.timeseries.state_space.varma import VARMA
from jitgraph.graph import structures as nest
from jitgraph.variables.variable_scopes import variable_scope


def _for_each_feature(scope: str, make: Callable, configuration: Any) -> StateSpaceCorrelatedFeaturesEnsemble:
    """One of the models that `make` gives for each feature, with noises that are correlated."""
    with variable_scope(scope):
        members = []
        for feature in range(configuration.num_features):
            with variable_scope(f"feature{feature}"):
                members.append(make(configuration._replace(num_features=1)))
        return StateSpaceCorrelatedFeaturesEnsemble(ensemble_members=members, configuration=configuration)


def _members(cycles: list, moving_average_order: int, autoregressive_order: int, configuration: Any) -> list:
    inner = configuration._replace(use_observation_noise=False)
    adder = _for_each_feature("adder", lambda one: AdderStateSpaceModel(configuration=one), inner)
    with variable_scope("varma"):
        averages = VARMA(autoregressive_order=autoregressive_order, moving_average_order=moving_average_order, configuration=inner)
    return [adder, averages, *(_for_each_feature(f"cycle{i}", make, inner) for i, make in enumerate(cycles))]


class StructuralEnsemble(StateSpaceIndependentEnsemble):
    """A level with a slope, a moving average, and a cycle for each of the `periodicities` (a number of steps, or several).

    As in "Predicting the present with Bayesian structural time series" (Scott and Varian, 2014), with points in the place of
    posteriors.  `use_level_noise` is taken and not used, as in TensorFlow.
    """

    def __init__(self, periodicities: Any, moving_average_order: int, autoregressive_order: int, use_level_noise: bool = True,
                 configuration: Any = DEFAULT):
        cycles = [_cycle(periodicity) for periodicity in nest.flatten(periodicities)]
        super().__init__(_members(cycles, moving_average_order, autoregressive_order, configuration), configuration)


def _cycle(periodicity: Any) -> Callable:
    return lambda configuration: CycleStateSpaceModel(periodicity=periodicity, configuration=configuration)


class MultiResolutionStructuralEnsemble(StateSpaceIndependentEnsemble):
    """As ``StructuralEnsemble``, with cycles of `cycle_num_latent_values` numbers whatever the `periodicities` are.

    Either may be a list, of the same length or of one number for all.  Raises ValueError for other lengths.
    """

    def __init__(self, cycle_num_latent_values: Any, moving_average_order: int, autoregressive_order: int, periodicities: Any,
                 use_level_noise: bool = True, configuration: Any = DEFAULT):
        periods = nest.flatten([] if periodicities is None else periodicities)
        numbers = nest.flatten(cycle_num_latent_values)
        if len(periods) != len(numbers):
            if len(numbers) != 1:
                raise ValueError("`cycle_num_latent_values` must either be a list with the same size as `periodicity` or a scalar. "
                                 f"Received length {len(numbers)} `cycle_num_latent_values`, while `periodicities` has length "
                                 f"{len(periods)}.")
            numbers = numbers * len(periods)
        cycles = [_resolved_cycle(number, period) for number, period in zip(numbers, periods)]
        super().__init__(_members(cycles, moving_average_order, autoregressive_order, configuration), configuration)


def _resolved_cycle(number: int, periodicity: Any) -> Callable:
    return lambda configuration: ResolutionCycleModel(num_latent_values=number, periodicity=periodicity,
                                                      configuration=configuration)
