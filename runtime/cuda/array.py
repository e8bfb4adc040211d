"""Results that stay on the device that has computed them, for other libraries to use there without a copy."""
from __future__ import annotations

import contextlib
import ctypes
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from jitgraph.runtime.memory import Elsewhere, on_host

from .device import Block, Device

_present = threading.local()


def staying() -> bool:
    """Whether results of this thread's runs are to stay where they are."""
    return getattr(_present, "staying", False)


@contextlib.contextmanager
def results_stay() -> Iterator[None]:
    """Within it, they are."""
    before, _present.staying = staying(), True
    try:
        yield
    finally:
        _present.staying = before


def given(result: Any) -> Any:
    """A result as this thread's caller wants it: computed, and on the host unless results stay."""
    if not isinstance(result, DeviceArray) or not staying():
        return on_host(result)
    with result.device.lock:
        result.device.synchronize()         # for whatever stream it is used on
    return result


class DeviceArray(np.lib.mixins.NDArrayOperatorsMixin, Elsewhere):
    """An array in the memory of a GPU: contiguous, and nobody else's, but where it is made over an `address` within the block.

    Work that is asked of the device later finds it computed.  Offers ``__cuda_array_interface__`` (version 3; CuPy, Numba, torch)
    and ``__dlpack__``.  ``numpy.asarray`` copies it to the host; so do NumPy's functions, but for those of `_ON_DEVICE`.
    """

    def __init__(self, block: Block, shape: tuple[int, ...], dtype: Any, address: int | None = None) -> None:
        self._block, self.shape, self.dtype = block, tuple(shape), np.dtype(dtype)
        self.address = block.address if address is None else address
        self.ndim, self.size = len(self.shape), math.prod(self.shape)
        self.nbytes = self.size * self.dtype.itemsize
        self.base: DeviceArray | None = None

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, device={self._block.device})"

    @property
    def device(self) -> Device:
        return self._block.device

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("what is on a device can be looked at only by a copy")
        found = np.empty(self.shape, self.dtype)
        if self.nbytes:
            with self.device.lock:
                self.device.download(found, self.address)
                self.device.synchronize()
        return found if dtype is None else found.astype(dtype)

    def copy(self) -> DeviceArray:
        """The same in memory of its own, on the same device."""
        return _joined([self], self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        """A row, or a part by slices, which shares the memory; a part that does not lie together comes to the host."""
        if isinstance(index, tuple):
            return self._part(index)
        if not 0 <= index < len(self):
            raise IndexError(f"row {index} of {len(self)}")
        return self._view(self.shape[1:], index * (self.size // len(self)))

    def _part(self, index: tuple[Any, ...]) -> Any:
        slices = [one for one in index if one is not Ellipsis]
        shape, offset, stride, together = list(self.shape), 0, 1, True
        if not all(isinstance(one, slice) for one in slices) or index[len(slices):] not in ((), (Ellipsis,)):
            return np.asarray(self)[index]
        for k in reversed(range(self.ndim)):
            start, stop, step = slices[k].indices(shape[k]) if k < len(slices) else (0, shape[k], 1)
            count = len(range(start, stop, step))
            if count > 1 and (step != 1 or not together):
                return np.asarray(self)[index]
            together = together and count == shape[k]
            offset, stride, shape[k] = offset + start * stride, stride * shape[k], count
        return self._view(tuple(shape), offset if math.prod(shape) else 0)

    def reshape(self, shape: Any) -> DeviceArray:
        """The same elements in another shape, which shares the memory."""
        shape = tuple(shape)
        if math.prod(shape) != self.size:
            raise ValueError(f"cannot reshape array of size {self.size} into shape {shape}")
        return self._view(shape, 0)

    def _view(self, shape: tuple[int, ...], offset: int) -> DeviceArray:
        found = DeviceArray(self._block, shape, self.dtype, self.address + offset * self.dtype.itemsize)
        found.base = self if self.base is None else self.base
        return found

    def __iter__(self) -> Iterator[DeviceArray]:
        return (self[k] for k in range(len(self)))

    def __int__(self) -> int:
        return int(np.asarray(self))

    __index__ = __int__

    def __bool__(self) -> bool:
        return bool(np.asarray(self))

    def __array_function__(self, function: Any, types: Any, given: Any, named: Any) -> Any:
        known = _ON_DEVICE.get(function)
        found = NotImplemented if known is None else known(*given, **named)
        return function(*_on_host(given), **named) if found is NotImplemented else found

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **named: Any) -> Any:
        return getattr(ufunc, method)(*_on_host(given), **named)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        data = (self.address if self.size else 0, False)
        return {"version": 3, "shape": self.shape, "typestr": self.dtype.str, "data": data, "strides": None, "stream": None}

    def __dlpack_device__(self) -> tuple[int, int]:
        return KDLCUDA, self.device.ordinal

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any:
        """A capsule with a DLManagedTensor.  Raises BufferError for another device than its own, or where a copy is asked for."""
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("only the array itself is offered, on its own device")
        return _capsule(self)


def all_on_host(values: Sequence[Any]) -> list[Any]:
    """The same values, on the host: those of a device are waited for together."""
    found = [np.empty(value.shape, value.dtype) if isinstance(value, DeviceArray) else value for value in values]
    there = [(value, array) for value, array in zip(values, found) if isinstance(value, DeviceArray)]
    for value, array in there:
        if value.nbytes:
            with value.device.lock:
                value.device.download(array, value.address)
    for device in dict.fromkeys(value.device for value, _ in there):
        with device.lock:
            device.synchronize()
    return found


def put(array: np.ndarray, device: Device) -> DeviceArray:
    """An array of the host on a device."""
    return _joined([np.asarray(array)], np.shape(array), device)


def _joined(parts: Sequence[Any], shape: tuple[int, ...], device: Device | None = None) -> DeviceArray:
    """What lies one behind the other in the parts, arrays of the host or of devices, as one array of the first device among them.

    Raises StopIteration where there is none.
    """
    device = device or next(part.device for part in parts if isinstance(part, DeviceArray))
    dtype = parts[0].dtype
    with device.lock:
        found = DeviceArray(device.take(math.prod(shape) * dtype.itemsize), shape, dtype)
        at = found.address
        for part in _runs(parts):
            if part.nbytes:
                bring(part, device, at)
            at += part.nbytes
    return found


def _runs(parts: Sequence[Any]) -> Iterator[Any]:
    """The parts, those that lie one behind the other in a block as one: of rows of a block that is one copy."""
    run: list[DeviceArray] = []
    for part in parts:
        last = run[-1] if run else None
        if last is not None and isinstance(part, DeviceArray) and part._block is last._block and \
                part.address == last.address + last.nbytes:
            run.append(part)
            continue
        yield from _as_one(run)
        run = [part] if isinstance(part, DeviceArray) else []
        if not run:
            yield part
    yield from _as_one(run)


def _as_one(run: list[DeviceArray]) -> list[DeviceArray]:
    if len(run) < 2:
        return run
    return [DeviceArray(run[0]._block, (sum(part.size for part in run),), run[0].dtype, run[0].address)]


def bring(array: Any, device: Device, address: int) -> None:
    """Copies an array of the host, or of any device, to an address of a device, some time after this.  Under its lock."""
    if not isinstance(array, DeviceArray):
        device.upload(address, np.ascontiguousarray(array))
    elif array.device is device:
        device.driver.on_device(address, array.address, array.nbytes, device.stream)
    else:
        other = array.device
        device.driver.record(other.event, other.stream)
        device.driver.wait(device.stream, other.event)
        device.driver.between((device.ordinal, address), (other.ordinal, array.address), array.nbytes, device.stream)
        device.driver.record(device.event, device.stream)        # its memory may serve another then
        device.driver.wait(other.stream, device.event)


def _stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    if axis or any(a.shape != arrays[0].shape or a.dtype != arrays[0].dtype for a in arrays):
        return NotImplemented
    return _joined(arrays, (len(arrays), *arrays[0].shape))


def _concatenate(arrays: Sequence[Any], axis: int = 0) -> Any:
    first = arrays[0]
    if axis or not first.ndim or any(a.shape[1:] != first.shape[1:] or a.dtype != first.dtype for a in arrays):
        return NotImplemented
    return _joined(arrays, (sum(map(len, arrays)), *first.shape[1:]))


def _on_host(given: Any) -> Any:
    if isinstance(given, (list, tuple)):
        return type(given)(map(_on_host, given))
    return on_host(given)


_ON_DEVICE: dict[Any, Callable[..., Any]] = {
    np.shape: lambda array: array.shape, np.ndim: lambda array: array.ndim, np.stack: _stack, np.concatenate: _concatenate,
    np.zeros_like: lambda array: np.zeros(array.shape, array.dtype)}


# DLPack: https://dmlc.github.io/dlpack/latest/c_api.html ---------------------------------------------------------------
KDLCUDA = 2
KINDS = {"i": 0, "u": 1, "f": 2, "V": 4, "c": 5, "b": 6}         # V: NumPy's word for bfloat16, which is none of its own


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


NAME = b"dltensor"      # until somebody takes it, who calls the deleter then
_GIVEN: dict[int, tuple[Any, ...]] = {}        # what is to stay while somebody has the tensor at an address
_api = ctypes.pythonapi
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_New", _api))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _api))


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _delete(managed: int) -> None:
    _GIVEN.pop(managed, None)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _dropped(capsule: int) -> None:
    if _is_valid(capsule, NAME):
        _GIVEN.pop(_pointer(capsule, NAME), None)


def _capsule(array: DeviceArray) -> Any:
    shape = (ctypes.c_int64 * max(len(array.shape), 1))(*array.shape)
    tensor = Tensor(array.address, *array.__dlpack_device__(), len(array.shape), KINDS[array.dtype.kind],
                    array.dtype.itemsize * 8, 1, shape, None, 0)
    managed = Managed(tensor, None, ctypes.cast(_delete, ctypes.c_void_p))
    address = ctypes.addressof(managed)
    _GIVEN[address] = managed, shape, array
    return _new(address, NAME, ctypes.cast(_dropped, ctypes.c_void_p))
