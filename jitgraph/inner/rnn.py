"""Names of ``tensorflow.python.ops.rnn`` and ``rnn_cell_impl`` that ``tf.nn`` does not have."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import structures as nest
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.shapes import TensorShape, as_shape, dimension_value
from jitgraph.ops.arrays.identity import is_tensor
from jitgraph.ops.arrays.join import concat, stack, unstack
from jitgraph.ops.arrays.layout import reverse_sequence, transpose
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.rnn.states import full_shape, static_shape, zero_states

_WEIGHTS_VARIABLE_NAME = "kernel"
_BIAS_VARIABLE_NAME = "bias"


def _concat(prefix: Any, suffix: Any, static: bool = False) -> Any:
    """The sizes `prefix` and `suffix` together: a vector, or with `static` a list with None for what is unknown."""
    if static:
        return static_shape(prefix, suffix).as_list()
    return full_shape(prefix, suffix)


def _zero_state_tensors(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros [batch_size, size] for each size of a structure."""
    return zero_states(state_size, batch_size, dtype)


def _transpose_batch_time(x: Any) -> Any:
    """`x` with its first two dimensions exchanged; ranks below 2 are left.  Raises ValueError if the rank is not known."""
    shape = x.get_shape()
    if shape.rank is not None and shape.rank < 2:
        return x
    rank = rank_of(x)
    swapped = transpose(x, concat(([1, 0], range_of(2, rank)), axis=0))
    known = shape.with_rank_at_least(2)
    if shape.rank is not None:
        swapped.set_shape(TensorShape([known[1], known[0]]).concatenate(known[2:]))
    return swapped


def _best_effort_input_batch_size(flat_input: Any) -> Any:
    """The size of the second dimension of the inputs: a number if one of them knows it, else a tensor."""
    for one in flat_input:
        shape = one.shape
        if shape.rank is None:
            continue
        if shape.rank < 2:
            raise ValueError(f"Expected input tensor {one} to have rank at least 2")
        known = dimension_value(shape[1])
        if known is not None:
            return known
    return shape_of(flat_input[0])[1]


def _infer_state_dtype(explicit_dtype: Any, state: Any) -> Any:
    """The dtype of a state, `explicit_dtype` if one is given.  Raises ValueError for an empty state, or different dtypes."""
    if explicit_dtype is not None:
        return explicit_dtype
    if not nest.is_sequence(state):
        return state.dtype
    found = [one.dtype for one in nest.flatten(state)]
    if not found:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(one != found[0] for one in found):
        raise ValueError("State has tensors of different inferred_dtypes. Unable to infer a single representative dtype.")
    return found[0]


def _maybe_tensor_shape_from_tensor(shape: Any) -> TensorShape:
    """A shape, or what is known of a tensor that holds one, as a TensorShape."""
    return as_shape(static_value(shape)) if is_tensor(shape) else shape


def _reverse_seq(input_seq: list, lengths: Any) -> list:
    """A list of inputs [batch, depth] in the opposite order, each example by its own length; all of it if `lengths` is None."""
    if lengths is None:
        return list(reversed(input_seq))
    flat = tuple(nest.flatten(one) for one in input_seq)
    results: list[list] = [[] for _ in input_seq]
    for sequence in zip(*flat):
        shape = TensorShape(None)
        for one in sequence:
            shape = shape.merge_with(one.get_shape())
            one.set_shape(shape)
        joined = stack(sequence)
        reversed_ = unstack(reverse_sequence(joined, lengths, 0, 1))
        for result, one in zip(results, reversed_):
            one.set_shape(shape)
            result.append(one)
    return [nest.pack_sequence_as(structure=like, flat_sequence=result) for like, result in zip(input_seq, results)]
