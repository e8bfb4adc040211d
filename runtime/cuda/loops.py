"""What loops do between two runs of a body whose values lie on devices.

A loop's variables, what it takes out of TensorArrays and what it stores there are arrays wherever they are: what kernels of a
device have computed stays there from one iteration to the next.  The host keeps the numbers that say how long a loop runs and which
elements it takes; where they follow from one another by scalar arithmetic, it computes them itself, and waits for no device.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jitgraph.runtime.loop_numbers import is_number
from jitgraph.runtime.loop_steps import LoopSteps
from jitgraph.runtime.memory import on_host

if TYPE_CHECKING:
    from jitgraph.compiler import divide
    from jitgraph.runtime.state import State


class DeviceLoopSteps(LoopSteps):
    """The steps of a loop whose numbers the host keeps."""

    def __init__(self, call: divide.LoopCall, state: State) -> None:
        super().__init__(call.division, state)
        self.numbers = [k for k, t in enumerate(call.division.body.inputs) if is_number(t)]

    def begin(self, values: list[Any]) -> None:
        for k in self.numbers:
            values[k] = on_host(values[k])
        super().begin(values)

