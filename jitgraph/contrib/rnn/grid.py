"""``GridLSTMCell``: LSTMs along time and along frequency that see each other (Kalchbrenner and others, 2015)."""
from __future__ import annotations

import collections
from typing import Any

from jitgraph.contrib.rnn.sharded import sharded_variable
from jitgraph.graph import dtypes
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.join import concat, split
from jitgraph.ops.arrays.pad import pad
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.elementwise.clip import clip_by_value
from jitgraph.ops.elementwise.composite_values import tanh
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.rnn.cells import RNNCell, warn_of_joined
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope


class _Direction:
    """The variables of one of the two LSTMs of a block, along frequency or along time, and its gates."""

    def __init__(self, cell: GridLSTMCell, name: str, block: int, depth: int, dtype: Any):
        self.cell, self.name, self.block, self.dtype = cell, name, block, dtype
        size = (3 if cell._couple_input_forget_gates else 4) * cell._num_units
        self.weight = sharded_variable(f"W_{name[0]}_{block}", [depth + 2 * cell._num_units, size], dtype, cell._num_unit_shards)
        self.bias = get_variable(f"B_{name[0]}_{block}", shape=[size], initializer=zeros_initializer(), dtype=dtype)
        self.diagonals: dict[str, tuple] = {}

    def make_diagonals(self) -> None:
        """Makes the peepholes of the gates: one to the memory along frequency, one to that along time."""
        for gate in "IO" if self.cell._couple_input_forget_gates else "FIO":
            self.diagonals[gate] = tuple(
                get_variable(f"W_{gate}_diag_{self.name}{to}_{self.block}", shape=[self.cell._num_units], dtype=self.dtype)
                for to in "ft")

    def parts(self, joined: Any) -> dict[str, Any]:
        """The products of the gates."""
        gates = "ijo" if self.cell._couple_input_forget_gates else "ijfo"
        product = bias_add(matmul(joined, self.weight), self.bias)
        return dict(zip(gates, split(value=product, num_or_size_splits=len(gates), axis=1)))

    def gate(self, gate: str, value: Any, along_frequency: Any, along_time: Any) -> Any:
        """The opened gate, which sees the memories where there are peepholes."""
        if self.diagonals:
            f, t = self.diagonals[gate]
            value = value + f * along_frequency + t * along_time
        return sigmoid(value)

    def memory(self, parts: dict, before: Any, along_frequency: Any, along_time: Any) -> Any:
        """What it remembers next, after `before`."""
        taken = self.gate("I", parts["i"], along_frequency, along_time)
        if self.cell._couple_input_forget_gates:
            kept = 1.0 - taken
        else:
            kept = self.gate("F", parts["f"] + self.cell._forget_bias, along_frequency, along_time)
        found = kept * before + taken * tanh(parts["j"])
        clip = self.cell._cell_clip
        return found if clip is None else clip_by_value(found, -clip, clip)


