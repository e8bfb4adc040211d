"""What stands in for the driver while a run is recorded: it asks the driver for all that is asked of it, and notes that."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jitgraph.runtime.memory import address_of

from .driver import Driver, Function, Stream

LONGEST = 20_000        # launches and copies of a recording
MOST_KEPT = 1 << 20     # bytes of the host that a recording may keep, to copy them again

Call = tuple[str, tuple[Any, ...]]      # a method of a driver, and what it is given


class Tape:
    """A driver, as far as anybody asks it for work.  Everything else is the real one's.

    `refused`: why what is noted cannot be asked for again, if it cannot.  `boxes`: pinned memory that answers are copied to; `fed`:
    such that feeds are copied from, as they are then.  All else of the host is copied as it was when it was noted.
    """

    def __init__(self, driver: Driver, box: np.ndarray) -> None:
        self.driver, self.boxes, self.fed, self.refused = driver, [box], [box], ""
        self.notes = True               # whether it does
        self._calls: list[Call | None] = []
        self._cleared: set[int] = set()         # words of errors
        self._answers: dict[tuple[int, int], int] = {}          # (to, from) of copies to the host -> the last of them in `_calls`
        self._kept = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.driver, name)

    def refuse(self, why: str) -> None:
        """Says why it cannot be asked for again."""
        self.refused = self.refused or why

    def is_renewed(self, array: np.ndarray) -> bool:
        """Whether an array lies where each run finds feeds of its own."""
        return any(lies_in(array, box) for box in self.fed)

    def cut(self) -> list[Call]:
        """What was noted since the last cut."""
        calls = [*filter(None, self._calls)]
        self._calls, self._answers = [], {}
        return calls

    def looked_at(self) -> None:
        """The words of errors are looked at next."""
        self._cleared.clear()

    def _note(self, name: str, *given: Any) -> None:
        if self.notes and not self.refused:
            self._calls.append((name, given))
            if len(self._calls) > LONGEST:
                self.refuse("it is too long")

    # work --------------------------------------------------------------------------------------------------------------
    def launch(self, function: Function, blocks: int, threads: int, pointers: Sequence[int], nbytes: Sequence[int], stream: Stream,
               reached: Sequence[tuple[int, int]] = ()) -> None:
        self.driver.launch(function, blocks, threads, pointers, nbytes, stream, reached)
        self._note("launch", function, blocks, threads, [*pointers], [*nbytes], stream, [*reached])

    def ask(self, work: Any, given: Sequence[Any], stream: Stream) -> None:
        self.driver.ask(work, given, stream)
        self._note("ask", work, given, stream)

    def on_device(self, to: int, start: int, nbytes: int, stream: Stream) -> None:
        self.driver.on_device(to, start, nbytes, stream)
        self._note("on_device", to, start, nbytes, stream)

    def fill(self, address: int, byte: int, nbytes: int, stream: Stream) -> None:
        """Words of errors are cleared once before they are looked at: a body of a loop has them for all its iterations."""
        self.driver.fill(address, byte, nbytes, stream)
        if address not in self._cleared:
            self._cleared.add(address)
            self._note("fill", address, byte, nbytes, stream)

    def to_device(self, address: int, array: np.ndarray, stream: Stream) -> None:
        self.driver.to_device(address, array, stream)
        if self.notes and not self.is_renewed(array):
            array = np.array(array)
            self._kept += array.nbytes
            if self._kept > MOST_KEPT:
                self.refuse("it takes much from the host")
        self._note("to_device", address, array, stream)

    def to_host(self, array: np.ndarray, address: int, stream: Stream) -> None:
        """Of several copies to the same memory only the last counts, for nobody looks at it before the next cut."""
        self.driver.to_host(array, address, stream)
        if self.refused or not self.notes:
            return
        if not any(lies_in(array, box) for box in self.boxes):
            return self.refuse("the host looks at a value of the device")
        key = address_of(array), address
        if key in self._answers:
            self._calls[self._answers[key]] = None
        self._answers[key] = len(self._calls)
        self._note("to_host", array, address, stream)

    def between(self, to: tuple[int, int], start: tuple[int, int], nbytes: int, stream: Stream) -> None:
        self.driver.between(to, start, nbytes, stream)
        if self.notes:
            self.refuse("it copies between devices")

    def launch_graph(self, graph: Any, stream: Stream) -> None:
        self.driver.launch_graph(graph, stream)
        self.refuse("it launches a graph")


def ask_again(driver: Driver, calls: Iterable[Call]) -> None:
    """Asks a driver for what was noted."""
    for name, given in calls:
        getattr(driver, name)(*given)


def lies_in(array: Any, block: np.ndarray) -> bool:
    """Whether an array lies in the memory of a block."""
    if not isinstance(array, np.ndarray):
        return False
    at = address_of(array) - address_of(block)
    return at >= 0 and at + array.nbytes <= block.nbytes and block.nbytes > 0
