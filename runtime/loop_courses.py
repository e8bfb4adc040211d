"""How a loop goes on that counts: how many iterations are next, and the numbers that they count by.

What decides that are a few scalars, mostly the same in every run; the course that followed from them is kept.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from jitgraph.compiler.loops.expressions import Counter
from jitgraph.tensor_arrays.tensor_array_values import by_equal_steps

Indices = np.ndarray | range        # numbers of elements, one for each iteration


class Condition(NamedTuple):
    """Whether there is another iteration, for the loop's variables: `one` says it for one, `many` for columns of those that count,
    where that can be said ahead.  `decisive`: the scalars from which both follow, for the present variables."""

    one: Callable[[list[Any]], bool]
    many: Callable[[list[Any]], Any] | None
    decisive: Callable[[list[Any]], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Course:
    """The next `count` iterations.  `numbers`: {variable that counts: its values before each of them and after the last};
    `before`: without the latter; `ranges`: the same of those that change; `ended`: whether the loop has ended after them."""

    count: int
    numbers: dict[int, np.ndarray]
    before: dict[int, np.ndarray]
    ranges: dict[int, range]
    ended: bool

    def part(self, first: int, count: int) -> Course:
        """`count` of these iterations from number `first` on."""
        if count == self.count:
            return self
        here = slice(first, first + count)
        return Course(count, {k: column[first:first + count + 1] for k, column in self.numbers.items()},
                      {k: column[here] for k, column in self.before.items()}, {k: found[here] for k, found in self.ranges.items()},
                      self.ended and first + count == self.count)


class Courses:
    """The courses of a loop whose `counters` go by equal steps."""

    def __init__(self, counters: list[Counter]) -> None:
        self.counters = counters
        self.last: tuple[tuple[Any, ...], Course] | None = None     # (what it follows from, the last course)

    def ahead(self, values: list[Any], condition: Condition, limit: int) -> Course:
        """The next iterations, `limit` at most."""
        strides = [int(counter.stride(values, ())) for counter in self.counters]       # type: ignore[misc]
        key = (limit, *strides, *[values[counter.variable].item() for counter in self.counters], *condition.decisive(values))
        last = self.last
        if last is None or last[0] != key:
            last = self.last = key, self._found(values, strides, condition, limit)
        return last[1]

    def _found(self, values: list[Any], strides: list[int], condition: Condition, limit: int) -> Course:
        assert condition.many is not None
        steps, numbers = np.arange(limit + 1), {}
        for (k, _, _), stride in zip(self.counters, strides):
            first = np.asarray(values[k])
            numbers[k] = first + (steps * stride).astype(first.dtype)
            numbers[k].flags.writeable = False          # later runs have them too
        following = [numbers[k][1:] if k in numbers else value for k, value in enumerate(values)]
        going = spread(condition.many(following), limit)
        ended = not going.all()
        count = int(going.argmin()) + 1 if ended else limit
        before = {k: column[:count] for k, column in numbers.items()}
        ranges = {k: found for k, column in before.items() if isinstance(found := by_equal_steps(column), range)}
        return Course(count, {k: column[:count + 1] for k, column in numbers.items()}, before, ranges, ended)


def spread(column: Any, count: int) -> np.ndarray:
    """A column of `count` numbers, of which one stands for all if they are equal."""
    column = np.asarray(column)
    return column if column.ndim else np.full(count, column)        # np.broadcast_to takes longer than an iteration
