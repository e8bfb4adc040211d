"""``CoupledInputForgetGateLSTMCell``: an LSTM that takes in as much as it forgets (Greff and others, 2015)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.rnn.gated import known_depth
from jitgraph.contrib.rnn.normalized import normed
from jitgraph.contrib.rnn.sharded import sharded_variable
from jitgraph.ops.arrays.join import concat, split
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.elementwise.clip import clip_by_value
from jitgraph.ops.elementwise.composite_values import tanh
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.rnn.cells import RNNCell, warn_of_joined
from jitgraph.rnn.sizes import LSTMStateTuple, SizedByMemory
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable


class CoupledInputForgetGateLSTMCell(SizedByMemory, RNNCell):
    """An LSTM whose input gate is 1 - forget gate; variables ``W_0`` ..., ``B``, ``W_P_0`` ....

    The arguments are those of ``LSTMCell`` and, for layer normalisation, of ``LayerNormBasicLSTMCell``.  Raises ValueError for
    inputs of unknown depth.
    """

    def __init__(self, num_units: int, use_peepholes: bool = False, initializer: Any = None, num_proj: int | None = None,
                 proj_clip: float | None = None, num_unit_shards: int = 1, num_proj_shards: int = 1, forget_bias: float = 1.0,
                 state_is_tuple: bool = True, activation: Callable = tanh, reuse: Any = None, layer_norm: bool = False,
                 norm_gain: float = 1.0, norm_shift: float = 0.0):
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            warn_of_joined(self)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    def _norm(self, values: Any, scope: str) -> Any:
        return normed(values, scope, self._norm_gain, self._norm_shift) if self._layer_norm else values

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs [batch, outputs], next state)"""
        units, outputs, dtype = self._num_units, self._num_proj or self._num_units, inputs.dtype
        if self._state_is_tuple:
            memory, hidden = state
        else:
            memory, hidden = slice_of(state, [0, 0], [-1, units]), slice_of(state, [0, units], [-1, outputs])
        weight = sharded_variable("W", [known_depth(inputs) + outputs, 3 * units], dtype, self._num_unit_shards)
        bias = get_variable("B", shape=[3 * units], initializer=zeros_initializer(), dtype=dtype)
        product = matmul(concat([inputs, hidden], 1), weight)
        if not self._layer_norm:
            product = bias_add(product, bias)
        parts = split(value=product, num_or_size_splits=3, axis=1)
        j, f, o = [self._norm(part, name) for part, name in zip(parts, ("transform", "forget", "output"))]
        if self._use_peepholes:
            forget_diagonal = get_variable("W_F_diag", shape=[units], dtype=dtype)
            output_diagonal = get_variable("W_O_diag", shape=[units], dtype=dtype)
            forget = sigmoid(f + self._forget_bias + forget_diagonal * memory)
        else:
            forget = sigmoid(f + self._forget_bias)
        memory = self._norm(forget * memory + (1 - forget) * self._activation(j), "state")
        opened = sigmoid(o + output_diagonal * memory) if self._use_peepholes else sigmoid(o)
        output = opened * self._activation(memory)
        if self._num_proj is not None:
            output = matmul(output, sharded_variable("W_P", [units, self._num_proj], dtype, self._num_proj_shards))
            if self._proj_clip is not None:
                output = clip_by_value(output, -self._proj_clip, self._proj_clip)
        return output, LSTMStateTuple(memory, output) if self._state_is_tuple else concat([memory, output], 1)
