"""``LayerNormBasicLSTMCell``: an LSTM whose gates and memory are normalised (Ba and others, 2016)."""
from __future__ import annotations

from typing import Any

from jitgraph.app import logs
from jitgraph.contrib.layers.normalization import layer_norm
from jitgraph.ops.arrays.join import concat, split
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.elementwise.composite_values import tanh
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.nn.functions import dropout
from jitgraph.rnn.cells import RNNCell
from jitgraph.rnn.sizes import LSTMStateTuple, SizedByMemory
from jitgraph.variables.variable_initializers import constant_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope


def normed(values: Any, scope: str, gain: float, shift: float, dtype: Any = None) -> Any:
    """`values` normalised along the last axis, times ``gamma`` (begun with `gain`), plus ``beta`` (begun with `shift`)."""
    sizes = values.get_shape()[-1:]
    with variable_scope(scope):
        get_variable("gamma", shape=sizes, initializer=constant_initializer(gain), dtype=dtype)
        get_variable("beta", shape=sizes, initializer=constant_initializer(shift), dtype=dtype)
    # the layer shares these variables, which begin as it would not let them
    return layer_norm(values, reuse=True, scope=scope)


class LayerNormBasicLSTMCell(SizedByMemory, RNNCell):
    """An LSTM with layer normalisation and, on what it takes in, dropout without loss of memory (Semeniuta, 2016).

    `layer_norm` False leaves out the normalisation and has a ``bias``.  `norm_gain`, `norm_shift`: what ``gamma`` and ``beta``
    begin with.  `dropout_keep_prob`: a float, below 1 for dropout, or a scalar tensor.  States are LSTMStateTuples.
    """

    def __init__(self, num_units: int, forget_bias: float = 1.0, input_size: Any = None, activation: Any = tanh,
                 layer_norm: bool = True, norm_gain: float = 1.0, norm_shift: float = 0.0, dropout_keep_prob: Any = 1.0,
                 dropout_prob_seed: int | None = None, reuse: Any = None):
        super().__init__(_reuse=reuse)
        if input_size is not None:
            logs.warn("%s: The input_size parameter is deprecated.", self)
        self._num_units = num_units
        self._activation = activation
        self._forget_bias = forget_bias
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    def _norm(self, values: Any, scope: str) -> Any:
        return normed(values, scope, self._norm_gain, self._norm_shift, values.dtype)

    def _gates(self, inputs: Any) -> list:
        size = 4 * self._num_units
        product = matmul(inputs, get_variable("kernel", [inputs.get_shape()[-1], size], dtype=inputs.dtype))
        if not self._layer_norm:
            product = bias_add(product, get_variable("bias", [size], dtype=inputs.dtype))
        gates = split(value=product, num_or_size_splits=4, axis=1)
        if not self._layer_norm:
            return list(gates)
        return [self._norm(gate, name) for gate, name in zip(gates, ("input", "transform", "forget", "output"))]

    def call(self, inputs: Any, state: Any) -> Any:
        """(outputs [batch, units], the next LSTMStateTuple)."""
        memory, hidden = state
        i, j, f, o = self._gates(concat([inputs, hidden], 1))
        taken = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            taken = dropout(taken, self._keep_prob, seed=self._seed)
        memory = memory * sigmoid(f + self._forget_bias) + sigmoid(i) * taken
        if self._layer_norm:
            memory = self._norm(memory, "state")
        output = self._activation(memory) * sigmoid(o)
        return output, LSTMStateTuple(memory, output)
