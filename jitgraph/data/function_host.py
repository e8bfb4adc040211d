"""Sources that call functions: map, filter, flat_map, interleave, scan, groups and generators."""
from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.data.simple_host import Listed, Unary, gathering
from jitgraph.data.source_host import Element, Function, Run, Source, Take, stacked
from jitgraph.data.thread_host import ordered_calls
from jitgraph.graph import errors
from jitgraph.resources import handle


def told(call: Callable, preserves: bool) -> Callable:
    """A function whose OutOfRangeError ends the elements; where it `preserves` their number, it is an InvalidArgumentError."""

    def called(element: Element) -> Any:
        try:
            return call(element)
        except errors.OutOfRangeError as error:
            if not preserves:
                raise StopIteration from None
            raise errors.InvalidArgumentError(
                None, None, f"Function invocation produced OutOfRangeError: {error.message}") from error

    return called


class Mapped(Unary):
    """What a function gives for each element; `parallel`: in how many threads it is called, 1 for none of its own.

    `preserves`: see ``told``.
    """

    fails_by_batches = True

    def __init__(self, source: Source, function: Function, parallel: int = 1, name: str = "map", preserves: bool = False):
        super().__init__(source)
        self.function, self.parallel, self.name, self.preserves = function, parallel, name, preserves

    def iterate(self, run: Run) -> Take:
        return self.resume(run, 0)

    def resume(self, run: Run, count: int) -> Take:
        take, call = self.source.resume(run.at(self.name), count), told(self.function.start(run), self.preserves)
        # kernels would wait for each other: threads gain where a function waits for the host
        if self.parallel > 1 and self.function.waits:
            return ordered_calls(run.session, call, take, self.parallel)
        return lambda: call(take())

    def size(self) -> int:
        return self.source.size()


class Filtered(Unary):
    """The elements for which a function holds."""

    def __init__(self, source: Source, function: Function):
        super().__init__(source)
        self.function = function

    def iterate(self, run: Run) -> Take:
        take, holds = self.source.iterate(run.at("filter")), self.function.start(run)

        def filtered() -> Element:
            while True:
                element = take()
                found, = holds(element)
                if found:
                    return element

        return filtered


class TakenWhile(Filtered):
    """The elements before the first for which a function does not hold."""

    def iterate(self, run: Run) -> Take:
        take, holds = self.source.iterate(run.at("take_while")), self.function.start(run)
        over = False

        def taken() -> Element:
            nonlocal over
            if not over:
                element = take()
                if holds(element)[0]:
                    return element
                over = True
            raise StopIteration

        return taken


class Flattened(Unary):
    """The elements of the datasets that a function makes of each element, one dataset after the other."""

    def __init__(self, source: Source, function: Function):
        super().__init__(source)
        self.function = function

    def iterate(self, run: Run) -> Take:
        take, call, number = self.source.iterate(run.at("flat_map")), self.function.start(run), 0
        current: Take | None = None

        def flattened() -> Element:
            nonlocal current, number
            while True:
                if current is None:
                    made = call(take())[0][()]
                    current = made.iterate(run.at("flat_map").inside(number))
                    number += 1
                try:
                    return current()
                except StopIteration:
                    current = None

        return flattened


class Interleaved(Unary):
    """The elements of the datasets that a function makes of each element: `cycle` of them in turn, `block` elements each.

    `counts_errors`: whether an error is one of the `block`, as where elements are fetched ahead.
    """

    def __init__(self, source: Source, function: Function, cycle: int, block: int, counts_errors: bool = False):
        for name, value in (("cycle_length", cycle), ("block_length", block)):
            if value <= 0:
                raise errors.InvalidArgumentError(None, None, f"{name} must be greater than zero.")
        super().__init__(source)
        self.function, self.cycle, self.block, self.counts_errors = function, cycle, block, counts_errors

    def iterate(self, run: Run) -> Take:
        take, call = self.source.iterate(run.at("interleave")), self.function.start(run)
        current: list[Take | None] = [None] * self.cycle
        place = count = 0
        ended = False

        def advance() -> None:
            nonlocal place, count
            place, count = (place + 1) % self.cycle, 0

        def counted() -> None:
            nonlocal count
            count += 1
            if count == self.block:
                advance()

        def interleaved() -> Element:
            nonlocal ended
            while not ended or any(one is not None for one in current):
                one = current[place]
                if one is not None:
                    try:
                        element = one()
                    except StopIteration:
                        current[place] = None
                        advance()
                        continue
                    except errors.OpError:
                        if self.counts_errors:
                            counted()
                        raise
                    counted()
                    return element
                if ended:
                    advance()
                    continue
                try:
                    made = call(take())[0][()]
                except StopIteration:
                    ended = True
                    continue
                current[place] = made.iterate(run.at("interleave").inside(place))
            raise StopIteration

        return interleaved


