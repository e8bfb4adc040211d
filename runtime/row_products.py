"""The rows of a loop's products that are made for many iterations at once, see `jitgraph.compiler.loops.row_products`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler.loops.row_products import EarlyTerms, Fixed, FixedInput, LateRows
from jitgraph.tensor_arrays.host_values import Column, boxed, element
from jitgraph.tensor_arrays.tensor_array_values import Zero, elements_of, span, with_gradients

from .loop_courses import Indices
from .memory import Elsewhere
from .product_sums import flat, joined, lie_backwards, parts

if TYPE_CHECKING:
    from .state import State

ROWS = 2048             # rows that are multiplied at once


class RowsPlan:
    """Multiplies joined rows by the `matrices` of one such program."""

    def __init__(self, program: EarlyTerms | LateRows, matrices: Sequence[Fixed], state: State) -> None:
        self.fixed, self.state = matrices, state
        self.plan = state.make_plan(program.graph, [program.product], [], program.given, state, state.jit)
        self.plan.resident = state.machine is not None

    def matrices(self, values: Sequence[Any]) -> list[Any]:
        """The matrices, for a loop with these variables, where they lie."""
        found = [values[m.number] if isinstance(m, FixedInput) else self.state.there(m.variable) for m in self.fixed]
        return [m if isinstance(m, Elsewhere) else np.asarray(m, order="C") for m in found]

    def multiply(self, sides: Sequence[Column], matrices: list[Any]) -> Column:
        """The products, one for each element of the sides, whose arrays have as many rows as those at the same place."""
        product = self.plan.run([*(joined(side, 0) for side in sides), *matrices])[0]
        rows = sides[0]
        counts = [rows.shape[1]] * len(rows) if isinstance(rows, np.ndarray) else [len(some) for some in rows]
        if len(set(counts)) == 1 and not isinstance(product, Elsewhere):
            return product.reshape(len(counts), counts[0], product.shape[1])
        ends = np.cumsum(counts)
        return [product[end - count:end,] for end, count in zip(ends, counts)]


class EarlyRows:
    """The early terms of one loop's products, for some elements at a time."""

    def __init__(self, plan: RowsPlan, matrices: list[Any]) -> None:
        self.plan, self.given = plan, matrices
        self.begin, self.rows = 0, []               # type: int, Column

    def at(self, elements: Any, index: int, value: Any) -> np.ndarray:
        """The terms for element `index` of `elements`, which is `value`."""
        place = index - self.begin
        if not 0 <= place < len(self.rows):
            self.begin, block = _around(elements, index, value)
            self.rows = self.plan.multiply([block], self.given)
            place = index - self.begin
        return self.rows[place]

    def column(self, elements: Any, indices: Indices, found: Column) -> Column:
        """The terms for the elements at `indices`, which are `found`."""
        found_rows: list[Column] = []
        done = 0
        while done < len(indices):
            self.at(elements, int(indices[done]), element(found, done))
            inside = self._inside(indices[done:])
            where = span(inside, len(self.rows))
            found_rows.append([self.rows[k] for k in inside] if where is None else self.rows[where])
            done += len(inside)
        return flat(found_rows)

    def _inside(self, indices: Indices) -> Indices:
        """The numbers of the rows for elements at `indices`, up to the first for which there is none."""
        if isinstance(indices, range) and 0 <= indices[-1] - self.begin < len(self.rows):        # as the first is, and all between
            return range(indices.start - self.begin, indices.stop - self.begin, indices.step)
        inside = np.asarray(indices) - self.begin
        outside = np.flatnonzero((inside < 0) | (inside >= len(self.rows)))
        return inside[:outside[0]] if len(outside) else inside


def _around(elements: Any, index: int, value: np.ndarray) -> tuple[int, Column]:
    """(number of the first, elements in a row of the shape of `value`, which is one of them)"""
    count = max(1, ROWS // max(1, len(value)))
    begin = index - index % count
    block = elements.part(range(begin, min(begin + count, elements.size)))
    if block is None or not isinstance(block, np.ndarray) and (
            block[index - begin] is not value or any(e.shape != value.shape for e in block)):
        return index, [value]
    return begin, block


class LateElements:
    """A TensorArray's gradient while the loop runs: what it has already, and rows from which more is to be made."""

    def __init__(self, plan: RowsPlan, matrices: list[Any], total: Any) -> None:
        self.plan, self.given, self.total = plan, matrices, elements_of(total)
        self.size = self.rows = 0
        self.waiting: list[tuple[Sequence[int], list[Column]]] = []     # (numbers of the elements, a column of rows per leaf)

    def append(self, elements: Any, index: int, leaves: list[np.ndarray]) -> None:
        """The rows `leaves` for element `index` of an array with these elements."""
        self.append_all(elements, [index], [[leaf] for leaf in leaves])

    def append_all(self, elements: Any, indices: list[int], leaves: list[Column]) -> None:
        """The same for many elements, with a column of rows for each leaf."""
        self.size = max(self.size, 0 if isinstance(elements, Zero) else elements.size, *(k + 1 for k in indices))
        rows = len(element(leaves[0], 0))
        for part in parts(len(indices), rows, self.rows, ROWS):
            self.waiting.append((indices[part], [column[part] for column in leaves]))
            self.rows += rows * len(indices[part])
            if self.rows >= ROWS:
                self.value()

    def value(self) -> np.ndarray:
        """The gradient, with everything added."""
        if self.waiting:
            numbers = [k for indices, _ in self.waiting for k in indices]
            sides = [flat(columns) for columns in zip(*(leaves for _, leaves in self.waiting))]
            if lie_backwards(sides):
                numbers, sides = numbers[::-1], [side[::-1] for side in sides]
            self.total = with_gradients(self.total, numbers, self.plan.multiply(sides, self.given), self.size)
            self.waiting, self.rows = [], 0
        return boxed(self.total)
