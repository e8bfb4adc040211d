"""Results that stay on the device that has computed them, for other libraries to use there without a copy."""
from __future__ import annotations

import contextlib
import ctypes
import math
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from .device import Block

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


class DeviceArray:
    """An array in the memory of a GPU: contiguous, computed, and nobody else's.

    Offers ``__cuda_array_interface__`` (version 3; CuPy, Numba, torch) and ``__dlpack__``.  ``numpy.asarray`` copies it.
    """

    def __init__(self, block: Block, shape: tuple[int, ...], dtype: Any) -> None:
        self._block, self.shape, self.dtype = block, tuple(shape), np.dtype(dtype)

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, device={self._block.device})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("what is on a device can be looked at only by a copy")
        found, device = np.empty(self.shape, self.dtype), self._block.device
        device.download(found, self._block.address)
        device.synchronize()
        return found if dtype is None else found.astype(dtype)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        data = (self._block.address if math.prod(self.shape) else 0, False)
        return {"version": 3, "shape": self.shape, "typestr": self.dtype.str, "data": data, "strides": None, "stream": None}

    def __dlpack_device__(self) -> tuple[int, int]:
        return KDLCUDA, self._block.device.ordinal

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any:
        """A capsule with a DLManagedTensor.  Raises BufferError for another device than its own, or where a copy is asked for."""
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("only the array itself is offered, on its own device")
        return _capsule(self)


# DLPack: https://dmlc.github.io/dlpack/latest/c_api.html ---------------------------------------------------------------
KDLCUDA = 2
KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


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
    tensor = Tensor(array._block.address, *array.__dlpack_device__(), len(array.shape), KINDS[array.dtype.kind],
                    array.dtype.itemsize * 8, 1, shape, None, 0)
    managed = Managed(tensor, None, ctypes.cast(_delete, ctypes.c_void_p))
    address = ctypes.addressof(managed)
    _GIVEN[address] = managed, shape, array
    return _new(address, NAME, ctypes.cast(_dropped, ctypes.c_void_p))
