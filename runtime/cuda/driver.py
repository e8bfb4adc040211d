"""What the runtime asks of a CUDA driver: about thirty calls, and the small handles that they give and take.

Addresses of device memory are ints.  Work on a stream is done in order, some time after the call that asked for it: its
results may be looked at after `synchronize`, or after `wait_for` an event recorded behind it.  While a stream is captured,
work for it is noted instead of done; `instantiate` makes a graph of it, which does the same work with the same addresses as
often as it is launched.  Between `begin_capture` and `end_capture` the thread may neither allocate, free, load nor
synchronise, nor give work to a stream outside of the capture: what was captured is void then.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from jitgraph.compiler.kernel import Kernel


class DriverError(RuntimeError):
    """A call that the driver refused, in one sentence, with what to do where something can be done."""


class NoDriver(DriverError):
    """There is no driver, none that serves, or no device."""


class OutOfMemory(DriverError):
    """A device, or the host for a device, has not the memory that was asked for: `nbytes`."""

    def __init__(self, message: str, nbytes: int) -> None:
        super().__init__(message)
        self.nbytes = nbytes


class Properties(NamedTuple):
    """A device: its name, compute capability, bytes of memory and number of multiprocessors; `pci` says where it is put."""

    name: str
    capability: tuple[int, int]
    memory: int
    multiprocessors: int
    pci: str = ""


class Stream(NamedTuple):
    device: int
    handle: Any


class Event(NamedTuple):
    device: int
    handle: Any


class Function(NamedTuple):
    """A kernel that is loaded on a device."""

    device: int
    name: str
    handle: Any


class Captured(NamedTuple):
    """What a capture has noted, for `instantiate` to take."""

    device: int
    handle: Any


class Graph(NamedTuple):
    device: int
    handle: Any


class Driver(Protocol):
    """Every call raises DriverError where it fails; work that fails later is told by the next call that waits for it."""

    name: str

    # devices and memory ----------------------------------------------------------------------------------------
    def devices(self) -> Sequence[Properties]:
        """The devices, by ordinal.  Raises NoDriver where there are none."""
        ...

    def version(self) -> str:
        """What the driver says of itself."""
        ...

    def alloc(self, device: int, nbytes: int) -> int:
        """The address of `nbytes` bytes, at least one, a multiple of 256.  Raises OutOfMemory."""
        ...

    def free(self, device: int, address: int) -> None:
        """Gives back what `alloc` gave.  Work that uses it must be done."""
        ...

    def memory(self, device: int) -> tuple[int, int]:
        """(bytes that are free, bytes in all)."""
        ...

    def pinned(self, nbytes: int) -> np.ndarray:
        """Bytes of the host that stay where they are, so that copies need not wait for them.  Raises OutOfMemory."""
        ...

    def free_pinned(self, array: np.ndarray) -> None:
        """Gives back what `pinned` gave."""
        ...

    # copies ------------------------------------------------------------------------------------------------------
    def to_device(self, address: int, array: np.ndarray, stream: Stream) -> None:
        """Copies a contiguous array to a device.  Where that is pinned, it must not change until the copy is done."""
        ...

    def to_host(self, array: np.ndarray, address: int, stream: Stream) -> None:
        """Copies to a contiguous array, which is not to be looked at until the copy is done."""
        ...

    def on_device(self, to: int, start: int, nbytes: int, stream: Stream) -> None:
        """Copies within a device, between ranges that do not overlap."""
        ...

    def between(self, to: tuple[int, int], start: tuple[int, int], nbytes: int, stream: Stream) -> None:
        """Copies between two devices, `to` and `start` being (device, address), on a stream of either."""
        ...

    def fill(self, address: int, byte: int, nbytes: int, stream: Stream) -> None:
        """Sets bytes."""
        ...

    # streams and events ------------------------------------------------------------------------------------------
    def stream(self, device: int) -> Stream:
        """A new stream, which waits for no other."""
        ...

    def free_stream(self, stream: Stream) -> None: ...

    def synchronize(self, stream: Stream) -> None:
        """Waits until all work of a stream is done."""
        ...

    def event(self, device: int) -> Event: ...

    def free_event(self, event: Event) -> None: ...

    def record(self, event: Event, stream: Stream) -> None:
        """Sets an event behind the present work of a stream."""
        ...

    def wait(self, stream: Stream, event: Event) -> None:
        """Lets further work of a stream wait for an event, as it was recorded last."""
        ...

    def wait_for(self, event: Event) -> None:
        """Waits here until the work before an event is done."""
        ...

    def elapsed(self, start: Event, end: Event) -> float:
        """Milliseconds between two events, for both of which somebody has waited."""
        ...

    # kernels -------------------------------------------------------------------------------------------------------
    def object_code(self, kernel: Kernel, capability: tuple[int, int]) -> bytes:
        """What `load` takes for an emitted kernel.  Raises CompileError, or ExtraMissing where nothing can compile it."""
        ...

    def object_codes(self, kernels: Sequence[Kernel], capability: tuple[int, int]) -> list[bytes]:
        """The same of many, which may take less time than one after the other."""
        ...

    def load(self, device: int, code: bytes, name: str) -> Function: ...

    def unload(self, function: Function) -> None: ...

    def launch(self, function: Function, blocks: int, threads: int, pointers: Sequence[int], nbytes: Sequence[int],
               stream: Stream, reached: Sequence[tuple[int, int]] = ()) -> None:
        """Runs a kernel on a grid.  For drivers that check: `nbytes`, how much memory there is for it behind each pointer, and
        `reached`, the buffers that it finds in a table as (address, nbytes)."""
        ...

    def library(self, device: int, optimisation: str) -> Any:
        """The functions of the library for an optimisation of LIBRARIES (see `cublaslt`, `cudnn`), None where it is not installed;
        the device is this thread's present one afterwards."""
        ...

    def ask(self, work: Callable[..., None], given: Sequence[Any], stream: Stream) -> None:
        """Lets a library give its work to a stream: `work(*given)`."""
        ...

    # graphs ----------------------------------------------------------------------------------------------------------
    def begin_capture(self, stream: Stream) -> None: ...

    def end_capture(self, stream: Stream) -> Captured:
        """What was noted.  Raises DriverError, and the capture is over, where it is void."""
        ...

    def instantiate(self, captured: Captured) -> Graph: ...

    def launch_graph(self, graph: Graph, stream: Stream) -> None: ...

    def free_graph(self, graph: Graph) -> None: ...
