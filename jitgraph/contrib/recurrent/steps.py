"""A function of a state and an input, applied to a sequence of inputs."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.autodiff.custom_gradient import custom_gradient
from jitgraph.control.while_loops import while_loop
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import zeros, zeros_like
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import expand_dims, reshape, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.tensor_arrays.tensor_array import TensorArray


def _at(struct: Any, index: Any) -> Any:
    return nest.map_structure(lambda x: gather(x, index), struct)


def _is_one_step(inputs: Any, length: Any) -> bool:
    if not isinstance(length, Tensor):
        return length == 1
    return all(x.shape.dims is not None and x.shape[0].value == 1 for x in nest.flatten(inputs))


def _with_gradient(cell_fn: Callable, cell_grad: Callable | None) -> Callable:
    """The step as a function (theta, state0, inputs) -> state1 whose gradient is `cell_grad`."""
    if cell_grad is None:
        return lambda *given: cell_fn(*given)[0]
    stated = cell_grad

    def step(*given: Any) -> Any:
        made: list[Any] = []

        @custom_gradient
        def flat_step(*flat: Any) -> tuple:
            packed = nest.pack_sequence_as(given, list(flat))
            state, extras = cell_fn(*packed)
            made.append(state)

            def back(*of_state: Any) -> list:
                found = stated(*packed, extras, nest.pack_sequence_as(state, list(of_state)))
                return [zeros_like(x) if one is None else one for x, one in zip(flat, nest.flatten(found))]

            return nest.flatten(state), back

        found = flat_step(*nest.flatten(given))
        return nest.pack_sequence_as(made[0], found if isinstance(found, (list, tuple)) else [found])

    return step


def Recurrent(theta: Any, state0: Any, inputs: Any, cell_fn: Callable, cell_grad: Callable | None = None, extras: Any = None,
              max_input_length: Any = None, use_tpu: bool = False, aligned_end: bool = False) -> tuple:
    """(the states after each step, the last state) of state1, extras = cell_fn(theta, state0, inputs[t]).

    All are structures of tensors; those of `inputs` and of the states have steps first.  `cell_grad`: a function (theta, state0,
    inputs, extras, gradient of state1) that gives the gradients of the first three, that of `cell_fn` if None.
    `max_input_length`: how many steps are done, the first ones or, with `aligned_end`, the last ones; the states of the others are
    zeros.  `extras` and `use_tpu` change nothing here: what a gradient needs is kept, not computed again.
    """
    if cell_grad is None and _is_one_step(inputs, max_input_length):
        state1, _ = cell_fn(theta, state0, nest.map_structure(lambda x: squeeze(x, axis=0), inputs))
        return nest.map_structure(lambda x: expand_dims(x, axis=0), state1), state1
    cell = _with_gradient(cell_fn, cell_grad)
    whole = shape_of(nest.flatten(inputs)[0])[0]
    count = whole if max_input_length is None else convert_to_tensor(max_input_length, dtype=dtypes.int32)
    first = whole - count if aligned_end else 0
    state0 = nest.map_structure(convert_to_tensor, state0)
    # TensorFlow's gradient here is a tensor, as a reshape's is; that of rows gathered in a loop would be slices
    inputs = nest.map_structure(lambda x: reshape(x, shape_of(x)), inputs)

    def step(t: Any, state: list, rows: list) -> tuple:
        after = nest.flatten(cell(theta, nest.pack_sequence_as(state0, state), _at(inputs, t + first)))
        for one, before in zip(after, nest.flatten(state0)):
            one.set_shape(before.shape)
        return t + 1, after, [row.write(t, one) for row, one in zip(rows, after)]

    begin = nest.flatten(state0)
    rows = [TensorArray(x.dtype, size=count, element_shape=x.shape) for x in begin]
    _, last, rows = while_loop(lambda t, *_: t < count, step, (constant(0), begin, rows))

    def padded(x: Any, row: Any) -> Any:
        states = row.stack()
        rest = zeros(concat([[whole - count], shape_of(x)], 0), x.dtype)
        found = concat([rest, states] if aligned_end else [states, rest], 0)
        found.set_shape(nest.flatten(inputs)[0].shape[:1].concatenate(x.shape))
        return found

    return nest.pack_sequence_as(state0, [padded(x, row) for x, row in zip(begin, rows)]), nest.pack_sequence_as(state0, last)
