"""NVIDIA's driver, through cuda-bindings (the extra `jitgraph[cuda]`): the calls of `driver.Driver`, one or two of its own each.

Every device is used through its primary context, as other libraries of the process do, so that addresses and streams are the
same for all.
"""
from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jitgraph.compiler.kernel import Kernel
from jitgraph.declare.addresses import address_of
from jitgraph.installing import advice

from . import code, cublaslt, cudnn
from .driver import Captured, DriverError, Event, Function, Graph, NoDriver, OutOfMemory, Properties, Stream
from .installed import NotFound

LIBRARIES = {"library_products": cublaslt, "library_convolutions": cudnn}
OLDEST = 13000          # the version of CUDA that object code is made for, as drivers say it
ADVICE = {
    "CUDA_ERROR_NO_DEVICE": "the driver sees no GPU: is one there, and does CUDA_VISIBLE_DEVICES hide it?",
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": "the driver was updated and is not loaded yet: restart the machine",
    "CUDA_ERROR_SYSTEM_NOT_READY": "the GPU is not ready: on a machine with NVSwitch, start nvidia-fabricmanager",
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": "the object code is of a newer toolkit than the driver: install driver 580 or newer",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": "the object code is of another compute capability: remove it from the store (jitgraph cache)",
    "CUDA_ERROR_ILLEGAL_ADDRESS": "a kernel left its memory, and nothing more can be done with the GPU in this process",
    "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED": "this may not be done during a capture",
    "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED": "the capture is void, by what was done during it",
}


