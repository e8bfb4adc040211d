"""Cells of ``tf.nn.rnn_cell`` as steps of ``Recurrent``."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.recurrent.steps import Recurrent
from jitgraph.graph import structures as nest
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.identity import stop_gradient
from jitgraph.ops.arrays.join import unstack
from jitgraph.ops.arrays.layout import reverse as reverse_axes
from jitgraph.ops.arrays.layout import reverse_sequence, tile, transpose
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, less
from jitgraph.ops.reduce.reductions import reduce_max, reduce_sum
from jitgraph.variables.variable_scopes import variable_scope


def _template_shapes(struct: Any, like: Any) -> None:
    for one, template in zip(nest.flatten(struct), nest.flatten(like)):
        one.set_shape(template.shape)


class _Cell:
    """A cell whose outputs are kept beside its state, where they are no part of it."""

    def __init__(self, cell: Any, inputs: Any, initial_state: Any):
        self._cell, self.template = cell, initial_state
        now = nest.map_structure(lambda x: stop_gradient(gather(x, 0)), inputs)
        outputs, state = cell(now, initial_state)       # makes the variables
        flat = nest.flatten(state)
        self.output_shape = outputs.shape
        self._index = next((i for i, one in enumerate(flat) if one is outputs), None)
        first = nest.flatten(initial_state)[0]
        nothing = zeros(outputs.shape if outputs.shape.is_fully_defined() else shape_of(outputs), dtype=first.dtype)
        self.initial = initial_state if self._index is not None else [nothing, initial_state]

    def step(self, theta: Any, state: Any, inputs: Any) -> tuple:
        """The outputs and the state after a step."""
        before = nest.pack_sequence_as(self.template, self.state_in(nest.flatten(state)))
        _template_shapes(before, self.template)
        outputs, after = self._cell(inputs, before)
        found = after if self._index is not None else [outputs, after]
        return nest.pack_sequence_as(self.initial, nest.flatten(found)), []

    def state_in(self, flat: list) -> list:
        """Without the outputs."""
        return flat if self._index is not None else flat[1:]

    def outputs_in(self, state: Any) -> Any:
        """The outputs alone."""
        return nest.flatten(state)[self._index or 0]


def _masked(lengths: Any, outputs: Any) -> Any:
    """`outputs` [batch, time, size] with zeros where a sequence has ended."""
    batch, time, _ = unstack(shape_of(outputs))
    inside = less(tile(expand_dims(range_of(0, time), 0), [batch, 1]), tile(reshape(lengths, [-1, 1]), [1, time]))
    return expand_dims(cast(inside, outputs.dtype), -1) * outputs


def _last_of(states: Any, lengths: Any) -> Any:
    def picked(state: Any) -> Any:
        time = shape_of(state)[0]
        last = equal(expand_dims(range_of(0, time), 1), expand_dims(lengths, 0) - 1)
        return reduce_sum(expand_dims(cast(last, state.dtype), -1) * state, 0)

    return nest.map_structure(picked, states)


def functional_rnn(cell: Any, inputs: Any, sequence_length: Any = None, initial_state: Any = None, dtype: Any = None,
                   time_major: bool = False, scope: Any = None, use_tpu: bool = False, reverse: bool = False) -> tuple:
    """(outputs, last state) of a cell over `inputs` [batch, time, size]: ``tf.nn.dynamic_rnn`` by ``Recurrent``.

    The arguments are those of ``tf.nn.dynamic_rnn``; `reverse`: from the last step to the first; `use_tpu` changes nothing here.
    """
    with variable_scope(scope or "rnn"):
        if not time_major:
            inputs = nest.map_structure(lambda t: transpose(t, [1, 0, 2]), inputs)
        flat = nest.flatten(inputs)
        if initial_state is None:
            initial_state = cell.zero_state(shape_of(flat[0])[1], dtype)
        made = _Cell(cell, inputs, initial_state)
    length = None if sequence_length is None else reduce_max(sequence_length)
    if reverse:
        inputs = nest.map_structure(lambda t: reverse_axes(t, [0]), inputs)
    states, last = Recurrent(theta=[], state0=made.initial, inputs=inputs, cell_fn=made.step, max_input_length=length,
                             use_tpu=use_tpu, aligned_end=reverse)
    if sequence_length is None or reverse:
        state = nest.pack_sequence_as(made.template, made.state_in(nest.flatten(last)))
    else:
        state = _last_of(nest.pack_sequence_as(made.template, made.state_in(nest.flatten(states))), sequence_length)
    outputs = made.outputs_in(states)
    if reverse:
        outputs = reverse_axes(outputs, [0])
    outputs = transpose(outputs, [1, 0, 2])
    outputs.set_shape([made.output_shape[0], flat[0].shape[0], made.output_shape[1]])
    if sequence_length is not None:
        outputs = _masked(sequence_length, outputs)
    _template_shapes(state, made.template)
    return transpose(outputs, [1, 0, 2]) if time_major else outputs, state


def bidirectional_functional_rnn(cell_fw: Any, cell_bw: Any, inputs: Any, initial_state_fw: Any = None,
                                 initial_state_bw: Any = None, dtype: Any = None, sequence_length: Any = None,
                                 time_major: bool = False, use_tpu: bool = False, fast_reverse: bool = False,
                                 scope: Any = None) -> tuple:
    """((outputs forward, outputs backward), (last states)) of two cells, as ``tf.nn.bidirectional_dynamic_rnn`` gives them.

    `fast_reverse`: the second one runs from the last step to the first, which needs sequences that end together; without it they
    are reversed one by one.
    """
    options = {"sequence_length": sequence_length, "dtype": dtype, "time_major": time_major, "use_tpu": use_tpu}
    time, batch = (0, 1) if time_major else (1, 0)

    def reversed_steps(values: Any) -> Any:
        if sequence_length is not None:
            return reverse_sequence(input=values, seq_lengths=sequence_length, seq_dim=time, batch_dim=batch)
        assert not use_tpu, "Bidirectional with variable sequence lengths unsupported on TPU"
        return reverse_axes(values, axis=[time])

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as entered:
            forward, state_fw = functional_rnn(cell_fw, inputs, initial_state=initial_state_fw, scope=entered, **options)
        with variable_scope("bw") as entered:
            given = inputs if fast_reverse else reversed_steps(inputs)
            backward, state_bw = functional_rnn(cell_bw, given, initial_state=initial_state_bw, scope=entered, reverse=fast_reverse,
                                                **options)
    if not fast_reverse:
        backward = reversed_steps(backward)
    return (forward, backward), (state_fw, state_bw)
