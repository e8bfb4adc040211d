"""The rows of a loop's products that are made for many iterations at once, see `jitgraph.compiler.loops.row_products`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler.loops.row_products import EarlyTerms, Fixed, FixedInput, LateRows
from jitgraph.tensor_arrays.host_values import boxed
from jitgraph.tensor_arrays.tensor_array_values import OneElement, Zero, elements_of

from .memory import Elsewhere
from .product_sums import joined

if TYPE_CHECKING:
    from .state import State

ROWS = 2048             # rows that are multiplied at once


class RowsPlan:
    """Multiplies joined rows by the `matrices` of one such program."""

    def __init__(self, program: EarlyTerms | LateRows, matrices: Sequence[Fixed], state: State) -> None:
        self.fixed, self.state = matrices, state
        self.plan = state.make_plan(program.graph, [program.product], [], program.given, state, state.jit)

    def matrices(self, values: Sequence[Any]) -> list[np.ndarray]:
        """The matrices, for a loop with these variables."""
        found = [values[m.number] if isinstance(m, FixedInput) else self.state.read(m.variable) for m in self.fixed]
        return [m if isinstance(m, Elsewhere) else np.asarray(m, order="C") for m in found]

    def multiply(self, sides: Sequence[Sequence[np.ndarray]], matrices: list[np.ndarray]) -> list[np.ndarray]:
        """The products, one for each element of the sides, whose arrays have as many rows as those at the same place."""
        product = self.plan.run([*(joined(side, 0) for side in sides), *matrices])[0]
        counts = [len(rows) for rows in sides[0]]
        if len(set(counts)) == 1:
            return list(product.reshape(len(counts), counts[0], product.shape[1]))
        return np.split(product, np.cumsum(counts)[:-1])


class EarlyRows:
    """The early terms of one loop's products, for some elements at a time."""

    def __init__(self, plan: RowsPlan, matrices: list[np.ndarray]) -> None:
        self.plan, self.given = plan, matrices
        self.begin, self.rows = 0, []               # type: int, list[np.ndarray]

    def at(self, elements: Any, index: int, element: Any) -> np.ndarray:
        """The terms for element `index` of `elements`, which is `element`."""
        place = index - self.begin
        if not 0 <= place < len(self.rows):
            self.begin, block = _around(elements, index, element)
            self.rows = self.plan.multiply([block], self.given)
            place = index - self.begin
        return self.rows[place]


def _around(elements: Any, index: int, element: np.ndarray) -> tuple[int, list[np.ndarray]]:
    """(number of the first, elements in a row of the shape of `element`, which is one of them)"""
    count = max(1, ROWS // max(1, len(element)))
    begin = index - index % count
    block = list(elements.list.items())[begin:begin + count]
    if block[index - begin] is not element or any(e is None or e.shape != element.shape for e in block):
        return index, [element]
    return begin, block


class LateElements:
    """A TensorArray's gradient while the loop runs: what it has already, and rows from which more is to be made."""

    def __init__(self, plan: RowsPlan, matrices: list[np.ndarray], total: Any) -> None:
        self.plan, self.given, self.total = plan, matrices, elements_of(total)
        self.size = self.rows = 0
        self.waiting: list[tuple[int, list[np.ndarray]]] = []           # (number of the element, rows)

    def append(self, elements: Any, index: int, leaves: list[np.ndarray]) -> None:
        """The rows `leaves` for element `index` of an array with these elements."""
        size = 0 if isinstance(elements, Zero) else elements.size
        self.size = max(self.size, size, index + 1)
        self.waiting.append((index, leaves))
        self.rows += len(leaves[0])
        if self.rows >= ROWS:
            self.value()

    def value(self) -> np.ndarray:
        """The gradient, with everything added."""
        if self.waiting:
            found = self.plan.multiply([*zip(*(leaves for _, leaves in self.waiting))], self.given)
            for (index, _), value in zip(self.waiting, found):
                self.total = OneElement(index, value, self.size) + self.total
            self.waiting, self.rows = [], 0
        return boxed(self.total)
