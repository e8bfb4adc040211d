"""Models that go through a window time by time, with a state."""
from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from jitgraph.contrib.timeseries.feature_keys import PredictionFeatures, TrainEvalFeatures
from jitgraph.contrib.timeseries.models import ModelOutputs, TimeSeriesModel
from jitgraph.control.while_loops import while_loop
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import rank
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import less
from jitgraph.ops.reduce.reductions import reduce_prod, reduce_sum
from jitgraph.tensor_arrays.tensor_array import TensorArray
from jitgraph.variables.variable_scopes import variable_scope

_TIMES, _VALUES, _STATE = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES, PredictionFeatures.STATE_TUPLE


class _Written:
    """A Python list in the place of a TensorArray, for loops that are unrolled."""

    def __init__(self) -> None:
        self.values: list = []

    def write(self, position: Any, value: Any) -> _Written:
        """Adds a value at the end."""
        self.values.append(value)
        return self


class SequentialTimeSeriesModel(TimeSeriesModel):
    """A model whose subclass says how one time changes the state, and what is predicted there.

    For each time the state goes through ``_imputation_step`` (to this time), ``_exogenous_input_step`` (if there are such
    features, and only where `exogenous_update_condition` of times [batch] and features [batch, ...] holds),
    ``_prediction_step``, and where values are known ``_filtering_step``.  `train_output_names` and `predict_output_names` are the
    names of what the last two return, without "loss".  `normalize_features`: whether values are scaled before; then a subclass has
    ``_scale_back_predictions``.  Loops over windows of known lengths up to `static_unrolling_window_size_threshold` are unrolled.
    """

    def __init__(self, train_output_names: list, predict_output_names: list, num_features: int, normalize_features: bool = False,
                 dtype: Any = dtypes.float32, exogenous_feature_columns: Any = None, exogenous_update_condition: Any = None,
                 static_unrolling_window_size_threshold: int | None = None):
        super().__init__(num_features=num_features, dtype=dtype, exogenous_feature_columns=exogenous_feature_columns)
        self._exogenous_update_condition = exogenous_update_condition
        self._train_output_names = train_output_names
        self._predict_output_names = predict_output_names
        self._normalize_features = normalize_features
        self._static_unrolling_window_size_threshold = static_unrolling_window_size_threshold

    def _scale_back_predictions(self, predictions: dict) -> dict:
        raise NotImplementedError("SequentialTimeSeriesModel normalized input data (normalize_features=True), but no method was "
                                  "provided to transform the predictions back to the input scale.")

    @abc.abstractmethod
    def _filtering_step(self, current_times: Any, current_values: Any, state: Any, predictions: dict) -> tuple:
        """(the state that knows `current_values` [batch, num_features], the predictions and "loss" [batch])"""

    @abc.abstractmethod
    def _prediction_step(self, current_times: Any, state: Any) -> tuple:
        """(the state, predictions [batch, ...] by name) at `current_times` [batch]"""

    @abc.abstractmethod
    def _imputation_step(self, current_times: Any, state: Any) -> Any:
        """The state after the times before `current_times` [batch]."""

    @abc.abstractmethod
    def _exogenous_input_step(self, current_times: Any, current_exogenous_regressors: Any, state: Any) -> Any:
        """The state that knows the exogenous features [batch, size]."""

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        """What is added to the mean loss of a time, such as a regularization."""
        return 0.0

    def _window_initializer(self, times: Any, state: Any) -> None:
        """Called before the loop over `times` [batch, window]."""

    def get_batch_loss(self, features: dict, mode: str, state: Any) -> ModelOutputs:
        """As the base class says it."""
        loss, states, outputs = self.per_step_batch_loss(features, mode, state)
        end = nest.pack_sequence_as(states, [one[:, -1] for one in nest.flatten(states)])
        outputs["observed"] = features[_VALUES]
        return ModelOutputs(loss=loss, end_state=end, predictions=outputs, prediction_times=features[_TIMES])

    def _apply_exogenous_update(self, current_times: Any, step_number: Any, state: Any, raw_features: dict,
                                embedded_exogenous_regressors: Any) -> Any:
        if embedded_exogenous_regressors is None:
            return state
        updated = self._exogenous_input_step(current_times=current_times, state=state,
                                             current_exogenous_regressors=embedded_exogenous_regressors[:, step_number, :])
        condition = self._exogenous_update_condition
        if condition is None:
            return updated
        raw = {key: value[:, step_number] for key, value in raw_features.items() if key not in (_STATE, _TIMES, _VALUES)}
        return nest.pack_sequence_as(state, [
            where(condition(times=current_times, features=raw), new, old)
            for new, old in zip(nest.flatten(updated), nest.flatten(state))])

    def per_step_batch_loss(self, features: dict, mode: str, state: Any) -> tuple:
        """(the loss of a time, a scalar; the states [batch, window, ...]; the outputs [batch, window, ...] by name)"""
        self._check_graph_initialized()
        times = cast(features[_TIMES], dtypes.int64)
        values = cast(features[_VALUES], self.dtype)
        if self._normalize_features:
            values = self._scale_data(values)
        regressors = self._process_exogenous_features(
            times=times, features={key: value for key, value in features.items() if key not in (_TIMES, _VALUES)})

        def step(step_number: Any, current_times: Any, state: Any) -> tuple:
            current_values = values[:, step_number, :]
            state = self._apply_exogenous_update(step_number=step_number, current_times=current_times, state=state,
                                                 raw_features=features, embedded_exogenous_regressors=regressors)
            predicted, predictions = self._prediction_step(current_times=current_times, state=state)
            return self._filtering_step(current_times=current_times, current_values=current_values, state=predicted,
                                        predictions=predictions)

        states, outputs = self._state_update_loop(times, state, step, ["loss", *self._train_output_names])
        outputs["loss"].set_shape(times.shape)
        loss = reduce_sum(outputs["loss"]) / cast(reduce_prod(shape_of(times)), self.dtype)
        loss += self._loss_additions(times, values, mode)
        del outputs["loss"]         # without what was added for the window it would mislead
        return loss, states, self._scale_back_predictions(outputs) if self._normalize_features else outputs

    def predict(self, features: dict) -> dict:
        """As the base class says it."""
        times = convert_to_tensor(features[PredictionFeatures.TIMES], dtypes.int64)
        regressors = self._process_exogenous_features(
            times=times, features={key: value for key, value in features.items() if key not in (_TIMES, _STATE)})

        def step(step_number: Any, current_times: Any, state: Any) -> tuple:
            state = self._apply_exogenous_update(step_number=step_number, current_times=current_times, state=state,
                                                 raw_features=features, embedded_exogenous_regressors=regressors)
            return self._prediction_step(current_times=current_times, state=state)

        _, predictions = self._state_update_loop(times, features[_STATE], step, self._predict_output_names)
        return self._scale_back_predictions(predictions) if self._normalize_features else predictions

    def _unrolls(self, length: int | None) -> bool:
        threshold = self._static_unrolling_window_size_threshold
        return threshold is not None and length is not None and length <= threshold

    def _state_update_loop(self, times: Any, state: Any, state_update_fn: Callable, outputs: list) -> tuple:
        """(the states, the outputs named `outputs`), each [batch, window, ...], for `times` [batch, window].

        ``state_update_fn(step_number, current_times, state)`` gives the next state and a dict of outputs [batch, ...].
        """
        times = convert_to_tensor(times, dtype=dtypes.int64)
        length = times.shape[1].value
        unrolled = self._unrolls(length)
        self._window_initializer(times, state)

        def step(number: Any, state: Any, kept_states: list, kept_outputs: list, reuse: bool = False) -> tuple:
            with variable_scope("state_update_step", reuse=reuse):
                current_times = times[:, number]
                state = self._imputation_step(current_times=current_times, state=state)
                new_state, found = state_update_fn(step_number=number, current_times=current_times, state=state)
                if set(found) != set(outputs):
                    raise AssertionError(f"a step of {type(self).__name__} gave {sorted(found)}, not {sorted(outputs)}")
                kept_outputs = [kept.write(number, found[name]) for name, kept in zip(outputs, kept_outputs)]
                flat = nest.flatten(new_state)
                for new, old in zip(flat, nest.flatten(state)):
                    new.set_shape(old.shape)         # a loop does not take another shape
                kept_states = [kept.write(number, new) for new, kept in zip(flat, kept_states)]
                return number + 1, nest.pack_sequence_as(state, flat), kept_states, kept_outputs

        window = shape_of(times)[1]

        def empty(dtype: Any) -> Any:
            return _Written() if unrolled else TensorArray(dtype=dtype, size=window, dynamic_size=False)

        arguments: Any = [zeros([], dtypes.int32), state, [empty(one.dtype) for one in nest.flatten(state)],
                          [empty(self.dtype) for _ in outputs]]
        if unrolled:
            for number in range(length):
                arguments = step(constant(number, dtypes.int32), *arguments[1:], reuse=number > 0)
        else:
            arguments = while_loop(lambda number, *_: less(number, window), step, arguments)
        _, _, kept_states, kept_outputs = arguments
        found = {name: _window(kept) for name, kept in zip(outputs, kept_outputs)}
        return nest.pack_sequence_as(state, [_window(kept) for kept in kept_states]), found


def _window(kept: Any) -> Any:
    """[batch, window, ...] of what was written [batch, ...] for each time."""
    if isinstance(kept, _Written):
        return stack(kept.values, axis=1)
    stacked = kept.stack()
    return transpose(stacked, concat([[1, 0], range_of(2, rank(stacked))], 0))
