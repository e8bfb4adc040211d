"""Matrix products by cuBLASLt on one device: descriptors made once for the sizes of a binding, calls that a capture may hold.

    a product by rows      y = relu(alpha * a @ b + beta * c + bias)        of cuBLASLt, whose matrices lie by columns, is asked
    as its transpose       y' = relu(alpha * b' @ a' + beta * c' + bias)    where bias, a row for all rows, is a column for all

The library is `cublaslt.load`'s, or the FakeDriver's, with functions of the same names, structures and numbers.  Memory that it
works in is the caller's.
"""
from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jitgraph.compiler.kernel import LibraryProduct

from . import cublaslt
from .cublaslt import Attribute, Heuristic, Layout, Preference
from .driver import Stream

ALIGNMENT = 16          # bytes at a multiple of which every buffer begins: the library gains nothing by more
WORKSPACE = 32 << 20    # bytes that a product may have to work in: what cuBLAS takes on a GPU of Hopper's kind
TYPES = {"f32": 0, "f64": 1, "f16": 2, "fb16": 14}      # cudaDataType_t
WIDTH = {"f32": 4, "f64": 8, "f16": 2, "fb16": 2}
DOUBLE, SINGLE, ROUNDED = 70, 68, 77    # cublasComputeType_t; in the last, factors may be rounded to TF32
RELU, BIAS, NOTHING = 2, 4, 1   # cublasLtEpilogue_t: the first two may be joined
INT32, INT64, UINT32, UINT64 = ctypes.c_int32, ctypes.c_int64, ctypes.c_uint32, ctypes.c_uint64


class Product(NamedTuple):
    """A product with its sizes: see `LibraryProduct`.  `alpha` and `beta` are numbers."""

    rows: int
    columns: int
    terms: int
    batch: int
    a: tuple[int, int, int]         # where it begins, how far apart its matrices and its rows lie, in elements
    b: tuple[int, int, int]
    turned: tuple[bool, bool]
    factor: str
    result: str
    alpha: float = 1.0
    beta: float = 0.0
    bias: bool = False
    relu: bool = False
    short: bool = False


class Addresses(NamedTuple):
    """Of a call: where the buffers begin in which the matrices lie."""

    a: int
    b: int
    c: int
    bias: int
    y: int


class Descriptors(NamedTuple):
    """What is multiplied how, with what its matrices look like: those of the transpose, so `first` is b."""

    operation: cublaslt.Owned
    first: cublaslt.Owned
    second: cublaslt.Owned
    result: cublaslt.Owned
    wanted: cublaslt.Owned


class Prepared(NamedTuple):
    """A product with its descriptors, the way that the library will take, and how many bytes it works in."""

    product: Product
    made: Descriptors
    algorithm: Any
    workspace: int
    scales: tuple[Any, Any]         # alpha and beta


def of_call(call: LibraryProduct, words: Sequence[int]) -> Product:
    """A call with its sizes."""
    rows, columns, terms, batch, *places = words
    alpha = float(call.sign)
    if call.scaled:
        word = places.pop()
        alpha *= float(np.array([word], np.int64).view(np.float64 if call.result == "f64" else np.float32)[0])
    a, b = tuple(places[:3]), tuple(places[3:])
    return Product(rows, columns, terms, batch, a, b, call.turned, call.factor, call.result, alpha,      # type: ignore[arg-type]
                   float(call.beta), call.bias >= 0, call.relu, call.short)


