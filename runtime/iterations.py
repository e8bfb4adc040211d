"""Many iterations of a loop in one native call.

Where a loop counts, it is known ahead how often it runs and which elements of TensorArrays and lists it takes.  The next
iterations are then gone through three times: first what they take, and the counters; then the plan of the body, by the
interpreter, which is told where each iteration reads and writes; then what they store.  Python's part is the same work
as one iteration at a time, but its instructions and objects stay in the cache, which a body's kernels sweep clean.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler import divide
from jitgraph.compiler.kernel import CODES

from .memory import address_of

if TYPE_CHECKING:
    from .binding import Binding
    from .frame import Block, Frame
    from .loop_steps import LoopSteps
    from .plan import Plan

LONGEST = 256           # iterations in one call
LEAST = 3               # fewer are not worth a table
TABLES = 64             # bindings of a body, for as many combinations of shapes, whose tables are kept
MEMORY = 1 << 24        # bytes that the iterations of one call may leave behind


class Iterations:
    """The iterations of one loop, which has counters."""

    def __init__(self, loop: divide.LoopCall, steps: LoopSteps) -> None:
        self.loop, self.steps = loop, steps
        self.tables: dict[Binding, Table | None] = {}

    def run(self, values: list[Any], plan: Plan, numbers: list[int],
            holds: Callable[[list[Any]], bool]) -> tuple[list[list[Any]], Iterations | None]:
        """Iterates on the loop's variables `values` as long as that is possible natively.

        Returns (what is already taken for iterations that others must run, who runs those after them).  The first is empty
        where the loop has ended; the second is None where no table can be made.  `plan`, `numbers`: the body's, and the
        variables that feed it.
        """
        while True:
            fed = self.steps.before(values)
            shapes = tuple([np.shape(a) for a in (*fed, *(values[k] for k in numbers))])
            binding = plan.segment.binding(shapes)
            if binding not in self.tables:
                if len(self.tables) >= TABLES:
                    self.tables.clear()
                self.tables[binding] = Table.of(binding, plan, self.loop, numbers)
            table = self.tables[binding]
            if table is None:
                return [fed], None
            assert self.loop.counters is not None
            start = [(k, values[k]) for k, _ in self.loop.counters]
            taken, left, ended = self._take(values, fed, shapes, table.limit, holds)
            for k, value in start:
                values[k] = value
            if len(taken) < LEAST:
                return taken + left, self
            plan.runs += len(taken)
            results = table.execute(values, taken)
            count = len(taken)
            self._store(values, [[values[d]] * count if r is None else results[r] for r, d in self.loop.sources], count)
            if ended or left:
                return left, self

    def _take(self, values: list[Any], fed: list[Any], shapes: tuple[tuple[int, ...], ...], limit: int,
              holds: Callable[[list[Any]], bool]) -> tuple[list[list[Any]], list[list[Any]], bool]:
        """(what the next iterations take, what one of other shapes takes, whether the loop has ended after these)."""
        taken, before, counters = [fed], self.steps.before, self.loop.counters
        assert counters is not None
        same = list(shapes[:len(fed)])
        with np.errstate(all="ignore"):
            while True:
                new = [step(values, fed) for _, step in counters]
                for (k, _), value in zip(counters, new):
                    values[k] = value
                if not holds(values):
                    return taken, [], True
                if len(taken) == limit:
                    return taken, [], False
                fed = before(values)
                if [a.shape for a in fed] != same:
                    return taken, [fed], False
                taken.append(fed)

    def _store(self, values: list[Any], columns: list[list[Any]], count: int) -> None:
        self.steps.after_all(values, columns, count)
        for k in self.steps.targets:
            if getattr(values[k], "base", None) is not None:
                values[k] = np.array(values[k])         # not the memory of all iterations for the sake of the last


class Table:
    """Where each iteration of a body finds its inputs and leaves its results.

    `outputs`: {slot: whether the values of all iterations are wanted}; `taken`: {slot: number of the fed tensor};
    `states`: {slot: (variable, slot in which the iteration before has its value, None if none changes it)}; `results`:
    the slots of the plan's fetches.
    """

    def __init__(self, binding: Binding, outputs: dict[int, bool], taken: dict[int, int], states: dict[int, tuple[int, int | None]],
                 results: list[int]) -> None:
        self.binding, self.outputs, self.taken, self.states, self.results = binding, outputs, taken, states, results
        self.slots = np.array([*outputs, *taken, *states], np.int64)
        left = sum(self._nbytes(slot) for slot, kept in outputs.items() if kept)
        self.limit = max(1, min(LONGEST, MEMORY // max(left, 1)))

    @staticmethod
    def of(binding: Binding, plan: Plan, loop: divide.LoopCall, numbers: list[int]) -> Table | None:
        """The table of a body that consists of kernels which cannot fail and write no variable; None for others."""
        slots, feeds = binding.layout.slots, list(binding.compiled.program.feeds)
        if not _is_native(binding) or any(s.kind == "feed" and s.dtype.name not in CODES for s in slots):
            return None
        results = [binding.layout.results[tensor][0] for tensor in plan.fetches]
        outputs = {k: False for k in results if slots[k].kind == "output"}
        for j, (r, _) in enumerate(loop.sources):
            if r is not None and results[r] in outputs:
                outputs[results[r]] |= loop.is_stored(j)
        taken: dict[int, int] = {}
        states: dict[int, tuple[int, int | None]] = {}
        following = {k: results[r] for k, (r, _) in zip(loop.division.targets, loop.sources) if r is not None}
        for k, s in enumerate(slots):
            if s.kind == "feed":
                number = feeds.index(s.key)
                if number < len(loop.division.fed):
                    taken[k] = number
                    continue
                variable = numbers[number - len(loop.division.fed)]
                source = None if loop.invariant[variable] else following.get(variable, k)
                states[k] = variable, source
        known, shapes = {*outputs, *taken}, binding.shapes
        if not known.issuperset(results) or any(s is not None and (s not in known or shapes[s] != shapes[k])
                                                for k, (_, s) in states.items()):
            return None
        return Table(binding, outputs, taken, states, results)

    def execute(self, values: list[Any], taken: list[list[Any]]) -> list[list[Any]]:
        """Runs an iteration for each of `taken`; the values of every fetch, iteration by iteration.  Of an output that
        nobody stores, they are None but for the last."""
        return self.binding.run((values, taken), self._execute)

    def _execute(self, frame: Frame, given: tuple[list[Any], list[list[Any]]]) -> list[list[Any]]:
        values, taken = given
        count = len(taken)
        blocks = {k: frame.block(k, count if kept else 2) for k, kept in self.outputs.items()}
        arrays = {k: [np.asarray(fed[number], order="C") for fed in taken] for k, number in self.taken.items()}
        first = {k: self._array(k, values[variable]) for k, (variable, _) in self.states.items()}
        places: dict[int, Any] = {k: address + np.arange(count) % len(block) * self._nbytes(k)
                                  for k, (block, address) in blocks.items()}
        places.update((k, [address_of(a) for a in found]) for k, found in arrays.items())
        for k, (_, source) in self.states.items():
            start = address_of(first[k])
            places[k] = [start] * count if source is None else [start, *places[source][:-1]]
        frame.run_rounds(self.slots, np.array(list(places.values()), np.int64).reshape(-1, count).T.copy())
        return [self._values(k, arrays.get(k), blocks.get(k), count) for k in self.results]

    def _array(self, slot: int, value: Any) -> np.ndarray:
        return np.asarray(value, self.binding.layout.slots[slot].dtype.as_numpy_dtype, order="C")

    def _values(self, slot: int, arrays: list[np.ndarray] | None, block: Block | None, count: int) -> list[Any]:
        if arrays is not None:
            return [np.array(a) for a in arrays]
        assert block is not None
        if self.outputs[slot]:
            return list(block[0])
        return [*[None] * (count - 1), np.array(block[0][(count - 1) % 2])[()]]

    def _nbytes(self, slot: int) -> int:
        return self.binding.numbers[self.binding.compiled.slot_bytes[slot]]


def _is_native(binding: Binding) -> bool:
    """Whether a program is one stretch of kernels which cannot fail and write no variable."""
    compiled, stretches = binding.compiled, binding.stretches
    return (not compiled.program.rest and not compiled.writes and len(stretches) == 1
            and isinstance(stretches[0][0], int)
            and not any(node.kind.may_fail(node) for kernel, _ in compiled.kernels for node in kernel.nodes))
