"""``tf.nn.dynamic_rnn``: a cell run over sequences by a loop."""
from __future__ import annotations

from typing import Any

from jitgraph.control.while_loops import while_loop
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import TensorShape, as_shape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.layout import reverse, reverse_sequence, transpose
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.arithmetic import maximum, minimum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.reduce.reductions import reduce_all, reduce_max, reduce_min
from jitgraph.rnn.sequences import Lengths, dtype_of, initial_state, is_plain_layer, read_variables_once
from jitgraph.rnn.states import assert_like_rnncell, full_shape, static_shape
from jitgraph.tensor_arrays.tensor_array import TensorArray
from jitgraph.variables.variable_scopes import variable_scope


def dynamic_rnn(cell: Any, inputs: Any, sequence_length: Any = None, initial_state: Any = None, dtype: Any = None,
                parallel_iterations: int | None = None, swap_memory: bool = False, time_major: bool = False,
                scope: Any = None) -> tuple:
    """(outputs, final state) of `cell`, run over the steps of `inputs` by a loop.

    `inputs` [batch, time, ...], [time, batch, ...] if `time_major`, or a structure of them; outputs are [batch, time, size], or
    time first, in the structure of ``cell.output_size``.  `sequence_length` [batch]: past its length an example gives zeros and
    keeps its state.  `dtype` is needed where no `initial_state` is given.  `scope` is the variable scope, "rnn" by default.
    `parallel_iterations` and `swap_memory` are kept for compatibility.  Raises TypeError for what is no cell, ValueError for
    shapes that do not fit and unknown depths; a run raises InvalidArgumentError for lengths that are not as many as examples.
    """
    assert_like_rnncell("cell", cell)
    with variable_scope(scope or "rnn") as entered:
        read_variables_once(entered)
        flat = nest.flatten(inputs)
        if not time_major:
            flat = [_transpose_batch_time(tensor) for tensor in [convert_to_tensor(one) for one in flat]]
        if sequence_length is not None:
            sequence_length = _lengths(sequence_length)
        batch_size = best_effort_input_batch_size(flat)
        state = _begun(cell, batch_size, dtype) if initial_state is None else initial_state
        if sequence_length is not None:
            with control_dependencies([_check_shape(sequence_length, [batch_size])]):
                sequence_length = identity(sequence_length, name="CheckSeqLen")
        inputs = nest.pack_sequence_as(inputs, flat) if nest.is_nested(inputs) else flat[0]
        outputs, final = _loop(cell, inputs, state, parallel_iterations or 32, swap_memory, sequence_length, dtype)
        return outputs if time_major else nest.map_structure(_transpose_batch_time, outputs), final


def _begun(cell: Any, batch_size: Any, dtype: Any) -> Any:
    if not dtype:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    return initial_state(cell, batch_size, dtype)


def _transpose_batch_time(x: Tensor) -> Tensor:
    """`x` with its first two axes exchanged."""
    shape = x.shape
    if shape.ndims is not None and shape.ndims < 2:
        return x
    result = transpose(x, concat(([1, 0], range_of(2, rank_of(x))), axis=0))
    if shape.ndims is not None:
        result.set_shape(TensorShape([shape[1].value, shape[0].value]).concatenate(shape[2:]))
    return result


def _lengths(given: Any) -> Tensor:
    lengths = cast(given, dtypes.int32)
    if lengths.shape.ndims not in (None, 1):
        raise ValueError(f"sequence_length must be a vector of length batch_size, but saw shape: {lengths.shape}")
    return identity(lengths, name="sequence_length")


def best_effort_input_batch_size(flat_input: list) -> Any:
    """The batch size, as a number if one of the tensors [time, batch, ...] tells it."""
    for tensor in flat_input:
        if tensor.shape.ndims is None:
            continue
        if tensor.shape.ndims < 2:
            raise ValueError(f"Expected input tensor {tensor} to have rank at least 2")
        if tensor.shape[1].value is not None:
            return tensor.shape[1].value
    return shape_of(flat_input[0])[1]


def _check_shape(x: Tensor, shape: list) -> Any:
    found, wanted = shape_of(x), stack(shape)
    return Assert(reduce_all(equal(found, wanted)),
                  [f"Expected shape for Tensor {x.name} is ", wanted, " but saw shape: ", found])


def _check_inputs(flat: list) -> tuple[list, int | None, int | None]:
    """(the shapes of the inputs, the number of steps, the batch size)"""
    found = [tensor.shape.with_rank_at_least(3) for tensor in flat]
    steps, batch = found[0].as_list()[:2]
    for shape in found:
        if not shape[2:].is_fully_defined():
            raise ValueError("Input size (depth of inputs) must be accessible via shape inference, but saw value None. (Inputs "
                             f"of shape {shape}: tell it with set_shape.)")
        if shape[0].value != steps:
            raise ValueError("Time steps is not the same for all the elements in the input in a batch.")
        if shape[1].value != batch:
            raise ValueError("Batch_size is not the same for all the elements in the input.")
    return found, steps, batch