class GridLSTMCell(RNNCell):
    """Two LSTMs, along time and along the windows of each step, both of which see window, and outputs before and below.

    `feature_size`, `frequency_skip`: the size of a window and the distance to the next; `num_frequency_blocks`: a list of the
    numbers of windows of the blocks, which lie between `start_freqindex_list` and `end_freqindex_list` (all inputs without);
    `share_time_frequency_weights`: whether both have the same variables.  The state is a named tuple ``state_f00_b00_c`` ..., or
    all side by side with ``state_is_tuple=False``.  Raises ValueError for numbers that do not fit.
    """

    def __init__(self, num_units: int, use_peepholes: bool = False, share_time_frequency_weights: bool = False,
                 cell_clip: float | None = None, initializer: Any = None, num_unit_shards: int = 1, forget_bias: float = 1.0,
                 feature_size: int | None = None, frequency_skip: int | None = None, num_frequency_blocks: Any = None,
                 start_freqindex_list: list | None = None, end_freqindex_list: list | None = None,
                 couple_input_forget_gates: bool = False, state_is_tuple: bool = True, reuse: Any = None):
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            warn_of_joined(self)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._share_time_frequency_weights = share_time_frequency_weights
        self._couple_input_forget_gates = couple_input_forget_gates
        self._state_is_tuple = state_is_tuple
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size: Any = feature_size
        self._frequency_skip: Any = frequency_skip
        self._start_freqindex_list = start_freqindex_list
        self._end_freqindex_list: Any = end_freqindex_list
        self._num_frequency_blocks = [int(count) for count in num_frequency_blocks]
        self._total_blocks = sum(self._num_frequency_blocks)
        self._state_tuple_type: Any = None
        if state_is_tuple:
            self._state_tuple_type = collections.namedtuple("GridLSTMStateTuple", self._state_names("state"))  # type: ignore[misc]

    def _state_names(self, prefix: str) -> list:
        return [f"{prefix}_f{k:02d}_b{block:02d}_{part}" for block, count in enumerate(self._num_frequency_blocks)
                for k in range(count) for part in "cm"]

    @property
    def state_size(self) -> Any:
        """The number of units for each part of the named tuple, or their sum."""
        if self._state_tuple_type is None:
            return self._num_units * self._total_blocks * 2
        return self._state_tuple_type(*[self._num_units] * len(self._state_tuple_type._fields))

    @property
    def output_size(self) -> Any:
        """Twice the number of units for each window."""
        return self._num_units * self._total_blocks * 2

    @property
    def state_tuple_type(self) -> Any:
        """The class of the state, None where it is side by side."""
        return self._state_tuple_type

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs, next state)"""
        batch_size = inputs.shape[0].value or shape_of(inputs)[0]
        found = [self._block(windows, block, state, batch_size, "state")
                 for block, windows in enumerate(self._windows(inputs))]
        outputs, states = ([one for pair in found for one in pair[k]] for k in (0, 1))
        following = self._state_tuple_type(*states) if self._state_is_tuple else concat(list(states), 1)
        return concat(list(outputs), 1), following

    def _block(self, windows: list, block: int, state: Any, batch_size: Any, prefix: str) -> tuple:
        """(outputs, states) of the windows of a block."""
        units, dtype = self._num_units, windows[0].dtype
        depth = windows[0].shape.as_list()[1]
        along_frequency = _Direction(self, "freq", block, depth, dtype)
        along_time = along_frequency if self._share_time_frequency_weights else _Direction(self, "time", block, depth, dtype)
        if self._use_peepholes:
            for direction in dict.fromkeys((along_frequency, along_time)):
                direction.make_diagonals()
        hidden_f, memory_f = zeros([batch_size, units], dtype), zeros([batch_size, units], dtype)
        outputs: list = []
        states: list = []
        for k, window in enumerate(windows):
            memory_t, hidden_t = self._own(state, prefix, k, block)
            joined = concat([window, hidden_t, hidden_f], 1)
            parts_f = along_frequency.parts(joined)
            parts_t = parts_f if along_time is along_frequency else along_time.parts(joined)
            new_f = along_frequency.memory(parts_f, memory_f, memory_f, memory_t)
            # the memory along frequency is that of before the step only in the gates along frequency
            new_t = along_time.memory(parts_t, memory_t, memory_f, memory_t)
            hidden_f = along_frequency.gate("O", parts_f["o"], new_f, new_t) * tanh(new_f)
            hidden_t = along_time.gate("O", parts_t["o"], new_f, new_t) * tanh(new_t)
            memory_f = new_f
            states += [new_t, hidden_t]
            outputs += [hidden_t, hidden_f]
        return outputs, states

    def _own(self, state: Any, prefix: str, k: int, block: int) -> tuple:
        """(memory, output) of a window along time, of the step before."""
        if self._state_is_tuple:
            return tuple(getattr(state, f"{prefix}_f{k:02d}_b{block:02d}_{part}") for part in "cm")
        units = self._num_units
        return tuple(slice_of(state, [0, (2 * k + part) * units], [-1, units]) for part in (0, 1))

    def _windows(self, inputs: Any, offset: int = 0) -> list[list]:
        """The windows of each block, all shifted by `offset`."""
        depth = inputs.shape.with_rank(2)[-1].value
        if depth is None:
            raise ValueError("Cannot infer input_size from static shape inference.")
        if offset:
            around = [0, 0, 0, offset] if offset > 0 else [0, 0, -offset, 0]
            inputs = pad(inputs, constant(around, shape=[2, 2], dtype=dtypes.int32), "CONSTANT")
            offset = max(offset, 0)
        counts, starts, ends = self._num_frequency_blocks, self._start_freqindex_list, self._end_freqindex_list
        if not starts:
            if len(counts) != 1:
                raise ValueError(f"Length of num_frequency_blocks is not 1, but instead is {len(counts)}")
            starts, ends = [0], [depth]
        if len(starts) != len(ends):
            raise ValueError(f"Length of start and end freqindex_list does not match {len(starts)} {len(ends)}")
        if len(counts) != len(starts):
            raise ValueError(f"Length of num_frequency_blocks is not equal to start_freqindex_list {len(counts)} {len(starts)}")
        found = []
        for count, start, end in zip(counts, starts, ends):
            fitting = int((end - start - self._feature_size) / self._frequency_skip) + 1
            if fitting != count:
                raise ValueError(f"Invalid num_frequency_blocks, requires {count} but gets {fitting}, please check the input "
                                 "size and filter config are correct.")
            found.append([slice_of(inputs, [0, start + offset + k * self._frequency_skip], [-1, self._feature_size])
                          for k in range(count)])
        return found


class BidirectionalGridLSTMCell(GridLSTMCell):
    """Grids of LSTMs that go through the windows forward, in the scope ``fwd``, and backward, in ``bwd``.

    `backward_slice_offset`: by how much the windows backward are shifted.  The other arguments are those of ``GridLSTMCell``.
    """

    def __init__(self, num_units: int, use_peepholes: bool = False, share_time_frequency_weights: bool = False,
                 cell_clip: float | None = None, initializer: Any = None, num_unit_shards: int = 1, forget_bias: float = 1.0,
                 feature_size: int | None = None, frequency_skip: int | None = None, num_frequency_blocks: Any = None,
                 start_freqindex_list: list | None = None, end_freqindex_list: list | None = None,
                 couple_input_forget_gates: bool = False, backward_slice_offset: int = 0, reuse: Any = None):
        super().__init__(num_units, use_peepholes, share_time_frequency_weights, cell_clip, initializer, num_unit_shards,
                         forget_bias, feature_size, frequency_skip, num_frequency_blocks, start_freqindex_list,
                         end_freqindex_list, couple_input_forget_gates, True, reuse)
        self._backward_slice_offset = int(backward_slice_offset)
        names = [name for direction in ("fwd", "bwd") for name in self._state_names(f"{direction}_state")]
        self._state_tuple_type = collections.namedtuple("BidirectionalGridLSTMStateTuple", names)  # type: ignore[misc]

    @property
    def output_size(self) -> Any:
        """Four times the number of units for each window."""
        return 2 * super().output_size

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs, next state), forward before backward."""
        batch_size = inputs.shape[0].value or shape_of(inputs)[0]
        forward = self._windows(inputs)
        backward = self._windows(inputs, self._backward_slice_offset) if self._backward_slice_offset else forward
        outputs: list = []
        states: list = []
        for direction, blocks in (("fwd", forward), ("bwd", [windows[::-1] for windows in backward])):
            with variable_scope(direction):
                for block, windows in enumerate(blocks):
                    said, remembered = self._block(windows, block, state, batch_size, f"{direction}_state")
                    outputs += said
                    states += remembered
        return concat(outputs, 1), self._state_tuple_type(*states)
