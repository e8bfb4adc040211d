"""Cells by cuDNN's equations, with a variable for each weight."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.rnn.block import LSTMBlockCell
from jitgraph.graph.dtypes import as_dtype
from jitgraph.ops.arrays.join import concat, split
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.rnn.cells import GRUCell
from jitgraph.variables.variable_initializers import constant_initializer


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """An ``LSTMBlockCell`` without forget bias, clipping and peepholes, which is cuDNN's LSTM."""

    def __init__(self, num_units: int, reuse: Any = None):
        super().__init__(num_units, forget_bias=0, cell_clip=None, use_peephole=False, reuse=reuse,
                         name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(GRUCell):
    """A GRU whose reset gate is multiplied with the product of state and kernel, not with the state, as in cuDNN.

    Variables: ``gates/kernel`` and ``gates/bias`` (ones), and ``kernel`` and ``bias`` (zeros) of ``candidate/input_projection``
    and of ``candidate/hidden_projection``.  Raises ValueError for inputs of unknown depth.
    """

    def __init__(self, num_units: int, reuse: Any = None, kernel_initializer: Any = None):
        super().__init__(num_units, activation=None, reuse=reuse, kernel_initializer=kernel_initializer)

    def build(self, input_shape: Any) -> None:
        """Makes the kernels and biases of the gates and of both projections of the candidate."""
        depth, units, kernels = input_shape[1].value, self._num_units, self._kernel_initializer
        if depth is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {input_shape}")
        given = self._bias_initializer
        ones = constant_initializer(1.0, dtype=as_dtype(self.dtype or "float32")) if given is None else given
        zeros = self._zeros() if given is None else given
        self._gate_kernel = self.add_variable("gates/kernel", shape=[depth + units, 2 * units], initializer=kernels)
        self._gate_bias = self.add_variable("gates/bias", shape=[2 * units], initializer=ones)
        inputs, hidden = "candidate/input_projection", "candidate/hidden_projection"
        self._input_kernel = self.add_variable(f"{inputs}/kernel", shape=[depth, units], initializer=kernels)
        self._hidden_kernel = self.add_variable(f"{hidden}/kernel", shape=[units, units], initializer=kernels)
        self._input_bias = self.add_variable(f"{inputs}/bias", shape=[units], initializer=zeros)
        self._hidden_bias = self.add_variable(f"{hidden}/bias", shape=[units], initializer=zeros)
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs, next state), both [batch, units]."""
        gates = sigmoid(bias_add(matmul(concat([inputs, state], 1), self._gate_kernel), self._gate_bias))
        reset, update = split(value=gates, num_or_size_splits=2, axis=1)
        candidate = bias_add(matmul(inputs, self._input_kernel), self._input_bias)
        candidate += reset * bias_add(matmul(state, self._hidden_kernel), self._hidden_bias)
        output = (1 - update) * self._activation(candidate) + update * state
        return output, output