def _loop(cell: Any, inputs: Any, state: Any, parallel_iterations: int, swap_memory: bool, sequence_length: Any,
          dtype: Any) -> tuple:
    """(outputs [time, batch, ...], final state) for inputs [time, batch, ...]."""
    flat, sizes = nest.flatten(inputs), nest.flatten(cell.output_size)
    steps = shape_of(flat[0])[0]
    batch_size = best_effort_input_batch_size(flat)
    shapes, known_steps, known_batch = _check_inputs(flat)
    zero_output = [zeros(stack(full_shape(batch_size, size)), dtype_of(dtype, state)) for size in sizes]
    zero_output = nest.pack_sequence_as(cell.output_size, zero_output) if nest.is_nested(cell.output_size) else zero_output[0]
    lengths, longest = None, steps
    if sequence_length is not None:
        shortest, longest = reduce_min(sequence_length), reduce_max(sequence_length)
        lengths = Lengths(sequence_length, shortest, longest, zero_output)
    time = constant(0, dtype=dtypes.int32, name="time")
    with name_scope("dynamic_rnn") as base:
        pass
    written = tuple(TensorArray(dtype_of(dtype, state), steps, tensor_array_name=f"{base}output_{k}",
                                element_shape=TensorShape([known_batch]).concatenate(_known_shape(size)))
                    for k, size in enumerate(sizes))
    arrays = [TensorArray(tensor.dtype.base_dtype, steps, tensor_array_name=f"{base}input_{k}", element_shape=tensor.shape[1:])
              for k, tensor in enumerate(flat)]
    arrays = [array.unstack(tensor) for array, tensor in zip(arrays, flat)]

    def step(time: Tensor, written: tuple, state: Any) -> tuple:
        read = [array.read(time) for array in arrays]
        for tensor, shape in zip(read, shapes):
            tensor.set_shape(shape[1:])
        now = nest.pack_sequence_as(inputs, read) if nest.is_nested(inputs) else read[0]
        output, following = _called(cell, now, time, state, lengths)
        written = tuple(array.write(time, one) for array, one in zip(written, nest.flatten(output)))
        return time + 1, written, following

    # at least one step, so that the arrays learn the sizes that only a run knows
    bound = minimum(steps, maximum(1, longest))
    _, written, final = while_loop(lambda time, *_: time < bound, step, (time, written, state), None, parallel_iterations,
                                   swap_memory=swap_memory, maximum_iterations=steps)
    outputs = [array.stack() for array in written]
    for output, size in zip(outputs, sizes):
        output.set_shape(static_shape([known_steps, known_batch], size))
    return nest.pack_sequence_as(cell.output_size, outputs) if nest.is_nested(cell.output_size) else outputs[0], final


def _called(cell: Any, inputs: Any, time: Tensor, state: Any, lengths: Lengths | None) -> tuple:
    """(outputs, next state) of one step."""
    listed = is_plain_layer(cell)
    given = [state] if listed and not nest.is_nested(state) else state
    call_cell = lambda: cell(inputs, given)
    output, following = call_cell() if lengths is None else lengths.step(time, given, call_cell, every_step=True)
    return output, following[0] if listed and len(following) == 1 else following


def _known_shape(size: Any) -> TensorShape:
    return as_shape(constant_value(size) if isinstance(size, Tensor) else size)


def bidirectional_dynamic_rnn(cell_fw: Any, cell_bw: Any, inputs: Any, sequence_length: Any = None,
                              initial_state_fw: Any = None, initial_state_bw: Any = None, dtype: Any = None,
                              parallel_iterations: int | None = None, swap_memory: bool = False,
                              time_major: bool = False, scope: Any = None) -> tuple:
    """((outputs forward, outputs backward), (final state forward, final state backward)) of two cells over the same inputs.

    The second runs from the end of each sequence to its beginning; its outputs stand at the steps that they are of.  The
    arguments, results and errors are those of ``dynamic_rnn``, twice; the variable scope is "bidirectional_rnn" by default.
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def reversed_in_time(x: Any) -> Tensor:
        if sequence_length is None:
            return reverse(x, axis=[time_axis])
        return reverse_sequence(input=x, seq_lengths=sequence_length, seq_axis=time_axis, batch_axis=batch_axis)

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            output_fw, state_fw = dynamic_rnn(cell_fw, inputs, sequence_length, initial_state_fw, dtype, parallel_iterations,
                                              swap_memory, time_major, forward)
        with variable_scope("bw") as backward:
            turned = nest.map_structure(reversed_in_time, inputs)
            output_bw, state_bw = dynamic_rnn(cell_bw, turned, sequence_length, initial_state_bw, dtype, parallel_iterations,
                                              swap_memory, time_major, backward)
    return (output_fw, nest.map_structure(reversed_in_time, output_bw)), (state_fw, state_bw)