class RealDriver:
    """The driver of this machine.  Raises NoDriver where there is none that serves, in a sentence that says what to do."""

    name = "cuda"

    def __init__(self) -> None:
        self._cuda = _bindings()
        self._present = threading.local()
        try:
            status = self._cuda.cuInit(0)[0]
        except RuntimeError:            # the library is looked for at the first call
            raise NoDriver("no CUDA driver was found (libcuda.so.1): install NVIDIA's driver, 580 or newer, or run on the CPU "
                           "(JITGRAPH_TARGET=cpu)") from None
        if status:
            raise NoDriver(self._sentence("the CUDA driver does not start", status))
        (self._version,) = self._call("ask for the driver's version", self._cuda.cuDriverGetVersion())
        if self._version < OLDEST:
            raise NoDriver(f"the driver is of CUDA {_as_version(self._version)}, and kernels are compiled for "
                           f"{_as_version(OLDEST)}: install NVIDIA's driver 580 or newer")
        (count,) = self._call("count devices", self._cuda.cuDeviceGetCount())
        if not count:
            raise NoDriver(f"there is no device: {ADVICE['CUDA_ERROR_NO_DEVICE']}")
        self._handles = [self._call("find a device", self._cuda.cuDeviceGet(k))[0] for k in range(count)]
        self._contexts: dict[int, Any] = {}
        self._modules: dict[Any, Any] = {}
        self._pinned: dict[int, Any] = {}
        self._lock = threading.Lock()

    # errors ------------------------------------------------------------------------------------------------------
    def _sentence(self, what: str, status: Any) -> str:
        name = getattr(status, "name", str(status))
        told = ADVICE.get(name)
        if told is None:
            error, text = self._cuda.cuGetErrorString(status)
            told = text.decode() if not error and text else "unknown error"
        return f"{what} failed with {name}: {told}"

    def _call(self, what: str, answer: tuple[Any, ...], nbytes: int = 0) -> tuple[Any, ...]:
        """What a call of the bindings gives besides its status.  Raises DriverError, or OutOfMemory."""
        status, *results = answer
        if status:
            if nbytes and status == self._cuda.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
                raise OutOfMemory(f"{what} failed: there is not enough memory", nbytes)
            raise DriverError(self._sentence(what, status))
        return tuple(results)

    def _on(self, device: int) -> Any:
        """Makes a device the one that this thread's calls are about; returns the bindings."""
        if getattr(self._present, "device", None) != device:
            if not 0 <= device < len(self._handles):
                raise DriverError(f"there is no device {device}: there are {len(self._handles)}")
            with self._lock:
                if device not in self._contexts:
                    self._contexts[device], = self._call(f"use of device {device}",
                                                         self._cuda.cuDevicePrimaryCtxRetain(self._handles[device]))
            self._call(f"use of device {device}", self._cuda.cuCtxSetCurrent(self._contexts[device]))
            self._present.device = device
        return self._cuda

    # devices and memory ----------------------------------------------------------------------------------------
    def devices(self) -> Sequence[Properties]:
        cuda = self._cuda
        kinds = cuda.CUdevice_attribute
        found = []
        for handle in self._handles:
            def ask(kind: Any, handle: Any = handle) -> int:
                return self._call("look at a device", cuda.cuDeviceGetAttribute(kind, handle))[0]

            name, = self._call("look at a device", cuda.cuDeviceGetName(256, handle))
            memory, = self._call("look at a device", cuda.cuDeviceTotalMem(handle))
            pci, = self._call("look at a device", cuda.cuDeviceGetPCIBusId(32, handle))
            capability = (ask(kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                          ask(kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR))
            found.append(Properties(_text(name), capability, memory, ask(kinds.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
                                    _text(pci)))
        return found

    def version(self) -> str:
        return f"CUDA {_as_version(self._version)}"

    def alloc(self, device: int, nbytes: int) -> int:
        address, = self._call(f"allocation of {nbytes} bytes on device {device}", self._on(device).cuMemAlloc(max(nbytes, 1)),
                              max(nbytes, 1))
        return int(address)

    def free(self, device: int, address: int) -> None:
        self._call("free", self._on(device).cuMemFree(address))

    def memory(self, device: int) -> tuple[int, int]:
        free, total = self._call("look at the memory", self._on(device).cuMemGetInfo())
        return free, total

    def pinned(self, nbytes: int) -> np.ndarray:
        portable = self._cuda.CU_MEMHOSTALLOC_PORTABLE          # for all devices
        address, = self._call(f"allocation of {nbytes} bytes of pinned memory",
                              self._on(0).cuMemHostAlloc(max(nbytes, 1), portable), max(nbytes, 1))
        block = (ctypes.c_uint8 * max(nbytes, 1)).from_address(int(address))
        array = np.ctypeslib.as_array(block)[:nbytes]
        self._pinned[address_of(array)] = address
        return array

    def free_pinned(self, array: np.ndarray) -> None:
        self._call("free of pinned memory", self._on(0).cuMemFreeHost(self._pinned.pop(address_of(array))))

    # copies ------------------------------------------------------------------------------------------------------
    def to_device(self, address: int, array: np.ndarray, stream: Stream) -> None:
        if array.nbytes:
            self._call("copy to the device", self._on(stream.device).cuMemcpyHtoDAsync(address, address_of(array), array.nbytes,
                                                                                       stream.handle))

    def to_host(self, array: np.ndarray, address: int, stream: Stream) -> None:
        if array.nbytes:
            self._call("copy to the host", self._on(stream.device).cuMemcpyDtoHAsync(address_of(array), address, array.nbytes,
                                                                                     stream.handle))

    def on_device(self, to: int, start: int, nbytes: int, stream: Stream) -> None:
        if nbytes:
            self._call("copy", self._on(stream.device).cuMemcpyDtoDAsync(to, start, nbytes, stream.handle))

    def between(self, to: tuple[int, int], start: tuple[int, int], nbytes: int, stream: Stream) -> None:
        if nbytes:
            for device in (to[0], start[0], stream.device):
                self._on(device)
            self._call("copy between devices", self._cuda.cuMemcpyPeerAsync(
                to[1], self._contexts[to[0]], start[1], self._contexts[start[0]], nbytes, stream.handle))

    def fill(self, address: int, byte: int, nbytes: int, stream: Stream) -> None:
        if nbytes:
            self._call("fill", self._on(stream.device).cuMemsetD8Async(address, byte, nbytes, stream.handle))

    # streams and events ------------------------------------------------------------------------------------------
    def stream(self, device: int) -> Stream:
        kind = self._on(device).CUstream_flags.CU_STREAM_NON_BLOCKING
        return Stream(device, *self._call("make a stream", self._cuda.cuStreamCreate(kind)))

    def free_stream(self, stream: Stream) -> None:
        self._call("free of a stream", self._on(stream.device).cuStreamDestroy(stream.handle))

    def synchronize(self, stream: Stream) -> None:
        self._call("work", self._on(stream.device).cuStreamSynchronize(stream.handle))

    def event(self, device: int) -> Event:
        return Event(device, *self._call("make an event", self._on(device).cuEventCreate(0)))

    def free_event(self, event: Event) -> None:
        self._call("free of an event", self._on(event.device).cuEventDestroy(event.handle))

    def record(self, event: Event, stream: Stream) -> None:
        self._call("record of an event", self._on(stream.device).cuEventRecord(event.handle, stream.handle))

    def wait(self, stream: Stream, event: Event) -> None:
        self._call("wait of a stream", self._on(stream.device).cuStreamWaitEvent(stream.handle, event.handle, 0))

    def wait_for(self, event: Event) -> None:
        self._call("work", self._on(event.device).cuEventSynchronize(event.handle))

    def elapsed(self, start: Event, end: Event) -> float:
        return self._call("time between events", self._on(start.device).cuEventElapsedTime(start.handle, end.handle))[0]

    # kernels -------------------------------------------------------------------------------------------------------
    def object_code(self, kernel: Kernel, capability: tuple[int, int]) -> bytes:
        return code.cubin(kernel, capability)

    def object_codes(self, kernels: Sequence[Kernel], capability: tuple[int, int]) -> list[bytes]:
        return code.cubins(kernels, capability)

    def load(self, device: int, code: bytes, name: str) -> Function:
        module, = self._call(f"load of kernel {name}", self._on(device).cuModuleLoadData(code))
        handle, = self._call(f"load of kernel {name}", self._cuda.cuModuleGetFunction(module, name.encode()))
        self._modules[int(handle)] = module
        return Function(device, name, handle)

    def unload(self, function: Function) -> None:
        module = self._modules.pop(int(function.handle))
        self._call(f"unload of kernel {function.name}", self._on(function.device).cuModuleUnload(module))

    def launch(self, function: Function, blocks: int, threads: int, pointers: Sequence[int], nbytes: Sequence[int],
               stream: Stream, reached: Sequence[tuple[int, int]] = ()) -> None:
        values = np.array(pointers, np.uint64)
        places = address_of(values) + 8 * np.arange(len(values), dtype=np.uint64)      # where the driver finds each argument
        self._call(f"launch of kernel {function.name}", self._on(stream.device).cuLaunchKernel(
            function.handle, blocks, 1, 1, threads, 1, 1, 0, stream.handle, address_of(places), 0))

    def library(self, device: int, optimisation: str) -> Any:
        self._on(device)
        try:
            return LIBRARIES[optimisation].load()[0]
        except NotFound:
            return None

    def ask(self, work: Callable[..., None], given: Sequence[Any], stream: Stream) -> None:
        work(*given)

    # graphs ----------------------------------------------------------------------------------------------------------
    def begin_capture(self, stream: Stream) -> None:
        mode = self._cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        self._call("begin of a capture", self._on(stream.device).cuStreamBeginCapture(stream.handle, mode))

    def end_capture(self, stream: Stream) -> Captured:
        graph, = self._call("capture", self._on(stream.device).cuStreamEndCapture(stream.handle))
        return Captured(stream.device, graph)

    def instantiate(self, captured: Captured) -> Graph:
        try:
            made, = self._call("instantiation of a graph", self._on(captured.device).cuGraphInstantiate(captured.handle, 0))
        finally:
            self._call("free of a graph", self._cuda.cuGraphDestroy(captured.handle))
        return Graph(captured.device, made)

    def launch_graph(self, graph: Graph, stream: Stream) -> None:
        self._call("launch of a graph", self._on(stream.device).cuGraphLaunch(graph.handle, stream.handle))

    def free_graph(self, graph: Graph) -> None:
        self._call("free of a graph", self._on(graph.device).cuGraphExecDestroy(graph.handle))


def _bindings() -> Any:
    try:
        from cuda.bindings import driver
    except ImportError as error:
        raise NoDriver(f"running on a GPU needs packages that are not installed or do not load here ({error}): "
                       f"{advice('cuda')}") from None
    return driver


def _as_version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def _text(name: bytes) -> str:
    return name.split(b"\0")[0].decode()
