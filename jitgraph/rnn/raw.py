"""``tf.nn.raw_rnn``: a cell run by a loop that a function of the program steers."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.control.while_loops import while_loop
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.shapes import TensorShape, as_shape, dimension_at_index
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.compare import logical_not, logical_or
from jitgraph.ops.reduce.reductions import reduce_all
from jitgraph.rnn.sequences import kept_where, read_variables_once
from jitgraph.rnn.states import assert_like_rnncell, full_shape
from jitgraph.tensor_arrays.tensor_array import TensorArray
from jitgraph.variables.variable_scopes import variable_scope


def raw_rnn(cell: Any, loop_fn: Callable, parallel_iterations: int | None = None, swap_memory: bool = False,
            scope: Any = None) -> tuple:
    """(TensorArrays of what was emitted, final state, final loop state) of `cell`, steered by `loop_fn`.

    ``loop_fn(time, cell_output, cell_state, loop_state)`` gives (finished [batch], next input, next cell state, what to emit,
    next loop state).  It is called once for the beginning, with time 0 and None for the rest, where what it emits tells the
    structure (None: that of ``cell.output_size``), and once for all steps.  Examples that are finished keep their state and emit
    zeros; the loop ends when all are.  A loop state of None is none.  `scope` is the variable scope, "rnn" by default.
    Raises TypeError for what is no cell or no function, ValueError for structures and batch sizes that differ.
    """
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn") as entered:
        read_variables_once(entered)
        time = constant(0, dtype=dtypes.int32)
        finished, now, state, emitted, first_loop_state = loop_fn(time, None, None, None)
        loop_state = constant(0, dtype=dtypes.int32) if first_loop_state is None else first_loop_state
        known_batch = _known_batch(nest.flatten(now))
        batch_size: Any = shape_of(nest.flatten(now)[0])[0] if known_batch is None else known_batch
        nest.assert_same_structure(state, cell.state_size)
        state = nest.map_structure(convert_to_tensor, state)
        arrays, zero_emit = _emission(cell, emitted, state, batch_size, known_batch)

        def step(time: Tensor, finished: Tensor, now: Any, arrays: Any, state: Any, loop_state: Any) -> list:
            output, cell_state = cell(now, state)
            nest.assert_same_structure(state, cell_state)
            nest.assert_same_structure(cell.output_size, output)
            later = time + 1
            also_finished, following, next_state, emit, next_loop_state = loop_fn(later, output, cell_state, loop_state)
            nest.assert_same_structure(state, next_state)
            nest.assert_same_structure(now, following)
            nest.assert_same_structure(arrays, emit)
            kept = lambda old, new: kept_where(finished, old, new)
            emit = nest.map_structure(kept, zero_emit, emit)
            next_state = nest.map_structure(kept, state, next_state)
            arrays = nest.map_structure(lambda array, value: array.write(time, value), arrays, emit)
            return [later, logical_or(finished, also_finished), following, arrays, next_state,
                    loop_state if next_loop_state is None else next_loop_state]

        *_, arrays, final, loop_state = while_loop(lambda _, finished, *others: logical_not(reduce_all(finished)), step,
                                                   [time, finished, now, arrays, state, loop_state], None,
                                                   parallel_iterations or 32, swap_memory=swap_memory)
        return arrays, final, None if first_loop_state is None else loop_state


def _known_batch(flat: list) -> int | None:
    batch = dimension_at_index(flat[0].shape, 0)
    for tensor in flat:
        batch = batch.merge_with(dimension_at_index(tensor.shape, 0))
    size: int | None = dimension_at_index(flat[0].shape, 0).value
    return size


def _emission(cell: Any, emitted: Any, state: Any, batch_size: Any, known_batch: int | None) -> tuple:
    """(TensorArrays for what is emitted, zeros like it)"""
    if emitted is None:
        structure = cell.output_size
        sizes = nest.flatten(structure)
        kinds = [nest.flatten(state)[0].dtype] * len(sizes)
    else:
        structure, flat = emitted, nest.flatten(emitted)
        sizes = [one.shape if one.shape.is_fully_defined() else shape_of(one) for one in flat]
        kinds = [one.dtype for one in flat]
    arrays = [TensorArray(kind, 0, dynamic_size=True, name=f"rnn_output_{k}",
                          element_shape=TensorShape([known_batch]).concatenate(
                              as_shape(constant_value(size) if isinstance(size, Tensor) else size)))
              for k, (kind, size) in enumerate(zip(kinds, sizes))]
    empty = [zeros(full_shape(batch_size, size), kind) for size, kind in zip(sizes, kinds)]
    return nest.pack_sequence_as(structure, arrays), nest.pack_sequence_as(structure, empty)
