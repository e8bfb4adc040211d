"""Queues of tuples of arrays, shared by threads.

Threads that cannot go on wait in two lines, one for filling and one for taking, and are served strictly in turn; a
request for several elements takes them as they come, and nobody overtakes it.
"""
from __future__ import annotations

import collections
import heapq
import itertools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.graph import errors, shapes
from jitgraph.resources.queue_rows import Row, Tuples, rows_of

Wait = Callable[[threading.Condition, Callable[[], bool]], None]
Later = Callable[[Callable[[Wait], None]], None]        # does the waiting that it is given at the end of the run
UNLIMITED = 2 ** 31 - 1


class _Request:
    """A thread in a line.  ``rows``: the tokens of those still to be put, or taken so far; ``wanted``: how many to take;
    ``sleeps``: whether it is to be woken when it is served."""

    def __init__(self, rows: Any = (), wanted: int = 0, partial: bool = False, closes: bool = False):
        self.rows: list = list(rows)
        self.wanted, self.partial, self.closes = wanted, partial, closes
        self.done = self.sleeps = False
        self.error: errors.OpError | None = None

    def finish(self, error: errors.OpError | None = None) -> None:
        self.done, self.error = True, error


class Queue:
    """A queue in the order of arrival.

    `types`: the DType of each component; `shapes`: the shape of each as a tuple (sizes may be None in a PaddingQueue),
    or None where any is allowed.
    """

    kind = "FIFOQueue"

    def __init__(self, name: str, types: list, shapes: list | None, capacity: int):
        self.name, self.types, self.shapes = name, list(types), shapes
        self.capacity = UNLIMITED if capacity < 0 else capacity
        self.condition = threading.Condition()
        self.closed = False
        self._filling: collections.deque[_Request] = collections.deque()
        self._taking: collections.deque[_Request] = collections.deque()
        self._store = rows_of(self.types, shapes)
        self._rows: Any = collections.deque()       # tokens

    def __len__(self) -> int:
        return len(self._rows)

    # -- how rows are kept: what other kinds of queues replace

    def _put(self, rows: list) -> None:
        self._rows.extend(rows)

    def _take(self, count: int) -> list:
        return [self._rows.popleft() for _ in range(count)]

    def _put_back(self, rows: Any) -> None:
        self._rows.extendleft(reversed(rows))

    def _available(self) -> int:
        """How many elements may be taken now."""
        return len(self._rows)

    def check_same(self, other: Queue) -> None:
        """Raises InvalidArgumentError if a node of the same shared name describes another queue."""
        def differs(what: str, own: Any, wanted: Any) -> None:
            if own != wanted:
                raise errors.InvalidArgumentError(None, None, f"Shared queue '{self.name}' has {what} {own} but "
                                                              f"requested {what} {'were' if what.endswith('s') else 'was'} "
                                                              f"{wanted}")

        differs("kind", self.kind, other.kind)
        differs("capacity", self.capacity, other.capacity)
        differs("component types", [t.name for t in self.types], [t.name for t in other.types])
        differs("component shapes", self.shapes, other.shapes)

    # -- requests

    def enqueue(self, row: Row, wait: Wait, later: Later | None = None) -> None:
        """Adds one element; waits for room, now or `later`.  Raises CancelledError if the queue is closed."""
        for k, array in enumerate(row):
            self._check_shape(k, array.shape, None)
        self._fill([array.reshape(1, *array.shape) for array in row], 1, wait, later)

    def enqueue_many(self, columns: list[np.ndarray], wait: Wait, later: Later | None = None) -> None:
        """Adds the rows of `columns`, which have one more dimension than the elements, as there is room for them."""
        count = columns[0].shape[0] if columns[0].ndim else 0
        for k, array in enumerate(columns):
            self._check_shape(k, array.shape, count)
        self._fill(columns, count, wait, later)

    def dequeue(self, wait: Wait) -> Row:
        """Takes one element; waits for it.  Raises OutOfRangeError if the queue is closed and empty."""
        with self.condition:
            token, = self._drain(1, False, wait)
            return self._store.element(token)

    def dequeue_many(self, count: int, partial: bool, wait: Wait) -> list[np.ndarray]:
        """Takes `count` elements, stacked; waits until there are so many.

        With `partial`, a closed queue gives what is left.  Raises OutOfRangeError if it is closed and has less (with
        `partial`, nothing), InvalidArgumentError if the queue does not know the shapes of its components.
        """
        name = "DequeueUpToOp" if partial else "DequeueManyOp"
        if count < 0:
            raise errors.InvalidArgumentError(None, None, f"{name} requested {count} < 0 elements")
        if self.shapes is None:
            raise errors.InvalidArgumentError(None, None, f"{self.kind}'s DequeueMany and DequeueUpTo require the "
                                                          "components to have specified shapes.")
        with self.condition:
            return self._store.stacked(self._drain(count, partial, wait) if count else [])

    def close(self, cancel: bool, wait: Wait) -> None:
        """No more elements from now on; elements already there can be taken.

        With `cancel`, threads that wait for room get a CancelledError; else closing waits its turn behind them.
        Raises CancelledError if the queue is closed already.
        """
        if not cancel:
            self._serve(self._filling, _Request(closes=True), wait)
            return
        with self.condition:
            self.closed = True
            while self._filling:
                self._refuse(self._filling.popleft(), "Enqueue operation was cancelled")
            self._advance()
            self.condition.notify_all()

    def _refuse(self, request: _Request, message: str) -> None:
        self._store.forget(request.rows)
        request.finish(_cancelled(message))

    def _fill(self, columns: list[np.ndarray], count: int, wait: Wait, later: Later | None) -> None:
        with self.condition:
            self._serve(self._filling, _Request(self._store.keep(columns, count)), wait, later)

    def _drain(self, count: int, partial: bool, wait: Wait) -> list:
        request = _Request(wanted=count, partial=partial)
        self._serve(self._taking, request, wait)
        return request.rows

    def _serve(self, line: collections.deque[_Request], request: _Request, wait: Wait, later: Later | None = None) -> None:
        with self.condition:
            line.append(request)
            self._advance()
            if request.done or later is None:
                self._finish(line, request, wait)
            else:
                later(lambda wait: self._finish(line, request, wait))

    def _finish(self, line: collections.deque[_Request], request: _Request, wait: Wait) -> None:
        """Waits until a request that stands in its line has been served.  Raises what became of it."""
        with self.condition:
            request.sleeps = not request.done
            try:
                wait(self.condition, lambda: request.done)
            except BaseException as error:
                if not request.done:
                    line.remove(request)
                    # nothing is lost with a thread that gives up taking
                    self._put_back(request.rows) if line is self._taking else self._store.forget(request.rows)
                    self._advance()
                if isinstance(error, errors.CancelledError):
                    raise _cancelled(("Dequeue" if line is self._taking else "Enqueue") + " operation was cancelled") \
                        from None
                raise
        if request.error is not None:
            raise request.error

    def _advance(self) -> None:
        """Serves both lines as far as they can be served; wakes the threads if one of those served sleeps."""
        changed = True
        woken = False
        while changed:
            changed = False
            for line, serve in ((self._filling, self._serve_filling), (self._taking, self._serve_taking)):
                if line:
                    request = line[0]
                    changed |= serve(request)
                    woken |= request.done and request.sleeps
        if woken:
            self.condition.notify_all()

    def _serve_filling(self, request: _Request) -> bool:
        """Serves the first in the line; whether anything has changed."""
        changed = False
        if request.closes:
            error = _cancelled(f"Queue '{self.name}' is already closed.") if self.closed else None
            self.closed = True
            request.finish(error)
        elif self.closed and request.rows:
            self._refuse(request, f"{self.kind} '{self.name}' is closed.")
        else:
            room = self.capacity - len(self)
            if request.rows and room > 0:
                self._put(request.rows[:room])
                del request.rows[:room]
                changed = True
            if not request.rows:
                request.finish()
        if request.done:
            self._filling.popleft()
        return changed or request.done

    def _serve_taking(self, request: _Request) -> bool:
        changed = False
        missing = request.wanted - len(request.rows)
        ready = min(missing, self._available())
        if ready > 0:
            request.rows += self._take(ready)
            missing, changed = missing - ready, True
        if not missing or self.closed and request.partial and request.rows:
            request.finish()
        elif self.closed:
            self._put_back(request.rows)
            request.finish(errors.OutOfRangeError(
                None, None, f"{self.kind} '{self.name}' is closed and has insufficient elements (requested "
                            f"{request.wanted}, current size {len(self)})"))
        if request.done:
            self._taking.popleft()
        return changed or request.done

    # -- shapes

    def _check_shape(self, component: int, shape: tuple, count: int | None) -> None:
        if self.shapes is None:
            fits, expected = count is None or bool(shape) and shape[0] == count, (count,)
        else:
            expected = self.shapes[component] if count is None else (count, *self.shapes[component])
            fits = len(expected) == len(shape) and all(e is None or e == d for e, d in zip(expected, shape))
        if not fits:
            raise errors.InvalidArgumentError(None, None, f"Shape mismatch in tuple component {component}. Expected "
                                                          f"{shapes.brackets(expected)}, got {shapes.brackets(shape)}")


