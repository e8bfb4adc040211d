"""Staging areas and maps as the host keeps them: elements put in one run and taken in another."""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.graph.errors import ResourceExhaustedError
from jitgraph.resources.condition import Condition

Wait = Callable[[threading.Condition, Callable[[], bool]], None]


class Room:
    """How many elements and bytes there may be; 0 for no limit."""

    def __init__(self, capacity: int, memory_limit: int):
        self.condition = Condition()
        self.capacity, self.memory_limit, self.bytes = capacity, memory_limit, 0

    def check_same(self, other: Any) -> None:
        """All areas of a name are one, whatever their limits: those of the first count."""

    def fits(self, count: int, size: int) -> bool:
        """Whether there is room for one more element, of `size` bytes, beside `count`."""
        return (not self.capacity or count < self.capacity) and (not self.memory_limit or self.bytes + size <= self.memory_limit)

    def measured(self, values: list[np.ndarray]) -> int:
        """The bytes of tensors.  Raises ResourceExhaustedError if they will never fit."""
        size = sum(value.nbytes for value in values)
        if self.memory_limit and size > self.memory_limit:
            raise ResourceExhaustedError(None, None, f"Attempted to insert tensors with combined size of '{size}' bytes into "
            f"Staging "
                                                     f"Area with a memory limit of '{self.memory_limit}'.")
        return size


class Area(Room):
    """Elements in the order in which they were put."""

    def __init__(self, capacity: int, memory_limit: int):
        super().__init__(capacity, memory_limit)
        self.elements: list[list[np.ndarray]] = []

    def put(self, values: list[np.ndarray], wait: Wait) -> None:
        """Adds an element; waits for room."""
        size = self.measured(values)
        with self.condition:
            wait(self.condition, lambda: self.fits(len(self.elements), size))
            self.elements.append(values)
            self.bytes += size
            self.condition.notify_all()

    def take(self, wait: Wait) -> list[np.ndarray]:
        """Takes the oldest element; waits for it."""
        with self.condition:
            wait(self.condition, lambda: bool(self.elements))
            values = self.elements.pop(0)
            self.bytes -= sum(value.nbytes for value in values)
            self.condition.notify_all()
            return values

    def see(self, index: int, wait: Wait) -> list[np.ndarray]:
        """The element of this number from the oldest on; waits for it."""
        with self.condition:
            wait(self.condition, lambda: len(self.elements) > index)
            return self.elements[index]

    def clear(self) -> None:
        """Takes all elements away."""
        with self.condition:
            self.elements, self.bytes = [], 0
            self.condition.notify_all()


class Map(Room):
    """Elements by keys; the tensors of one may be put and taken apart.  An ordered map gives the smallest key first."""

    def __init__(self, capacity: int, memory_limit: int, count: int, ordered: bool):
        super().__init__(capacity, memory_limit)
        self.count, self.ordered = count, ordered
        self.complete: dict[int, dict[int, np.ndarray]] = {}
        self.incomplete: dict[int, dict[int, np.ndarray]] = {}

    def put(self, key: int, indices: list[int], values: list[np.ndarray], wait: Wait) -> None:
        """Adds tensors of the element of a key, which others can take once all of its tensors are there."""
        size = self.measured(values)
        with self.condition:
            wait(self.condition, lambda: self.fits(len(self.complete), size))
            element = self.incomplete.setdefault(key, {})
            for index, value in zip(indices, values):
                self._check_index(key, index)
                if index in element:
                    raise invalid(f"The tensor for index '{index}' for key '{key}' was already initialized '{len(values)}'.")
                element[index] = value
            self.bytes += size
            if len(element) == self.count:
                self.complete.setdefault(key, self.incomplete.pop(key))
                self.condition.notify_all()

    def get(self, key: int, indices: list[int], wait: Wait, keep: bool) -> list[np.ndarray]:
        """The tensors of a key at `indices`, taken away unless they are to stay; waits for the key."""
        with self.condition:
            wait(self.condition, lambda: key in self.complete)
            return self._given(key, indices, keep)

    def take_any(self, indices: list[int], wait: Wait) -> tuple[int, list[np.ndarray]]:
        """(key, tensors at `indices`) of some element, the tensors taken away; waits for one."""
        with self.condition:
            wait(self.condition, lambda: bool(self.complete))
            key = min(self.complete) if self.ordered else next(iter(self.complete))
            return key, self._given(key, indices, False)

    def _given(self, key: int, indices: list[int], keep: bool) -> list[np.ndarray]:
        element = self.complete[key]
        for index in indices:
            self._check_index(key, index)
            if index not in element:
                raise invalid(f"Tensor at index '{index}' for key '{key}' has already been removed.")
        found = [element[index] for index in indices]
        if not keep:
            for index in indices:
                self.bytes -= element.pop(index).nbytes
            if not element:
                del self.complete[key]
            self.condition.notify_all()
        return found

    def _check_index(self, key: int, index: int) -> None:
        if not 0 <= index < self.count:
            raise invalid(f"Index '{index}' for key '{key}' was out of bounds '{self.count}'.")

    def clear(self) -> None:
        """Takes all elements away."""
        with self.condition:
            self.complete, self.incomplete, self.bytes = {}, {}, 0
            self.condition.notify_all()
