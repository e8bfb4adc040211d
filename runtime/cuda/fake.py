"""A CUDA driver without a GPU, for tests and for JITGRAPH_TARGET=cuda-simulator.

It does what a GPU does as late as a GPU may, and refuses what a GPU would punish only now and then:

- a stream works only when somebody waits for it, or for an event in it, so that whoever does not wait sees old values; what a
  copy will write on the host is full of 0xA5 until then
- addresses are those of one device, within one allocation that is not freed (`fake_memory`), when work is asked for and when
  it is done; copies do not overlap
- a capture holds no allocation, load or wait, no work for other streams, and no loose ends
- graphs do again what was captured, with the same addresses
- kernels run on a simulated grid, by their very text: all threads of a block in step (`compiler.emit.lanes`), or, with a seed, one
  after the other in a random order (`compiler.emit.simt`)
"""
from __future__ import annotations

import functools
import itertools
import json
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler.emit import lanes, simt
from jitgraph.compiler.emit.simt_memory import TYPES
from jitgraph.compiler.kernel import Kernel, memory_code
from jitgraph.declare.addresses import address_of

from .driver import Captured, DriverError, Event, Function, Graph, OutOfMemory, Properties, Stream
from .fake_memory import POISON, SHIFT, Space

if TYPE_CHECKING:
    from .fake_cublaslt import FakeCublasLt
    from .fake_cudnn import FakeCudnn

Work = Callable[[], None]
MEMORY = 1 << 34
TICK = 1e-3             # milliseconds that every piece of work seems to take


class _Queue:
    """The work of a stream that is not done yet, by number."""

    def __init__(self, stream: int) -> None:
        self.stream, self.done = stream, 0
        self.work: deque[Work] = deque()
        self.capture: _Capture | None = None

    @property
    def asked(self) -> int:
        """How much was asked for so far: no counter of its own, which an interrupt might leave behind."""
        return self.done + len(self.work)


class _Capture:
    """Work that is noted: in the order in which it was asked for; `loose` are streams that the first one has not waited for."""

    def __init__(self, first: _Queue) -> None:
        self.first, self.queues, self.thread = first, [first], threading.get_ident()
        self.work: list[Work] = []
        self.written: list[np.ndarray] = []
        self.counts: dict[_Queue, int] = {}
        self.loose: set[_Queue] = set()
        self.void = ""


class _Mark:
    """An event: where it was recorded last, and when that was reached."""

    def __init__(self) -> None:
        self.place: tuple[_Queue, int] | None = None
        self.captured: tuple[_Capture, _Queue, int] | None = None
        self.time: float | None = None


