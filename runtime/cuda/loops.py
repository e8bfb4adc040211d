"""What loops do between two runs of a body whose values lie on devices.

A loop's variables, what it takes out of TensorArrays and what it stores there are arrays wherever they are: what kernels of a
device have computed stays there from one iteration to the next.  The host keeps the numbers that say how long a loop runs and which
elements it takes; where they follow from one another by scalar arithmetic, it computes them itself, and waits for no device.
"""
from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any

from jitgraph.compiler import divide
from jitgraph.compiler.loops.expressions import ScalarFunction
from jitgraph.runtime.loop_steps import LoopSteps
from jitgraph.runtime.memory import on_host

if TYPE_CHECKING:
    from jitgraph.runtime.state import State


def counted(loop: divide.LoopCall) -> dict[int, ScalarFunction]:
    """{number of a fetch of the loop's division: function for it} of the numbers that the host computes."""
    division, found = loop.division, {}
    numbers = {k for k, t in enumerate(division.body.inputs) if _is_number(t)}
    for j, k in enumerate(division.targets):
        tensor = division.fetches[j]
        function = division.expressions.function(tensor) if k in numbers else None
        if function is not None and numbers.issuperset(division.expressions.variables(tensor)):
            found[j] = function
    return found


def without(loop: divide.LoopCall, numbers: Container[int]) -> tuple[divide.SubProgram, list[tuple[int | None, int | None]]]:
    """(the body without the fetches of these numbers, for each fetch the number of its result, or of the variable that it is)."""
    division = loop.division
    fetches = [t for j, t in enumerate(division.fetches) if j not in numbers]
    program = loop.body_for(fetches)
    rest = iter(zip(program.results, program.direct))
    return program, [(None, division.targets[j]) if j in numbers else next(rest) for j in range(len(division.fetches))]


class DeviceLoopSteps(LoopSteps):
    """The steps of a loop whose numbers the host keeps."""

    def __init__(self, call: divide.LoopCall, state: State) -> None:
        super().__init__(call.division, state)
        self.numbers = [k for k, t in enumerate(call.division.body.inputs) if _is_number(t)]

    def begin(self, values: list[Any]) -> None:
        for k in self.numbers:
            values[k] = on_host(values[k])
        super().begin(values)


def _is_number(tensor: Any) -> bool:
    dtype = tensor.dtype.base_dtype
    return tensor._shape == () and (dtype.is_integer or dtype.is_bool)
