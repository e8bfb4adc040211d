"""Cells of few gates: update-gate and intersection cells (Collins and others, 2016), simple recurrent units (Lei and others, 2017).
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.layers.input_spec import InputSpec
from jitgraph.ops.arrays.join import concat, split
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.elementwise.composite_values import tanh
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.rnn.cells import LayerRNNCell, RNNCell
from jitgraph.rnn.linear import _Linear
from jitgraph.rnn.sizes import SizedByUnits
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable_scope, variable_scope


def known_depth(inputs: Any) -> int:
    """The depth of `inputs` [batch, depth].  Raises ValueError if it is unknown."""
    depth = inputs.shape.with_rank(2)[1].value
    if depth is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return depth


class UGRNNCell(SizedByUnits, RNNCell):
    """g * state + (1 - g) * activation(c), where g and c are a layer of inputs and state; output and next state.

    `forget_bias` is added to the gate; `initializer` is that of the variables.
    """

    def __init__(self, num_units: int, initializer: Any = None, forget_bias: float = 1.0, activation: Callable = tanh,
                 reuse: Any = None):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation
        self._linear: Any = None

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs, next state), both [batch, units].  Raises ValueError for unknown depths."""
        known_depth(inputs)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            joined = concat([inputs, state], 1)
            if self._linear is None:
                self._linear = _Linear(joined, 2 * self._num_units, True)
            gate, candidate = split(axis=1, num_or_size_splits=2, value=self._linear(joined))
            c = self._activation(candidate)
            g = sigmoid(gate + self._forget_bias)
            state = g * state + (1.0 - g) * c
        return state, state


class IntersectionRNNCell(SizedByUnits, RNNCell):
    """Gates both along time, between state and h, and along depth, between inputs and y.

    Inputs must have the size of the outputs, or are projected to it if `num_in_proj` is given; `y_activation` is that of y.
    """

    def __init__(self, num_units: int, num_in_proj: int | None = None, initializer: Any = None, forget_bias: float = 1.0,
                 y_activation: Callable = relu, reuse: Any = None):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._num_input_proj = num_in_proj
        self._y_activation = y_activation
        self._linear1: Any = None
        self._linear2: Any = None

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs, next state), both [batch, units].  Raises ValueError for inputs of another size."""
        depth, units = known_depth(inputs), self._num_units
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            if depth != units:
                if not self._num_input_proj:
                    raise ValueError("Must have input size == output size for Intersection RNN. To fix, num_in_proj should be "
                                     "set to num_units at cell init.")
                with variable_scope("in_projection"):
                    if self._linear1 is None:
                        self._linear1 = _Linear(inputs, units, True)
                    inputs = self._linear1(inputs)
            joined = concat([inputs, state], 1)
            if self._linear2 is None:
                self._linear2 = _Linear(joined, 4 * units, True)
            product = self._linear2(joined)
            time_gate, h, depth_gate, y = [product[:, k * units:(k + 1) * units] for k in range(4)]
            h, y = tanh(h), self._y_activation(y)
            time_gate, depth_gate = sigmoid(time_gate + self._forget_bias), sigmoid(depth_gate + self._forget_bias)
            state = time_gate * state + (1.0 - time_gate) * h
            output = depth_gate * inputs + (1.0 - depth_gate) * y
        return output, state


class SRUCell(SizedByUnits, LayerRNNCell):
    """A cell whose gates depend on the inputs alone; variables ``kernel`` and ``bias``.  Raises ValueError for unknown depths."""

    def __init__(self, num_units: int, activation: Callable | None = None, reuse: Any = None, name: str | None = None,
                 **kwargs: Any):
        super().__init__(_reuse=reuse, name=name, **kwargs)
        self._num_units = num_units
        self._activation = activation or tanh
        self.input_spec = InputSpec(ndim=2)

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel`` [depth, 4 units] and ``bias`` [2 units]."""
        depth = self._depth(input_shape)
        self._kernel = self.add_variable("kernel", shape=[depth, 4 * self._num_units])
        self._bias = self.add_variable("bias", shape=[2 * self._num_units], initializer=zeros_initializer)
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs, next state), both [batch, units]."""
        bar, forget, reset, through = split(value=matmul(inputs, self._kernel), num_or_size_splits=4, axis=1)
        gates = sigmoid(bias_add(concat([forget, reset], 1), self._bias))
        f, r = split(value=gates, num_or_size_splits=2, axis=1)
        c = f * state + (1.0 - f) * bar
        return r * self._activation(c) + (1.0 - r) * through, c
