"""What a loop does itself between two runs of its body, see `jitgraph.compiler.loops.steps`."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler.loops import steps
from jitgraph.compiler.loops.division import Division
from jitgraph.graph.errors import OpError
from jitgraph.tensor_arrays.host_values import Column, boxed, copied, element, unboxed
from jitgraph.tensor_arrays.in_place_arrays import stack_behind
from jitgraph.tensor_arrays.tensor_array_values import OneElement, Zero, elements_of, with_gradients

from .hostcall import located
from .loop_takes import Ahead, in_place_array, takers
from .memory import Elsewhere
from .product_sums import ProductPlan, RunningSum
from .row_products import EarlyRows, LateElements, RowsPlan

if TYPE_CHECKING:
    from .state import State

Reader = Callable[[list[Any], Sequence[Any]], Any]      # (values, found) -> a value
Changer = Callable[[list[Any], Sequence[Any]], None]    # (values, found)


class LoopSteps:
    """The steps of one loop as functions, in the order in which they are taken."""

    def __init__(self, division: Division, state: State) -> None:
        self.targets, self.lists = division.targets, division.lists
        self.sums = {k: ProductPlan(program, state) for k, program in division.sums.items()}
        self.early = [RowsPlan(terms, [terms.matrix], state) for terms in division.terms]
        self.late = {k: RowsPlan(rows, rows.matrices, state) for k, rows in division.late.items()}
        self.count = len(division.body.inputs)      # of the loop's variables; behind them stand the early rows
        found = [takers(step, state, self.count) for step in division.takes]
        self.takes, self.takes_all = [one for one, _ in found], [many for _, many in found if many is not None]
        self.stores = [(step.variable, STORES[type(step)](step)) for step in division.stores]   # (values, found) -> next value
        self.changes = [CHANGES[type(step)](step) for step in division.changes]                 # (values, found)
        # (step, how it stores what many iterations gave); None where they must store one after the other
        self.together = None if self.changes or any(_reads_a_store(step, division) for step in division.stores) else [
            (step, TOGETHER[type(step)]) for step in division.stores]

    def begin(self, values: list[Any]) -> None:
        """Makes the loop's variables ready for the first iteration."""
        for k in self.lists:
            values[k] = unboxed(values[k])
        for k, product in self.sums.items():
            values[k] = RunningSum(product, values[k])
        fixed = values[:]
        for k, plan in self.late.items():
            values[k] = LateElements(plan, plan.matrices(fixed), values[k])
        values += [EarlyRows(plan, plan.matrices(fixed)) for plan in self.early]

    def end(self, values: list[Any]) -> None:
        """Makes the loop's variables final values after the last iteration."""
        for k in self.lists:
            values[k] = boxed(values[k])
        for k in (*self.sums, *self.late):
            values[k] = values[k].value()
        del values[self.count:]

    def before(self, values: list[Any]) -> list[Any]:
        """The values of the fed tensors for the next iteration."""
        fed: list[Any] = []
        for take in self.takes:
            fed.append(take(values, fed))
        return fed

    def before_all(self, ahead: Ahead) -> list[Column]:
        """The columns of the fed tensors for the next iterations of a loop that changes nothing in place."""
        for take in self.takes_all:
            ahead.fed.append(take(ahead))
        return ahead.fed

    def after(self, values: list[Any], found: Sequence[Any]) -> None:
        """The loop's variables after an iteration that gave `found` for the fetches."""
        for change in self.changes:
            change(values, found)
        new = [(k, store(values, found)) for k, store in self.stores]
        for k, value in zip(self.targets, found):
            values[k] = value
        for k, value in new:
            values[k] = value

    def after_all(self, values: list[Any], columns: Sequence[Column], before: Mapping[int, Column], count: int,
                  ranges: Mapping[int, range]) -> None:
        """The loop's variables after `count` iterations, which gave a column of `columns` for each of the fetches; `before`: the
        columns of variables as they were before each, of some that are stored; `ranges`: the same of numbers that count."""
        if self.together is None:
            for number in range(count):
                self.after(values, [element(column, number) for column in columns])
            return
        following = dict(zip(self.targets, columns))

        def column(operand: steps.Operand) -> Column:
            if isinstance(operand, steps.OfRecord):
                return [*map(boxed, zip(*map(column, operand.parts)))]
            if isinstance(operand, steps.OfFetch):
                return columns[operand.number]
            if operand.variable in before:
                return before[operand.variable]
            first = values[operand.variable]
            found = [first, *following[operand.variable][:count - 1]] if operand.variable in following else [first] * count
            return list(map(copied, found)) if operand.copied else found

        def numbers(operand: steps.Operand) -> Sequence[int]:
            found = ranges.get(operand.variable) if isinstance(operand, steps.OfVariable) else None
            return _numbers(column(operand)) if found is None else found

        new = [(step.variable, store(values, step, column, numbers)) for step, store in self.together]
        for k, found in following.items():
            values[k] = element(found, count - 1)
        for k, value in new:
            values[k] = value


