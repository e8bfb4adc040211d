"""Vectors of autoregressive moving averages."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.timeseries.covariances import variable_covariance_matrix
from jitgraph.contrib.timeseries.state_space.configuration import DEFAULT
from jitgraph.contrib.timeseries.state_space.state_space_model import StateSpaceModel
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.matrix_parts import eye
from jitgraph.ops.arrays.pad import pad
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.elementary import log
from jitgraph.ops.reduce.reductions import reduce_mean
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope


class VARMA(StateSpaceModel):
    """A linear function of the last `autoregressive_order` values, and of the last `moving_average_order` noises.

    The state has max(autoregressive_order, moving_average_order + 1) blocks of num_features: y[1] is the sum of ar_coefs[i] . y[i]
    before, y[i] is y[i - 1] before plus ma_coefs[i - 1] . noise, and the last has the noise itself.  Observed is the first, and
    with it the last where the moving average is not shorter than the regression.
    """

    def __init__(self, autoregressive_order: int, moving_average_order: int, configuration: Any = DEFAULT):
        self.ar_order, self.ma_order = autoregressive_order, moving_average_order
        self.state_num_blocks = max(autoregressive_order, moving_average_order + 1)
        super().__init__(configuration=configuration)
        self.state_dimension = self.state_num_blocks * self.num_features

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        size = self.num_features
        with variable_scope(self._variable_scope):
            self.ar_coefs = get_variable("ar_coefs", shape=[size, size, self.ar_order], dtype=self.dtype,
                                         initializer=zeros_initializer())
            self.ma_coefs = get_variable("ma_coefs", dtype=self.dtype,
                                         initializer=tile(eye(size, dtype=self.dtype)[None, :, :], [self.ma_order, 1, 1]))
        super()._define_parameters(observation_transition_tradeoff_log)

    def get_state_transition(self) -> Any:
        """[n, n]: the coefficients of the regression above a matrix that moves each block on."""
        size, blocks = self.num_features, self.state_num_blocks
        coefficients = reshape(pad(self.ar_coefs, [[0, 0], [0, 0], [0, blocks - self.ar_order]]), [size, self.state_dimension])
        moved = pad(eye((blocks - 1) * size, dtype=self.dtype), [[0, 0], [0, size]])
        return concat([coefficients, moved], axis=0)

    def get_noise_transform(self) -> Any:
        """[n, num_features]: the coefficients of the moving average above an identity."""
        size, blocks = self.num_features, self.state_num_blocks
        coefficients = reshape(pad(self.ma_coefs, [[blocks - 1 - self.ma_order, 0], [0, 0], [0, 0]]), [(blocks - 1) * size, size],
                               name="noise_transform")
        return concat([coefficients, eye(size, dtype=self.dtype)], axis=0)

    def get_observation_model(self, times: Any) -> Any:
        """[num_features, n]: identities for the first block, and perhaps for the last."""
        size, blocks = self.num_features, self.state_num_blocks
        one = eye(size, dtype=self.dtype)
        if self.ar_order > self.ma_order or blocks < 2:
            return pad(one, [[0, 0], [0, size * (blocks - 1)]], name="observation_model")
        return concat([pad(one, [[0, 0], [0, size * (blocks - 2)]]), eye(size, dtype=self.dtype)], axis=1, name="observation_model")

    def get_state_transition_noise_covariance(self, minimum_initial_variance: float = 1e-5) -> Any:
        """As the base class says it; it begins with the variance of the first values, which it is to explain."""
        variance = self._start_variance()
        scale = 0.0 if variance is None else log(maximum(reduce_mean(variance), minimum_initial_variance))
        size = convert_to_tensor(self.get_noise_transform(), dtype=self.dtype).shape[1].value
        return variable_covariance_matrix(size, "state_transition_noise", dtype=self.dtype, initial_overall_scale_log=scale)