class Products:
    """The library on one device, which is the present one of the thread that makes and asks it."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._handle = ctypes.c_void_p()
        self._known: dict[Product, Prepared | None] = {}
        cublaslt.call(library, "cublasLtCreate", ctypes.byref(self._handle))

    def prepare(self, product: Product, near: int) -> Prepared | None:
        """What a product needs besides addresses; None where the library has no way for it.  `near`: an address of the device."""
        if product not in self._known:
            self._known[product] = self._prepared(product, near) if _is_valid(product) else None
        return self._known[product]

    def _prepared(self, p: Product, near: int) -> Prepared | None:
        library = self._library
        found, count = (Heuristic * 1)(), ctypes.c_int(0)
        made = described(library, p, near)
        declined = cublaslt.call(library, "cublasLtMatmulAlgoGetHeuristic", self._handle, made.operation.handle, made.first.handle,
                                 made.second.handle, made.result.handle, made.result.handle, made.wanted.handle, 1, found,
                                 ctypes.byref(count), declines=True)
        if declined or count.value < 1 or found[0].state:
            return None
        number = ctypes.c_double if p.factor == "f64" else ctypes.c_float
        return Prepared(p, made, found[0].algo, found[0].workspaceSize, (number(p.alpha), number(p.beta)))

    def run(self, prepared: Prepared, at: Sequence[int], workspace: int, stream: Stream) -> None:
        """Asks for a product on a stream.  `at`: see Addresses; `workspace`: the address of the memory that it works in."""
        at, p, (operation, first, second, result, _) = Addresses(*at), prepared.product, prepared.made
        if p.bias:
            operation.set(Attribute.BIAS_POINTER, UINT64(at.bias))
        alpha, beta = prepared.scales
        cublaslt.call(self._library, "cublasLtMatmul", self._handle, operation.handle,
                      ctypes.byref(alpha), at.b + p.b[0] * WIDTH[p.factor], first.handle,
                      at.a + p.a[0] * WIDTH[p.factor], second.handle,
                      ctypes.byref(beta), at.c or at.y, result.handle, at.y, result.handle,
                      ctypes.byref(prepared.algorithm), workspace, prepared.workspace, int(stream.handle))


def _is_valid(p: Product) -> bool:
    """Whether the library may be asked: not for nothing, nor for a scale of 0, for which it reads no factors and so misses their
    NaNs, nor for matrices whose rows overlap."""
    if min(p.rows, p.columns, p.terms, p.batch) < 1 or not p.alpha:
        return False
    along = (p.rows if p.turned[0] else p.terms), (p.terms if p.turned[1] else p.columns)
    return all(step >= length for (_, _, step), length in zip((p.a, p.b), along))


def described(library: Any, p: Product, near: int) -> Descriptors:
    """The descriptors of a product, and of what is wanted of the way there.  No GPU is needed.  `near`: see `prepare`."""
    a_turned, b_turned = p.turned
    scale, compute = (TYPES["f64"], DOUBLE) if p.factor == "f64" else (TYPES["f32"], ROUNDED if p.short else SINGLE)
    operation = cublaslt.Owned(library, "MatmulDesc", compute, scale)
    operation.set(Attribute.TRANSA, INT32(b_turned))
    operation.set(Attribute.TRANSB, INT32(a_turned))
    operation.set(Attribute.EPILOGUE, UINT32(RELU * p.relu | BIAS * p.bias or NOTHING))
    if p.bias:          # where it lies is told at each call; here, what its address is a multiple of
        operation.set(Attribute.BIAS_POINTER, UINT64(near + ALIGNMENT))
    first = _layout(library, p, p.factor, (p.terms, p.columns) if b_turned else (p.columns, p.terms), p.b[2], p.b[1])
    second = _layout(library, p, p.factor, (p.rows, p.terms) if a_turned else (p.terms, p.rows), p.a[2], p.a[1])
    result = _layout(library, p, p.result, (p.columns, p.rows), p.columns, p.rows * p.columns)
    wanted = cublaslt.Owned(library, "MatmulPreference")
    wanted.set(Preference.MAX_WORKSPACE_BYTES, UINT64(WORKSPACE))
    for attribute, start, code in ((Preference.MIN_ALIGNMENT_A_BYTES, p.b[0], p.factor),
                                   (Preference.MIN_ALIGNMENT_B_BYTES, p.a[0], p.factor),
                                   (Preference.MIN_ALIGNMENT_C_BYTES, 0, p.result),
                                   (Preference.MIN_ALIGNMENT_D_BYTES, 0, p.result)):
        wanted.set(attribute, UINT32(math.gcd(ALIGNMENT, start * WIDTH[code])))
    return Descriptors(operation, first, second, result, wanted)


def _layout(library: Any, p: Product, code: str, sides: tuple[int, int], step: int, apart: int) -> cublaslt.Owned:
    layout = cublaslt.Owned(library, "MatrixLayout", TYPES[code], *sides, step)
    if p.batch > 1:
        layout.set(Layout.BATCH_COUNT, INT32(p.batch))
        layout.set(Layout.STRIDED_BATCH_OFFSET, INT64(apart))
    return layout