class FakeDriver:
    """A driver of so many devices, each with so much memory; `seed` gives kernels a random order of threads."""

    name = "fake"

    def __init__(self, devices: int = 1, memory: int = MEMORY, seed: int | None = None) -> None:
        self._spaces = [Space(k, memory) for k in range(devices)]
        self._queues: dict[int, _Queue] = {}
        self._marks: dict[int, _Mark] = {}
        self._loaded: dict[int, dict[str, Any]] = {}
        self._graphs: dict[int, tuple[list[Work], list[np.ndarray]]] = {}
        self._pinned: dict[int, np.ndarray] = {}
        self._captures: dict[int, _Capture] = {}        # by thread
        self.libraries: dict[tuple[int, str], FakeCublasLt | FakeCudnn] = {}        # by device and optimisation
        self._made, self._clock, self._seed = 0, 0.0, seed
        self._lock = threading.RLock()
        self.launched: deque[str] = deque(maxlen=10_000)    # names of kernels that ran, and "graph" for a graph before its own

    # devices and memory ----------------------------------------------------------------------------------------
    def devices(self) -> Sequence[Properties]:
        return [Properties(f"Simulated GPU {s.device}", (9, 0), s.size, 1, f"0000:{s.device:02x}:00.0") for s in self._spaces]

    def version(self) -> str:
        return "the simulator of a grid"

    def alloc(self, device: int, nbytes: int) -> int:
        with self._lock:
            self._outside_captures("an allocation")
            return self._space(device).alloc(nbytes)

    def free(self, device: int, address: int) -> None:
        with self._lock:
            self._outside_captures("a free")
            self._space(device).free(address)

    def memory(self, device: int) -> tuple[int, int]:
        space = self._space(device)
        return space.size - space.used, space.size

    def pinned(self, nbytes: int) -> np.ndarray:
        with self._lock:
            self._outside_captures("an allocation of pinned memory")
            if nbytes > MEMORY:
                raise OutOfMemory(f"the host has not {nbytes} bytes for pinned memory", nbytes)
            array = np.full(nbytes, POISON, np.uint8)
            self._pinned[address_of(array)] = array
            return array

    def free_pinned(self, array: np.ndarray) -> None:
        with self._lock:
            self._outside_captures("a free of pinned memory")
            if self._pinned.pop(address_of(array), None) is None:
                raise DriverError("free of an array that is not pinned memory")

    def _space(self, device: int) -> Space:
        if not 0 <= device < len(self._spaces):
            raise DriverError(f"there is no device {device}: there are {len(self._spaces)}")
        return self._spaces[device]

    def _is_pinned(self, array: np.ndarray) -> bool:
        at = address_of(array)
        return any(start <= at < start + len(block) for start, block in self._pinned.items())

    # work --------------------------------------------------------------------------------------------------------
    def _queue(self, stream: Stream) -> _Queue:
        found = self._queues.get(stream.handle)
        if found is None:
            raise DriverError(f"stream {stream.handle} of device {stream.device} was freed, or is of another driver")
        return found

    def _ask(self, stream: Stream, work: Work, written: Sequence[np.ndarray] = ()) -> None:
        """Puts work at the end of a stream, or notes it; `written` are arrays of the host that it will write."""
        queue = self._queue(stream)
        capture = queue.capture
        if capture is not None:
            capture.work.append(work)
            capture.written += written
            self._count(capture, queue)
            return
        mine = self._captures.get(threading.get_ident())
        if mine is not None:
            mine.void = f"work for stream {stream.handle}, which is not captured"
            raise DriverError(f"{mine.void}, during a capture")
        for array in written:
            _poison(array)
        queue.work.append(work)

    def _count(self, capture: _Capture, queue: _Queue) -> None:
        capture.counts[queue] = capture.counts.get(queue, 0) + 1
        if queue is not capture.first:
            capture.loose.add(queue)

    def _work(self, queue: _Queue, until: int) -> None:
        """Does the work of a stream up to that number."""
        while queue.done < until and queue.work:
            self._clock += TICK
            try:
                queue.work[0]()
            except BaseException:
                queue.done = queue.asked
                queue.work.clear()      # as on a GPU, nothing more comes of a stream in which work has failed
                raise
            queue.work.popleft()
            queue.done += 1

    def _outside_captures(self, what: str) -> None:
        capture = self._captures.get(threading.get_ident())
        if capture is not None:
            capture.void = what
            raise DriverError(f"{what} during a capture")

    # copies ------------------------------------------------------------------------------------------------------
    def to_device(self, address: int, array: np.ndarray, stream: Stream) -> None:
        with self._lock:
            source = _bytes_of(array)
            if not self._is_pinned(array) and self._queue(stream).capture is None:
                source = source.copy()          # as a driver does with memory that may move
            self._range(stream.device, address, len(source), "copy to the device")
            self._ask(stream, lambda: self._write(stream.device, address, source, "copy to the device"))

    def to_host(self, array: np.ndarray, address: int, stream: Stream) -> None:
        with self._lock:
            into = _bytes_of(array)
            self._range(stream.device, address, len(into), "copy to the host")

            def copy() -> None:
                into[...] = self._range(stream.device, address, len(into), "copy to the host")

            self._ask(stream, copy, [into])

    def on_device(self, to: int, start: int, nbytes: int, stream: Stream) -> None:
        if to < start + nbytes and start < to + nbytes:
            raise DriverError(f"copy of {nbytes} bytes from {start:#x} to {to:#x}: the two overlap")
        self._copy((stream.device, to), (stream.device, start), nbytes, stream)

    def between(self, to: tuple[int, int], start: tuple[int, int], nbytes: int, stream: Stream) -> None:
        if stream.device not in (to[0], start[0]):
            raise DriverError(f"copy between devices {start[0]} and {to[0]} on a stream of device {stream.device}")
        self._copy(to, start, nbytes, stream)

    def _copy(self, to: tuple[int, int], start: tuple[int, int], nbytes: int, stream: Stream) -> None:
        with self._lock:
            self._range(*start, nbytes, "copy from")
            self._range(*to, nbytes, "copy to")
            self._ask(stream, lambda: self._write(*to, self._range(*start, nbytes, "copy from"), "copy to"))

    def fill(self, address: int, byte: int, nbytes: int, stream: Stream) -> None:
        with self._lock:
            self._range(stream.device, address, nbytes, "fill")
            self._ask(stream, lambda: self._write(stream.device, address, np.full(nbytes, byte, np.uint8), "fill"))

    def _range(self, device: int, address: int, nbytes: int | None, what: str) -> np.ndarray:
        return self._space(device).view(address, nbytes, what)

    def _write(self, device: int, address: int, value: np.ndarray, what: str) -> None:
        self._range(device, address, len(value), what)[...] = value

    # streams and events ------------------------------------------------------------------------------------------
    def _handle(self) -> int:
        self._made += 1
        return self._made

    def stream(self, device: int) -> Stream:
        with self._lock:
            self._outside_captures("a new stream")
            self._space(device)
            stream = Stream(device, self._handle())
            self._queues[stream.handle] = _Queue(stream.handle)
            return stream

    def free_stream(self, stream: Stream) -> None:
        with self._lock:
            self._outside_captures("a free of a stream")
            queue = self._queue(stream)
            self._work(queue, queue.asked)
            del self._queues[stream.handle]

    def synchronize(self, stream: Stream) -> None:
        with self._lock:
            self._outside_captures("a synchronisation")
            queue = self._queue(stream)
            if queue.capture is not None:
                queue.capture.void = "a synchronisation by another thread"
                raise DriverError("a synchronisation with a stream that is captured")
            self._work(queue, queue.asked)

    def event(self, device: int) -> Event:
        with self._lock:
            event = Event(device, self._handle())
            self._marks[event.handle] = _Mark()
            return event

    def free_event(self, event: Event) -> None:
        self._marks.pop(event.handle, None)

    def _mark(self, event: Event) -> _Mark:
        found = self._marks.get(event.handle)
        if found is None:
            raise DriverError(f"event {event.handle} was freed, or is of another driver")
        return found

    def record(self, event: Event, stream: Stream) -> None:
        with self._lock:
            mark, queue = self._mark(event), self._queue(stream)
            if queue.capture is not None:
                mark.captured, mark.place = (queue.capture, queue, queue.capture.counts.get(queue, 0)), None
                return
            mark.time, mark.captured = None, None

            def reach() -> None:
                mark.time = self._clock

            self._ask(stream, reach)
            mark.place = queue, queue.asked

    def wait(self, stream: Stream, event: Event) -> None:
        with self._lock:
            mark, queue = self._mark(event), self._queue(stream)
            if mark.captured is not None:
                self._join(queue, *mark.captured)
                return
            if queue.capture is not None:
                queue.capture.void = "a wait for an event that was recorded outside of the capture"
                raise DriverError(queue.capture.void)
            if mark.place is not None:
                place = mark.place
                self._ask(stream, lambda: self._work(*place))

    def _join(self, queue: _Queue, capture: _Capture, other: _Queue, count: int) -> None:
        """A stream waits for captured work: it is captured from now on, too."""
        if capture.first.capture is not capture:
            raise DriverError("a wait for an event of a capture that is over")
        if queue.capture not in (None, capture):
            raise DriverError("a wait for an event of another capture")
        if queue.capture is None:
            queue.capture = capture
            capture.queues.append(queue)
            self._count(capture, queue)
        if capture.counts.get(other, 0) == count:
            capture.loose.discard(other)
        if queue is not capture.first:
            capture.loose.add(queue)

    def wait_for(self, event: Event) -> None:
        with self._lock:
            self._outside_captures("a wait for an event")
            mark = self._mark(event)
            if mark.captured is not None:
                raise DriverError("a wait for an event that was recorded in a capture")
            if mark.place is not None:
                self._work(*mark.place)

    def elapsed(self, start: Event, end: Event) -> float:
        begin, finish = self._mark(start).time, self._mark(end).time
        if begin is None or finish is None:
            raise DriverError("the time between events that were not both reached yet: wait for them first")
        return finish - begin

    # kernels -------------------------------------------------------------------------------------------------------
    def object_code(self, kernel: Kernel, capability: tuple[int, int]) -> bytes:
        params = [[param.name, param.dtype, param.use] for param in kernel.params]
        return json.dumps({"source": kernel.source, "params": params, "by_table": bool(kernel.batch)}).encode()

    def object_codes(self, kernels: Sequence[Kernel], capability: tuple[int, int]) -> list[bytes]:
        return [self.object_code(kernel, capability) for kernel in kernels]

    def load(self, device: int, code: bytes, name: str) -> Function:
        with self._lock:
            self._outside_captures("a load of a kernel")
            self._space(device)
            found = json.loads(code)
            if f"def {name}(" not in found["source"]:
                raise DriverError(f"the object code has no kernel {name}")
            function = Function(device, name, self._handle())
            self._loaded[function.handle] = found
            return function

    def unload(self, function: Function) -> None:
        with self._lock:
            self._outside_captures("an unload of a kernel")
            self._loaded.pop(function.handle, None)

    def launch(self, function: Function, blocks: int, threads: int, pointers: Sequence[int], nbytes: Sequence[int],
               stream: Stream, reached: Sequence[tuple[int, int]] = ()) -> None:
        with self._lock:
            loaded = self._loaded.get(function.handle)
            if loaded is None:
                raise DriverError(f"kernel {function.name} is not loaded")
            if function.device != stream.device:
                raise DriverError(f"kernel {function.name} is loaded on device {function.device}, its stream is of {stream.device}")
            given: list[tuple[int, int | None]] = [*reached, *itertools.zip_longest(pointers, nbytes)]
            if len(given) != len(loaded["params"]) + 2 or loaded["by_table"] and len(pointers) != 2:
                raise DriverError(f"kernel {function.name} takes {len(loaded['params']) + 2} pointers, got {len(given)}")
            if not 0 < threads <= 1024 or blocks < 1:
                raise DriverError(f"kernel {function.name} cannot run on {blocks} blocks of {threads} threads")
            self._views(function, given)
            self._ask(stream, lambda: self._run(function, loaded, given, blocks, threads))

    def _views(self, function: Function, given: Sequence[tuple[int, int | None]]) -> list[np.ndarray]:
        return [self._range(function.device, pointer, nbytes, f"argument {k} of kernel {function.name}")
                for k, (pointer, nbytes) in enumerate(given)]

    def _run(self, function: Function, loaded: dict[str, Any], given: Sequence[tuple[int, int | None]], blocks: int,
             threads: int) -> None:
        *buffers, sizes, error = self._views(function, given)
        arrays = []
        for (_, code, use), buffer in zip(loaded["params"], buffers):
            dtype = TYPES[memory_code(code)]
            array = buffer[:len(buffer) // dtype.itemsize * dtype.itemsize].view(dtype)
            array.flags.writeable = use != "in"
            arrays.append(array)
        self.launched.append(function.name)
        words = sizes[:len(sizes) // 8 * 8].view(np.int64)
        reached = {}
        if loaded["by_table"]:
            reached, arrays = dict(zip((address for address, _ in given), arrays)), []
        error[:8].view(np.int64)[0] |= self._simulate(loaded["source"], function.name, arrays, words, blocks, threads, reached)

    def _simulate(self, source: str, name: str, arrays: list[np.ndarray], words: np.ndarray, blocks: int, threads: int,
                  reached: dict[int, np.ndarray]) -> int:
        """Runs a kernel's text on a grid; returns its error bits."""
        run = lanes.simulate if self._seed is None else functools.partial(simt.simulate, seed=self._seed)
        return run(source, name, arrays, words, blocks, threads, reached=reached)

    # libraries -----------------------------------------------------------------------------------------------------
    def library(self, device: int, optimisation: str) -> Any:
        from .fake_cublaslt import FakeCublasLt
        from .fake_cudnn import FakeCudnn

        self._space(device)
        if (device, optimisation) not in self.libraries:
            made = FakeCublasLt(self, device) if optimisation == "library_products" else FakeCudnn(self, device)
            self.libraries[device, optimisation] = made
        return self.libraries[device, optimisation]

    def bytes_at(self, device: int, address: int, nbytes: int, what: str) -> np.ndarray:
        """Memory that a library touches."""
        return self._range(device, address, nbytes, what)

    def ask_for(self, device: int, handle: int, name: str, work: Work) -> None:
        """Puts the work of a library at the end of a stream, or notes it.  `name`: the function that was called."""
        with self._lock:
            def run() -> None:
                self.launched.append(name)
                work()

            self._ask(Stream(device, handle), run)

    def ask(self, work: Callable[..., None], given: Sequence[Any], stream: Stream) -> None:
        work(*given)

    # graphs ----------------------------------------------------------------------------------------------------------
    def begin_capture(self, stream: Stream) -> None:
        with self._lock:
            self._outside_captures("the begin of another capture")
            queue = self._queue(stream)
            if queue.capture is not None:
                raise DriverError(f"stream {stream.handle} is captured already")
            queue.capture = self._captures[threading.get_ident()] = _Capture(queue)

    def end_capture(self, stream: Stream) -> Captured:
        with self._lock:
            capture = self._queue(stream).capture
            if capture is None or capture.first is not self._queue(stream):
                raise DriverError(f"no capture began with stream {stream.handle}")
            if capture.thread != threading.get_ident():
                raise DriverError("a capture is ended by the thread that began it")
            del self._captures[capture.thread]
            for queue in capture.queues:
                queue.capture = None
            if not capture.void and capture.loose:
                capture.void = "work of a stream that the first one did not wait for"
            if capture.void:
                raise DriverError(f"the capture is void: it had {capture.void}")
            return Captured(stream.device, (capture.work, capture.written))

    def instantiate(self, captured: Captured) -> Graph:
        with self._lock:
            self._outside_captures("an instantiation")
            graph = Graph(captured.device, self._handle())
            self._graphs[graph.handle] = captured.handle
            return graph

    def launch_graph(self, graph: Graph, stream: Stream) -> None:
        with self._lock:
            found = self._graphs.get(graph.handle)
            if found is None:
                raise DriverError(f"graph {graph.handle} was freed, or is of another driver")
            work, written = found

            def replay() -> None:
                self.launched.append("graph")
                for one in work:
                    one()

            self._ask(stream, replay, written)

    def free_graph(self, graph: Graph) -> None:
        self._graphs.pop(graph.handle, None)


def device_of(address: int) -> int:
    """The fake device that an address is of."""
    return (address >> SHIFT) - 1


def _bytes_of(array: np.ndarray) -> np.ndarray:
    if not array.flags.c_contiguous:
        raise DriverError("copies are of contiguous arrays")
    return array.reshape(-1).view(np.uint8)


def _poison(array: np.ndarray) -> None:
    array[...] = POISON
