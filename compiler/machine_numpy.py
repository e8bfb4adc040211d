"""The machine whose values are NumPy arrays: the meaning that every other machine repeats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .machine_base import Machine

Function = Callable[..., np.ndarray]        # function(machine, *arrays)


class NumPyMachine(Machine):
    """Values are NumPy arrays (float32 or float64), or NumPy scalars. The meaning of every other make.

    >>> evaluate(exp, np.float32([0, 1]))
    """

    def __init__(self, has_fma: bool = True):
        self.has_fma = has_fma

    def width(self, x: np.ndarray) -> int:
        return 8 * x.dtype.itemsize

    def const(self, value: Any, like: np.ndarray) -> np.ndarray:
        return np.asarray(value, like.dtype)

    def fma(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        a, b, c = _same_type(a, b, c)
        if not self.has_fma:
            return a * b + c
        if a.dtype == np.float32:
            return _fma32(a, b, c)
        return _fma64(a, b, c)

    abs = staticmethod(np.abs)
    floor = staticmethod(np.floor)
    rint = staticmethod(np.rint)
    sqrt = staticmethod(np.sqrt)
    isnan = staticmethod(np.isnan)
    lt, le, gt, ge = map(staticmethod, (np.less, np.less_equal, np.greater, np.greater_equal))
    eq, ne = map(staticmethod, (np.equal, np.not_equal))

    def min(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.select(np.less(a, b), a, b)

    def max(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.select(np.greater(a, b), a, b)

    def select(self, c: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.where(c, *_same_type(a, b))

    def bits(self, x: np.ndarray) -> np.ndarray:
        return x.view(np.int32 if x.dtype == np.float32 else np.int64)

    def from_bits(self, i: np.ndarray) -> np.ndarray:
        return i.view(np.float32 if i.dtype == np.int32 else np.float64)

    def shr(self, i: np.ndarray, n: Any) -> np.ndarray:
        return (i.view(np.uint32 if i.dtype == np.int32 else np.uint64) >> _unsigned(n, i)).view(i.dtype)

    def sar(self, i: np.ndarray, n: Any) -> np.ndarray:
        return i >> n

    def to_float(self, i: np.ndarray) -> np.ndarray:
        return i.astype(np.float32 if i.dtype == np.int32 else np.float64)

    def to_int(self, x: np.ndarray) -> np.ndarray:
        return x.astype(np.int32 if x.dtype == np.float32 else np.int64)

    def widen(self, x: np.ndarray) -> np.ndarray:
        return x.astype(np.float64)

    def narrow(self, x: np.ndarray) -> np.ndarray:
        return x.astype(np.float32)

    def extend(self, i: np.ndarray) -> np.ndarray:
        return i.astype(np.int64)

    def low(self, i: np.ndarray) -> np.ndarray:
        return i.astype(np.int32)

    def rarely(self, test: Function, slow: Function, fast: np.ndarray, *xs: np.ndarray) -> np.ndarray:
        where = np.asarray(test(self, *xs))
        if not where.any():
            return fast
        fast, *rest = (np.array(v) for v in np.broadcast_arrays(fast, *xs))
        fast[where] = slow(self, *(x[where] for x in rest))
        return fast

    def table(self, values: Sequence[float], i: np.ndarray) -> np.ndarray:
        return np.asarray(values)[i]


def evaluate(function: Function, *arrays: np.ndarray, has_fma: bool = True) -> np.ndarray:
    """An elementary function of float arrays of one dtype (float32 or float64); gives their joint shape and dtype."""
    arrays = tuple(np.broadcast_arrays(*arrays))
    flat = [np.ravel(a) for a in arrays]  # NumPy's scalars would lack views as integers
    with np.errstate(all="ignore"):
        return function(NumPyMachine(has_fma), *flat).reshape(arrays[0].shape)


def _same_type(*values: Any) -> list[np.ndarray]:
    """Python numbers among the values take the dtype of the arrays among them."""
    dtype = next(v.dtype for v in values if hasattr(v, "dtype"))
    return [v if hasattr(v, "dtype") else np.asarray(v, dtype) for v in values]


def _unsigned(n: Any, i: np.ndarray) -> Any:
    return n.view(f"u{i.dtype.itemsize}") if hasattr(n, "dtype") else n


PLAIN = NumPyMachine(has_fma=False)  # for the error-free sums and products that fma is made of


def _odd_sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a + b in float64, rounded to odd: the last bit is set where the sum is not exact.

    A value rounded to odd may be rounded once more, to at least two bits fewer, as if it were exact (Boldo and
    Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
    """
    s, e = PLAIN.two_sum(a, b)
    bits = s.view(np.int64)
    step = np.where((e > 0) == (s > 0), 1, -1)
    inexact_even = (e != 0) & np.isfinite(s) & np.isfinite(e) & (bits & 1 == 0)
    return np.where(inexact_even, bits + step, bits).view(np.float64)


def _fma32(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    product = np.asarray(np.multiply(a, b, dtype=np.float64))
    return _odd_sum(product, np.asarray(c, np.float64)).astype(np.float32)


def _fma64(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Boldo and Melquiond's fma of error-free sums; with two roundings where a part would leave the normal range."""
    a, b, c = (np.asarray(v) for v in np.broadcast_arrays(a, b, c))
    product, product_error = PLAIN.two_product(a, b)
    size = np.maximum(np.abs(product), np.abs(c))
    exact = (np.abs(product) > 1e-280) & (size < 1e290) & (np.abs(a) < 1e290) & (np.abs(b) < 1e290)
    low, low_error = PLAIN.two_sum(c, product_error)
    high, high_error = PLAIN.two_sum(product, low)
    return np.where(exact, high + _odd_sum(high_error, low_error), product + c)