class InterleavedAhead(Interleaved):
    """Interleaved, with the order that TensorFlow's threads have where the elements to come are always at hand.

    The dataset after one that has ended takes its place for the next turn.  When there is none, the turn goes on with the
    next place, and what the ended one gave counts among the `block` elements.
    """

    def iterate(self, run: Run) -> Take:
        take, call = self.source.iterate(run.at("interleave")), self.function.start(run)
        current: list[Take | None] = [None] * self.cycle
        place = count = 0
        begun = ended = False

        def filled(place: int) -> bool:
            nonlocal ended
            if not ended:
                try:
                    made = call(take())[0][()]
                except StopIteration:
                    ended = True
                except errors.OpError as error:
                    current[place] = _failing(error)
                else:
                    current[place] = made.iterate(run.at("interleave").inside(place))
            return not ended

        def counted(at: int) -> None:
            nonlocal place, count
            place, count = at, count + 1
            if count == self.block:
                place, count = (at + 1) % self.cycle, 0

        def interleaved() -> Element:
            nonlocal place, count, begun
            if not begun:
                begun = True
                for one in range(self.cycle):
                    if not filled(one):
                        break
            while True:
                for at in (*range(place, self.cycle), *range(place)):
                    one = current[at]
                    if one is None:
                        continue
                    try:
                        element = one()
                    except StopIteration:
                        current[at] = None
                        if filled(at):
                            place, count = (at + 1) % self.cycle, 0
                            break
                    except errors.OpError:
                        counted(at)
                        raise
                    else:
                        counted(at)
                        return element
                else:
                    raise StopIteration

        return interleaved


def _failing(error: errors.OpError) -> Take:
    """A dataset in whose place a function failed: it raises once and is at its end."""
    left = [error]

    def failing() -> Element:
        if left:
            raise left.pop()
        raise StopIteration

    return failing


class Scanned(Unary):
    """What a function gives for the state and each element, besides the next state."""

    def __init__(self, source: Source, state: list[np.ndarray], function: Function, preserves: bool):
        super().__init__(source)
        self.state, self.function, self.preserves = state, function, preserves

    def iterate(self, run: Run) -> Take:
        take, call = self.source.iterate(run.at("scan")), told(self.function.start(run), self.preserves)
        state = tuple(self.state)

        def scanned() -> Element:
            nonlocal state
            found = call((*state, *take()))
            state = tuple(found[:len(state)])
            return tuple(found[len(state):])

        return scanned

    def size(self) -> int:
        return self.source.size()


def reduced(source: Source, state: list[np.ndarray], function: Function, run: Run) -> list[np.ndarray]:
    """The state after a function has taken in all elements."""
    take, call = source.iterate(run.at("reduce")), function.start(run)
    while True:
        try:
            element = take()
        except StopIteration:
            return list(state)
        state = call((*state, *element))


class WindowsByKey(Unary):
    """Elements of equal keys, so many at a time as a function of the key says, made into datasets by another."""

    def __init__(self, source: Source, key: Function, reduce: Function, size: Function):
        super().__init__(source)
        self.key, self.reduce, self.window = key, reduce, size

    def iterate(self, run: Run) -> Take:
        take = self.source.iterate(run.at("group_by_window"))
        key_of, reduce, size_of = (f.start(run) for f in (self.key, self.reduce, self.window))
        groups: dict[int, list[Element]] = {}
        sizes: dict[int, int] = {}
        current: Take | None = None
        ended, number = False, 0

        def finished(key: int) -> Take:
            nonlocal number
            made = reduce((np.array(key, np.int64), handle(Listed(groups.pop(key)))))[0][()]
            number += 1
            return made.iterate(run.at("group_by_window").inside(number))

        def grouped() -> Element:
            nonlocal current, ended
            while True:
                if current is not None:
                    try:
                        return current()
                    except StopIteration:
                        current = None
                if ended:
                    if not groups:
                        raise StopIteration
                    current = finished(next(iter(sorted(groups))))
                    continue
                try:
                    element = take()
                except StopIteration:
                    ended = True
                    continue
                key = int(key_of(element)[0])
                if key not in groups:
                    groups[key] = []
                    size = sizes[key] = int(size_of((np.array(key, np.int64),))[0])
                    if size <= 0:
                        raise errors.InvalidArgumentError(None, None, f"Window size must be greater than zero, but got {size}.")
                groups[key].append(element)
                if len(groups[key]) == sizes[key]:
                    current = finished(key)

        return grouped


