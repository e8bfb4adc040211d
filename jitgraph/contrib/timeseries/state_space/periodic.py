"""Cycles: values that come again after a period."""
from __future__ import annotations

import math
from typing import Any

from jitgraph.contrib.timeseries.state_space.configuration import DEFAULT
from jitgraph.contrib.timeseries.state_space.state_space_model import StateSpaceModel
from jitgraph.control.conditionals import cond
from jitgraph.graph import dtypes
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.ops.arrays.fill import ones, zeros, zeros_like
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.matrix_parts import matrix_diag
from jitgraph.ops.arrays.pad import pad
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.sequences import cumsum
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import rank, reshape, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, greater_equal, less, logical_and, logical_or
from jitgraph.ops.elementwise.elementary import cos, sin
from jitgraph.ops.elementwise.elementary import round as rounded
from jitgraph.ops.reduce.reductions import reduce_max


def _behind_ones(values: Any, tensor: Any, size: Any) -> Any:
    """`values` [size] with an axis of 1 in front for each axis of `tensor`."""
    return reshape(values, concat([ones([rank(tensor)], dtype=dtypes.int32), [size]], axis=0))


class CycleStateSpaceModel(StateSpaceModel):
    """`periodicity` values whose sum is 0, of which the state has all but one; the first is observed, then they turn.

    Noise comes into one transition of the cycle.
    """

    def __init__(self, periodicity: Any, configuration: Any = DEFAULT):
        self._periodicity = periodicity
        super().__init__(configuration=configuration)

    def get_state_transition(self) -> Any:
        """The transition to the power 1."""
        return self.transition_to_powers(ones([], dtype=dtypes.int32))

    def get_noise_transform(self) -> Any:
        """[n, 1]: 1, and zeros; ``transition_power_noise_accumulator`` counts on it."""
        return pad(ones([1], dtype=self.dtype), paddings=[(0, self._periodicity - 2)])[..., None]

    def transition_to_powers(self, powers: Any) -> Any:
        """For each of the integer `powers` [...], modulo the period: 1 where (row - column) is the power, -1 in the row before it.
        """
        period = self._periodicity
        powers %= period
        places = _behind_ones(range_of(period - 1, dtype=powers.dtype), powers, period - 1)
        is_negative = equal(places + 1, powers[..., None])
        shape = shape_of(is_negative)
        negative = where(is_negative, -ones(shape, dtype=self.dtype), zeros(shape, dtype=self.dtype))
        differences = places[..., None] - places[..., None, :]
        is_one = equal(differences % period, powers[..., None, None])
        positive = where(is_one, ones(shape_of(is_one), dtype=self.dtype), zeros(shape_of(is_one), dtype=self.dtype))
        return cast(positive + negative[..., None], self.dtype)

    def transition_power_noise_accumulator(self, num_steps: Any, noise_addition_coefficient: Any = 1) -> Any:
        """As the base class says it, by counting how often noise came to each value of the cycle.

        `noise_addition_coefficient` multiplies the noise.
        """
        period = self._periodicity
        noise = squeeze(self.state_transition_noise_covariance, axis=[-1, -2])
        places = _behind_ones(range_of(period, dtype=num_steps.dtype), num_steps, period)
        remaining = (places - (num_steps[..., None] - 1)) % period
        additions = (convert_to_tensor(noise_addition_coefficient, self.dtype)[..., None] * noise
                     * cast((num_steps[..., None] + remaining) // period, dtype=self.dtype))
        diagonal = matrix_diag(additions)
        upper = concat([zeros_like(diagonal[..., :-1, 0:1]), -diagonal[..., :-1, 0:-2]], axis=-1)
        lower = concat([zeros_like(diagonal[..., 0:1, :-1]), -diagonal[..., 0:-2, :-1]], axis=-2)
        turned = concat([additions[..., -1:], additions[..., :-2]], axis=-1)
        return matrix_diag(additions[..., :-1] + turned) + lower + upper

    def get_observation_model(self, times: Any) -> Any:
        """[n]: 1, and zeros."""
        return concat([ones([1], dtype=self.dtype), zeros([self._periodicity - 2], dtype=self.dtype)], axis=0)


class ResolutionCycleModel(CycleStateSpaceModel):
    """A cycle of `periodicity` steps, which need be no integer, over `num_latent_values` values, between which it is smooth.

    Its transition is that of a cycle of `num_latent_values` steps to the power num_latent_values / periodicity.  A number within
    `near_integer_threshold` of an integer counts as one.  Raises ValueError for an even number of values, which has no real root.
    """

    def __init__(self, num_latent_values: int, periodicity: Any, near_integer_threshold: float = 1e-8,
                 configuration: Any = DEFAULT):
        if num_latent_values % 2 != 1:
            raise ValueError("Only odd numbers of latent values are supported.")
        self._num_latent_values = num_latent_values
        self._true_periodicity = periodicity
        self._near_integer_threshold = near_integer_threshold
        super().__init__(periodicity=num_latent_values, configuration=configuration)

    def _close_to_integer(self, value: Any) -> Any:
        value = cast(value, self.dtype)
        return less(absolute(value - rounded(value)), self._near_integer_threshold)

    def _powers(self, steps: Any) -> tuple:
        """(the number of values as a float, the powers of the transition of a whole cycle that `steps` are)"""
        count = cast(self._num_latent_values, self.dtype)
        per_period = count / cast(self._true_periodicity, dtype=self.dtype)
        return count, cast(steps, self.dtype) * per_period

    def transition_to_powers(self, powers: Any) -> Any:
        """As the base class says it, for each of the `powers` [...]; element (i, j) of the transition to the power p is
        (-1)^i sin(pi p) / c * ((-1)^j / sin(pi / c * (p - i + j)) + 1 / sin(pi / c * (p - i - 1))), with c values.

        Where p is an integer, both factors have no value and the product is that of the base class.
        """
        count, powers = self._powers(powers)
        factor = (sin(powers * math.pi) / count)[..., None, None]
        places = _behind_ones(range_of(self._num_latent_values - 1), powers, self._num_latent_values - 1)
        as_float = cast(places, self.dtype)
        signs = cast(1 - 2 * (places % 2), self.dtype)
        rows = 1.0 / sin(math.pi / count * (powers[..., None] - as_float - 1))
        differences = as_float[..., None, :] - as_float[..., None]
        whole = signs[..., None, :] / sin(math.pi / count * (powers[..., None, None] + differences))
        between = factor * signs[..., None] * (rows[..., None] + whole)
        return where(self._close_to_integer(powers), super().transition_to_powers(cast(rounded(powers), dtypes.int64)), between)

    def transition_power_noise_accumulator(self, num_steps: Any, noise_addition_coefficient: Any = 1) -> Any:
        """As the base class says it; whole periods are counted where they are integers, the rest is added up."""
        def in_periods() -> tuple:
            coefficient = cast(self._true_periodicity, self.dtype) / cast(self._num_latent_values, self.dtype)
            whole = super(ResolutionCycleModel, self).transition_power_noise_accumulator(
                convert_to_tensor(self._num_latent_values, dtype=num_steps.dtype), coefficient)
            period = cast(self._true_periodicity, num_steps.dtype)
            periods = cast(num_steps // period, self.dtype)
            found = periods[..., None, None] * reshape(
                whole, concat([ones([rank(periods)], dtype=dtypes.int32), shape_of(whole)], axis=0))
            return num_steps % period, found

        def step_by_step() -> tuple:
            size = self._num_latent_values - 1
            return num_steps, zeros(concat([shape_of(num_steps), [size, size]], axis=0), dtype=self.dtype)

        remaining, found = cond(self._whole_period_folding(), in_periods, step_by_step)
        additions = self._power_sum_array(reduce_max(remaining))
        noise = squeeze(self.state_transition_noise_covariance, axis=[-1, -2])
        return found + noise * gather(additions, remaining)

    def _whole_period_folding(self) -> Any:
        """Whether a period is a whole number of steps, no fewer than there are values."""
        return logical_and(self._close_to_integer(self._true_periodicity),
                           greater_equal(self._true_periodicity, self._num_latent_values))

    def _power_sum_array(self, max_remaining_steps: Any) -> Any:
        """The sums [steps + 1, n, n] whose k-th is that of A^i . B . transpose(A^i) over i < k, B having 1 at the top left.

        Element (i, j) of a term, with p the power and c values, is (-1)^(i + j) sin(pi p)^2 / c^2 * f(i) * f(j), where f(k) =
        1 / sin(pi / c * (p - k)) + 1 / sin(pi / c * (p - k - 1)); where an argument is an integer, its limit.
        """
        count, powers = self._powers(range_of(max_remaining_steps))
        places = range_of(self._num_latent_values - 1)[None, ...]
        as_float = cast(places, self.dtype)

        def cosecant(value: Any) -> Any:
            return 1.0 / sin(math.pi / count * value)

        def discontinuity(value: Any) -> tuple:
            normalized = value / count
            return self._close_to_integer(normalized), cos(normalized * math.pi)

        difference = powers[..., None] - as_float
        mesh = cosecant(difference) + cosecant(difference - 1.0)
        meshed = mesh[..., None, :] * mesh[..., None]
        signs = cast(1 - 2 * ((places[..., None, :] + places[..., None]) % 2), self.dtype)
        is_limit, limit = discontinuity(powers[..., None] - as_float)
        is_next_limit, next_limit = discontinuity(powers[..., None] - as_float - 1)
        is_any = logical_or(is_limit, is_next_limit)
        limits = where(is_limit, limit, next_limit)
        both = logical_and(is_any[..., None], is_any[..., None, :])
        zeroed = where(self._close_to_integer(powers), zeros_like(meshed), meshed)
        factor = sin(math.pi * powers) / count
        masked = where(both, limits[..., None] * limits[..., None, :], zeroed * factor[..., None, None] ** 2)
        return pad(cumsum(signs * masked), [(1, 0), (0, 0), (0, 0)])
