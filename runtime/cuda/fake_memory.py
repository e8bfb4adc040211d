"""The memory of fake devices: an address space of its own for each, in which every wrong access is refused.

Memory is full of 0xA5 when it is allocated.  Addresses are never given out twice, and between two allocations lie bytes that
belong to none, so that what was freed, was never allocated or lies out of bounds is told apart.
"""
from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Protocol

import numpy as np

from .driver import DriverError, OutOfMemory

ALIGNMENT = 256
POISON = 0xA5
SHIFT = 44              # an address has its device above this bit, plus one, so that 0 and small numbers are nobody's


class Memory(Protocol):
    """What a library uses of a device: memory, and streams that do work some time later."""

    def bytes_at(self, device: int, address: int, nbytes: int, what: str) -> np.ndarray: ...

    def ask_for(self, device: int, handle: int, name: str, work: Callable[[], None]) -> None: ...


class Space:
    """The memory of one device."""

    def __init__(self, device: int, size: int) -> None:
        self.device, self.size, self.used = device, size, 0
        self._next = (device + 1) << SHIFT
        self._starts: list[int] = []
        self._blocks: dict[int, np.ndarray] = {}
        self._freed: dict[int, int] = {}        # start -> bytes

    def alloc(self, nbytes: int) -> int:
        if nbytes > self.size - self.used:
            raise OutOfMemory(f"device {self.device} has {self.size - self.used} of {self.size} bytes left, {nbytes} are asked for",
                              nbytes)
        start = self._next
        self._blocks[start] = np.full(nbytes, POISON, np.uint8)
        self._starts.append(start)
        self._next += (max(nbytes, 1) + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT + ALIGNMENT
        self.used += nbytes
        return start

    def free(self, address: int) -> None:
        if address not in self._blocks:
            raise DriverError(f"free of {self._where(address)}, which is not the start of an allocation of device {self.device}")
        self._freed[address] = len(self._blocks.pop(address))
        self._starts.remove(address)
        self.used -= self._freed[address]

    def view(self, address: int, nbytes: int | None, what: str) -> np.ndarray:
        """The bytes of a range, to the end of its allocation if `nbytes` is None; `what` says who wants them.  Raises DriverError
        where they are not all of one allocation."""
        k = bisect.bisect_right(self._starts, address) - 1
        start = self._starts[k] if k >= 0 else -1
        block = self._blocks.get(start)
        at = address - start
        if block is None or at > len(block) or (at == len(block) and nbytes):
            raise DriverError(f"{what}: {self._where(address)} is not memory of device {self.device}")
        if nbytes is None:
            return block[at:]
        if at + nbytes > len(block):
            raise DriverError(f"{what}: out of bounds, bytes {at} to {at + nbytes} of {len(block)} that were allocated on device "
                              f"{self.device}")
        return block[at:at + nbytes]

    def _where(self, address: int) -> str:
        owner = (address >> SHIFT) - 1
        if owner >= 0 and owner != self.device:
            return f"an address of device {owner}"
        for start, nbytes in self._freed.items():
            if start <= address < start + max(nbytes, 1):
                return f"{address:#x} (freed)"
        return f"{address:#x} (never allocated)"
