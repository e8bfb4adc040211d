"""What cuDNN computes for a stack of recurrent layers, and where it keeps their parameters in one vector."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jitgraph.ops.arrays.fill import zeros_like
from jitgraph.ops.arrays.join import concat, split, stack
from jitgraph.ops.arrays.layout import reverse, reverse_sequence, transpose
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.elementwise.composite_values import tanh
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.nn.functions import dropout as nn_dropout
from jitgraph.rnn.cells import RNNCell
from jitgraph.rnn.dynamic import dynamic_rnn
from jitgraph.rnn.sizes import LSTMStateTuple
from jitgraph.variables.variable_scopes import variable_scope

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


@dataclass(frozen=True)
class Layout:
    """A stack: `mode` lstm, gru, rnn_tanh or rnn_relu; `input_mode` linear_input, skip_input (the first layer takes its inputs
    as they are) or auto_select (skip_input where sizes allow it); `direction` unidirectional or bidirectional.

    The vector of parameters holds, layer by layer and in each forward before backward, first all weights [units, depth] (those
    of the inputs gate by gate, then those of the hidden state), then all biases (in the same order).  Gates are input, forget,
    candidate and output of an lstm, and reset, update and candidate of a gru.  Raises ValueError for other words, and for
    skip_input where the sizes differ.
    """

    mode: str
    num_layers: int
    num_units: int
    input_size: int
    input_mode: str = "linear_input"
    direction: str = "unidirectional"

    def __post_init__(self) -> None:
        check_direction(self.direction)
        check_input_mode(self.input_mode)
        if self.mode not in GATES:
            raise ValueError(f"Invalid rnn_mode: {self.mode}, expect one of ({', '.join(GATES)})")
        if self.input_mode == "skip_input" and self.input_size != self.num_units:
            raise ValueError(f"skip_input needs inputs of {self.num_units} units, not of {self.input_size}")

    @property
    def num_dirs(self) -> int:
        """1, or 2 for a bidirectional stack."""
        return 1 if self.direction == "unidirectional" else 2

    @property
    def skips(self) -> bool:
        """Whether the first layer takes its inputs without a product."""
        return self.input_mode == "skip_input" or (self.input_mode == "auto_select" and self.input_size == self.num_units)

    def weight_shapes(self, layer: int) -> list:
        """The shapes of the weights of one layer, in order."""
        units, gates = self.num_units, GATES[self.mode]
        depth = self.input_size if layer == 0 else units * self.num_dirs
        return ([(units, depth)] * gates + [(units, units)] * gates) * self.num_dirs

    def all_weight_shapes(self) -> list:
        """The shapes of all weights, in order."""
        return [shape for layer in range(self.num_layers) for shape in self.weight_shapes(layer)]

    def all_bias_shapes(self) -> list:
        """The shapes of all biases, in order."""
        return [[self.num_units]] * (2 * GATES[self.mode] * self.num_dirs * self.num_layers)

    def size(self) -> int:
        """How many numbers the vector of parameters holds."""
        return sum(rows * columns for rows, columns in self.all_weight_shapes()) + self.num_units * len(self.all_bias_shapes())

    def weights_and_biases(self, parameters: Any) -> tuple:
        """(all weights, all biases) of a vector of parameters, in order."""
        shapes = self.all_weight_shapes()
        biases = self.all_bias_shapes()
        sizes = [rows * columns for rows, columns in shapes] + [self.num_units] * len(biases)
        parts = split(parameters, sizes, axis=0)
        return [reshape(part, shape) for part, shape in zip(parts, shapes)], parts[len(shapes):]


def check_direction(direction: str) -> None:
    """Raises ValueError unless `direction` is unidirectional or bidirectional."""
    if direction not in ("unidirectional", "bidirectional"):
        raise ValueError(f"Invalid direction: {direction}, expecting unidirectional or bidirectional")


def check_input_mode(input_mode: str) -> None:
    """Raises ValueError unless `input_mode` is linear_input, skip_input or auto_select."""
    if input_mode not in ("linear_input", "skip_input", "auto_select"):
        raise ValueError(f"Invalid input_mode: {input_mode}, expect one of (linear_input, skip_input, auto_select)")


class _Step(RNNCell):
    """One step of one layer in one direction; its inputs are already multiplied with their weights."""

    def __init__(self, mode: str, num_units: int, kernel: Any, candidate_bias: Any):
        super().__init__(name=mode)
        self._mode, self._num_units, self._hidden, self._candidate_bias = mode, num_units, kernel, candidate_bias

    @property
    def state_size(self) -> Any:
        """The number of units; a pair of them for an lstm."""
        return LSTMStateTuple(self._num_units, self._num_units) if self._mode == "lstm" else self._num_units

    @property
    def output_size(self) -> int:
        """The number of units."""
        return self._num_units

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs, next state)"""
        if self._mode == "lstm":
            return self._lstm(inputs, state)
        product = matmul(state, self._hidden)
        output = self._gru(inputs, state, product) if self._mode == "gru" else self._plain(inputs + product)
        return output, output

    def _lstm(self, inputs: Any, state: Any) -> tuple:
        into, forget, candidate, out = split(inputs + matmul(state[1], self._hidden), 4, axis=1)
        memory = sigmoid(forget) * state[0] + sigmoid(into) * tanh(candidate)
        output = sigmoid(out) * tanh(memory)
        return output, LSTMStateTuple(memory, output)

    def _gru(self, inputs: Any, state: Any, product: Any) -> Any:
        units = self._num_units
        gates, candidate = split(inputs, [2 * units, units], axis=1)
        into_gates, into_candidate = split(product, [2 * units, units], axis=1)
        reset, update = split(sigmoid(gates + into_gates), 2, axis=1)
        found = tanh(candidate + reset * (into_candidate + self._candidate_bias))
        return (1 - update) * found + update * state

    def _plain(self, total: Any) -> Any:
        return relu(total) if self._mode == "rnn_relu" else tanh(total)