def _cancelled(message: str) -> errors.CancelledError:
    return errors.CancelledError(None, None, message)


class PaddingQueue(Queue):
    """A queue in the order of arrival whose elements may differ in some sizes; taken together, they are padded."""

    kind = "PaddingFIFOQueue"


class ShuffleQueue(Queue):
    """A queue that gives a random one of its elements, and keeps `minimum` of them to choose from until it is closed."""

    kind = "RandomShuffleQueue"

    def __init__(self, name: str, types: list, shapes: list | None, capacity: int, minimum: int, seed: int, seed2: int):
        from jitgraph.ops.random.philox import Bits, Reader, Stream

        if minimum < 0:
            raise errors.InvalidArgumentError(None, None, f"min_after_dequeue {minimum} must be >= 0")
        if 0 <= capacity <= minimum:
            raise errors.InvalidArgumentError(None, None, f"min_after_dequeue {minimum} must be < capacity {capacity}")
        super().__init__(name, types, shapes, capacity)
        self.minimum = minimum
        self._rows = []
        self._random = Reader(Bits.reserve(Stream(), seed, seed2, 0), ahead=64)

    def _available(self) -> int:
        return len(self._rows) - (0 if self.closed else self.minimum)

    def _take(self, count: int) -> list:
        rows, found = self._rows, []
        for word in self._random.some(count):
            index = word % len(rows)
            found.append(rows[index])
            rows[index] = rows[-1]
            rows.pop()
        return found

    def _put_back(self, rows: Any) -> None:
        self._rows.extend(rows)


class PriorityQueue(Queue):
    """A queue that gives the element with the smallest first component; of equal ones, the one that came first."""

    kind = "PriorityQueue"

    def __init__(self, name: str, types: list, shapes: list | None, capacity: int):
        super().__init__(name, types, shapes, capacity)
        self._store = Tuples(self.types, shapes)
        self._rows = []
        self._arrivals = itertools.count()

    def _put(self, rows: list) -> None:
        for row in rows:
            heapq.heappush(self._rows, (int(row[0]), next(self._arrivals), row))

    def _take(self, count: int) -> list:
        return [heapq.heappop(self._rows)[2] for _ in range(count)]

    def _put_back(self, rows: Any) -> None:
        for k, row in enumerate(rows):
            heapq.heappush(self._rows, (int(row[0]), k - len(rows), row))
