"""Ops that call functions on the host: ``For``, ``RemoteCall``, and the gradient of a function as a node of its own."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.autodiff.gradients import gradients
from jitgraph.control.functional_ops import make_call
from jitgraph.declare.op import op
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.function_graph import FunctionGraph
from jitgraph.graph.graph import Graph
from jitgraph.ops.arrays.fill import zeros_like

_HOST: dict[str, Any] = {"host": True, "hands_on": True, "context": ("state", "op"),
                         "tested_in": "tests/functions/test_function_ops.py: functions"}


def _values(call: Any, arguments: list) -> list[np.ndarray]:
    # what a call gives may stand in memory that the next call uses
    return [np.array(part) for part in call(arguments)]


@op("For(start: int32, limit: int32, delta: int32, input: [T]; T: list(type) >= 0, body: func) -> output: [T]",
    shape=lambda c: [None] * len(c.attrs["T"]), **_HOST)
def for_(start, limit, delta, input, state, op):
    """What `body`, called with each number from `start` to before `limit` and with its own results, gives in the end."""
    call = state.make_function(op.attrs["body"], state)
    values = [np.array(part) for part in input]
    if (delta > 0 and start > limit) or (delta < 0 and start < limit) or delta == 0 and start != limit:
        raise InvalidArgumentError(None, None, f"Invalid start/limit/delta: {start} {limit} {delta}")
    for number in range(int(start), int(limit), int(delta) or 1):
        values = _values(call, [np.array(number, np.int32), *values])
    return values


@op("RemoteCall(target: string, args: [Tin]; Tin: list(type) >= 1, Tout: list(type) >= 1, f: func) -> output: [Tout]",
    shape=lambda c: [None] * len(c.attrs["Tout"]), stateful=True, **_HOST)
def remote_call(target, args, state, op):
    """What the function `f` gives for `args`; the device `target` is the one that there is."""
    return _values(state.make_function(op.attrs["f"], state), list(args))


def _as_inputs(c: Any) -> list:
    given = list(c.shapes)
    return [given[k] if k < len(given) else None for k in range(len(c.attrs["Tout"]))]


@op("SymbolicGradient(input: [Tin]; Tin: list(type) >= 1, Tout: list(type) >= 1, f: func) -> output: [Tout]", shape=_as_inputs,
    **_HOST)
def symbolic_gradient(input, state, op):
    """The gradients of the arguments of the function `f`; `input`: these, then the gradients of its results."""
    graph = op.__dict__.get("gradient_graph")
    if graph is None:
        graph = op.__dict__["gradient_graph"] = _gradient_graph(op)
    return _values(state.make_function(graph, state), list(input))


def _gradient_graph(op: Any) -> FunctionGraph:
    """The function of the arguments of `op` that gives what it is to give; in a graph of its own, since the session runs."""
    function, count = op.attrs["f"], len(op.attrs["Tout"])
    with Graph().as_default():
        graph = FunctionGraph(f"{function.name}_gradient")
        with graph.as_default():
            given = [graph.add_input(tensor.dtype.base_dtype, tensor._shape, f"x{k}") for k, tensor in enumerate(op.inputs)]
            called = list(make_call(function, None, given[:count]).outputs)
            found = gradients(called, given[:count], given[count:])
            graph.outputs = [zeros_like(x) if dx is None else dx for x, dx in zip(given, found)]
    return graph
