"""Cells whose step, or whose whole sequence, is one op."""
from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from jitgraph.contrib.rnn.block_ops import block_lstm, gru_block_cell, lstm_block_cell
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.shapes import TensorShape
from jitgraph.layers.base import Layer
from jitgraph.layers.input_spec import InputSpec
from jitgraph.ops.arrays.batch_gather import gather_nd
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.grids import sequence_mask
from jitgraph.ops.arrays.join import concat, stack, unstack
from jitgraph.ops.arrays.layout import tile, transpose
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.reduce.reductions import reduce_max
from jitgraph.rnn.cells import LayerRNNCell
from jitgraph.rnn.sizes import LSTMStateTuple, SizedByMemory, SizedByUnits
from jitgraph.variables.variable_initializers import constant_initializer


class GRUBlockCell(SizedByUnits, LayerRNNCell):
    """A GRU whose step is one op; variables ``w_ru``, ``b_ru``, ``w_c`` and ``b_c``.

    `cell_size` is the older name of `num_units`.  Raises ValueError unless one of them is given, and for unknown depths.
    """

    _names = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(self, num_units: int | None = None, cell_size: int | None = None, reuse: Any = None, name: str = "gru_cell"):
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._num_units = cell_size if num_units is None else num_units
        self.input_spec = InputSpec(ndim=2)

    def build(self, input_shape: Any) -> None:
        """Makes kernels and biases of gates and candidate."""
        depth = TensorShape(input_shape)[1].value
        if depth is None:
            raise ValueError("Expecting input_size to be set.")
        units = self._num_units
        gate_kernel, gate_bias, candidate_kernel, candidate_bias = self._names
        self._gate_kernel = self.add_variable(gate_kernel, [depth + units, units * 2])
        self._gate_bias = self.add_variable(gate_bias, [units * 2], initializer=constant_initializer(1.0))
        self._candidate_kernel = self.add_variable(candidate_kernel, [depth + units, units])
        self._candidate_bias = self.add_variable(candidate_bias, [units], initializer=constant_initializer(0.0))
        self.built = True

    def call(self, inputs: Any, h_prev: Any) -> tuple:
        """(outputs, next state), both [batch, units].  Raises ValueError for a state of another size."""
        size = h_prev.shape.with_rank(2)[1].value
        if size != self._num_units:
            raise ValueError(f"Shape of h_prev[1] incorrect: cell_size {self._num_units} vs {size}")
        state = gru_block_cell(inputs, h_prev, self._gate_kernel, self._candidate_kernel, self._gate_bias,
                               self._candidate_bias)[3]
        return state, state


class GRUBlockCellV2(GRUBlockCell):
    """A ``GRUBlockCell`` with the variables of ``GRUCell``."""

    _names = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")


class _LSTMVariables:
    """The variables of an LSTM whose gates are computed by one op."""

    _num_units: int
    _use_peephole: bool
    add_variable: Callable

    def _make_variables(self, depth: int) -> None:
        units = self._num_units
        self._kernel = self.add_variable("kernel", [depth + units, units * 4])
        self._bias = self.add_variable("bias", [units * 4], initializer=constant_initializer(0.0))
        if self._use_peephole:
            self._peepholes = [self.add_variable(name, [units]) for name in ("w_i_diag", "w_f_diag", "w_o_diag")]

    def _diagonals(self, dtype: Any) -> list:
        return self._peepholes if self._use_peephole else [zeros([self._num_units], dtype=dtype)] * 3


class LSTMBlockCell(SizedByMemory, _LSTMVariables, LayerRNNCell):
    """An LSTM whose step is one op.  `cell_clip` bounds what it remembers; `use_peephole` lets gates see it.

    Raises ValueError for unknown depths and for states that are no pairs.
    """

    def __init__(self, num_units: int, forget_bias: float = 1.0, cell_clip: float | None = None, use_peephole: bool = False,
                 dtype: Any = None, reuse: Any = None, name: str = "lstm_cell"):
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._use_peephole = use_peephole
        self._cell_clip = cell_clip if cell_clip is not None else -1
        self.input_spec = InputSpec(ndim=2)

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel``, ``bias`` and, with peepholes, ``w_i_diag``, ``w_f_diag`` and ``w_o_diag``."""
        if not input_shape[1].value:
            raise ValueError(f"Expecting inputs_shape[1] to be set: {input_shape}")
        self._make_variables(input_shape[1].value)
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs [batch, units], next LSTMStateTuple)"""
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        memory, hidden = state
        found = lstm_block_cell(inputs, memory, hidden, self._kernel, *self._diagonals(self.dtype), self._bias,
                                forget_bias=self._forget_bias, cell_clip=self._cell_clip, use_peephole=self._use_peephole)
        return found[6], LSTMStateTuple(found[1], found[6])


