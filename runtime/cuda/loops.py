"""What loops do between two runs of a body whose values lie on devices.

A loop's variables, what it takes out of TensorArrays and what it stores there are arrays wherever they are: what kernels of a
device have computed stays there from one iteration to the next.  The host keeps the numbers that say how long a loop runs and which
elements it takes; where they follow from one another by scalar arithmetic, it computes them itself, and waits for no device.
"""
from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler import divide
from jitgraph.compiler.loops import steps
from jitgraph.compiler.loops.expressions import ScalarFunction
from jitgraph.graph.errors import OpError
from jitgraph.runtime.hostcall import located
from jitgraph.runtime.loop_steps import LoopSteps, Reader
from jitgraph.runtime.memory import Elsewhere, on_host
from jitgraph.tensor_arrays.host_values import boxed, copied, unboxed
from jitgraph.tensor_arrays.tensor_array_values import OneElement, Zero, elements_of

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
    changing = {k for k, invariant in enumerate(loop.invariant) if not invariant}
    program = divide.SubProgram(loop.body.graph, loop.op, 0, fetches, division.fed, changing, division.effects)
    rest = iter(zip(program.results, program.direct))
    return program, [(None, division.targets[j]) if j in numbers else next(rest) for j in range(len(division.fetches))]


class DeviceLoopSteps(LoopSteps):
    """The steps of a loop, with what is stored left where it lies."""

    def __init__(self, call: divide.LoopCall, state: State) -> None:
        super().__init__(call.division, state)
        division = call.division
        self.stores = [(step.variable, STORES[type(step)](step) if type(step) in STORES else store)
                       for step, (_, store) in zip(division.stores, self.stores)]
        self.numbers = [k for k, t in enumerate(division.body.inputs) if _is_number(t)]

    def begin(self, values: list[Any]) -> None:
        for k in self.numbers:
            values[k] = on_host(values[k])
        super().begin(values)


def _is_number(tensor: Any) -> bool:
    dtype = tensor.dtype.base_dtype
    return tensor._shape == () and (dtype.is_integer or dtype.is_bool)


def _operand(operand: steps.Operand) -> Reader:
    """(values, found) -> the value of an operand, wherever it lies."""
    if isinstance(operand, steps.OfFetch):
        number = operand.number
        return lambda values, found: found[number]
    k = operand.variable
    return (lambda values, found: copied(values[k])) if operand.copied else lambda values, found: values[k]


def _element(value: Any) -> Any:
    return value if isinstance(value, Elsewhere) else np.asarray(value)


def _store_last(step: steps.StoreLast) -> Reader:
    k, value = step.variable, _operand(step.value)
    return lambda values, found: values[k].push(value(values, found))


def _store_element(step: steps.StoreElement) -> Reader:
    k, handle, replays = step.variable, step.handle, step.op.replays
    index, value = _operand(step.at), _operand(step.value)

    def store(values: list[Any], found: Sequence[Any]) -> Any:
        element = _element(value(values, found))
        try:
            return boxed(unboxed(values[handle]).write(unboxed(values[k]), int(index(values, found)), element, replays))
        except OpError as error:
            raise located(error, step.op) from None

    return store


def _add_element(step: steps.AddElement) -> Reader:
    k, flow, index, value = step.variable, step.flow, _operand(step.at), _operand(step.value)

    def store(values: list[Any], found: Sequence[Any]) -> Any:
        elements, position = elements_of(values[flow]), int(index(values, found))
        size = 0 if isinstance(elements, Zero) else elements.size
        return boxed(OneElement(position, _element(value(values, found)), max(size, position + 1)) + elements_of(values[k]))

    return store


def _add_product(step: steps.AddProduct) -> Reader:
    k, x, y = step.variable, _operand(step.x), _operand(step.y)

    def store(values: list[Any], found: Sequence[Any]) -> Any:
        values[k].append(x(values, found), y(values, found))
        return values[k]

    return store


STORES: dict[type, Any] = {steps.StoreLast: _store_last, steps.StoreElement: _store_element, steps.AddElement: _add_element,
                           steps.AddProduct: _add_product}
