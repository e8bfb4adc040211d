"""The running totals of sums of products over the iterations of a loop, see `jitgraph.compiler.loops.product_sums`."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from jitgraph.compiler.loops import product_sums
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.tensor_arrays.host_values import Column

from .memory import Elsewhere, address_of

if TYPE_CHECKING:
    from .state import State

TERMS = 2048            # terms of a sum that are collected before they are multiplied


class ProductPlan:
    """Multiplies and adds the pairs of one such sum."""

    def __init__(self, program: product_sums.ProductSum, state: State) -> None:
        self.op, self.axes = program.op, program.axes
        self.plan = state.make_plan(program.graph, [program.total], [], program.given, state, state.jit)
        self.plan.resident = state.machine is not None

    def add(self, total: np.ndarray, sides: list[Column]) -> np.ndarray:
        """`total` and the products of pairs, one of each side, in new memory."""
        sides = [side[::-1] for side in sides] if lie_backwards(sides) else sides
        factors = [joined(side, axis) for side, axis in zip(sides, self.axes)]
        return self.plan.run([total if isinstance(total, Elsewhere) else np.ascontiguousarray(total), *factors])[0]


def flat(columns: Sequence[Column]) -> Column:
    """Several columns as one."""
    return columns[0] if len(columns) == 1 else [row for column in columns for row in column]


def parts(count: int, each: int, held: int, most: int) -> Iterator[slice]:
    """`count` entries of `each` rows in parts: the first fills what holds `held` rows up to `most` or just above, each other
    begins anew."""
    done = 0
    while done < count:
        end = min(count, done + max(1, -(-(most - held) // max(each, 1))))
        yield slice(done, end)
        done, held = end, 0


def lie_backwards(columns: Sequence[Column]) -> bool:
    """Whether the entries of columns lie on a device, the last before the first: in the opposite order one copy joins a column."""
    return all(len(column) > 1 and isinstance(column[0], Elsewhere) and column[0].address > column[-1].address
               for column in columns)


def joined(arrays: Column, axis: int) -> np.ndarray:
    """The arrays one behind the other along an axis; where they lie so in memory already, that memory."""
    if isinstance(arrays, np.ndarray) and axis == 0:
        return np.ascontiguousarray(arrays.reshape(-1, *arrays.shape[2:]))      # of reversed rows it may be no copy
    first = arrays[0]
    if any(isinstance(a, Elsewhere) for a in arrays):
        return first if len(arrays) == 1 else np.concatenate(arrays, axis)
    places = [address_of(a) for a in arrays]
    if axis == 0 and first.base is not None and all(
            a.base is first.base and a.shape == first.shape and a.flags.c_contiguous for a in arrays) and all(
            b - a == first.nbytes for a, b in zip(places, places[1:])):
        return np.lib.stride_tricks.as_strided(first, (len(arrays) * len(first), *first.shape[1:]), writeable=False)
    return np.concatenate(arrays, axis) if len(arrays) > 1 else np.ascontiguousarray(first)


class RunningSum:
    """The value of such a variable while the loop runs: a total, and pairs that are still to be added."""

    def __init__(self, product: ProductPlan, total: np.ndarray) -> None:
        self.product, self.total, self.terms = product, total, 0
        self.pairs: list[tuple[Column, Column]] = []        # columns of pairs

    def append(self, x: np.ndarray, y: np.ndarray) -> None:
        """Another pair.  Raises InvalidArgumentError where the shapes do not fit."""
        self.append_all([x], [y])

    def append_all(self, x: Column, y: Column) -> None:
        """Many more pairs, of equal shapes."""
        first = x[0], y[0]
        terms, others = (a.shape[axis] for a, axis in zip(first, self.product.axes))
        if terms != others:
            raise InvalidArgumentError(None, self.product.op, "Matrix size-incompatible: In[0]: "
                                       f"{list(first[0].shape)}, In[1]: {list(first[1].shape)}")
        for part in parts(len(x), terms, self.terms, TERMS):
            self.pairs.append((x[part], y[part]))
            self.terms += terms * len(x[part])
            if self.terms >= TERMS:
                self.value()

    def value(self) -> np.ndarray:
        """The total, with everything added."""
        if self.pairs:
            self.total = self.product.add(self.total, [*map(flat, zip(*self.pairs))])
            self.pairs, self.terms = [], 0
        return self.total