class LSTMBlockWrapper(Layer, abc.ABC):
    """An LSTM over whole sequences.  A subclass overrides ``num_units`` and ``_call_cell``."""

    @property
    @abc.abstractmethod
    def num_units(self) -> int:
        """The number of units."""

    @abc.abstractmethod
    def _call_cell(self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: Any, sequence_length: Any) -> tuple:
        """(what it remembers, outputs), both [time, batch, units], for `inputs` [time, batch, depth]."""

    def call(self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None) -> tuple:
        """(outputs [time, batch, units], or a list of them if `inputs` is one, last LSTMStateTuple).

        `inputs` [time, batch, depth], or a list of its steps; `sequence_length` int [batch].  Raises ValueError for unknown
        depths, without state and dtype, and for states that are no pairs.
        """
        is_list = isinstance(inputs, list)
        if is_list:
            inputs = stack(inputs)
        shape = inputs.shape.with_rank(3)
        if shape[2].value is None:
            raise ValueError(f"Expecting inputs_shape[2] to be set: {shape}")
        batch_size = shape_of(inputs)[1] if shape[1].value is None else shape[1].value
        steps = shape_of(inputs)[0] if shape[0].value is None else shape[0].value
        memory, output, dtype = self._begun(initial_state, dtype, batch_size)
        if sequence_length is not None:
            sequence_length = convert_to_tensor(sequence_length)
        memories, outputs = self._call_cell(inputs, memory, output, dtype, sequence_length)
        if sequence_length is None:
            final = LSTMStateTuple(memories[-1], outputs[-1])
        else:
            mask = transpose(sequence_mask(sequence_length, steps, dtype=dtype), [1, 0])
            outputs *= tile(expand_dims(mask, [-1]), [1, 1, self.num_units])
            positions = [concat([expand_dims(first, [0]), rest], 0) for first, rest in ((memory, memories), (output, outputs))]
            final = LSTMStateTuple(*[gather_nd(one, stack([sequence_length, range_of(batch_size)], axis=1)) for one in positions])
        return unstack(outputs) if is_list else outputs, final

    def _begun(self, state: Any, dtype: Any, batch_size: Any) -> tuple:
        if state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            nothing = zeros(stack([batch_size, self.num_units]), dtype=dtype)
            return nothing, nothing, dtype
        if len(state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        return state[0], state[1], state[0].dtype if dtype is None else dtype


class LSTMBlockFusedCell(_LSTMVariables, LSTMBlockWrapper):
    """An LSTM whose whole sequence is one op; the arguments are those of ``LSTMBlockCell``."""

    def __init__(self, num_units: int, forget_bias: float = 1.0, cell_clip: float | None = None, use_peephole: bool = False,
                 reuse: Any = None, dtype: Any = None, name: str = "lstm_fused_cell"):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = cell_clip if cell_clip is not None else -1
        self._use_peephole = use_peephole
        self.input_spec = InputSpec(ndim=3)

    @property
    def num_units(self) -> int:
        """The number of units."""
        return self._num_units

    def build(self, input_shape: Any) -> None:
        """Makes the variables of ``LSTMBlockCell``."""
        self._make_variables(input_shape[2].value)
        self.built = True

    def _call_cell(self, inputs: Any, initial_cell_state: Any = None, initial_output: Any = None, dtype: Any = None,
                   sequence_length: Any = None) -> tuple:
        steps = inputs.shape[0].value
        if steps is None:
            steps = shape_of(inputs)[0]
        diagonals = self._diagonals(dtype)
        longest = cast(steps if sequence_length is None else reduce_max(sequence_length), dtypes.int64)
        found = block_lstm(longest, inputs, initial_cell_state, initial_output, self._kernel, *diagonals, self._bias,
                           forget_bias=self._forget_bias, cell_clip=self._cell_clip, use_peephole=self._use_peephole)
        return found[1], found[6]
