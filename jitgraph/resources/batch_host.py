"""What runs of several threads share to be computed as one batch: lines of batches, and what hands results back to each run."""
from __future__ import annotations

import collections
import itertools
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jitgraph.graph import errors
from jitgraph.resources.condition import Condition

Wait = Callable[..., None]      # see `State.wait`


def _invalid(message: str) -> errors.OpError:
    return errors.InvalidArgumentError(None, None, message)


class Task:
    """What one run brings: arrays that have the same number of rows."""

    def __init__(self, inputs: Sequence[np.ndarray]):
        if not all(array.ndim for array in inputs):
            raise _invalid("Batching input tensors must have at least one dimension")
        if any(len(array) != len(inputs[0]) for array in inputs):
            raise _invalid("Batching input tensors supplied in a given op invocation must have equal 0th-dimension size")
        self.inputs, self.size, self.key = list(inputs), len(inputs[0]), secrets.randbits(64) - 2 ** 63
        self.result: Any = None


class Batch:
    """Tasks that are computed together.  ``due``: when it is closed at the latest; ``taken``: that its last task may compute it."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.due = float("inf")
        self.taken = self.done = False
        self.error: errors.OpError | None = None

    @property
    def size(self) -> int:
        """The number of rows."""
        return sum(task.size for task in self.tasks)


class Batcher:
    """Batches for the nodes of one shared name, a line of them for each name of a queue.

    ``threads``: how many batches are computed at once; ``limit``: the rows of a batch at most; ``patience``: microseconds until
    a batch is closed that is not full; ``longest``: batches in a line at most, any number if it is negative; ``allowed``: the
    numbers of rows that a batch may be padded to, any if it is empty.
    """

    def __init__(self, threads: int, limit: int, patience: int, longest: int, allowed: Sequence[int]):
        for size, following in itertools.pairwise(allowed):
            if following <= size:
                raise _invalid("allowed_batch_sizes entries must be monotonically increasing")
        if allowed and allowed[-1] != limit:
            raise _invalid("final entry in allowed_batch_sizes must equal max_batch_size")
        if threads < 1:
            raise _invalid(f"num_batch_threads must be positive; was {threads}")
        if limit < 1:
            raise _invalid(f"max_batch_size must be positive; was {limit}")
        if patience < 0:
            raise _invalid(f"batch_timeout_micros must be non-negative; was {patience}")
        self.limit, self.patience, self.allowed = limit, patience * 1e-6, list(allowed)
        self.longest = float("inf") if longest < 0 else longest
        self.condition = Condition()
        self._free = threads
        self._lines: dict[str, collections.deque[Batch]] = {}

    def check_same(self, other: Batcher) -> None:
        """The first node of a name states the limits for all."""

    def run(self, queue: str, inputs: Sequence[np.ndarray], compute: Callable[[Batch], None], wait: Wait) -> Any:
        """What `compute` leaves as the result of a task with these inputs; one thread calls it for all tasks of a batch.

        Raises InvalidArgumentError if the task is larger than a batch, UnavailableError if the line is full, and what
        `compute` raises in every run that takes part in the batch.
        """
        task = Task(inputs)
        with self.condition:
            batch = self._joined(queue, task)
            self._close()
            try:
                wait(self.condition, lambda: self._ready(batch, task), lambda: batch.due if self._free else float("inf"))
            except BaseException:
                self._leave(queue, batch, task)
                raise
        if not batch.done:
            self._compute(batch, compute)
        if batch.error is not None:
            kind: Any = type(batch.error)
            raise kind(None, None, batch.error.message)
        return task.result

    def _joined(self, queue: str, task: Task) -> Batch:
        """The batch that takes the task."""
        if task.size > self.limit:
            raise _invalid(f"Task size {task.size} is larger than maximum batch size {self.limit}")
        line = self._lines.setdefault(queue, collections.deque())
        if not line:
            line.append(Batch())
        if line[-1].size + task.size > self.limit:
            if len(line) >= self.longest:
                raise errors.UnavailableError(None, None, "The batch scheduling queue to which this task was submitted is full")
            line[-1].due = 0.0
            line.append(Batch())
        batch = line[-1]
        if not batch.tasks:
            batch.due = time.monotonic() + self.patience
        batch.tasks.append(task)
        if batch.size == self.limit:
            batch.due = 0.0
        return batch

    def _ready(self, batch: Batch, task: Task) -> bool:
        self._close()
        return batch.done or batch.taken and batch.tasks[-1] is task

    def _close(self) -> None:
        """Takes the batches that are due out of their lines, as many as may be computed."""
        now = time.monotonic()
        for line in self._lines.values():
            while self._free and line and line[0].tasks and line[0].due <= now:
                self._free -= 1
                line.popleft().taken = True
                self.condition.notify_all()

    def _leave(self, queue: str, batch: Batch, task: Task) -> None:
        """Takes a task back whose run gives up."""
        if batch.done:
            return
        was_last = batch.tasks[-1] is task
        if not batch.taken:
            batch.tasks.remove(task)
            if not batch.tasks:
                self._lines[queue].remove(batch)
        elif was_last:
            self._finish(batch, errors.CancelledError(None, None, "The run that was to compute the batch was cancelled"))
        self.condition.notify_all()

    def _compute(self, batch: Batch, compute: Callable[[Batch], None]) -> None:
        try:
            compute(batch)
        except errors.OpError as error:
            self._finish(batch, error)
        except BaseException:
            self._finish(batch, errors.CancelledError(None, None, "The run that was to compute the batch was cancelled"))
            raise
        else:
            self._finish(batch, None)

    def _finish(self, batch: Batch, error: errors.OpError | None) -> None:
        with self.condition:
            batch.done, batch.error = True, error
            self._free += 1
            self._close()
            self.condition.notify_all()

    # -- arrays

    def joined(self, batch: Batch) -> tuple[list[np.ndarray], int]:
        """The inputs of all tasks, one behind the other, and how many rows are added to come to an allowed size."""
        tasks = batch.tasks
        if any(len(task.inputs) != len(tasks[0].inputs) for task in tasks):
            raise _invalid("Batching inputs must have equal number of edges")
        padding = next((size for size in self.allowed if size >= batch.size), batch.size) - batch.size
        found = []
        for number, first in enumerate(tasks[0].inputs):
            parts = [task.inputs[number] for task in tasks]
            if padding and not len(first):
                raise _invalid(f"Cannot use an empty tensor with zero rows as padding when batching. (Input {number} got shape "
                               f"{_shape(first)}.)")
            found.append(concatenated(parts + [first[:1]] * padding))
        return found, padding


def concatenated(parts: Sequence[np.ndarray]) -> np.ndarray:
    """The rows of all.  Raises InvalidArgumentError if they are of different shapes."""
    for number, part in enumerate(parts):
        if part.ndim != parts[0].ndim:
            raise _invalid(f"Ranks of all input tensors should match: shape[0] = {_shape(parts[0])} vs. "
                           f"shape[{number}] = {_shape(part)}")
        if part.shape[1:] != parts[0].shape[1:]:
            raise _invalid(f"Dimensions of inputs should match: shape[0] = {_shape(parts[0])} vs. "
                           f"shape[{number}] = {_shape(part)}")
    return np.concatenate(parts)


def _shape(array: np.ndarray) -> str:
    return f"[{','.join(map(str, array.shape))}]"


class Unbatcher:
    """Hands the parts of a batch to the runs that they belong to.  ``patience``: the seconds that a run waits for its part."""

    def __init__(self, patience: float):
        self.patience = patience
        self.condition = Condition()
        self._parts: dict[int, tuple[float, np.ndarray]] = {}
        self._waiting: set[int] = set()

    def check_same(self, other: Unbatcher) -> None:
        """All are alike."""

    def take(self, key: int, data: np.ndarray, index: np.ndarray, wait: Wait) -> np.ndarray:
        """The part of the run `key`; the rows of `index` say what parts of `data` are whose, where this run has the batch."""
        if not index.ndim or not data.ndim:
            raise _invalid(f"A batch of shape {_shape(data)} with an index of shape {_shape(index)} has no rows to hand out")
        if len(index) > len(data):
            raise _invalid(f"Wrong shape for index tensor. Expected 0th dimension size to be no greater than {len(data)}; Got: "
                           f"{len(index)}.")
        if index.shape[1:] != (3,):
            raise _invalid(f"Wrong shape for index tensor. Expected 1st dimension size to be 3 ; Got: {(*index.shape, 1)[1]}.")
        sizes = index[:, 2] - index[:, 1]
        if (sizes < 0).any():
            raise _invalid(f"The parts of a batch end before they begin: {index[:, 1:].tolist()}")
        if sizes.sum() > len(data):
            raise _invalid("Sum of split sizes must not exceed dim0-size of input tensor")
        ends = np.cumsum(sizes).tolist()
        with self.condition:
            deadline = time.monotonic() + self.patience
            self._forget()
            if key in self._waiting:
                raise errors.AlreadyExistsError(None, None, "Multiple session runs with the same batch key.")
            self._waiting.add(key)
            for owner, size, end in zip(index[:, 0].tolist(), sizes.tolist(), ends):
                if owner not in self._parts:
                    # those that wait have till they are awake, however late that is
                    self._parts[owner] = float("inf") if owner in self._waiting else deadline, np.array(data[end - size:end])
                elif owner != key:
                    self._waiting.discard(key)
                    raise errors.AlreadyExistsError(None, None, "Multiple tensors returned for same batch key.")
            self.condition.notify_all()
            try:
                wait(self.condition, lambda: key in self._parts or time.monotonic() >= deadline, lambda: deadline)
            finally:
                self._waiting.discard(key)
            if key not in self._parts:
                raise errors.DeadlineExceededError(None, None, "Batched data did not arrive within timeout window.")
            return self._parts.pop(key)[1]

    def _forget(self) -> None:
        """Parts for which no run has come in time."""
        now = time.monotonic()
        for key in [key for key, (deadline, _) in self._parts.items() if deadline < now]:
            del self._parts[key]


class GradientBatcher:
    """Collects the gradients of the runs of a batch in the run that has it."""

    def __init__(self) -> None:
        self.condition = Condition()
        self._parts: dict[int, np.ndarray] = {}

    def check_same(self, other: GradientBatcher) -> None:
        """All are alike."""

    def give(self, key: int, original: np.ndarray, index: np.ndarray, grad: np.ndarray, wait: Wait) -> np.ndarray:
        """The gradients of the runs that `index` names, one behind the other, once they are there; no rows in other runs."""
        with self.condition:
            if key in self._parts:
                raise _invalid("Two runs with the same batch key.")
            if not grad.ndim:
                raise _invalid("The gradient of the rows of a batch needs at least one dimension")
            if index.shape[1:] != (3,):
                raise _invalid(f"Wrong shape for index tensor. Expected [?,3]; Got: {_shape(index)}.")
            if original.size and not index.size:
                raise _invalid("batch_index is empty while the tensor isn't.")
            self._parts[key] = np.array(grad)
            self.condition.notify_all()
            if not original.size:
                return np.empty((0, *grad.shape[1:]), grad.dtype)
            owners = index[:, 0].tolist()
            wait(self.condition, lambda: all(owner in self._parts for owner in owners))
            return concatenated([self._parts.pop(owner) for owner in owners])
