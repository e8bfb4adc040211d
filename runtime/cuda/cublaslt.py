"""cuBLASLt's C functions through ctypes: where the library is, its structures, numbers and errors.

It comes with the package nvidia-cublas, a toolkit or a machine's image.  Descriptors are made without a GPU.  Names and numbers
are those of cublasLt.h.
"""
from __future__ import annotations

import ctypes
import enum
import functools
import weakref
from typing import Any

from . import installed
from .driver import DriverError, OutOfMemory

ALLOC_FAILED, INVALID, ARCH_MISMATCH, NOT_SUPPORTED = 3, 7, 8, 15     # cublasStatus_t
ADVICE = {
    1: "the library does not start: is a GPU there that this process sees, with memory left?",
    INVALID: "the library was given numbers that do not go together: JITGRAPH_WITHOUT=library_products does without it",
    ARCH_MISMATCH: "the library is not for this GPU: install nvidia-cublas of the driver's CUDA",
    13: "the GPU failed to run it",
    NOT_SUPPORTED: "the library has no way for it: JITGRAPH_WITHOUT=library_products does without it",
}


class Attribute(enum.IntEnum):
    """cublasLtMatmulDescAttributes_t"""

    POINTER_MODE = 2
    TRANSA = 3
    TRANSB = 4
    EPILOGUE = 7
    BIAS_POINTER = 8


class Layout(enum.IntEnum):
    """cublasLtMatrixLayoutAttribute_t"""

    TYPE = 0
    ORDER = 1
    ROWS = 2
    COLS = 3
    LD = 4
    BATCH_COUNT = 5
    STRIDED_BATCH_OFFSET = 6


class Preference(enum.IntEnum):
    """cublasLtMatmulPreferenceAttributes_t"""

    MAX_WORKSPACE_BYTES = 1
    MIN_ALIGNMENT_A_BYTES = 5
    MIN_ALIGNMENT_B_BYTES = 6
    MIN_ALIGNMENT_C_BYTES = 7
    MIN_ALIGNMENT_D_BYTES = 8


class Algorithm(ctypes.Structure):
    """cublasLtMatmulAlgo_t"""

    _fields_ = [("data", ctypes.c_uint64 * 8)]


class Heuristic(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t"""

    _fields_ = [("algo", Algorithm), ("workspaceSize", ctypes.c_size_t), ("state", ctypes.c_int), ("wavesCount", ctypes.c_float),
                ("reserved", ctypes.c_int * 4)]


_P, _I, _N = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
FUNCTIONS: dict[str, list[Any]] = {
    "cublasLtCreate": [_P],
    "cublasLtMatmulDescCreate": [_P, _I, _I],
    "cublasLtMatmulDescSetAttribute": [_P, _I, _P, _N],
    "cublasLtMatmulDescGetAttribute": [_P, _I, _P, _N, _P],
    "cublasLtMatmulDescDestroy": [_P],
    "cublasLtMatrixLayoutCreate": [_P, _I, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int64],
    "cublasLtMatrixLayoutSetAttribute": [_P, _I, _P, _N],
    "cublasLtMatrixLayoutGetAttribute": [_P, _I, _P, _N, _P],
    "cublasLtMatrixLayoutDestroy": [_P],
    "cublasLtMatmulPreferenceCreate": [_P],
    "cublasLtMatmulPreferenceSetAttribute": [_P, _I, _P, _N],
    "cublasLtMatmulPreferenceGetAttribute": [_P, _I, _P, _N, _P],
    "cublasLtMatmulPreferenceDestroy": [_P],
    "cublasLtMatmulAlgoGetHeuristic": [_P, _P, _P, _P, _P, _P, _P, _I, _P, _P],
    "cublasLtMatmul": [_P, _P, _P, _P, _P, _P, _P, _P, _P, _P, _P, _P, _P, _P, _N, _P],
}
"""{name: types of its arguments}; each answers a cublasStatus_t"""


@functools.cache
def load() -> tuple[Any, str]:
    """(the library, its path).  Raises installed.NotFound."""
    library, path = installed.loaded("cublasLt")
    return declared(library), path


def declared(library: Any) -> Any:
    """A library whose functions know the types of their arguments."""
    return installed.declared(library, FUNCTIONS, "cublasLtGetStatusName", "cublasLtGetVersion")


def version(library: Any) -> str:
    """What the library says of itself."""
    return installed.version(library.cublasLtGetVersion())


def call(library: Any, name: str, *arguments: Any, declines: bool = False) -> bool:
    """Calls a function; whether it declined, if that is admitted.  Raises DriverError."""
    status = getattr(library, name)(*arguments)
    if status in (NOT_SUPPORTED, INVALID) and declines:
        return True
    if status == ALLOC_FAILED:
        raise OutOfMemory(f"{name} failed: there is not enough memory", 0)
    if status:
        told = library.cublasLtGetStatusName(status).decode()
        raise DriverError(f"{name} failed with {told}: {ADVICE.get(status, 'see the manual of cuBLAS')}")
    return False


class Owned:
    """A descriptor of some kind, which is destroyed when nobody has it any more."""

    def __init__(self, library: Any, kind: str, *arguments: Any) -> None:
        self._library, self._kind, self.handle = library, kind, ctypes.c_void_p()
        call(library, f"cublasLt{kind}Create", ctypes.byref(self.handle), *arguments)
        weakref.finalize(self, getattr(library, f"cublasLt{kind}Destroy"), self.handle).atexit = False

    def set(self, attribute: int, value: Any) -> None:
        call(self._library, f"cublasLt{self._kind}SetAttribute", self.handle, int(attribute), ctypes.byref(value),
             ctypes.sizeof(value))

    def get(self, attribute: int, kind: Any) -> int:
        """The value of an attribute of a C type."""
        value, written = kind(), ctypes.c_size_t()
        call(self._library, f"cublasLt{self._kind}GetAttribute", self.handle, int(attribute), ctypes.byref(value),
             ctypes.sizeof(value), ctypes.byref(written))
        return value.value
