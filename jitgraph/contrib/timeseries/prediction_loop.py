"""The loop in which an autoregressive model predicts one window after the other."""
from __future__ import annotations

from typing import Any

from jitgraph.control.while_loops import while_loop
from jitgraph.graph import dtypes
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.pad import pad
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_equal, assert_greater_equal
from jitgraph.ops.elementwise.arithmetic import minimum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import less
from jitgraph.tensor_arrays.tensor_array import TensorArray


def predicted_windows(model: Any, times: Any, regressors: Any, state: tuple, with_covariance: bool) -> tuple:
    """(means, covariances or None), both [batch, window, num_features], of an ``ARModel``, scaled as it computes them.

    `times` [batch, window] int32; `regressors` [batch, window, exogenous size]; `state`: times, values and regressors before.
    """
    with control_dependencies([assert_equal(shape_of(times)[1], shape_of(regressors)[1])]):
        regressors = identity(regressors)
    step = model.output_window_size
    batch_size, wanted = shape_of(times)[0], shape_of(times)[1]
    count = (wanted + step - 1) // step
    padding = count * step - wanted
    times = pad(times, [[0, 0], [0, padding]])
    regressors = pad(regressors, [[0, 0], [0, padding], [0, 0]])
    first = _first_window(model, times, regressors, state)

    def predict(number: Any, now_times: Any, values: Any, now_regressors: Any, means: Any, covariances: Any) -> tuple:
        found = model.prediction_ops(now_times, values, now_regressors)
        offset = step * minimum(number + 1, count - 1)
        after = _next_window(model, offset, (times, regressors), (now_times, values, now_regressors), found["mean"])
        after[0].set_shape(first[0].shape)
        after[2].set_shape(first[2].shape)
        means = means.write(number, found["mean"])
        if with_covariance:
            covariances = covariances.write(number, found["covariance"])
        return (number + 1, *after, means, covariances)

    covariances: Any = TensorArray(dtype=model.dtype, size=count) if with_covariance else 0.0
    means = TensorArray(dtype=model.dtype, size=count)
    *_, means, covariances = while_loop(lambda number, *_: less(number, count), predict, [0, *first, means, covariances])

    def joined(windows: Any) -> Any:
        length = count * step
        packed = windows.stack()
        return reshape(transpose(packed, [1, 0, 2, 3]), stack([batch_size, length, -1]))[:, :wanted, :]

    mean = joined(means)
    return mean, joined(covariances) if with_covariance else None


def _first_window(model: Any, times: Any, regressors: Any, state: tuple) -> tuple:
    """(times, values, regressors) of the first window: what is known of the state, and the first times to predict."""
    known, step = model.input_window_size, model.output_window_size
    state_times = cast(convert_to_tensor(state[0]), dtypes.int32)
    state_values = convert_to_tensor(state[1], dtype=model.dtype)
    state_regressors = convert_to_tensor(state[2], dtype=model.dtype)
    times, regressors = times[:, :step], regressors[:, :step, :]
    if known == 0:
        return times, 0, regressors
    times = concat([state_times[:, -known:], times], 1)
    values_size, times_size = shape_of(state_values)[1], shape_of(state_times)[1]
    with control_dependencies([assert_greater_equal(values_size, known), assert_equal(values_size, times_size)]):
        values = state_values[:, -known:, :]
        return times, values, concat([state_regressors[:, -known:, :], regressors[:, :step, :]], axis=1)


def _next_window(model: Any, offset: Any, whole: tuple, now: tuple, mean: Any) -> tuple:
    """(times, values, regressors) of the window whose first time to predict is at `offset` of the `whole` times and regressors."""
    known, step = model.input_window_size, model.output_window_size
    times, regressors = whole
    now_times, values, now_regressors = now
    if 0 < known <= step:
        values = mean[:, -known:, :]
        regressors = regressors[:, offset - known:offset + step, :]
        return times[:, offset - known:offset + step], values, regressors
    if known == 0:
        regressors = regressors[:, offset:offset + step, :]
        return times[:, offset:offset + step], values, regressors
    values = concat([values[:, step:, :], mean], 1)
    regressors = concat([now_regressors[:, -known:, :], regressors[:, offset:offset + step, :]], axis=1)
    return concat([now_times[:, -known:], times[:, offset:offset + step]], 1), values, regressors