def _reads_a_store(step: steps.Store, division: Division) -> bool:
    """Whether a store takes the value of a variable that is itself stored to."""
    operands = [part for field in step for part in (field if isinstance(field, list) else
                                                    field.parts if isinstance(field, steps.OfRecord) else [field])]
    return any(isinstance(operand, steps.OfVariable) and operand.variable in {s.variable for s in division.stores}
               for operand in operands)


def _operand(operand: steps.Operand) -> Reader:
    """(values, found) -> the value of an operand."""
    if isinstance(operand, steps.OfRecord):
        parts = [*map(_operand, operand.parts)]
        return lambda values, found: boxed(tuple([part(values, found) for part in parts]))
    if isinstance(operand, steps.OfFetch):
        number = operand.number
        return lambda values, found: found[number]
    k = operand.variable
    return (lambda values, found: copied(values[k])) if operand.copied else lambda values, found: values[k]


def _element(value: Any) -> Any:
    """What a TensorArray keeps of a value: an array, wherever it lies."""
    return value if isinstance(value, Elsewhere) else np.asarray(value)


# -- storing -----------------------------------------------------------------------------------------------------------

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
        return boxed(OneElement(position, _element(value(values, found)), max(size, position + 1))
                     + elements_of(values[k]))

    return store


def _add_rows(step: steps.AddRows) -> Reader:
    k, flow, index, leaves = step.variable, step.flow, _operand(step.at), [_operand(leaf) for leaf in step.leaves]

    def store(values: list[Any], found: Sequence[Any]) -> Any:
        values[k].append(elements_of(values[flow]), int(index(values, found)), [leaf(values, found) for leaf in leaves])
        return values[k]

    return store


def _add_product(step: steps.AddProduct) -> Reader:
    k, x, y = step.variable, _operand(step.x), _operand(step.y)

    def store(values: list[Any], found: Sequence[Any]) -> Any:
        values[k].append(x(values, found), y(values, found))
        return values[k]

    return store


# -- storing what many iterations gave: (values, step, the column of an operand, its numbers) -> the next value ---------------

Columns = Callable[[steps.Operand], Column]
Numbers = Callable[[steps.Operand], Sequence[int]]


def _store_all_last(values: list[Any], step: steps.StoreLast, column: Columns, numbers: Numbers) -> Any:
    return values[step.variable].push_all(column(step.value))


def _store_all_elements(values: list[Any], step: steps.StoreElement, column: Columns, numbers: Numbers) -> Any:
    try:
        return boxed(unboxed(values[step.handle]).write_rows(unboxed(values[step.variable]), numbers(step.at),
                                                             _elements(column(step.value)), step.op.replays))
    except OpError as error:
        raise located(error, step.op) from None


def _add_all_elements(values: list[Any], step: steps.AddElement, column: Columns, numbers: Numbers) -> Any:
    elements = elements_of(values[step.flow])
    size = 0 if isinstance(elements, Zero) else elements.size
    return boxed(with_gradients(elements_of(values[step.variable]), numbers(step.at), _elements(column(step.value)), size))


def _add_all_rows(values: list[Any], step: steps.AddRows, column: Columns, numbers: Numbers) -> Any:
    values[step.variable].append_all(elements_of(values[step.flow]), numbers(step.at), [*map(column, step.leaves)])
    return values[step.variable]


def _add_all_products(values: list[Any], step: steps.AddProduct, column: Columns, numbers: Numbers) -> Any:
    values[step.variable].append_all(column(step.x), column(step.y))
    return values[step.variable]


def _elements(column: Column) -> Column:
    """A column of what a TensorArray keeps."""
    return column if isinstance(column, np.ndarray) else [*map(_element, column)]


def _numbers(column: Column) -> list[int]:
    """A column of scalars."""
    return column.tolist() if isinstance(column, np.ndarray) else [*map(int, column)]


# -- changing in place -------------------------------------------------------------------------------------------------

def _push_on_stack(step: steps.PushOnStack) -> Changer:
    k, value = step.variable, _operand(step.value)

    def change(values: list[Any], found: Sequence[Any]) -> None:
        try:
            stack_behind(values[k]).push(np.asarray(value(values, found)))
        except OpError as error:
            raise located(error, step.op) from None

    return change


def _write_in_place(step: steps.WriteInPlace) -> Changer:
    array, index, value, replays = in_place_array(step.array), _operand(step.at), _operand(step.value), step.op.replays

    def change(values: list[Any], found: Sequence[Any]) -> None:
        try:
            array(values).write(int(index(values, found)), np.asarray(value(values, found)), replays)
        except OpError as error:
            raise located(error, step.op) from None

    return change


STORES: dict[type, Callable[[Any], Reader]] = {
    steps.StoreLast: _store_last, steps.StoreElement: _store_element, steps.AddElement: _add_element,
    steps.AddRows: _add_rows, steps.AddProduct: _add_product}
TOGETHER: dict[type, Callable[[list[Any], Any, Columns, Numbers], Any]] = {
    steps.StoreLast: _store_all_last, steps.StoreElement: _store_all_elements, steps.AddElement: _add_all_elements,
    steps.AddRows: _add_all_rows, steps.AddProduct: _add_all_products}
CHANGES: dict[type, Callable[[Any], Changer]] = {steps.PushOnStack: _push_on_stack, steps.WriteInPlace: _write_in_place}
