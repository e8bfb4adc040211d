"""Where the state before a window comes from: the model, the features, or what was kept of earlier windows."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.timeseries.feature_keys import FilteringFeatures, State, TrainEvalFeatures
from jitgraph.contrib.timeseries.models import ModelOutputs
from jitgraph.contrib.timeseries.state_tables import TupleOfTensorsLookup, replicate_state
from jitgraph.estimator.modes import ModeKeys
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal

_TIMES = TrainEvalFeatures.TIMES


class PassthroughStateManager:
    """Leaves the state to the model."""

    def __init__(self) -> None:
        self._input_statistics: Any = None
        self._graph_initialized = False

    def initialize_graph(self, model: Any, input_statistics: Any = None) -> None:
        """Makes what it needs in each graph."""
        self._graph_initialized = True
        self._input_statistics = input_statistics

    def define_loss(self, model: Any, features: dict, mode: str) -> ModelOutputs:
        """The outputs of `model` for `features`.  Raises ValueError if these have a state."""
        if State.STATE_TUPLE in features:
            raise ValueError("Overriding start state is not supported for this model.")
        outputs: ModelOutputs = model.define_loss(features, mode)
        return outputs


class _OverridableStateManager(PassthroughStateManager):
    """Takes the state of the features, if they have one."""

    def _define_loss_with_saved_state(self, model: Any, features: dict, mode: str) -> ModelOutputs:
        raise NotImplementedError

    def define_loss(self, model: Any, features: dict, mode: str) -> ModelOutputs:
        """The outputs of `model` for `features`.  Raises ValueError if these have a state in training."""
        key = FilteringFeatures.STATE_TUPLE
        if key not in features:
            return self._define_loss_with_saved_state(model=model, features=features, mode=mode)
        if mode == ModeKeys.TRAIN:
            raise ValueError("Overriding saved state for training is not supported (but a value for feature "
                             f"{key} was specified).")
        state = features.pop(key)
        outputs: ModelOutputs = model.get_batch_loss(features=features, mode=mode, state=state)
        return outputs


class FilteringOnlyStateManager(_OverridableStateManager):
    """Takes the state of the features, else that of the start: for models of windows of a fixed size."""

    def _define_loss_with_saved_state(self, model: Any, features: dict, mode: str) -> ModelOutputs:
        outputs: ModelOutputs = model.define_loss(features, mode)
        return outputs


class ChainingStateManager(_OverridableStateManager):
    """Keeps the states that windows end with, as the states that others begin with.

    A state is kept for every `state_saving_interval` times; a model must go over the times between.  `checkpoint_state`: whether
    checkpoints hold them.
    """

    def __init__(self, state_saving_interval: int = 20, checkpoint_state: bool = False):
        super().__init__()
        self._checkpoint_state = checkpoint_state
        self._state_saving_interval = state_saving_interval
        self._start_state: Any = None
        self._cached_states: Any = None

    def initialize_graph(self, model: Any, input_statistics: Any = None) -> None:
        """Makes the tables of states."""
        super().initialize_graph(model=model, input_statistics=input_statistics)
        self._start_state = model.get_start_state()
        self._cached_states = TupleOfTensorsLookup(
            key_dtype=dtypes.int64, default_values=self._start_state, empty_key=-1, deleted_key=-2, name="cached_states",
            checkpoint=self._checkpoint_state)

    def _define_loss_with_saved_state(self, model: Any, features: dict, mode: str) -> ModelOutputs:
        """Raises ValueError before ``initialize_graph``."""
        if not self._graph_initialized:
            raise ValueError("ChainingStateManager requires initialize_graph() to be called before use.")
        loss, end_state, predictions = self._update_cached_states(model=model, features=features, mode=mode)
        last = [one[-1][None] for one in nest.flatten(end_state)]
        predictions["observed"] = features[TrainEvalFeatures.VALUES]
        return ModelOutputs(loss=loss, end_state=nest.pack_sequence_as(end_state, last), predictions=predictions,
                            prediction_times=features[_TIMES])

    def _get_chunk_number(self, time: Any) -> Any:
        return time // self._state_saving_interval

    def _get_cached_states(self, times: Any) -> Any:
        """The states to begin with at `times` [batch]; gradients reach the state of the start through the first part."""
        numbers = self._get_chunk_number(times)
        found = tuple(self._cached_states.lookup(cast(numbers, dtypes.int64)))
        start_time = 0 if self._input_statistics is None else self._input_statistics.start_time
        is_first = equal(numbers, self._get_chunk_number(start_time))
        start = replicate_state(self._start_state, shape_of(times)[0])
        return nest.pack_sequence_as(found, [
            where(is_first, first, kept) for first, kept in zip(nest.flatten(start), nest.flatten(found))])

    def _update_cached_states(self, model: Any, features: dict, mode: str) -> tuple:
        """(the loss, after which all states are kept; the state at the end; predictions)"""
        times = features[_TIMES]
        loss, states, predictions = model.per_step_batch_loss(features=features, mode=mode,
                                                              state=self._get_cached_states(times[:, 0]))
        # where the window would have begun at the next time, but never in the part that this one began in
        next_parts = self._get_chunk_number(times) + 1
        parts = maximum(self._get_chunk_number(concat([times[:, 1:], times[:, -1:] + 1], axis=1)), next_parts)
        kept = self._cached_states.insert(keys=parts, values=states)
        end_state = nest.pack_sequence_as(states, [one[:, -1] for one in nest.flatten(states)])
        with control_dependencies([kept]):
            return identity(loss), end_state, predictions
