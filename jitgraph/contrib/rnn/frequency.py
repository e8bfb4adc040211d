"""``TimeFreqLSTMCell``: an LSTM that also runs over the frequencies of each step (Li and others, 2015)."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.rnn.sharded import sharded_variable
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.join import concat, split
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.elementwise.clip import clip_by_value
from jitgraph.ops.elementwise.composite_values import tanh
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.rnn.cells import RNNCell
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable


class TimeFreqLSTMCell(RNNCell):
    """An LSTM over windows of `feature_size` inputs, `frequency_skip` apart, each beside the outputs of the window below.

    States and outputs of the windows stand side by side, though ``state_size`` and ``output_size`` are those of one.  Raises
    ValueError for inputs of unknown depth.
    """

    def __init__(self, num_units: int, use_peepholes: bool = False, cell_clip: float | None = None, initializer: Any = None,
                 num_unit_shards: int = 1, forget_bias: float = 1.0, feature_size: int | None = None, frequency_skip: int = 1,
                 reuse: Any = None):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip

    @property
    def state_size(self) -> Any:
        """Twice the number of units."""
        return 2 * self._num_units

    @property
    def output_size(self) -> Any:
        """The number of units."""
        return self._num_units

    def _windows(self, inputs: Any) -> list:
        depth = inputs.shape.with_rank(2)[-1].value
        if depth is None:
            raise ValueError("Cannot infer input_size from static shape inference.")
        count = int((depth - self._feature_size) / self._frequency_skip) + 1
        return [slice_of(inputs, [0, k * self._frequency_skip], [-1, self._feature_size]) for k in range(count)]

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs, next state), those of the windows side by side."""
        units, dtype = self._num_units, inputs.dtype
        windows = self._windows(inputs)
        weight = sharded_variable("W", [windows[0].shape.as_list()[1] + 2 * units, 4 * units], dtype, self._num_unit_shards)
        bias = get_variable("B", shape=[4 * units], initializer=zeros_initializer(), dtype=dtype)
        diagonals: Any = None
        if self._use_peepholes:
            diagonals = [get_variable(f"W_{gate}_diag", shape=[units], dtype=dtype) for gate in "FIO"]
        below = zeros([inputs.shape[0].value or inputs.shape[0], units], dtype)
        outputs: Any = None
        following: Any = None
        for k, window in enumerate(windows):
            memory = slice_of(state, [0, 2 * k * units], [-1, units])
            hidden = slice_of(state, [0, (2 * k + 1) * units], [-1, units])
            product = bias_add(matmul(concat([window, hidden, below], 1), weight), bias)
            i, j, f, o = split(value=product, num_or_size_splits=4, axis=1)
            if diagonals:
                f, i = f + self._forget_bias + diagonals[0] * memory, i + diagonals[1] * memory
            else:
                f = f + self._forget_bias
            memory = sigmoid(f) * memory + sigmoid(i) * tanh(j)
            if self._cell_clip is not None:
                memory = clip_by_value(memory, -self._cell_clip, self._cell_clip)
            below = sigmoid(o + diagonals[2] * memory if diagonals else o) * tanh(memory)
            following = concat([following, memory, below] if k else [memory, below], 1)
            outputs = concat([outputs, below], 1) if k else below
        return outputs, following
