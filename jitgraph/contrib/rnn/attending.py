"""``AttentionCellWrapper``: a cell that attends to its own last outputs (Bahdanau and others, 2015)."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import structures as nest
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.elementwise.composite_values import tanh
from jitgraph.ops.nn.convolution_functions import conv2d
from jitgraph.ops.nn.softmax import softmax
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.rnn.cells import RNNCell, warn_of_joined
from jitgraph.rnn.linear import _Linear
from jitgraph.rnn.states import assert_like_rnncell
from jitgraph.variables.variable_scopes import get_variable, variable_scope


class AttentionCellWrapper(RNNCell):
    """A cell that attends to its last `attn_length` outputs.

    `attn_size`: the size of an attention, by default that of the outputs; `attn_vec_size`: the size of what scores it;
    `input_size`: that of the inputs of the cell, made of inputs and attention.  The state is (state of the cell, attention, the
    last outputs side by side), or all side by side with ``state_is_tuple=False``.  Raises ValueError for lengths that are not
    positive.
    """

    def __init__(self, cell: Any, attn_length: int, attn_size: int | None = None, attn_vec_size: int | None = None,
                 input_size: int | None = None, state_is_tuple: bool = True, reuse: Any = None):
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError("Cell returns tuple of states, but the flag state_is_tuple is not set. State size is: "
                             f"{cell.state_size}")
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        if not state_is_tuple:
            warn_of_joined(self)
        self._state_is_tuple = state_is_tuple
        self._cell = cell
        self._attn_size = cell.output_size if attn_size is None else attn_size
        self._attn_vec_size = self._attn_size if attn_vec_size is None else attn_vec_size
        self._input_size = input_size
        self._attn_length = attn_length
        self._linear_of: dict[str, Any] = {}

    @property
    def state_size(self) -> Any:
        """(that of the cell, that of the attention, that of the last outputs), or their sum."""
        sizes = self._cell.state_size, self._attn_size, self._attn_size * self._attn_length
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        """The size of an attention."""
        return self._attn_size

    def _linear(self, what: str, args: Any, size: int) -> Any:
        if what not in self._linear_of:
            self._linear_of[what] = _Linear(args, size, True)
        return self._linear_of[what](args)

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs [batch, attn_size], next state)"""
        if self._state_is_tuple:
            state, attended, last = state
        else:
            joined, own = state, self._cell.state_size
            state = slice_of(joined, [0, 0], [-1, own])
            attended = slice_of(joined, [0, own], [-1, self._attn_size])
            last = slice_of(joined, [0, own + self._attn_size], [-1, self._attn_size * self._attn_length])
        last = reshape(last, [-1, self._attn_length, self._attn_size])
        size = inputs.shape.as_list()[1] if self._input_size is None else self._input_size
        output, following = self._cell(self._linear("input", [inputs, attended], size), state)
        query = concat(nest.flatten(following), 1) if self._state_is_tuple else following
        attended, last = self._attention(query, last)
        with variable_scope("attn_output_projection"):
            output = self._linear("output", [output, attended], self._attn_size)
        last = reshape(concat([last, expand_dims(output, 1)], 1), [-1, self._attn_length * self._attn_size])
        found = (following, attended, last)
        return output, found if self._state_is_tuple else concat(list(found), 1)

    def _attention(self, query: Any, last: Any) -> tuple:
        """(attention to the last outputs, all but the oldest of them)"""
        with variable_scope("attention"):
            k = get_variable("attn_w", [1, 1, self._attn_size, self._attn_vec_size])
            v = get_variable("attn_v", [self._attn_vec_size])
            hidden = reshape(last, [-1, self._attn_length, 1, self._attn_size])
            features = conv2d(hidden, k, [1, 1, 1, 1], "SAME")
            y = reshape(self._linear("query", query, self._attn_vec_size), [-1, 1, 1, self._attn_vec_size])
            weights = softmax(reduce_sum(v * tanh(features + y), [2, 3]))
            context = reduce_sum(reshape(weights, [-1, self._attn_length, 1, 1]) * hidden, [1, 2])
            return reshape(context, [-1, self._attn_size]), slice_of(last, [0, 1, 0], [-1, -1, -1])
