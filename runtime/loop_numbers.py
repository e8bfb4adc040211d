"""The numbers of a loop that follow from one another by scalar arithmetic: the host computes them, the body's plan need not.

They say how long a loop runs and which elements it takes.  Where they go by equal steps, those of many iterations are one column;
where the body runs on a device, the host waits for none of them.
"""
from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from jitgraph.compiler import divide
from jitgraph.compiler.loops.expressions import Counter, ScalarFunction


def counted(loop: divide.LoopCall) -> dict[int, ScalarFunction]:
    """{number of a fetch of the loop's division: function for it} of such numbers."""
    division, found = loop.division, {}
    numbers = {k for k, t in enumerate(division.body.inputs) if is_number(t)}
    for j, k in enumerate(division.targets):
        tensor = division.fetches[j]
        function = division.expressions.function(tensor) if k in numbers else None
        if function is not None and numbers.issuperset(division.expressions.variables(tensor)):
            found[j] = function
    return found


def steady(loop: divide.LoopCall) -> dict[int, ScalarFunction]:
    """Those of the `counted` numbers that go by equal steps."""
    numbers = counted(loop)
    found = {counter.variable for counter in counters(loop, numbers) if counter.stride is not None}
    return {j: function for j, function in numbers.items() if loop.division.targets[j] in found}


def counters(loop: divide.LoopCall, numbers: Mapping[int, ScalarFunction]) -> list[Counter]:
    """The loop's counters and the `counted` numbers as such."""
    division, others = loop.division, {counter.variable: counter for counter in loop.counters or ()}
    found = {}
    for j, function in numbers.items():
        k = division.targets[j]
        found[k] = Counter(k, function, division.expressions.stride(division.body.outputs[k], k, loop.invariant))
    return [*(found | others).values()]


def without(loop: divide.LoopCall, numbers: Container[int]) -> tuple[divide.SubProgram, list[tuple[int | None, int | None]]]:
    """(the body without the fetches of these numbers, for each fetch the number of its result, or of the variable that it is)."""
    division = loop.division
    fetches = [t for j, t in enumerate(division.fetches) if j not in numbers]
    program = loop.body_for(fetches)
    rest = iter(zip(program.results, program.direct))
    return program, [(None, division.targets[j]) if j in numbers else next(rest) for j in range(len(division.fetches))]


def is_number(tensor: Any) -> bool:
    """Whether a tensor is a whole number or a truth."""
    dtype = tensor.dtype.base_dtype
    return tensor._shape == () and (dtype.is_integer or dtype.is_bool)
