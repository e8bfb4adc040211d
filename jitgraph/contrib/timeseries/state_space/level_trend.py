"""A level that a slope is added to at each time."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.timeseries.state_space.configuration import DEFAULT
from jitgraph.contrib.timeseries.state_space.state_space_model import StateSpaceModel
from jitgraph.graph import dtypes
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.join import concat, stack, unstack
from jitgraph.ops.arrays.matrix_parts import eye
from jitgraph.ops.arrays.pad import pad
from jitgraph.ops.arrays.shape import rank, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.reduce.reductions import reduce_mean
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope


class AdderStateSpaceModel(StateSpaceModel):
    """(level, slope) becomes (level + slope, slope); the level is observed.  `use_level_noise`: whether it has noise of its own."""

    def __init__(self, use_level_noise: bool = True, configuration: Any = DEFAULT):
        self.use_level_noise = use_level_noise
        super().__init__(configuration=configuration)

    def get_prior_mean(self) -> Any:
        """As the base class says it; the level begins with the mean of the first values."""
        with variable_scope(self._variable_scope):
            if self._input_statistics is None:
                return super().get_prior_mean()
            first = stack([reduce_mean(self._scale_data(self._input_statistics.series_start_moments.mean)), 0.0])
            return first + get_variable("prior_state_mean", shape=first.shape, initializer=zeros_initializer(), dtype=self.dtype,
                                        trainable=self._configuration.trainable_start_state)

    def transition_to_powers(self, powers: Any) -> Any:
        """[[1, power], [0, 1]] for each of the `powers` [...]."""
        paddings = concat([zeros([rank(powers), 2], dtype=dtypes.int32), [(0, 1), (1, 0)]], axis=0)
        corners = pad(powers[..., None, None], paddings)
        ones = eye(2, batch_shape=shape_of(powers), dtype=self.dtype)
        return ones + cast(corners, self.dtype)

    def transition_power_noise_accumulator(self, num_steps: Any) -> Any:
        """As the base class says it, by formulas for the sums of numbers and of squares."""
        def matrices(*values: Any) -> Any:
            return reshape(stack(values, axis=1), concat([shape_of(num_steps), [2, 2]], axis=0))

        num_steps = cast(num_steps, self.dtype)
        last = num_steps - 1
        transform = convert_to_tensor(self.get_noise_transform(), self.dtype)
        noise = matmul(matmul(transform, self.state_transition_noise_covariance), transform, adjoint_b=True)
        a, b, c, d = unstack(reshape(noise, [-1, 4]), axis=1)
        numbers = last * (last + 1) / 2
        squares = numbers * (2 * last + 1) / 3
        return matrices(num_steps * a + numbers * (b + c) + squares * d, num_steps * b + numbers * d,
                        num_steps * c + numbers * d, num_steps * d)

    def get_state_transition(self) -> Any:
        """[[1, 1], [0, 1]]"""
        return [[1.0, 1.0], [0.0, 1.0]]

    def get_noise_transform(self) -> Any:
        """Noise for each part of the state, or for the slope alone."""
        return [[1.0, 0.0], [0.0, 1.0]] if self.use_level_noise else [[0.0], [1.0]]

    def get_observation_model(self, times: Any) -> Any:
        """[1, 0]"""
        return constant([1.0, 0.0], dtype=self.dtype)
