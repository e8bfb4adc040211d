"""Many iterations of a loop in one native call.

Where a loop counts, it is known ahead how often it runs and which elements of TensorArrays and lists it takes.  The next
iterations are then gone through three times: first what they take; then the plan of the body, by the interpreter, which is
told where each iteration reads and writes; then what they store.  Python's part goes by columns, each for one tensor in all of
these iterations: numbers that count, elements that lie in one array, results that become one.
"""
from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler import divide
from jitgraph.compiler.kernel import CODES
from jitgraph.compiler.loops.expressions import ScalarFunction
from jitgraph.tensor_arrays.host_values import Column, element

from . import loop_numbers
from .loop_courses import Condition, Course, Courses
from .loop_takes import Ahead
from .memory import address_of

if TYPE_CHECKING:
    from .binding import Binding
    from .frame import Frame
    from .loop_steps import LoopSteps
    from .plan import Plan
    from .side_by_side import Request

    Sources = Sequence[tuple[int | None, int | None]]
    Executing = Generator[Request, None, tuple[list[Column], dict[int, Column]]]

LONGEST = 256           # iterations in one call
LEAST = 3               # fewer are not worth a table
TABLES = 64             # bindings of a body, for as many combinations of shapes, whose tables are kept
MEMORY = 1 << 24        # bytes that the iterations of one call may leave behind


class Iterations:
    """The iterations of one loop, which has counters.  `sources`: for each fetch of its division the number of the body's result,
    or of the variable that it is; `counted`: the fetches that the host computes, all of which go by equal steps."""

    def __init__(self, loop: divide.LoopCall, steps: LoopSteps, sources: Sources, counted: Mapping[int, ScalarFunction]) -> None:
        self.loop, self.steps, self.sources = loop, steps, sources
        self.tables: dict[Binding, Table | None] = {}
        counters = loop_numbers.counters(loop, counted)
        self.courses = None if any(counter.stride is None for counter in counters) else Courses(counters)
        self.counted = {j: loop.division.targets[j] for j in counted}       # {fetch: the variable that counts}
        self.limit = 1          # iterations in the next call: one, until a table says how many may be

    def run(self, values: list[Any], plan: Plan, numbers: list[int],
            condition: Condition) -> Generator[Request, None, tuple[list[list[Any]], Iterations | None]]:
        """Iterates on the loop's variables `values` as long as that is possible natively.

        Returns (what is already taken for iterations that others must run, who runs those after them).  The first is empty
        where the loop has ended; the second is None where no table can be made.  `plan`, `numbers`: the body's, and the
        variables that feed it.
        """
        while True:
            count, fed, course, ended = self._take(values, condition)
            done = 0
            while done < count:         # those of other shapes have a table of their own
                left = [column[done:] for column in fed]
                table = self._table([*map(entry_shape, left), *[np.shape(values[k]) for k in numbers]], plan, numbers)
                self.limit = 1 if table is None else table.limit
                same = min(map(alike, left), default=count - done)
                if table is None or min(same, table.limit) < LEAST:
                    return ([[element(column, number) for column in left] for number in range(count - done)],
                            None if table is None else self)
                same = min(same, table.limit)
                part = None if course is None else course.part(done, same)
                results, before = yield from table.execute(values, [column[:same] for column in left], same, part)
                self._store(values, results, before, same, part)
                plan.runs += same
                done += same
            if ended:
                return [], self

    def _table(self, shapes: list[tuple[int, ...]], plan: Plan, numbers: list[int]) -> Table | None:
        """The table for iterations that take arrays of such shapes."""
        key = tuple(shapes)
        binding = plan.segment.bindings.get(key) or plan.segment.binding(key)
        if binding not in self.tables:
            if len(self.tables) >= TABLES:
                self.tables.clear()
            self.tables[binding] = Table.of(binding, plan, self, numbers)
        return self.tables[binding]

    def _take(self, values: list[Any], condition: Condition) -> tuple[int, list[Column], Course | None, bool]:
        """(how many iterations are next, the columns that they take, how they count, if that is known without them, whether the
        loop has ended after these)"""
        if self.courses is None:
            count, fed, ended = self._take_in_turn(values, condition)
            return count, fed, None, ended
        course = self.courses.ahead(values, condition, self.limit)
        return course.count, self.steps.before_all(Ahead(values, course)), course, course.ended

    def _take_in_turn(self, values: list[Any], condition: Condition) -> tuple[int, list[Column], bool]:
        """(how many, the columns, whether it has ended) where numbers do not merely count: they may follow from what is taken."""
        counters = self.loop.counters or []
        start = [(k, values[k]) for k, _, _ in counters]
        taken: list[list[Any]] = []
        going = True
        while going and len(taken) < self.limit:
            taken.append(self.steps.before(values))
            new = [following.one(values, taken[-1]) for _, following, _ in counters]
            for (k, _, _), value in zip(counters, new):
                values[k] = value
            going = condition.one(values)
        for k, value in start:
            values[k] = value
        return len(taken), [*zip(*taken)], not going

    def _store(self, values: list[Any], results: list[Column], before: dict[int, Column], count: int,
               course: Course | None) -> None:
        columns: list[Column] = [[values[d]] * count if r is None else results[r] for r, d in self.sources]      # type: ignore[index]
        ranges: Mapping[int, range] = {}
        if course is not None:
            ranges = course.ranges
            for j, k in self.counted.items():
                columns[j], before[k] = course.numbers[k][1:], course.before[k]
        self.steps.after_all(values, columns, before, count, ranges)
        for k in self.steps.targets:
            if getattr(values[k], "base", None) is not None:
                values[k] = np.array(values[k])         # not the memory of all iterations for the sake of the last


