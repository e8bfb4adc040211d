"""Nodes that stand for something outside of the graph's arithmetic: files as constants, values nobody reads, an end."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.op import op
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.errors import InternalError, NotFoundError, UnimplementedError
from jitgraph.graph.texts import as_text


@op("FakeParam(; dtype: type, shape: shape) -> output: dtype", shape=shape_rules.from_attr("shape"), host=True,
    samples=lambda rng, dtype: [([], {"dtype": dtypes.float32, "shape": (2, 3)})])
def fake_param(dtype, shape):
    """A value that nobody reads, as the gradient of a branch that was not taken: zeros."""
    return np.zeros([0 if size is None else size for size in shape or ()], dtype.as_numpy_dtype)


@op("ImmutableConst(; dtype: type, shape: shape, memory_region_name: string) -> tensor: dtype",
    shape=shape_rules.from_attr("shape"), host=True, context=("op",), tested_in="tests/ops/test_stand_ins.py: a file")
def immutable_const(dtype, shape, memory_region_name, op):
    """The numbers that a file holds in the machine's order, mapped into memory.

    A run raises NotFoundError for a file that is not there, InternalError for one that is too short.
    """
    path = as_text(memory_region_name)
    kind = np.dtype(dtype.as_numpy_dtype)
    try:
        data = np.memmap(path, np.uint8, "r")
    except OSError as error:
        raise NotFoundError(None, None, f"{path}; {error.strerror}") from None
    needed = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    if kind.hasobject or data.size < needed:
        raise InternalError(None, None, f"Readonly memory region has wrong length ({data.size}) when allocating {needed}")
    return np.asarray(data[:needed]).view(kind).reshape(shape)


@op('Abort(; error_msg: string = "", exit_without_error: bool = False)', shape=shape_rules.no_outputs, host=True, outward=True,
    tested_in="tests/ops/test_stand_ins.py: the end of the process")
def abort(error_msg, exit_without_error):
    """Ends the process; a run raises UnimplementedError here, since the caller's process is the session's.

    With `exit_without_error` it does nothing but be run.
    """
    if not exit_without_error:
        raise UnimplementedError(None, None, f"Abort: {error_msg or 'the graph asks to end the process'}")


@op("DebugGradientIdentity(input: T) -> output: T", shape=shape_rules.same_as_input, lower=lambda b, x: x)
def debug_gradient_identity(input: Any) -> Any:
    """The input, where a debugger looks at gradients."""
    return input


