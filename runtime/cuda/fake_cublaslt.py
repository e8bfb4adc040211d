"""cuBLASLt without a GPU: the C functions that `products` calls, on the memory of a FakeDriver, by NumPy.

It keeps what descriptors are told, byte by byte, under the numbers and with the sizes of cublasLt.h, and refuses what the library
refuses.  A product is computed when its stream comes to it, from addresses, strides and structures alone, in order of columns as
the library has matrices; before that its working memory is overwritten.
"""
from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from .cublaslt import INVALID, NOT_SUPPORTED, Attribute, Layout, Preference
from .fake_memory import POISON, Memory

VERSION = 130002
WORKING = 512           # bytes that every product works in
TYPES: dict[int, Any] = {0: np.float32, 1: np.float64, 2: np.float16, 14: ml_dtypes.bfloat16}
SUPPORTED = {(68, 0, 0, 0), (77, 0, 0, 0), (70, 1, 1, 1), (68, 0, 2, 0), (68, 0, 2, 2), (68, 0, 14, 0), (68, 0, 14, 14)}
"""(compute type, type of scales, of a and b, of c and d)"""
RELU, BIAS = 2, 4
SIZES: dict[str, dict[int, int]] = {
    "MatmulDesc": {Attribute.POINTER_MODE: 4, Attribute.TRANSA: 4, Attribute.TRANSB: 4, Attribute.EPILOGUE: 4,
                   Attribute.BIAS_POINTER: 8},
    "MatrixLayout": {Layout.TYPE: 4, Layout.ORDER: 4, Layout.ROWS: 8, Layout.COLS: 8, Layout.LD: 8, Layout.BATCH_COUNT: 4,
                     Layout.STRIDED_BATCH_OFFSET: 8},
    "MatmulPreference": {Preference.MAX_WORKSPACE_BYTES: 8, Preference.MIN_ALIGNMENT_A_BYTES: 4,
                         Preference.MIN_ALIGNMENT_B_BYTES: 4, Preference.MIN_ALIGNMENT_C_BYTES: 4,
                         Preference.MIN_ALIGNMENT_D_BYTES: 4}}
"""{kind of descriptor: {attribute: its bytes}}"""


class _Matrix(NamedTuple):
    """A layout, as it was when it was used."""

    type: int
    rows: int
    columns: int
    step: int
    batch: int
    apart: int

    @property
    def nbytes(self) -> int:
        last = (self.batch - 1) * self.apart + (self.columns - 1) * self.step + self.rows
        return last * np.dtype(TYPES[self.type]).itemsize

    def over(self, memory: np.ndarray) -> np.ndarray:
        """The matrices, of rows and columns, in memory."""
        flat = memory.view(TYPES[self.type])
        strides = np.array([self.apart, 1, self.step]) * flat.itemsize
        return np.lib.stride_tricks.as_strided(flat, (self.batch, self.rows, self.columns), strides)


