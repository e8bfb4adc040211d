"""``tensorflow.python.ops.parallel_for``: what a function gives for each number below a count, stacked.

TensorFlow builds one node for all of them where it can; here they are turns of one loop, which gives the same values.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.while_loops import while_loop
from jitgraph.graph import structures as nest
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.function_graph import FunctionGraph
from jitgraph.graph.operation import Operation
from jitgraph.tensor_arrays.tensor_array import TensorArray


def pfor(loop_fn: Callable, iters: Any, parallel_iterations: int | None = None) -> Any:
    """The tensors that ``loop_fn(i)`` gives, in any structure, each stacked for the `iters` numbers `i` from 0 on.

    What is None or an operation in the structure is None in the result.  Raises ValueError for `parallel_iterations` below 2.
    """
    if parallel_iterations is not None and parallel_iterations <= 1:
        raise ValueError("Argument `parallel_iterations` to `pfor` should be at least 2 for pfor; use for_loop instead.")
    return stacked_turns(loop_fn, iters)


def for_loop(loop_fn: Callable, loop_fn_dtypes: Any, iters: Any, parallel_iterations: int | None = None) -> Any:
    """As `pfor`; `loop_fn_dtypes` are the dtypes of what `loop_fn` gives, in the same structure."""
    made = stacked_turns(loop_fn, iters)
    return None if not nest.flatten(loop_fn_dtypes) else made


def stacked_turns(turn: Callable, count: Any) -> Any:
    """What ``turn(i)`` gives for each `i` below `count`, an int32 number, stacked along a new first dimension."""
    with FunctionGraph("turn").as_default():
        example = turn(convert_to_tensor(0))
        leaves = nest.flatten(example)
        tensors = {place: convert_to_tensor(one) for place, one in enumerate(leaves)
                   if one is not None and not isinstance(one, Operation)}
    rows: list[Any] = [None] * len(leaves)
    if not tensors:
        return nest.pack_sequence_as(example, rows)
    count = convert_to_tensor(count)
    arrays = [TensorArray(one.dtype.base_dtype, count) for one in tensors.values()]

    def step(index: Any, held: list) -> tuple:
        found = nest.flatten(turn(index))
        return index + 1, [array.write(index, convert_to_tensor(found[place])) for array, place in zip(held, tensors)]

    made = while_loop(lambda index, _: index < count, step, [raw.Cast(convert_to_tensor(0), count.dtype), arrays])[1]
    number = constant_value(count)
    for (place, one), array in zip(tensors.items(), made):
        rows[place] = array.stack()
        if one.shape.ndims is not None:
            rows[place].set_shape([None if number is None else int(number), *one.shape.as_list()])
    return nest.pack_sequence_as(example, rows)
