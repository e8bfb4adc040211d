"""One device: its stream, its pooled memory, and the kernels that are loaded on it."""
from __future__ import annotations

import functools
import heapq
import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jitgraph.compiler.kernel import Kernel
from jitgraph.graph.errors import ResourceExhaustedError

from .convolutions import Convolutions
from .driver import Driver, Event, Function, OutOfMemory, Properties, Stream
from .products import Product, Products
from .returns import Returns

SMALLEST = 512          # bytes of a block


class Device:
    """A device of a driver.  All work for it goes to one stream, in order, so that memory may serve another run as soon as
    the one before has asked for all its work.

    `limit` is the most memory that may be taken, in bytes; nothing is taken before it is needed.
    """

    def __init__(self, driver: Driver, ordinal: int, properties: Properties, lock: Any = None,
                 relieve: Callable[[], None] = lambda: None) -> None:
        """`relieve`: gives up memory that others could do without."""
        self.driver, self.ordinal, self.properties = driver, ordinal, properties
        self.lock = lock or threading.RLock()           # under which its stream is given work
        self.relieve, self.recording = relieve, None        # which is told of blocks that are taken
        self.limit = math.inf
        self.used = self.most_used = 0                  # bytes that were asked of the driver, now and at most
        self._idle: dict[int, list[int]] = {}           # addresses by bytes, heaps: the lowest serves next
        self.returns = Returns()            # (address, bytes) of blocks that nobody has any more
        self._functions: dict[tuple[str, bytes], Function] = {}
        self._libraries: dict[str, Products | Convolutions] = {}        # by optimisation

    def __repr__(self) -> str:
        return f"GPU:{self.ordinal}"

    @functools.cached_property
    def stream(self) -> Stream:
        return self.driver.stream(self.ordinal)

    @functools.cached_property
    def event(self) -> Event:
        """An event for whoever orders streams at the moment."""
        return self.driver.event(self.ordinal)

    def synchronize(self) -> None:
        """Waits until all its work is done.  Raises what that met with."""
        self.driver.synchronize(self.stream)

    # memory ------------------------------------------------------------------------------------------------------
    def take(self, nbytes: int) -> Block:
        """A block of at least so many bytes, of those that nobody uses that at the lowest address: what takes and gives back in the
        same order again finds itself at the same addresses, for which graphs were captured.  Raises ResourceExhaustedError."""
        size = _rounded(nbytes)
        with self.lock:
            self._collect()
            block = self._idle_block(size)
            if block is None:
                block = self._new_block(size, nbytes)
            if self.recording is not None:
                self.recording.taken(block)
            return block

    def _idle_block(self, size: int) -> Block | None:
        idle = self._idle.get(size)
        return Block(self, heapq.heappop(idle), size) if idle else None

    def claim(self, address: int, size: int) -> Block | None:
        """A certain block, if nobody uses it."""
        with self.lock:
            self._collect()
            idle = self._idle.get(size, [])
            if address not in idle:
                return None
            idle.remove(address)
            heapq.heapify(idle)
            return Block(self, address, size)

    def _new_block(self, size: int, nbytes: int) -> Block:
        try:
            return self._new(size)
        except OutOfMemory:
            self.relieve()
            self.trim()         # blocks of other sizes that nobody uses
        try:
            return self._new(size)
        except OutOfMemory as error:
            free, total = self.driver.memory(self.ordinal)
            raise ResourceExhaustedError(None, None, (
                f"OOM when allocating {nbytes} bytes on /device:GPU:{self.ordinal} ({self.properties.name}): {free} of {total} "
                f"bytes are free, this process has {self.used}; {error}")) from None

    def _new(self, size: int) -> Block:
        if self.used + size > self.limit:
            raise OutOfMemory(f"per_process_gpu_memory_fraction leaves it {int(self.limit)}", size)
        address = self.driver.alloc(self.ordinal, size)
        self.used += size
        self.most_used = max(self.most_used, self.used)
        return Block(self, address, size)

    def in_use(self) -> int:
        """The bytes that somebody uses."""
        with self.lock:
            self._collect()
            return self.used - sum(size * len(addresses) for size, addresses in self._idle.items())

    def _collect(self) -> None:
        for address, size in self.returns.come():
            heapq.heappush(self._idle.setdefault(size, []), address)

    def trim(self) -> None:
        """Gives the driver back what nobody uses."""
        self._collect()
        if any(self._idle.values()):
            self.synchronize()
        for size, addresses in self._idle.items():
            for address in addresses:
                self.driver.free(self.ordinal, address)
                self.used -= size
        self._idle.clear()

    # kernels -------------------------------------------------------------------------------------------------------
    def object_code(self, kernel: Kernel) -> bytes:
        """A kernel for this device."""
        return self.driver.object_code(kernel, self.properties.capability)

    def object_codes(self, kernels: Sequence[Kernel]) -> list[bytes]:
        """Many kernels for this device."""
        return self.driver.object_codes(kernels, self.properties.capability)

    def load(self, name: str, code: bytes) -> Function:
        """A kernel on this device."""
        found = self._functions.get((name, code))
        if found is None:
            found = self._functions[name, code] = self.driver.load(self.ordinal, code, name)
        return found

    # libraries -----------------------------------------------------------------------------------------------------
    def library_for(self, asked: Any) -> Any:
        """What makes such a thing, a Product or a Convolution, None where its library is not there; the device is this thread's
        present one afterwards."""
        name = "library_products" if isinstance(asked, Product) else "library_convolutions"
        functions = self.driver.library(self.ordinal, name)
        if functions is not None and name not in self._libraries:
            self._libraries[name] = Products(functions) if isinstance(asked, Product) else Convolutions(functions)
        return self._libraries.get(name)

    # copies ------------------------------------------------------------------------------------------------------
    def upload(self, address: int, array: np.ndarray) -> None:
        """Copies to it, some time after this."""
        self.driver.to_device(address, array, self.stream)

    def download(self, array: np.ndarray, address: int) -> None:
        """Copies from it, some time after this."""
        self.driver.to_host(array, address, self.stream)


class Block:
    """Memory of a device, which is used again when nobody has this any more."""

    __slots__ = ("device", "address", "nbytes", "__weakref__")

    def __init__(self, device: Device, address: int, nbytes: int) -> None:
        self.device, self.address, self.nbytes = device, address, nbytes
        device.returns.expect(self, (address, nbytes))


def _rounded(nbytes: int) -> int:
    """A size of blocks: an eighth of a power of two apart, so that somewhat different ones serve each other."""
    step = max(SMALLEST, 1 << max(nbytes.bit_length() - 4, 0))
    return -(-max(nbytes, 1) // step) * step