def _reversed(values: Any, lengths: Any) -> Any:
    return reverse(values, [0]) if lengths is None else reverse_sequence(values, lengths, seq_axis=0, batch_axis=1)


def _one_direction(layout: Layout, inputs: Any, state: Any, weights: list, biases: list, lengths: Any, skips: bool) -> tuple:
    gates, units = GATES[layout.mode], layout.num_units
    into = concat(biases[:gates], 0)
    hidden = concat(biases[gates:], 0)
    last = hidden[-units:]
    if layout.mode == "gru":
        hidden = concat([hidden[:-units], zeros_like(last)], 0)
    if skips:
        products = concat([inputs] * gates, 2)
    else:
        depth = weights[0].shape[1].value
        flat = matmul(reshape(inputs, [-1, depth]), concat(weights[:gates], 0), transpose_b=True)
        products = reshape(flat, concat([shape_of(inputs)[:2], [gates * units]], 0))
    cell = _Step(layout.mode, units, transpose(concat(weights[gates:], 0)), last)
    return dynamic_rnn(cell, products + (into + hidden), sequence_length=lengths, initial_state=state, time_major=True)


def forward(layout: Layout, inputs: Any, h: Any, c: Any, parameters: Any, sequence_lengths: Any = None,
            dropout: float = 0.0, seed: int | None = None) -> tuple:
    """(outputs [time, batch, units of all directions], last h, last c) of a stack.

    `inputs` [time, batch, depth]; `h`, and `c` of an lstm, [layers * directions, batch, units]; `sequence_lengths` int [batch];
    `dropout` is the part of the outputs dropped between layers.  The last c is None for all but an lstm.
    """
    weights, biases = layout.weights_and_biases(parameters)
    gates, states = GATES[layout.mode], []
    for layer in range(layout.num_layers):
        if layer and dropout:
            inputs = nn_dropout(inputs, rate=dropout, seed=seed)
        outputs = []
        for direction in range(layout.num_dirs):
            place = layer * layout.num_dirs + direction
            own = slice(place * 2 * gates, (place + 1) * 2 * gates)
            state = LSTMStateTuple(c[place], h[place]) if layout.mode == "lstm" else h[place]
            given = _reversed(inputs, sequence_lengths) if direction else inputs
            with variable_scope(f"layer_{layer}_{direction}"):
                found, last = _one_direction(layout, given, state, weights[own], biases[own], sequence_lengths,
                                             layout.skips and layer == 0)
            outputs.append(_reversed(found, sequence_lengths) if direction else found)
            states.append(last)
        inputs = concat(outputs, 2)
    if layout.mode == "lstm":
        return inputs, stack([state.h for state in states]), stack([state.c for state in states])
    return inputs, stack(states), None
