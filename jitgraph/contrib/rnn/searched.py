"""``NASCell``: the cell that a search over architectures found (Zoph and Le, 2016)."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.join import split
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.elementwise.composite_values import tanh
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.rnn.cells import LayerRNNCell
from jitgraph.rnn.sizes import LSTMStateTuple, SizedByMemory
from jitgraph.variables.variable_initializers import zeros_initializer

_GATES = (sigmoid, relu, sigmoid, relu, tanh, sigmoid, tanh, sigmoid)
_MULTIPLIED = 3
"""The gate that takes the product of what comes from the input and from the state, where others take the sum."""


class NASCell(SizedByMemory, LayerRNNCell):
    """A cell of eight gates combined as a tree.  States are LSTMStateTuples.

    `num_proj`: the size of the outputs, if they are projected; `use_bias`: whether there is a bias.  Raises ValueError for
    inputs of unknown depth.
    """

    def __init__(self, num_units: int, num_proj: int | None = None, use_bias: bool = False, reuse: Any = None, **kwargs: Any):
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units = num_units
        self._num_proj = num_proj
        self._use_bias = use_bias

    def build(self, input_shape: Any) -> None:
        """Makes ``recurrent_kernel``, ``kernel`` and, if they are asked for, ``bias`` and ``projection_weights``."""
        depth = TensorShape(input_shape).with_rank(2)[1].value
        if depth is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        size = len(_GATES) * self._num_units
        self.recurrent_kernel = self.add_variable("recurrent_kernel", [self.output_size, size])
        self.kernel = self.add_variable("kernel", [depth, size])
        if self._use_bias:
            self.bias = self.add_variable("bias", shape=[size], initializer=zeros_initializer)
        if self._num_proj is not None:
            self.projection_weights = self.add_variable("projection_weights", [self._num_units, self._num_proj])
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """(outputs, the next LSTMStateTuple)."""
        memory, hidden = state
        recurrent = matmul(hidden, self.recurrent_kernel)
        driven = matmul(inputs, self.kernel)
        if self._use_bias:
            recurrent = bias_add(recurrent, self.bias)
        from_state = split(axis=1, num_or_size_splits=len(_GATES), value=recurrent)
        from_input = split(axis=1, num_or_size_splits=len(_GATES), value=driven)
        g = [gate(x * h if k == _MULTIPLIED else x + h) for k, (gate, x, h) in enumerate(zip(_GATES, from_input, from_state))]
        a, b, c, d = tanh(g[0] * g[1]), tanh(g[2] + g[3]), tanh(g[4] * g[5]), sigmoid(g[6] + g[7])
        memory = tanh(a + memory) * b
        output = tanh(memory * tanh(c + d))
        if self._num_proj is not None:
            output = matmul(output, self.projection_weights)
        return output, LSTMStateTuple(memory, output)
