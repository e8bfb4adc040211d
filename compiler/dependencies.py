"""Which units of work must be finished before which, while units are made, grow and are joined.

What `fuse` joins into kernels, and `batch` into launches, must not wait for itself: each asks here, and gets an order in the end.
"""
from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from typing import Any


class Dependencies:
    """Units by number: what each `needs` at once, what it is `needed_by`, and all that must be done before it as a bit set."""

    def __init__(self) -> None:
        self.needs: dict[int, set[int]] = {}
        self.needed_by: dict[int, set[int]] = {}
        self._before: list[int] = []

    def new(self) -> int:
        """The number of a new unit, which needs nothing yet."""
        number = len(self._before)
        self.needs[number], self.needed_by[number] = set(), set()
        self._before.append(0)
        return number

    def depend(self, unit: int, needs: Iterable[int]) -> None:
        """Records that a unit runs after `needs`, and so after everything before those."""
        bits = 0
        for needed in needs:
            if needed != unit:
                self.needs[unit].add(needed)
                self.needed_by[needed].add(unit)
                bits |= self._before[needed] | 1 << needed
        if bits & ~self._before[unit]:
            self._before[unit] |= bits
            for other in self._all_after(unit):
                self._before[other] |= bits

    def is_before(self, unit: int, others: Iterable[int]) -> bool:
        """Whether any of the others, but the unit itself, waits for the unit."""
        return any(other != unit and self._before[other] >> unit & 1 for other in others)

    def joins(self, a: int, b: int) -> bool:
        """Whether two units may become one: neither waits for something that waits for the other."""
        return not (self.is_before(a, self.needs[b]) or self.is_before(b, self.needs[a]))

    def join(self, a: int, b: int) -> None:
        """Lets unit a stand for both; there is no unit b any more."""
        for unit in self.needs[b]:
            self.needed_by[unit].discard(b)
        for unit in self.needed_by[b]:
            self.needs[unit].discard(b)
        self.needs[a] = (self.needs[a] | self.needs.pop(b)) - {a, b}
        self.needed_by[a] = (self.needed_by[a] | self.needed_by.pop(b)) - {a, b}
        for unit in self.needs[a]:
            self.needed_by[unit].add(a)
        for unit in self.needed_by[a]:
            self.needs[unit].add(a)
        bit_a, bit_b = 1 << a, 1 << b
        before = (self._before[a] | self._before[b]) & ~(bit_a | bit_b)
        for unit in self._all_after(a):         # it came after one of them, and comes now after what either needs
            self._before[unit] = self._before[unit] & ~bit_b | bit_a | before
        self._before[a] = before

    def _all_after(self, unit: int) -> set[int]:
        """The units that run after this one."""
        found: set[int] = set()
        stack = [unit]
        while stack:
            new = self.needed_by[stack.pop()] - found
            found |= new
            stack.extend(new)
        return found

    def ordered(self, first: Callable[[int], Any]) -> list[int]:
        """All units, each after what it needs; of those that can run that of which `first` gives the least."""
        waiting = {unit: len(needs) for unit, needs in self.needs.items()}
        ready = [(first(unit), unit) for unit, count in waiting.items() if not count]
        heapq.heapify(ready)
        order = []
        while ready:
            unit = heapq.heappop(ready)[1]
            order.append(unit)
            for user in self.needed_by[unit]:
                waiting[user] -= 1
                if not waiting[user]:
                    heapq.heappush(ready, (first(user), user))
        assert len(order) == len(self.needs), "units were joined that need each other"
        return order