def alike(column: Column) -> int:
    """How many of a column's first entries are of one shape."""
    if isinstance(column, np.ndarray):
        return len(column)
    first = column[0].shape
    return next((k for k, a in enumerate(column) if a.shape != first), len(column))


def entry_shape(column: Column) -> tuple[int, ...]:
    """The shape of a column's first entry."""
    return column.shape[1:] if isinstance(column, np.ndarray) else np.shape(column[0])


class Table:
    """Where each iteration of a body finds its inputs and leaves its results.

    `outputs`: {slot: whether the values of all iterations are wanted}; `taken`: {slot: number of the fed tensor}; `counted`:
    {slot: variable} of numbers that the host computes; `states`: {slot: (variable, slot in which the iteration before has its
    value, None if none changes it)}; `results`: the slots of the plan's fetches; `stored`: {slot: variable} of outputs that are
    the next values of variables which are stored as they were before each iteration.
    """

    def __init__(self, binding: Binding, outputs: dict[int, bool], taken: dict[int, int], counted: dict[int, int],
                 states: dict[int, tuple[int, int | None]], results: list[int], stored: dict[int, int]) -> None:
        self.binding, self.outputs, self.taken, self.counted, self.states = binding, outputs, taken, counted, states
        self.results, self.stored = results, stored
        self.slots = np.array([*outputs, *taken, *counted, *states], np.int64)
        self.dtypes = {slot: np.dtype(binding.layout.slots[slot].dtype.as_numpy_dtype) for slot in states}
        numbers, compiled = binding.numbers, binding.compiled
        self.nbytes = {slot: numbers[compiled.slot_bytes[slot]] for slot in outputs}
        # columns of the table of addresses: of outputs that have two places in turn, with the bytes of a place; of states that an
        # iteration changes, with those of what changes them
        place = {slot: n for n, slot in enumerate(self.slots.tolist())}
        turning = [slot for slot, kept in outputs.items() if not kept]
        following = [(place[slot], place[source]) for slot, (_, source) in states.items() if source is not None]
        self.turning = [place[slot] for slot in turning], [self.nbytes[slot] for slot in turning]
        self.following = following
        self.sources = [after for after, _ in following], [source for _, source in following]
        left = sum(self.nbytes[slot] for slot, kept in outputs.items() if kept)
        self.limit = max(1, min(LONGEST, MEMORY // max(left, 1)))
        self.last: tuple[tuple[int, ...], np.ndarray] = (), np.zeros(0, np.int64)      # (what they depend on, the last distances)

    @staticmethod
    def of(binding: Binding, plan: Plan, iterations: Iterations, numbers: list[int]) -> Table | None:
        """The table of a body that consists of kernels which cannot fail and write no variable; None for others."""
        loop, slots, feeds = iterations.loop, binding.layout.slots, list(binding.compiled.program.feeds)
        if not _is_native(binding) or any(s.kind == "feed" and s.dtype.name not in CODES for s in slots):
            return None
        results = [binding.layout.results[tensor][0] for tensor in plan.fetches]
        outputs = {k: False for k in results if slots[k].kind == "output"}
        for j, (r, _) in enumerate(iterations.sources):
            if r is not None and results[r] in outputs:
                outputs[results[r]] |= loop.is_stored(j)
        taken: dict[int, int] = {}
        counted: dict[int, int] = {}
        states: dict[int, tuple[int, int | None]] = {}
        counting = set(iterations.counted.values())
        following = {k: results[r] for k, (r, _) in zip(loop.division.targets, iterations.sources) if r is not None}
        for k, s in enumerate(slots):
            if s.kind == "feed":
                number = feeds.index(s.key)
                if number < len(loop.division.fed):
                    taken[k] = number
                    continue
                variable = numbers[number - len(loop.division.fed)]
                if variable in counting:
                    counted[k] = variable
                    continue
                source = None if loop.invariant[variable] else following.get(variable, k)
                states[k] = variable, source
        known, shapes = {*outputs, *taken}, binding.shapes
        if not known.issuperset(results) or any(s is not None and (s not in known or shapes[s] != shapes[k])
                                                for k, (_, s) in states.items()):
            return None
        stored = {results[r]: k for k, (r, _) in zip(loop.division.targets, iterations.sources)
                  if r is not None and k in loop.division.stored_variables}
        return Table(binding, outputs, taken, counted, states, results, {k: v for k, v in stored.items() if k in outputs})

    def execute(self, values: list[Any], taken: list[Column], count: int, course: Course | None) -> Executing:
        """Runs `count` iterations, which take these columns, and count as the `course` says, if that is known.

        Returns (the column of every fetch, the columns of stored variables as they were before each iteration).  Of an output
        that nobody stores, all but the last are None.
        """
        frame = self.binding.take_frame()
        try:
            return (yield from self._execute(frame, values, taken, count, course))
        finally:
            self.binding.give_frame(frame)

    def _execute(self, frame: Frame, values: list[Any], taken: list[Column], count: int, course: Course | None) -> Executing:
        columns: dict[int, Column] = {}
        before: dict[int, Column] = {}
        firsts: list[int] = []              # for each of `slots` the address for the first iteration ...
        strides: list[int] = []             # ... and how much further on that of each further one is
        scattered: list[tuple[int, np.ndarray]] = []        # (number of the slot, its addresses) of what does not lie in one array
        for k, kept in self.outputs.items():
            if not kept:
                columns[k], address = frame.places_in_turn(k)
                firsts.append(address)
                strides.append(0)
                continue
            variable = self.stored.get(k)
            # one more, for the value before the first iteration, unless that has another shape
            ahead = variable is not None and np.shape(values[variable]) == self.binding.shapes[k]
            block, address = frame.block(k, count + ahead)
            firsts.append(address + self.nbytes[k] if ahead else address)
            strides.append(self.nbytes[k])
            columns[k] = block[1:] if ahead else block
            if variable is not None and ahead:
                block[0] = values[variable]
                before[variable] = block[:-1]
        for k, number in self.taken.items():
            columns[k], addresses = _placed(taken[number])
            if isinstance(addresses, np.ndarray):
                scattered.append((len(firsts), addresses))
                addresses = 0, 0
            firsts.append(addresses[0])
            strides.append(addresses[1])
        if course is not None:
            for variable in self.counted.values():
                column = course.before[variable]
                firsts.append(address_of(column))
                strides.append(column.itemsize)
        begun = [_laid_out(values[variable], self.dtypes[k]) for k, (variable, _) in self.states.items()]
        firsts += map(address_of, begun)
        strides += [0] * len(begun)
        first = [(place, firsts[place]) for place, _ in self.following]
        for place, source in self.following:
            firsts[place] = firsts[source]
        table = self._distances(count, strides) + np.array(firsts, np.int64)
        for place, address in first:
            table[0, place] = address
        for place, rows in scattered:
            table[:, place] = rows
        yield from frame.run_rounds(self.slots, table)
        return [self._own(k, columns[k], count) for k in self.results], before

    def _distances(self, count: int, strides: list[int]) -> np.ndarray:
        """How far from the address for the first iteration that for each is, of each of `slots`; what an iteration changes is read
        where the one before has left it, as far from there."""
        key = (count, *strides)
        if key != self.last[0]:
            table: np.ndarray = np.arange(count)[:, None] * np.array(strides, np.int64)
            turning, nbytes = self.turning
            table[1::2, turning] += np.array(nbytes, np.int64)
            following, sources = self.sources
            table[1:, following] = table[:-1, sources]
            self.last = key, table
        return self.last[1]

    def _own(self, slot: int, column: Column, count: int) -> Column:
        """What the iterations leave, in memory of its own."""
        if slot in self.taken:
            return np.array(column)
        if self.outputs[slot]:
            return column
        last = np.array(column[(count - 1) % 2])
        return [*[None] * (count - 1), last if last.ndim else last[()]]


def _placed(column: Column) -> tuple[Column, np.ndarray | tuple[int, int]]:
    """(the column as kernels read it, the address of each of its rows, or that of the first and how far they are apart)"""
    if not isinstance(column, np.ndarray):
        column = [np.asarray(a, order="C") for a in column]
        return column, np.array([address_of(a) for a in column], np.int64)
    if not column[0].flags.c_contiguous:
        column = np.ascontiguousarray(column)
    return column, (address_of(column), column.strides[0])


def _laid_out(value: Any, dtype: np.dtype) -> np.ndarray:
    """A value as kernels read it."""
    if type(value) is np.ndarray and value.dtype is dtype and value.flags.c_contiguous:     # the short way
        return value
    return np.asarray(value, dtype, order="C")


def _is_native(binding: Binding) -> bool:
    """Whether a program is one stretch of kernels which cannot fail and write no variable."""
    compiled, stretches = binding.compiled, binding.stretches
    return (not compiled.program.rest and not compiled.writes and len(stretches) == 1
            and isinstance(stretches[0][0], int)
            and not any(node.kind.may_fail(node) for kernel, _ in compiled.kernels for node in kernel.nodes))