class FakeCublasLt:
    """The library for one device."""

    def __init__(self, memory: Memory, device: int) -> None:
        self._memory, self._device = memory, device
        self._made: dict[int, tuple[str, dict[int, bytes]]] = {}
        self.multiplied: list[str] = []         # the epilogue of each product that was computed
        for kind in SIZES:
            setattr(self, f"cublasLt{kind}SetAttribute", lambda *given, kind=kind: self._set(kind, *given))
            setattr(self, f"cublasLt{kind}GetAttribute", lambda *given, kind=kind: self._get(kind, *given))
            setattr(self, f"cublasLt{kind}Destroy", lambda handle: int(self._made.pop(handle.value, None) is None) * INVALID)

    def cublasLtGetVersion(self) -> int:
        return VERSION

    def cublasLtGetStatusName(self, status: int) -> bytes:
        return {INVALID: b"CUBLAS_STATUS_INVALID_VALUE", NOT_SUPPORTED: b"CUBLAS_STATUS_NOT_SUPPORTED"}.get(status, b"unknown")

    # descriptors ---------------------------------------------------------------------------------------------------
    def cublasLtCreate(self, handle: Any) -> int:
        handle._obj.value = 1
        return 0

    def _new(self, place: Any, kind: str, values: dict[int, Any]) -> int:
        number = 0x1000 + 16 * len(self._made) + 1
        while number in self._made:
            number += 16
        self._made[number] = kind, {k: bytes(v) for k, v in values.items()}
        place._obj.value = number
        return 0

    def cublasLtMatmulDescCreate(self, place: Any, compute: int, scale: int) -> int:
        return self._new(place, "MatmulDesc", {-1: ctypes.c_int32(compute), -2: ctypes.c_int32(scale)})

    def cublasLtMatrixLayoutCreate(self, place: Any, kind: int, rows: int, columns: int, step: int) -> int:
        return self._new(place, "MatrixLayout", {Layout.TYPE: ctypes.c_int32(kind), Layout.ROWS: ctypes.c_uint64(rows),
                                                 Layout.COLS: ctypes.c_uint64(columns), Layout.LD: ctypes.c_int64(step)})

    def cublasLtMatmulPreferenceCreate(self, place: Any) -> int:
        return self._new(place, "MatmulPreference", {})

    def _set(self, kind: str, handle: Any, attribute: int, value: Any, nbytes: int) -> int:
        made = self._made.get(handle.value)
        if made is None or made[0] != kind or SIZES[kind].get(attribute) != nbytes:
            return INVALID
        made[1][attribute] = bytes(value._obj)
        return 0

    def _get(self, kind: str, handle: Any, attribute: int, value: Any, nbytes: int, written: Any) -> int:
        made = self._made.get(handle.value)
        if made is None or made[0] != kind or SIZES[kind].get(attribute) != nbytes:
            return INVALID
        ctypes.memmove(ctypes.addressof(value._obj), made[1].get(attribute, bytes(nbytes)), nbytes)
        written._obj.value = nbytes
        return 0

    def _number(self, handle: Any, attribute: int, default: int = 0) -> int:
        stored = self._made[handle.value][1].get(attribute)
        return default if stored is None else int.from_bytes(stored, "little", signed=len(stored) == 8 or attribute < 0)

    def _matrix(self, handle: Any) -> _Matrix:
        n = self._number
        return _Matrix(n(handle, Layout.TYPE), n(handle, Layout.ROWS), n(handle, Layout.COLS), n(handle, Layout.LD),
                       n(handle, Layout.BATCH_COUNT, 1), n(handle, Layout.STRIDED_BATCH_OFFSET))

    # products ------------------------------------------------------------------------------------------------------
    def _refused(self, operation: Any, a: _Matrix, b: _Matrix, c: _Matrix, d: _Matrix) -> int:
        """The status of what the library does not take."""
        if any(min(m.rows, m.columns, m.batch) < 1 or m.step < m.rows for m in (a, b, c, d)):
            return INVALID
        m, k = (a.columns, a.rows) if self._number(operation, Attribute.TRANSA) else (a.rows, a.columns)
        k2, n = (b.columns, b.rows) if self._number(operation, Attribute.TRANSB) else (b.rows, b.columns)
        if k != k2 or {(c.rows, c.columns), (d.rows, d.columns)} != {(m, n)} or len({x.batch for x in (a, b, c, d)}) > 1:
            return INVALID
        if self._number(operation, Attribute.EPILOGUE, 1) & BIAS and not self._number(operation, Attribute.BIAS_POINTER):
            return INVALID
        kinds = self._number(operation, -1), self._number(operation, -2), a.type, d.type
        return 0 if kinds in SUPPORTED and a.type == b.type and c.type == d.type else NOT_SUPPORTED

    def cublasLtMatmulAlgoGetHeuristic(self, handle: Any, operation: Any, a: Any, b: Any, c: Any, d: Any, wanted: Any, asked: int,
                                       found: Any, count: Any) -> int:
        refused = self._refused(operation, *map(self._matrix, (a, b, c, d)))
        widths = {p: np.dtype(TYPES[self._matrix(x).type]).itemsize for p, x in (
            (Preference.MIN_ALIGNMENT_A_BYTES, a), (Preference.MIN_ALIGNMENT_B_BYTES, b), (Preference.MIN_ALIGNMENT_D_BYTES, d))}
        if refused or any(self._number(wanted, p, 256) % width for p, width in widths.items()):
            return refused or NOT_SUPPORTED
        if self._number(wanted, Preference.MAX_WORKSPACE_BYTES) < WORKING:
            return NOT_SUPPORTED
        found[0].algo.data[0], found[0].workspaceSize, found[0].state = 1, WORKING, 0
        count._obj.value = 1
        return 0

    def cublasLtMatmul(self, handle: Any, operation: Any, alpha: Any, a: int, a_layout: Any, b: int, b_layout: Any, beta: Any,
                       c: int, c_layout: Any, d: int, d_layout: Any, algorithm: Any, workspace: int, nbytes: int,
                       stream: int) -> int:
        layouts = [self._matrix(x) for x in (a_layout, b_layout, c_layout, d_layout)]
        refused = self._refused(operation, *layouts)
        if refused or algorithm._obj.data[0] != 1 or nbytes < WORKING or c == d and layouts[2] != layouts[3]:
            return refused or INVALID
        n = self._number
        epilogue = n(operation, Attribute.EPILOGUE, 1)
        turned = n(operation, Attribute.TRANSA), n(operation, Attribute.TRANSB)
        bias = n(operation, Attribute.BIAS_POINTER) if epilogue & BIAS else 0
        scales, rounds = (alpha._obj.value, beta._obj.value), n(operation, -1) == 77

        def view(address: int, matrix: _Matrix, what: str) -> np.ndarray:
            return matrix.over(self._memory.bytes_at(self._device, address, matrix.nbytes, f"matrix {what} of cublasLtMatmul"))

        def work() -> None:
            self._memory.bytes_at(self._device, workspace, WORKING, "the workspace of cublasLtMatmul")[...] = POISON
            factors = [view(at, matrix, what) for at, matrix, what in zip((a, b), layouts, "ab")]
            factors = [np.swapaxes(f, 1, 2) if flag else f for f, flag in zip(factors, turned)]
            number: Any = np.float64 if layouts[0].type == 1 else np.float32
            first, second = (_rounded(f.astype(number)) if rounds else f.astype(number) for f in factors)
            total = np.matmul(first, second) * number(scales[0])
            if scales[1]:
                total = total + number(scales[1]) * view(c, layouts[2], "c").astype(number)
            out = view(d, layouts[3], "d")
            if bias:
                added = self._memory.bytes_at(self._device, bias, out.shape[1] * out.itemsize, "the bias of cublasLtMatmul")
                total = total + added.view(out.dtype).astype(number)[:, None]
            out[...] = (np.maximum(total, 0) if epilogue & RELU else total).astype(out.dtype)
            self.multiplied.append(" ".join(["relu"] * bool(epilogue & RELU) + ["bias"] * bool(epilogue & BIAS)
                                            + ["scaled"] * (scales[0] != 1) + ["added"] * bool(scales[1])) or "plain")

        for address, matrix, what in zip((a, b, c if scales[1] else d, d), layouts, "abcd"):
            view(address, matrix, what)         # looked at now, too
        self._memory.ask_for(self._device, stream, "cublasLtMatmul", work)
        return 0


def _rounded(a: np.ndarray) -> np.ndarray:
    """float32 rounded to TF32: the ten highest bits of its fraction."""
    bits = np.ascontiguousarray(a).view(np.uint32)
    up = bits + np.uint32(0xFFF) + (bits >> np.uint32(13) & np.uint32(1))
    return np.where(np.isfinite(a), (up & np.uint32(0xFFFFE000)).view(np.float32), a)
