"""Queues of tuples of arrays, shared by threads.

Threads that cannot go on wait in two lines, one for filling and one for taking, and are served strictly in turn; a
request for several elements takes them as they come, and nobody overtakes it.
"""
from __future__ import annotations

import collections
import contextlib
import heapq
import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitgraph.graph import errors, shapes
from jitgraph.resources.condition import Condition
from jitgraph.resources.queue_rows import Row, Tuples, rows_of

Wait = Callable[[threading.Condition, Callable[[], bool]], None]
Later = Callable[[Callable[[Wait], None]], None]        # does the waiting that it is given at the end of the run
UNLIMITED = 2 ** 31 - 1

_patience = threading.local()


@contextlib.contextmanager
def patiently() -> Iterator[None]:
    """In this block the thread does nothing but fill queues, again and again.

    Once it has waited for room in one, it may be told late that its elements have found it: when half of the room is free, or
    when somebody waits for more.  What it then puts in takes one change of threads, not one for each time that something is taken.
    """
    before = getattr(_patience, "on", False)
    _patience.on = True
    try:
        yield
    finally:
        _patience.on = before


class _Request:
    """A thread in a line.  ``rows``: the tokens to be put, of which ``put`` are in the queue, or those taken so far; ``wanted``:
    how many to take; ``sleeps``: whether it is to be woken when it is served; ``patient``: see ``patiently``."""

    __slots__ = ("rows", "put", "wanted", "partial", "closes", "done", "sleeps", "patient", "error")

    def __init__(self, rows: Any = (), wanted: int = 0, partial: bool = False, closes: bool = False):
        self.rows: list = list(rows)
        self.put, self.wanted, self.partial, self.closes = 0, wanted, partial, closes
        self.done = self.sleeps = self.patient = False
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
        self._lock = threading.RLock()
        self.condition = Condition(self._lock)
        self.closed = False
        self._few = self.capacity // 2      # so few elements that threads that rest are woken
        self._rest = False                  # whether there are any: they have been served, and do not know it yet
        self._filling: collections.deque[_Request] = collections.deque()
        self._taking: collections.deque[_Request] = collections.deque()
        self._store = rows_of(self.types, shapes)
        self._exact = None if shapes is None or any(None in shape for shape in shapes) else [tuple(shape) for shape in shapes]
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
        self._check_equal("kind", self.kind, other.kind)
        self._check_equal("capacity", self.capacity, other.capacity)
        self._check_equal("component types", [t.name for t in self.types], [t.name for t in other.types])
        self._check_equal("component shapes", self.shapes, other.shapes)

    def _check_equal(self, what: str, own: Any, wanted: Any) -> None:
        if own != wanted:
            raise errors.InvalidArgumentError(None, None, f"Shared queue '{self.name}' has {what} {own} but requested {what} "
                                                          f"{'were' if what.endswith('s') else 'was'} {wanted}")

    # -- requests

    def enqueue(self, row: Row, wait: Wait, later: Later | None = None) -> None:
        """Adds one element; waits for room, now or `later`.  Raises CancelledError if the queue is closed."""
        self._check_number(len(row))
        for k, array in enumerate(row):
            if self._exact is None or array.shape != self._exact[k]:
                self._check_shape(k, array.shape, None)
        with self._lock:
            if self._filling or self.closed or len(self._rows) >= self.capacity:
                self._serve(self._filling, _Request([self._store.keep_one(row)]), wait, later)
            else:
                self._put([self._store.keep_one(row)])
                if self._taking:
                    self._advance()

    def enqueue_many(self, columns: list[np.ndarray], wait: Wait, later: Later | None = None) -> None:
        """Adds the rows of `columns`, which have one more dimension than the elements, as there is room for them."""
        self._check_number(len(columns))
        count = columns[0].shape[0] if columns[0].ndim else 0
        for k, array in enumerate(columns):
            self._check_shape(k, array.shape, count)
        with self._lock:
            self._serve(self._filling, _Request(self._store.keep(columns, count)), wait, later)

    def dequeue(self, wait: Wait) -> Row:
        """Takes one element; waits for it.  Raises OutOfRangeError if the queue is closed and empty."""
        with self._lock:
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
        with self._lock:
            return self._store.stacked(self._drain(count, partial, wait) if count else [])

    def close(self, cancel: bool, wait: Wait) -> None:
        """No more elements from now on; elements already there can be taken.

        With `cancel`, threads that wait for room get a CancelledError; else closing waits its turn behind them.
        Raises CancelledError if the queue is closed already.
        """
        with self._lock:
            if not cancel:
                self._serve(self._filling, _Request(closes=True), wait)
                return
            self.closed = True
            while self._filling:
                self._refuse(self._filling.popleft(), "Enqueue operation was cancelled")
            self._advance()
            self._wake()

    def _refuse(self, request: _Request, message: str) -> None:
        self._store.forget(request.rows[request.put:])
        request.finish(_cancelled(message))

    def _drain(self, count: int, partial: bool, wait: Wait) -> list:
        """The tokens of so many elements, of which nobody else is to have the first."""
        if not self._taking and self._available() >= count:
            found = self._take(count)
            if self._filling:
                self._advance()
            elif self._rest and len(self._rows) <= self._few:
                self._wake()
            return found
        request = _Request(wanted=count, partial=partial)
        self._serve(self._taking, request, wait)
        return request.rows

    def _serve(self, line: collections.deque[_Request], request: _Request, wait: Wait, later: Later | None = None) -> None:
        line.append(request)
        self._advance()
        if request.done or later is None:
            self._finish(line, request, wait)
        else:
            later(lambda wait: self._finish(line, request, wait))

    def _finish(self, line: collections.deque[_Request], request: _Request, wait: Wait) -> None:
        """Waits until a request that stands in its line has been served.  Raises what became of it."""
        with self._lock:
            if not request.done:
                request.sleeps, request.patient = True, line is self._filling and getattr(_patience, "on", False)
                self._wait_for(line, request, wait)
        if request.error is not None:
            raise request.error

    def _wait_for(self, line: collections.deque[_Request], request: _Request, wait: Wait) -> None:
        try:
            wait(self.condition, lambda: request.done)
        except BaseException as error:
            if not request.done:
                line.remove(request)
                # nothing is lost with a thread that gives up taking
                self._put_back(request.rows) if line is self._taking else self._store.forget(request.rows[request.put:])
                self._advance()
            if isinstance(error, errors.CancelledError):
                raise _cancelled(("Dequeue" if line is self._taking else "Enqueue") + " operation was cancelled") from None
            raise

    def _advance(self) -> None:
        """Serves both lines as far as they can be served; wakes the threads if one of those served sleeps and is to know."""
        changed = True
        woken = False
        while changed:
            changed = False
            for line, serve in ((self._filling, self._serve_filling), (self._taking, self._serve_taking)):
                if line:
                    request = line[0]
                    changed |= serve(request)
                    if request.done and request.sleeps:
                        if request.patient:
                            self._rest = True
                        else:
                            woken = True
        if woken or self._rest and (self._taking or len(self._rows) <= self._few):
            self._wake()

    def _wake(self) -> None:
        self._rest = False
        self.condition.notify_all()

    def _serve_filling(self, request: _Request) -> bool:
        """Serves the first in the line; whether anything has changed."""
        changed = False
        if request.closes:
            error = _cancelled(f"Queue '{self.name}' is already closed.") if self.closed else None
            self.closed = True
            request.finish(error)
        elif self.closed and request.put < len(request.rows):
            self._refuse(request, f"{self.kind} '{self.name}' is closed.")
        else:
            ready = min(self.capacity - len(self), len(request.rows) - request.put)
            if ready > 0:
                self._put(request.rows[request.put:request.put + ready])
                request.put += ready
                changed = True
            if request.put == len(request.rows):
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

    def _check_number(self, count: int) -> None:
        if count != len(self.types):
            raise errors.InvalidArgumentError(None, None, f"Signature mismatch: elements of queue '{self.name}' have "
                                                          f"{len(self.types)} components, got {count}")

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
        self.minimum, self._seeds = minimum, (seed, seed2)
        self._few = minimum + (self.capacity - minimum) // 2
        self._rows = []
        self._random = Reader(Bits.reserve(Stream(), seed, seed2, 0), ahead=512)

    def check_same(self, other: Queue) -> None:
        super().check_same(other)
        self._check_equal("min_after_dequeue", self.minimum, other.minimum)  # type: ignore[attr-defined]
        self._check_equal("random seeds", self._seeds, other._seeds)  # type: ignore[attr-defined]

    def _available(self) -> int:
        return len(self._rows) - (0 if self.closed else self.minimum)

    def _take(self, count: int) -> list:
        rows, found, left = self._rows, [], len(self._rows)
        for word in self._random.some(count):
            index = word % left
            left -= 1
            found.append(rows[index])
            rows[index] = rows[left]
        del rows[left:]
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
