"""``tf.nn.static_rnn``: a cell run over sequences whose steps are nodes of their own."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat, stack, unstack
from jitgraph.ops.arrays.layout import reverse_sequence
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.reduce.reductions import reduce_max, reduce_min
from jitgraph.rnn.sequences import Lengths, dtype_of, initial_state, is_plain_layer, read_variables_once
from jitgraph.rnn.states import assert_like_rnncell, full_shape, static_shape
from jitgraph.variables.variable_scopes import variable_scope


def static_rnn(cell: Any, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None,
               scope: Any = None) -> tuple:
    """(outputs, final state) of `cell`, with nodes of its own for each step.

    `inputs`: a list of tensors [batch, ...], or of structures of them, one for each step; outputs are such a list.
    `sequence_length` [batch]: past its length an example gives zeros and keeps its state, and where all are past their ends,
    nothing is computed.  `dtype` is needed where no `initial_state` is given.  `scope` is the variable scope, "rnn" by default.
    Raises TypeError for what is no cell or no sequence, ValueError for an empty one and for unknown sizes.
    """
    assert_like_rnncell("cell", cell)
    _check_sequence(inputs)
    with variable_scope(scope or "rnn") as entered:
        read_variables_once(entered)
        known_batch = _known_batch(inputs)
        batch_size: Any = known_batch or shape_of(nest.flatten(inputs)[0])[0]
        state = _begun(cell, batch_size, dtype) if initial_state is None else initial_state
        lengths = None
        if sequence_length is not None:
            lengths = _lengths(cell, sequence_length, batch_size, known_batch, dtype_of(dtype, state))
        listed = is_plain_layer(cell)
        if listed and not nest.is_nested(state):
            state = [state]
        outputs = []
        for time, now in enumerate(inputs):
            if time > 0:
                entered.reuse_variables()
            call_cell = lambda now=now, state=state: cell(now, state)
            output, state = call_cell() if lengths is None else lengths.step(time, state, call_cell, every_step=False)
            outputs.append(output)
        return outputs, state[0] if listed and len(state) == 1 else state


def _check_sequence(inputs: Any) -> None:
    if not nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")


def _begun(cell: Any, batch_size: Any, dtype: Any) -> Any:
    if not dtype:
        raise ValueError("If no initial_state is provided, dtype must be specified")
    return initial_state(cell, batch_size, dtype)


def _known_batch(inputs: Any) -> int | None:
    """The batch size if it is known now.  Raises ValueError if other sizes are not, or if batch sizes differ."""
    first = inputs
    while nest.is_nested(first):
        first = first[0]
    if first.shape.ndims == 1:
        size: int | None = first.shape[0].value
        return size
    batch = first.shape.with_rank_at_least(2)[0]
    for tensor in nest.flatten(inputs):
        shape = tensor.shape.with_rank_at_least(2)
        batch = batch.merge_with(shape[0])
        for k, size in enumerate(shape[1:].as_list()):
            if size is None:
                raise ValueError(f"Input size (dimension {k} of inputs) must be accessible via shape inference, but saw value "
                                 "None.")
    known: int | None = first.shape[0].value
    return known


def _lengths(cell: Any, given: Any, batch_size: Any, known_batch: int | None, dtype: Any) -> Lengths:
    lengths = convert_to_tensor(given, name="sequence_length")
    if lengths.shape.ndims not in (None, 1):
        raise ValueError("sequence_length must be a vector of length batch_size")

    def zero_output(size: Any) -> Tensor:
        value = zeros(stack(full_shape(batch_size, size)), dtype)
        value.set_shape(static_shape([known_batch], size))
        return value

    zero = nest.map_structure(zero_output, cell.output_size)
    lengths = cast(lengths, dtypes.int32)
    return Lengths(lengths, reduce_min(lengths), reduce_max(lengths), zero)


def static_state_saving_rnn(cell: Any, inputs: Any, state_saver: Any, state_name: Any, sequence_length: Any = None,
                            scope: Any = None) -> tuple:
    """As ``static_rnn``, with states from ``state_saver.state(name)`` and final ones to ``state_saver.save_state(name, state)``.

    `state_name`: the name of the state, or a structure of names like ``cell.state_size``.  The last output and the final state
    wait for the state to be saved.  Raises ValueError if the structures differ.
    """
    size = cell.state_size
    if nest.is_nested(size) != nest.is_nested(state_name):
        raise ValueError(f"state_name should be the same type as cell.state_size.  state_name: {state_name}, cell.state_size: "
                         f"{size}")
    names = nest.flatten(state_name)
    if len(names) != len(nest.flatten(size)):
        raise ValueError(f"#elems(state_name) != #elems(state_size): {len(names)} vs. {len(nest.flatten(size))}")
    begun = [state_saver.state(name) for name in names]
    outputs, state = static_rnn(cell, inputs, nest.pack_sequence_as(size, begun), sequence_length=sequence_length, scope=scope)
    saved = [state_saver.save_state(name, one) for name, one in zip(names, nest.flatten(state))]
    with control_dependencies(saved):
        outputs[-1] = nest.map_structure(identity, outputs[-1])
        return outputs, nest.map_structure(identity, state)


def _reversed(sequence: Any, lengths: Any) -> list:
    """A list of structures in reverse, each example as far as it goes."""
    if lengths is None:
        return list(reversed(sequence))
    flat = [nest.flatten(one) for one in sequence]
    turned: list[list] = [[] for _ in sequence]
    for steps in zip(*flat):
        shape = TensorShape([None] * steps[0].shape.ndims) if steps[0].shape.ndims is not None else TensorShape(None)
        for tensor in steps:
            shape = shape.merge_with(tensor.shape)
        for step, tensor in zip(turned, unstack(reverse_sequence(stack(list(steps)), lengths, 0, 1))):
            tensor.set_shape(shape)
            step.append(tensor)
    return [nest.pack_sequence_as(one, step) for one, step in zip(sequence, turned)]


def static_bidirectional_rnn(cell_fw: Any, cell_bw: Any, inputs: Any, initial_state_fw: Any = None,
                             initial_state_bw: Any = None, dtype: Any = None, sequence_length: Any = None,
                             scope: Any = None) -> tuple:
    """(outputs, final state forward, final state backward) of two cells over the same inputs, their outputs side by side.

    The arguments and errors are those of ``static_rnn``, twice; the variable scope is "bidirectional_rnn" by default.
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    _check_sequence(inputs)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            output_fw, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, forward)
        with variable_scope("bw") as backward:
            output_bw, state_bw = static_rnn(cell_bw, _reversed(inputs, sequence_length), initial_state_bw, dtype,
                                             sequence_length, backward)
    output_bw = _reversed(output_bw, sequence_length)
    joined = [concat([one, other], 1) for one, other in zip(nest.flatten(output_fw), nest.flatten(output_bw))]
    return nest.pack_sequence_as(output_fw, joined), state_fw, state_bw
