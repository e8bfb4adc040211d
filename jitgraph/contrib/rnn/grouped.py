"""``GLSTMCell``: an LSTM in groups that do not see each other within a step (Kuchaiev and Ginsburg, 2017)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.ops.arrays.join import concat, split
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.elementwise.composite_values import tanh
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.rnn.cells import RNNCell
from jitgraph.rnn.linear import _Linear
from jitgraph.rnn.sizes import LSTMStateTuple, SizedByMemory
from jitgraph.variables.variable_initializers import constant_initializer
from jitgraph.variables.variable_scopes import get_variable, get_variable_scope, variable_scope


class GLSTMCell(SizedByMemory, RNNCell):
    """An LSTM of `number_of_groups` groups, each with its part of inputs, state and units, in scopes ``group0``, ``group1`` ....

    Raises ValueError if units, projection or inputs are not divisible by the number of groups, or inputs are of unknown depth.
    """

    def __init__(self, num_units: int, initializer: Any = None, num_proj: int | None = None, number_of_groups: int = 1,
                 forget_bias: float = 1.0, activation: Callable = tanh, reuse: Any = None):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._num_proj = num_proj
        self._forget_bias = forget_bias
        self._activation = activation
        self._number_of_groups = number_of_groups
        for what, size in (("num_units", num_units), ("num_proj", num_proj or 0)):
            if size % number_of_groups != 0:
                raise ValueError(f"{what} must be divisible by number_of_groups")
        self._linear_of: dict[int | str, Any] = {}

    def _linear(self, key: int | str, args: Any, size: int) -> Any:
        if key not in self._linear_of:
            self._linear_of[key] = _Linear(args, size, False)
        return self._linear_of[key](args)

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs, next LSTMStateTuple)"""
        memory, hidden = state
        groups, units = self._number_of_groups, self._num_units
        batch_size = inputs.shape[0].value or shape_of(inputs)[0]
        depth = inputs.shape[1].value
        if depth is None:
            raise ValueError("input size must be statically known")
        if depth % groups != 0:
            raise ValueError(f"input size ({depth}) must be divisible by number_of_groups ({groups})")
        sizes = (depth // groups, self.output_size // groups)
        parts = []
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            for group in range(groups):
                with variable_scope(f"group{group}"):
                    own = [slice_of(values, begin=[0, group * size], size=[batch_size, size],
                                    name=f"GLSTM_group{group}_input_generation")
                           for values, size in zip((inputs, hidden), sizes)]
                    parts.append(split(self._linear(group, concat(own, axis=1), 4 * (units // groups)), 4, 1))
            biases = [get_variable(name=f"bias_{gate}", shape=[units], dtype=inputs.dtype,
                                   initializer=constant_initializer(0.0, dtype=inputs.dtype)) for gate in "ijfo"]
            i, j, f, o = [bias_add(concat(list(part), axis=1), bias) for part, bias in zip(zip(*parts), biases)]
        memory = sigmoid(f + self._forget_bias) * memory + sigmoid(i) * tanh(j)
        output = sigmoid(o) * self._activation(memory)
        if self._num_proj is not None:
            with variable_scope("projection"):
                output = self._linear("projection", output, self._num_proj)
        return output, LSTMStateTuple(memory, output)
