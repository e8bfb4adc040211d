"""Cells whose units see only their own state: a product by elements in the place of a matrix (Li and others, 2018)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.dtypes import as_dtype
from jitgraph.layers.input_spec import InputSpec
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.join import split
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.elementwise.arithmetic import add, multiply
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.elementwise.composite_values import tanh
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.rnn.cells import LayerRNNCell
from jitgraph.rnn.sizes import LSTMStateTuple, SizedByMemory, SizedByUnits
from jitgraph.variables.variable_initializers import constant_initializer, random_uniform_initializer


class _Independent(LayerRNNCell):
    """What the cells below share."""

    def __init__(self, num_units: int, activation: Callable | None, reuse: Any, name: str | None, dtype: Any,
                 kernel_initializer: Any = None, bias_initializer: Any = None):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation or tanh
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    def _variables(self, input_shape: Any, count: int, bias: Any, prefix: str = "", kernel: str = "kernel_w") -> tuple:
        """The matrix of the inputs, the row of the state, and the bias, for `count` gates."""
        size = count * self._num_units
        w = self.add_variable(f"{prefix}{kernel}", shape=[self._depth(input_shape), size], initializer=self._kernel_initializer)
        u = self.add_variable(f"{prefix}kernel_u", shape=[1, size],
                              initializer=random_uniform_initializer(minval=-1, maxval=1, dtype=as_dtype(self.dtype)))
        return w, u, self.add_variable(f"{prefix}bias", shape=[size], initializer=bias)


class IndRNNCell(SizedByUnits, _Independent):
    """activation(inputs . ``kernel_w`` + state * ``kernel_u`` + ``bias``), output and next state."""

    def __init__(self, num_units: int, activation: Callable | None = None, reuse: Any = None, name: str | None = None,
                 dtype: Any = None):
        super().__init__(num_units, activation, reuse, name, dtype)

    def build(self, input_shape: Any) -> None:
        """Makes the variables.  Raises ValueError for unknown depths."""
        self._kernel_w, self._kernel_u, self._bias = self._variables(input_shape, 1, self._zeros())
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs, next state), both [batch, units]."""
        output = self._activation(bias_add(matmul(inputs, self._kernel_w) + state * self._kernel_u, self._bias))
        return output, output


class IndyGRUCell(SizedByUnits, _Independent):
    """A GRU whose gates see only their own unit; `bias_initializer` is ones for gates, zeros for the candidate by default."""

    def __init__(self, num_units: int, activation: Callable | None = None, reuse: Any = None, kernel_initializer: Any = None,
                 bias_initializer: Any = None, name: str | None = None, dtype: Any = None):
        super().__init__(num_units, activation, reuse, name, dtype, kernel_initializer, bias_initializer)

    def build(self, input_shape: Any) -> None:
        """Makes the variables.  Raises ValueError for unknown depths."""
        given = self._bias_initializer
        ones = constant_initializer(1.0, dtype=as_dtype(self.dtype))
        self._gates = self._variables(input_shape, 2, ones if given is None else given, "gates/")
        self._candidate = self._variables(input_shape, 1, self._zeros() if given is None else given, "candidate/", "kernel")
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs, next state), both [batch, units]."""
        w, row, bias = self._gates
        value = sigmoid(bias_add(matmul(inputs, w) + tile(state, [1, 2]) * row, bias))
        r, u = split(value=value, num_or_size_splits=2, axis=1)
        w, row, bias = self._candidate
        reset = r * state
        c = self._activation(bias_add(matmul(inputs, w) + reset * row, bias))
        output = u * state + (1 - u) * c
        return output, output


class IndyLSTMCell(SizedByMemory, _Independent):
    """An LSTM whose gates see only their own unit; `forget_bias` is added to the forget gate."""

    def __init__(self, num_units: int, forget_bias: float = 1.0, activation: Callable | None = None, reuse: Any = None,
                 kernel_initializer: Any = None, bias_initializer: Any = None, name: str | None = None, dtype: Any = None):
        super().__init__(num_units, activation, reuse, name, dtype, kernel_initializer, bias_initializer)
        self._forget_bias = forget_bias

    def build(self, input_shape: Any) -> None:
        """Makes the variables.  Raises ValueError for unknown depths."""
        given = self._bias_initializer
        self._kernel_w, self._kernel_u, self._bias = self._variables(input_shape, 4, self._zeros() if given is None else given)
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs [batch, units], next LSTMStateTuple)"""
        one = constant(1, dtype=dtypes.int32)
        memory, hidden = state
        gates = matmul(inputs, self._kernel_w)
        gates += tile(hidden, [1, 4]) * self._kernel_u
        i, j, f, o = split(value=bias_add(gates, self._bias), num_or_size_splits=4, axis=one)
        forget_bias = constant(self._forget_bias, dtype=f.dtype)
        memory = add(multiply(memory, sigmoid(add(f, forget_bias))), multiply(sigmoid(i), self._activation(j)))
        output = multiply(self._activation(memory), sigmoid(o))
        return output, LSTMStateTuple(memory, output)
