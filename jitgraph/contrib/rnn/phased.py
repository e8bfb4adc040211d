"""``PhasedLSTMCell``: an LSTM whose units are open in their own phases of time alone (Neil and others, 2016)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph import dtypes
from jitgraph.ops.arrays.identity import stop_gradient
from jitgraph.ops.arrays.join import split
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.elementwise.arithmetic import mod
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.composite_values import tanh
from jitgraph.ops.elementwise.elementary import exp, log, sigmoid
from jitgraph.ops.random.draws import random_uniform
from jitgraph.rnn.cells import RNNCell
from jitgraph.rnn.linear import _Linear
from jitgraph.rnn.sizes import LSTMStateTuple, SizedByMemory
from jitgraph.variables.variable_initializers import constant_initializer, random_uniform_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope


def _remainder(x: Any, y: Any) -> Any:
    """x mod y, with the gradient of x."""
    return stop_gradient(mod(x, y) - x) + x


class PhasedLSTMCell(SizedByMemory, RNNCell):
    """An LSTM of inputs (time [batch, 1], x [batch, depth]), whose units each have a ``period``, a ``phase`` and ``ratio_on``.

    `leak`: how much a closed unit passes; `ratio_on`: the part of a period in which it is open, trained if `trainable_ratio_on`;
    periods are drawn between `period_init_min` and `period_init_max`, evenly in their logarithms.
    """

    def __init__(self, num_units: int, use_peepholes: bool = False, leak: float = 0.001, ratio_on: float = 0.1,
                 trainable_ratio_on: bool = True, period_init_min: float = 1.0, period_init_max: float = 1000.0, reuse: Any = None):
        super().__init__(_reuse=reuse, autocast=False)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._leak = leak
        self._ratio_on = ratio_on
        self._trainable_ratio_on = trainable_ratio_on
        self._period_init_min = period_init_min
        self._period_init_max = period_init_max
        self._linear_of: dict[str, Any] = {}

    def _linear(self, scope: str, args: list, size: int, activation: Callable) -> Any:
        with variable_scope(scope):
            if scope not in self._linear_of:
                self._linear_of[scope] = _Linear(args, size, True)
            return activation(self._linear_of[scope](args))

    def _drawn_period(self, shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Any:
        return exp(random_uniform(shape, log(self._period_init_min), log(self._period_init_max), dtype))

    def _openness(self, time: Any) -> Any:
        """How far the units are open at `time`."""
        units = [self._num_units]
        period = get_variable("period", units, initializer=self._drawn_period)
        phase = get_variable("phase", units, initializer=random_uniform_initializer(0.0, period.initial_value))
        ratio_on = get_variable("ratio_on", units, initializer=constant_initializer(self._ratio_on),
                                trainable=self._trainable_ratio_on)
        start, length = cast(phase, time.dtype), cast(period, time.dtype)
        ratio = cast(_remainder(time - start, length) / length, dtypes.float32)
        rising = 2 * ratio / ratio_on
        falling, closed = 2 - rising, self._leak * ratio
        return where(ratio < 0.5 * ratio_on, rising, where(ratio < ratio_on, falling, closed))

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs [batch, units], next LSTMStateTuple)"""
        memory, hidden = state
        time, x = inputs
        peep = lambda memory: [memory] if self._use_peepholes else []
        gates = self._linear("mask_gates", [x, hidden, *peep(memory)], 2 * self._num_units, sigmoid)
        taken, kept = split(axis=1, num_or_size_splits=2, value=gates)
        new_input = self._linear("new_input", [x, hidden], self._num_units, tanh)
        new_memory = memory * kept + taken * new_input
        opened = self._linear("output_gate", [x, hidden, *peep(new_memory)], self._num_units, sigmoid)
        output = tanh(new_memory) * opened
        k = self._openness(time)
        new_memory = k * new_memory + (1 - k) * memory
        output = k * output + (1 - k) * hidden
        return output, LSTMStateTuple(new_memory, output)
