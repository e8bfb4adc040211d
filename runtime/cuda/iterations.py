"""Many iterations of a loop, asked of a device in a row: each reads and writes where the values are, and nothing is copied between.

Where a loop counts, it is known ahead how often it runs and which elements it takes (see `jitgraph.runtime.iterations`, which does
the same on the host).  The next iterations are then gone through three times: first what they take; then the kernels of the body,
which are given the addresses of each iteration; then what they store, which are rows of blocks.  When the same addresses come
again, as they do in training, what was asked for is captured, and all iterations are one graph from then on.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler import divide
from jitgraph.compiler.loops.expressions import ScalarFunction
from jitgraph.compiler.place import CopyStep, DeviceStep, HostStep
from jitgraph.compiler.targets import HOST
from jitgraph.runtime.iterations import LEAST, LONGEST, TABLES, alike
from jitgraph.runtime.loop_courses import Condition, Courses
from jitgraph.runtime.loop_numbers import counters
from jitgraph.runtime.loop_takes import Ahead
from jitgraph.tensor_arrays.host_values import Column, element

from .array import DeviceArray, bring, put
from .draws import Draws
from .places import MOVE
from .rounds import Rounds

if TYPE_CHECKING:
    from jitgraph.runtime.binding import Binding
    from jitgraph.runtime.loop_steps import LoopSteps
    from jitgraph.runtime.plan import Plan

    from .device import Block
    from .frame import DeviceFrame

MEMORY = 1 << 28        # bytes that the iterations of one call may leave behind

Sources = Sequence[tuple[int | None, int | None]]


class DeviceIterations:
    """The iterations of one loop, which has counters; `sources` and `counted` are what `loop_numbers` gives."""

    def __init__(self, loop: divide.LoopCall, steps: LoopSteps, sources: Sources, counted: Mapping[int, ScalarFunction]) -> None:
        self.loop, self.steps, self.sources = loop, steps, sources
        self.numbers = {loop.division.targets[j]: function for j, function in counted.items()}
        self.counters = counters(loop, counted)
        self.functions = {counter.variable: counter.following for counter in self.counters}
        self.of_fetch = {j: loop.division.targets[j] for j in counted}
        # whether the host's part goes by columns: what counts goes by equal steps, and nothing is taken in place
        self.courses = Courses(self.counters)
        self.by_columns = len(steps.takes_all) == len(steps.takes) and all(c.stride is not None for c in self.counters)
        self.tables: dict[Binding, Table | None] = {}
        self.limit = 1          # iterations in the next call: one, until a table says how many may be

    def run(self, values: list[Any], plan: Plan, numbers: list[int],
            condition: Condition) -> tuple[list[list[Any]], DeviceIterations | None]:
        """As `jitgraph.runtime.iterations.Iterations.run`."""
        while True:
            count, fed, counts, ended = self._take(values, condition)
            done = 0
            while done < count:         # those of other shapes have a table of their own
                for k, column in counts.items():
                    values[k] = np.asarray(column[done])
                left = [column[done:] for column in fed]
                table = self._table([*(element(column, 0) for column in left), *(values[k] for k in numbers)], plan, numbers)
                self.limit = 1 if table is None else table.limit
                same = min(map(alike, left), default=count - done)
                if table is None or min(same, table.limit) < LEAST:
                    return ([[element(column, number) for column in left] for number in range(count - done)],
                            None if table is None else self)
                same = min(same, table.limit)
                found = table.execute(values, [column[:same] for column in left], same,
                                      {k: counts[k][done:done + same] for k in self.numbers})
                self._store(values, found, {k: counts[k][done + 1:done + same + 1] for k in self.numbers}, same)
                plan.runs += same
                done += same
            if ended:
                return [], self

    def _take(self, values: list[Any], condition: Condition) -> tuple[int, list[Column], Mapping[int, Column], bool]:
        """(how many iterations are next, the columns that they take, {variable that counts: its values before each of them and
        after the last}, whether the loop has ended after these); the variables that count are left as they were."""
        if condition.many is None or not self.by_columns:
            return self._take_in_turn(values, condition)
        course = self.courses.ahead(values, condition, self.limit)
        return course.count, self.steps.before_all(Ahead(values, course)), course.numbers, course.ended

    def _take_in_turn(self, values: list[Any], condition: Condition) -> tuple[int, list[Column], Mapping[int, Column], bool]:
        """The same for numbers that do not merely count."""
        counts: dict[int, list[Any]] = {k: [np.asarray(values[k])] for k in self.functions}
        taken: list[list[Any]] = []
        going, limit = True, self.limit         # which another thread may change
        with np.errstate(all="ignore"):
            while going and len(taken) < limit:
                fed = self.steps.before(values)
                taken.append(fed)
                following = [(k, np.asarray(function.one(values, fed))) for k, function in self.functions.items()]
                for k, value in following:
                    counts[k].append(value)
                    values[k] = value
                going = condition.one(values)
        for k, column in counts.items():
            values[k] = column[0]
        return len(taken), [*map(list, zip(*taken))], {**counts}, not going

    def _table(self, taken: list[Any], plan: Plan, numbers: list[int]) -> Table | None:
        """The table for iterations that take such arrays."""
        binding = plan.segment.binding(tuple([a.shape for a in taken]))
        if binding not in self.tables:
            if len(self.tables) >= TABLES:
                self.tables.clear()
            self.tables[binding] = Table.of(binding, plan, self, numbers)
        return self.tables[binding]

    def _store(self, values: list[Any], found: Sequence[Column], counts: Mapping[int, Column], count: int) -> None:
        """What the loop does itself after `count` iterations, which gave these columns for the fetches of the body's plan."""
        columns = [counts[self.of_fetch[j]] if j in self.of_fetch else [values[d]] * count if r is None else found[r]   # type: ignore[index]
                   for j, (r, d) in enumerate(self.sources)]
        self.steps.after_all(values, columns, {}, count, {})
        for k in self.steps.targets:            # not the memory of all iterations for the sake of the last
            if isinstance(values[k], DeviceArray) and values[k].base is not None:
                values[k] = values[k].copy()