class ReducedByKey(Unary):
    """What functions make of all elements of equal keys, in the order of the keys."""

    def __init__(self, source: Source, key: Function, init: Function, reduce: Function, finalize: Function):
        super().__init__(source)
        self.functions = key, init, reduce, finalize

    def iterate(self, run: Run) -> Take:
        take = self.source.iterate(run.at("group_by_reducer"))
        key_of, init, reduce, finalize = (f.start(run) for f in self.functions)
        states: dict[int, tuple] = {}
        left: list[int] | None = None       # the keys whose states are not handed on yet

        def by_key() -> Element:
            nonlocal left
            while left is None:             # after an error it goes on behind the element that was its cause
                try:
                    element = take()
                except StopIteration:
                    left = sorted(states, reverse=True)
                    break
                key = int(key_of(element)[0])
                if key not in states:
                    states[key] = tuple(init((np.array(key, np.int64),)))
                states[key] = tuple(reduce((*states[key], *element)))
            if not left:
                raise StopIteration
            return tuple(finalize(states[left.pop()]))

        return by_key


class Generated(Source):
    """What a function gives at each call, until it raises OutOfRangeError; others make its state and end it."""

    def __init__(self, init: Function, following: Function, finalize: Function):
        self.functions = init, following, finalize

    def iterate(self, run: Run) -> Take:
        init, following, finalize = (f.start(run) for f in self.functions)
        states: list[Element] = []      # none before the first element, one until the end
        over = False

        def generated() -> Element:
            nonlocal over
            if over:
                raise StopIteration
            if not states:
                states.append(tuple(init(())))
            try:
                return tuple(following(states[0]))
            except errors.OutOfRangeError:
                over = True
                _end(finalize, states)
                raise StopIteration from None

        # Whoever takes no more before the end lets go of this: what the generator holds, such as open files, ends then.
        weakref.finalize(generated, _end, finalize, states).atexit = False
        return generated


def _end(finalize: Callable[[Element], list], states: list[Element]) -> None:
    """Ends what a generator has begun, once."""
    while states:
        finalize(states.pop())


class MappedBatches(Unary):
    """What a function gives for each element, stacked."""

    def __init__(self, source: Source, function: Function, size: int, parallel: int, drop_remainder: bool, preserves: bool):
        if size <= 0:
            raise errors.InvalidArgumentError(None, None, "batch_size must be greater than zero.")
        self.mapped = Mapped(source, function, parallel, "map_and_batch", preserves)
        super().__init__(source)
        self.batch, self.drop = size, drop_remainder

    def iterate(self, run: Run) -> Take:
        return self.resume(run, 0)

    def resume(self, run: Run, count: int) -> Take:
        gather = gathering(self.mapped.resume(run, count * self.batch), self.batch, self.drop, whole=True)
        return lambda: stacked(gather())


class SparseBatches(Unary):
    """Dense elements of shapes that differ, stacked into sparse tensors of a common shape."""

    def __init__(self, source: Source, size: int, row_shape: np.ndarray):
        super().__init__(source)
        self.batch, self.row_shape = size, row_shape

    def iterate(self, run: Run) -> Take:
        gather = gathering(self.source.iterate(run.at("dense_to_sparse_batch")), self.batch, False)

        def batched() -> Element:
            rows = [row for row, in gather()]
            largest = np.max([row.shape for row in rows], axis=0).astype(np.int64)
            if np.any((self.row_shape >= 0) & (largest > self.row_shape)):
                raise errors.DataLossError(None, None, f"Encountered a tensor of shape {largest.tolist()} that does not fit "
                                                       f"in a row of shape {self.row_shape.tolist()}")
            sizes = np.where(self.row_shape < 0, largest, self.row_shape)
            places = [np.argwhere(np.ones(row.shape, bool)) for row in rows]
            indices = np.concatenate([np.insert(place, 0, k, axis=1) for k, place in enumerate(places)]).astype(np.int64)
            whole = np.empty(3, object)
            whole[:] = [indices, np.concatenate([row.ravel() for row in rows]), np.array([len(rows), *sizes], np.int64)]
            return (whole,)

        return batched

