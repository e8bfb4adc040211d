"""The devices that a target has here: those of the machine's driver, or simulated ones."""
from __future__ import annotations

import contextlib
import functools
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from jitgraph.compiler.kernel import LIBRARIES
from jitgraph.graph.errors import ResourceExhaustedError

from .device import Device
from .driver import Driver, DriverError, Graph, OutOfMemory, Stream
from .returns import Returns

if TYPE_CHECKING:
    from .recording import Recording
    from .repeats import Repeats


class Machine:
    """A driver and its devices.  What is asked of them in a row, by several calls, is asked under `lock`: all runs share the
    streams of the devices."""

    def __init__(self, driver: Driver) -> None:
        self.driver, self.lock = driver, threading.RLock()
        self.devices = [Device(driver, ordinal, properties, self.lock, self.relieve)
                        for ordinal, properties in enumerate(driver.devices())]
        self.moves = 0          # how often a memory got a variable's present value, or lost it
        self.recording: Recording | None = None                 # of the run that has the lock
        self.repeats: weakref.WeakSet[Repeats] = weakref.WeakSet()      # that keep a recording
        self._idle: dict[int, list[np.ndarray]] = {}            # pinned memory by bytes
        self.returns, self.dead = Returns(), Returns()          # pinned memory, and graphs, that nobody has any more

    @functools.cached_property
    def libraries(self) -> frozenset[str]:
        """The optimisations of LIBRARIES that there is the library for."""
        return frozenset(name for name in LIBRARIES if self.driver.library(0, name) is not None)

    def relieve(self) -> None:
        """Gives up memory of recordings, which further runs would make again."""
        with self.lock:
            for repeats in [*self.repeats]:
                repeats.drop()
            self.repeats.clear()

    def order(self, before: Device, after: Device) -> None:
        """Lets further work of one device wait for the present work of another."""
        self.driver.record(before.event, before.stream)
        self.driver.wait(after.stream, before.event)

    def pinned(self, nbytes: int) -> Pinned:
        """Pinned memory of the host, at least so much."""
        size = 1 << max(nbytes - 1, 4095).bit_length()
        with self.lock:
            for array in self.returns.come():
                self._idle.setdefault(len(array), []).append(array)
            if self._idle.get(size):
                for device in self.devices:         # copies of the one who had it may be under way
                    device.synchronize()
                return Pinned(self, self._idle[size].pop())
            try:
                return Pinned(self, self.driver.pinned(size))
            except OutOfMemory as error:
                raise ResourceExhaustedError(None, None, f"OOM when allocating {nbytes} bytes of pinned memory: {error}") from None

    def captured(self, stream: Stream, ask: Callable[[], None]) -> OwnedGraph:
        """What `ask` asks of a stream, as a graph instead of being done."""
        try:
            self.driver.begin_capture(stream)
            ask()
            captured = self.driver.end_capture(stream)
        except BaseException:       # also of an interrupt right behind the beginning: an open capture would refuse all that follows
            with contextlib.suppress(DriverError):
                self.driver.end_capture(stream)
            raise
        return self.graph(self.driver.instantiate(captured))

    def graph(self, made: Graph) -> OwnedGraph:
        """A graph that is freed when nobody has it any more."""
        for gone in self.dead.come():
            self.driver.free_graph(gone)
        return OwnedGraph(self, made)


class Pinned:
    """Pinned memory, which is used again when nobody has this any more."""

    def __init__(self, machine: Machine, array: np.ndarray) -> None:
        self.array = array
        machine.returns.expect(self, array)


class OwnedGraph:
    """A graph, which is freed some time after nobody has this any more."""

    def __init__(self, machine: Machine, made: Graph) -> None:
        self.made = made
        machine.dead.expect(self, made)


_MACHINES: dict[int, Machine] = {}
_LOCK = threading.Lock()


def machine_of(target: object) -> Machine:
    """The machine behind a target, one for the process.  Raises NoDriver where there is none."""
    simulated: int = target.simulated       # type: ignore[attr-defined]
    with _LOCK:
        found = _MACHINES.get(simulated)
        if found is None:
            found = _MACHINES[simulated] = Machine(_driver(simulated))
        return found


def _driver(simulated: int) -> Driver:
    if simulated:
        from .fake import FakeDriver

        return FakeDriver(simulated)
    from .real import RealDriver

    return RealDriver()