class Table:
    """Where each iteration of a body finds its inputs and leaves its results, on the device `d` of its program.

    `outputs`: {slot: whether the values of all iterations are wanted}; `taken`: {slot: number of the fed tensor}; `counted`:
    {slot: variable} of numbers that the host computes; `drawn`: {slot: step} of random numbers that it reserves; `states`: {slot:
    (variable, slot in which the iteration before has its value, None if none changes it)}; `results`: the slots of the plan's
    fetches; `read`: slots that kernels touch.
    """

    def __init__(self, binding: Binding, d: int, outputs: dict[int, bool], taken: dict[int, int], counted: dict[int, int],
                 states: dict[int, tuple[int, int | None]], results: list[int], read: set[int]) -> None:
        self.binding, self.d, self.outputs, self.taken, self.counted = binding, d, outputs, taken, counted
        self.drawn = {step.outputs[0]: step for step in binding.layout.steps if binding.layout.draws(step)}
        self.states, self.results, self.read = states, results, read
        self.nbytes = {k: binding.numbers[binding.compiled.slot_bytes[k]] for k in outputs}
        self.apart = {k: -(-n // MOVE) * MOVE for k, n in self.nbytes.items()}      # no further: rows are then joined by one copy
        left = sum(self.apart[k] for k, kept in outputs.items() if kept)
        self.limit = max(1, min(LONGEST, MEMORY // max(left, 1)))

    @staticmethod
    def of(binding: Binding, plan: Plan, loop: DeviceIterations, numbers: list[int]) -> Table | None:
        """The table of a body that consists of kernels of one device which cannot fail and write no variable; None for others."""
        slots, shapes, feeds = binding.layout.slots, binding.shapes, list(binding.compiled.program.feeds)
        d = _device_of(binding)
        if d is None:
            return None
        division = loop.loop.division
        results = [binding.layout.results[tensor][0] for tensor in plan.fetches]
        outputs = {k: False for k in results if slots[k].kind == "output"}
        following: dict[int, int] = {}
        for j, (r, _) in enumerate(loop.sources):
            if r is None:
                continue
            target = division.targets[j] if j < len(division.targets) else None
            if target is not None:
                following[target] = results[r]
            if results[r] in outputs:
                outputs[results[r]] |= loop.loop.is_stored(j) or target in division.stored_variables
        taken: dict[int, int] = {}
        counted: dict[int, int] = {}
        states: dict[int, tuple[int, int | None]] = {}
        read = {k for step in binding.layout.steps if isinstance(step, DeviceStep) for k in step.slots}
        for k, slot in enumerate(slots):
            if slot.kind != "feed":
                continue
            number = feeds.index(slot.key)
            if number < len(division.fed):
                taken[k] = number
                continue
            variable = numbers[number - len(division.fed)]
            if k not in read:
                continue
            if variable in loop.numbers:
                counted[k] = variable
            else:
                states[k] = variable, None if loop.loop.invariant[variable] else following.get(variable, k)
        known = {*outputs, *taken}
        if not known.issuperset(results) or any(s is not None and (s not in known or shapes[s] != shapes[k])
                                                for k, (_, s) in states.items()):
            return None
        return Table(binding, d, outputs, taken, counted, states, results, read)

    def execute(self, values: list[Any], taken: list[Column], count: int, counts: Mapping[int, Column]) -> list[Column]:
        """Runs `count` iterations, which take these columns.

        Returns the column of every fetch.  Of an output that nobody stores, all but the last are None.
        """
        return self.binding.run((values, taken, count, counts), self._execute)

    def _execute(self, frame: Any, given: tuple[list[Any], list[Column], int, Mapping[int, Column]]) -> list[Column]:
        values, taken, count, counts = given
        device = frame.devices[self.d]
        falls = any(column[-1] < column[0] for column in counts.values())
        rounds = frame.rounds = frame.rounds or Rounds(frame)
        with frame.variables_lock, frame.machine.lock:
            columns: dict[int, Column] = {}
            addresses: dict[int, list[int]] = {}
            staying: list[list[DeviceArray]] = []           # until the kernels are asked for
            for k, kept in self.outputs.items():
                places = count if kept else 2
                rows = self._rows(device.take(self.apart[k] * places), k, places)
                # of a loop that counts down the first is the last: what is stored by falling numbers lies in a row, too
                rows = (rows[::-1] if falls else rows) if kept else [rows[n % 2] for n in range(count)]
                addresses[k] = [row.address for row in rows]
                columns[k] = rows if kept else [*[None] * (count - 1), rows[-1]]
            for k, number in self.taken.items():
                columns[k] = taken[number]
                if k in self.read:
                    staying.append(self._there(frame, k, columns[k]))
                    addresses[k] = [row.address for row in staying[-1]]
            for k, variable in self.counted.items():
                column = put(np.array(counts[variable], self.binding.layout.slots[k].dtype.as_numpy_dtype), device)
                addresses[k] = [row.address for row in column]
                staying.append([column])
            for k, step in self.drawn.items():
                column = self._reserved(frame, step, count)
                addresses[k] = [row.address for row in column]
                staying.append([column])
            for k, (variable, source) in self.states.items():
                (first,) = self._there(frame, k, [values[variable]])
                staying.append([first])
                before = [] if source is None else addresses[source][:-1]
                addresses[k] = [first.address, *before] if source is not None else [first.address] * count
            rounds.run(list(addresses), np.array([*addresses.values()], np.int64).reshape(-1, count).T)
        return [columns[k] for k in self.results]

    def _reserved(self, frame: DeviceFrame, step: HostStep, count: int) -> DeviceArray:
        """On the device, a row for each of `count` iterations: the random numbers that it may draw."""
        stream = frame.binding.state.stream(step.node.op)           # type: ignore[arg-type]
        given = [frame.arrays[slot] for slot, *_ in step.inputs]
        draws = Draws(stream, lambda: np.stack([step.node.attrs["function"](stream, *given) for _ in range(count)]))
        recording = frame.machine.recording
        return put(draws.made() if recording is None else recording.draws(draws), frame.devices[self.d])

    def _rows(self, block: Block, k: int, count: int) -> list[DeviceArray]:
        """Places for so many values of an output.  Of rows that all stay, `base` says that they share a block."""
        whole = DeviceArray(block, (block.nbytes,), np.uint8) if self.outputs[k] else None
        shape, dtype = self.binding.shapes[k], self.binding.layout.slots[k].dtype.as_numpy_dtype
        found = [DeviceArray(block, shape, dtype, block.address + number * self.apart[k]) for number in range(count)]
        for row in found:
            row.base = whole
        return found

    def _there(self, frame: DeviceFrame, k: int, arrays: Column) -> list[DeviceArray]:
        """Arrays where the kernels can read them: on the device, at an address that fits."""
        device, dtype = frame.devices[self.d], self.binding.layout.slots[k].dtype.as_numpy_dtype
        needed = frame.places.alignment(k)
        found = []
        for array in arrays:
            if not isinstance(array, DeviceArray):
                array = put(np.asarray(array, dtype), device)
            elif array.device is not device or array.address % needed:
                moved = DeviceArray(device.take(array.nbytes), array.shape, array.dtype)
                if array.nbytes:
                    bring(array, device, moved.address)
                array = moved
            found.append(array)
        return found


def _device_of(binding: Binding) -> int | None:
    """The device of a program that consists of kernels of one device which cannot fail and write no variable."""
    compiled = binding.compiled
    if compiled.program.rest or compiled.writes or compiled.kept:
        return None
    devices = set()
    for step in binding.layout.steps:
        if isinstance(step, DeviceStep) and not compiled.launches[step].may_fail:
            devices.add(step.device)
        elif binding.layout.draws(step):
            continue
        elif isinstance(step, CopyStep) and HOST in (step.source, step.to):
            devices |= {step.source, step.to} - {HOST}
        else:
            return None
    return devices.pop() if len(devices) == 1 else None
