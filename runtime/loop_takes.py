"""What a loop takes out of TensorArrays and lists for an iteration, or for many, see `jitgraph.compiler.loops.steps`."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler.loops import steps
from jitgraph.compiler.loops.expressions import ScalarFunction
from jitgraph.graph.errors import OpError
from jitgraph.tensor_arrays.host_values import Column, element, unboxed
from jitgraph.tensor_arrays.in_place_arrays import array_behind, stack_behind
from jitgraph.tensor_arrays.tensor_array_values import Elements, Zero, by_equal_steps, elements_of

from .hostcall import located
from .loop_courses import Course, Indices, spread

if TYPE_CHECKING:
    from .plan import Plan
    from .state import State

_FLOW = np.zeros((), np.float32)        # the flow of an array that is changed in place says nothing


class Ahead:
    """The next iterations of a loop with the variables `values`, as its `course` says.

    `fed`: the columns that have been taken so far.
    """

    def __init__(self, values: list[Any], course: Course) -> None:
        self.values, self.course, self.count = values, course, course.count
        self.fed: list[Column] = []
        self._columns = [course.before.get(k, value) for k, value in enumerate(values)]

    def indices(self, function: ScalarFunction) -> Indices:
        """The values of a function, one for each iteration; a range if they go by equal steps."""
        column = function.column(self._columns, self.fed)
        for k, own in self.course.before.items():
            if column is own and k in self.course.ranges:
                return self.course.ranges[k]
        return by_equal_steps(spread(column, self.count))

    def row(self, number: int) -> tuple[list[Any], list[Any]]:
        """(values, fed so far) of one iteration."""
        values = self.values[:]
        for k, column in self.course.before.items():
            values[k] = element(column, number)
        return values, [element(column, number) for column in self.fed]


Taker = Callable[[list[Any], list[Any]], Any]           # (values, fed so far) -> the next fed value
ColumnTaker = Callable[[Ahead], Column]                 # the same for many iterations


def takers(step: steps.Take, state: State, count: int) -> tuple[Taker, ColumnTaker | None]:
    """How a step takes a value for one iteration, and for many, unless it changes something in place.

    `count`: number of the loop's variables, behind which stand the early rows.
    """
    if isinstance(step, steps.TakeTerms):
        return _take_terms(step, count), _take_all_terms(step, count)
    if isinstance(step, steps.TakeGradient):
        like = _zeros_like(step.zeros, state) if isinstance(step.zeros, steps.ZerosLike) else lambda values, fed: step.zeros
        return _take_gradient(step, like), _take_all_gradients(step, like)
    if isinstance(step, steps.TakeLast):
        return _take_last(step), _take_all_last(step)
    if isinstance(step, steps.TakePart):
        return _take_part(step), _take_all_parts(step)
    if isinstance(step, steps.TakeElement):
        return _take_element(step), _take_all_elements(step)
    return _IN_PLACE[type(step)](step), None


def _take_last(step: steps.TakeLast) -> Taker:
    k = step.variable

    def take(values: list[Any], fed: list[Any]) -> Any:
        values[k], value = values[k].pop()
        return value

    return take


def _take_all_last(step: steps.TakeLast) -> ColumnTaker:
    def take(ahead: Ahead) -> Column:
        ahead.values[step.variable], found = ahead.values[step.variable].pop_all(ahead.count)
        return found

    return take


def _take_part(step: steps.TakePart) -> Taker:
    return lambda values, fed: unboxed(fed[step.record])[step.number]


def _take_all_parts(step: steps.TakePart) -> ColumnTaker:
    return lambda ahead: [unboxed(record)[step.number] for record in ahead.fed[step.record]]


def _take_element(step: steps.TakeElement) -> Taker:
    handle, flow, index, replays = step.handle, step.flow, step.at.one, step.op.replays

    def take(values: list[Any], fed: list[Any]) -> Any:
        try:
            return unboxed(values[handle]).read(unboxed(values[flow]), int(index(values, fed)), replays)
        except OpError as error:
            raise located(error, step.op) from None

    return take


def _take_all_elements(step: steps.TakeElement) -> ColumnTaker:
    def take(ahead: Ahead) -> Column:
        handle, elements = unboxed(ahead.values[step.handle]), unboxed(ahead.values[step.flow])
        try:
            return handle.read_rows(elements, ahead.indices(step.at), step.op.replays)
        except OpError as error:
            raise located(error, step.op) from None

    return take


def _take_terms(step: steps.TakeTerms, count: int) -> Taker:
    place, flow, index, number = count + step.number, step.flow, step.at.one, step.element
    return lambda values, fed: values[place].at(unboxed(values[flow]), int(index(values, fed)), fed[number])


def _take_all_terms(step: steps.TakeTerms, count: int) -> ColumnTaker:
    return lambda ahead: ahead.values[count + step.number].column(
        unboxed(ahead.values[step.flow]), ahead.indices(step.at), ahead.fed[step.element])


def _take_gradient(step: steps.TakeGradient, zeros: Taker) -> Taker:
    flow, index = step.flow, step.at.one

    def take(values: list[Any], fed: list[Any]) -> Any:
        gradient = elements_of(values[flow])
        value = None if isinstance(gradient, Zero) else gradient.get(int(index(values, fed)))
        return zeros(values, fed) if value is None else value

    return take


def _take_all_gradients(step: steps.TakeGradient, zeros: Taker) -> ColumnTaker:
    def take(ahead: Ahead) -> Column:
        gradient, indices = elements_of(ahead.values[step.flow]), ahead.indices(step.at)
        found = gradient.part(indices) if isinstance(gradient, Elements) else None
        if found is not None:
            return found
        values = [None if isinstance(gradient, Zero) else gradient.get(int(k)) for k in indices]
        return [zeros(*ahead.row(number)) if value is None else value for number, value in enumerate(values)]

    return take


def _zeros_like(zeros: steps.ZerosLike, state: State) -> Taker:
    """(values, fed so far) -> such zeros.  The plan for their shape is made when they are first wanted, which is rare."""
    plans: list[Plan] = []

    def like(values: list[Any], fed: list[Any]) -> Any:
        if not plans:
            tensor = zeros.tensor
            plans.append(state.make_plan(tensor.op.graph, [tensor], [], zeros.given, state, state.jit))
        given = [np.asarray(fed[number] if is_fed else values[number], order="C") for is_fed, number in zeros.places]
        return np.zeros_like(plans[0].run(given)[0])

    return like


# -- what changes in place -------------------------------------------------------------------------------------------------

def in_place_array(place: steps.ArrayPlace) -> Callable[[list[Any]], Any]:
    """values -> the array that is changed in place."""
    def array(values: list[Any]) -> Any:
        found = array_behind(values[place.variable])
        for source in place.sources:
            found = found.gradient(source)
        return found

    return array


def _take_element_in_place(step: steps.TakeElementInPlace) -> Taker:
    array, index, replays = in_place_array(step.array), step.at.one, step.op.replays

    def take(values: list[Any], fed: list[Any]) -> Any:
        try:
            return np.asarray(array(values).read(int(index(values, fed)), replays))
        except OpError as error:
            raise located(error, step.op) from None

    return take


def _take_from_stack(step: steps.TakeFromStack) -> Taker:
    def take(values: list[Any], fed: list[Any]) -> Any:
        try:
            return stack_behind(values[step.variable]).pop()
        except OpError as error:
            raise located(error, step.op) from None

    return take


def _take_flow(step: steps.TakeFlow) -> Taker:
    return lambda values, fed: _FLOW


_IN_PLACE: dict[type, Callable[[Any], Taker]] = {
    steps.TakeElementInPlace: _take_element_in_place, steps.TakeFromStack: _take_from_stack, steps.TakeFlow: _take_flow}
