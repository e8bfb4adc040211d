"""Control flow as TensorFlow 1's graph files hold it: Switch, Merge and the frames of loops.

A node of these kinds gives no value on either branch that is not taken, which no NumPy function can say.  They are
declared so that files with them are read, shown and written again; to run, they are raised to If and While first.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.graph.errors import InvalidArgumentError, UnimplementedError
from jitgraph.tensor_arrays.host_values import ZERO, boxed


def _not_a_value(op_type: str) -> UnimplementedError:
    return UnimplementedError(None, None, f"{op_type} is a part of a tf.cond or tf.while_loop of a graph file; it has no "
                                          "value by itself and can only be run together with the whole of it")


def _merged(c: Any) -> list:
    """The shape where all inputs agree; a loop closes later and may say otherwise, see the importer."""
    first = c.shapes[0]
    if first is None or any(shape is None or len(shape) != len(first) for shape in c.shapes):
        return [None, ()]
    sizes = zip(*c.shapes)
    return [tuple(None if None in column or any(size != column[0] for size in column) else column[0]
                  for column in sizes), ()]


def _entered(c: Any) -> Any:
    """Invariants keep their shape; what the loop changes may change its shape too."""
    return c.shapes[0] if c.attrs["is_constant"] else None


def _both(c: Any) -> list:
    return [c.shapes[0], c.shapes[0]]


@op("Switch(data: T, pred: bool) -> output_false: T, output_true: T", shape=_both, host=True,
    tested_in="tests/control/frames: the rest of its conditional or loop")
def switch(data, pred):
    """Hands `data` to the first output if `pred` is false, to the second if it is true."""
    raise _not_a_value("Switch")


@op("Merge(inputs: N*T; N: int >= 1) -> output: T, value_index: int32", shape=_merged, host=True,
    tested_in="tests/control/frames: the rest of its conditional or loop")
def merge(inputs):
    """The input that is there, and its number."""
    raise _not_a_value("Merge")


@op("Enter(data: T; frame_name: string, is_constant: bool = false, parallel_iterations: int = 10) -> output: T",
    shape=_entered, host=True, tested_in="tests/control/frames: the rest of its conditional or loop")
def enter(data):
    """Brings `data` into a loop."""
    raise _not_a_value("Enter")


@op("Exit(data: T) -> output: T", shape=shape_rules.same_as_input, host=True,
    tested_in="tests/control/frames: the rest of its conditional or loop")
def exit(data):
    """Takes `data` out of a loop."""
    raise _not_a_value("Exit")


@op("NextIteration(data: T) -> output: T", shape=shape_rules.same_as_input, host=True,
    tested_in="tests/control/frames: the rest of its conditional or loop")
def next_iteration(data):
    """Hands `data` to the next iteration of a loop."""
    raise _not_a_value("NextIteration")


@op("LoopCond(input: bool) -> output: bool", shape=shape_rules.scalar, host=True,
    tested_in="tests/control/frames: the rest of its conditional or loop")
def loop_cond(input):
    """Whether a loop goes on."""
    raise _not_a_value("LoopCond")


@op("RefSwitch(data: &T, pred: bool) -> output_false: &T, output_true: &T", shape=_both, host=True,
    tested_in="tests/control/frames: the rest of its conditional or loop")
def ref_switch(data, pred):
    """Switch on a variable."""
    raise _not_a_value("RefSwitch")


@op("RefMerge(inputs: N*&T; N: int >= 1) -> output: &T, value_index: int32", shape=_merged, host=True,
    tested_in="tests/control/frames: the rest of its conditional or loop")
def ref_merge(inputs):
    """Merge on variables."""
    raise _not_a_value("RefMerge")


@op("RefEnter(data: &T; frame_name: string, is_constant: bool = false, parallel_iterations: int = 10) -> output: &T",
    shape=_entered, host=True, tested_in="tests/control/frames: the rest of its conditional or loop")
def ref_enter(data):
    """Enter on a variable."""
    raise _not_a_value("RefEnter")


@op("RefExit(data: &T) -> output: &T", shape=shape_rules.same_as_input, host=True,
    tested_in="tests/control/frames: the rest of its conditional or loop")
def ref_exit(data):
    """Exit on a variable."""
    raise _not_a_value("RefExit")


@op("RefNextIteration(data: &T) -> output: &T", shape=shape_rules.same_as_input, host=True,
    tested_in="tests/control/frames: the rest of its conditional or loop")
def ref_next_iteration(data):
    """NextIteration on a variable."""
    raise _not_a_value("RefNextIteration")


@op('Absent(; dtype: type, shape: shape = None, message: string = "") -> output: dtype',
    shape=lambda c: c.attrs["shape"], host=True, context=("op",), tested_in="tests/control/frames: a branch that is not taken",
    origin="jitgraph")
def absent(op):
    """What a branch gives for a tensor that only the other branch has: any value, or an error with `message`."""
    if op.attrs["message"]:
        raise InvalidArgumentError(None, None, op.attrs["message"])
    dtype, shape = op.attrs["dtype"], [d or 0 for d in op.attrs["shape"] or ()]
    if dtype.name in ("resource", "variant"):
        return boxed(ZERO)
    return np.full(shape, b"" if dtype.name == "string" else 0, dtype.as_numpy_dtype)
