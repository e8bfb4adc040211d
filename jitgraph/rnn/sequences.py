"""What the functions that run a cell over a sequence share: batch sizes, steps past the end of a sequence, scopes."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.control.conditionals import cond
from jitgraph.graph import structures as nest
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import colocate_with
from jitgraph.graph.tensor import Tensor
from jitgraph.layers.base import Layer
from jitgraph.ops.arrays.searching import where
from jitgraph.rnn.cells import RNNCell
from jitgraph.tensor_arrays.tensor_array import TensorArray


def read_variables_once(scope: Any) -> None:
    """Has the variables made in `scope` read where the sequence starts, unless this is itself a step of a loop."""
    if not get_default_graph().building_function and scope.caching_device is None:
        scope.set_caching_device(lambda op: op.device)


def initial_state(cell: Any, batch_size: Any, dtype: Any) -> Any:
    """The state that a cell begins with where none is given."""
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def dtype_of(dtype: Any, state: Any) -> Any:
    """`dtype`, or that of all tensors of `state` if it is None.  Raises ValueError if they differ, or if there are none."""
    if dtype is not None:
        return dtype
    found = [tensor.dtype for tensor in nest.flatten(state)]
    if not found:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(one != found[0] for one in found):
        raise ValueError("State has tensors of different inferred_dtypes. Unable to infer a single representative dtype.")
    return found[0]


def is_plain_layer(cell: Any) -> bool:
    """Whether a cell is a layer that always takes its state as a list."""
    return isinstance(cell, Layer) and not isinstance(cell, RNNCell) and getattr(cell, "zero_state", None) is None


def kept_where(finished: Tensor, old: Any, new: Any) -> Any:
    """`old` for the examples that are finished, `new` for the others; TensorArrays and scalars are always new."""
    if isinstance(old, TensorArray) or old.shape.ndims == 0:
        return new
    with colocate_with(new):
        return where(finished, old, new)


class Lengths:
    """The lengths of the sequences of a batch, what an example gives past its end, and the extremes of the lengths."""

    def __init__(self, lengths: Tensor, shortest: Tensor, longest: Tensor, zero_output: Any):
        self.lengths, self.shortest, self.longest, self.zero_output = lengths, shortest, longest, zero_output

    def step(self, time: Any, state: Any, call_cell: Callable, every_step: bool) -> tuple:
        """(outputs, next state) at `time`: zeros and the old state for examples that are past their end.

        Unless `every_step`, a step that is past the end of all examples does not compute.
        """
        flat_state, flat_zeros = nest.flatten(state), nest.flatten(self.zero_output)
        finished = time >= self.lengths

        def computed() -> tuple[list, list]:
            output, following = call_cell()
            nest.assert_same_structure(self.zero_output, output)
            nest.assert_same_structure(state, following)
            return nest.flatten(output), nest.flatten(following)

        def selected(output: list, following: list) -> list:
            return [kept_where(finished, old, new) for old, new in zip(flat_zeros + flat_state, output + following)]

        def at_least_one() -> Any:
            output, following = computed()
            return cond(time < self.shortest, lambda: output + following, lambda: selected(output, following))

        if every_step:
            found = selected(*computed())
        else:
            found = cond(time >= self.longest, lambda: flat_zeros + flat_state, at_least_one)
        for value, like in zip(found, flat_zeros + flat_state):
            if not isinstance(value, TensorArray):
                value.set_shape(like.shape)
        count = len(flat_zeros)
        return nest.pack_sequence_as(self.zero_output, found[:count]) if nest.is_nested(self.zero_output) else found[0], \
            nest.pack_sequence_as(state, found[count:])
