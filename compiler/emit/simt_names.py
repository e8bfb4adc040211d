"""The meaning of the names of a kernel's text for one thread of `simt`: NumPy's, on scalars of the kernel's types."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jitgraph.graph import dtypes

from ..kernel import HALVES
from .cuda_intrinsics import FOLDS, WARP
from .simt_memory import TYPES, Memory, Pointer, Registers, SimulationError, Words

LANES = np.arange(WARP)
FOLDED = (*FOLDS, "argmax", "argmin")


@functools.cache
def functions() -> dict[str, Callable[..., Any]]:
    """Functions that are computed for many lanes at once, by a machine."""
    from .. import elementary
    from .intrinsics import FLOAT_FUNCTIONS

    return {**elementary.FUNCTIONS, **FLOAT_FUNCTIONS}


@functools.cache
def meetings() -> frozenset[str]:
    """Names of functions for which threads stop: to meet others, or to be computed together."""
    return frozenset({"barrier", *(f"fold_{prim}" for prim in FOLDED), *functions()})


# what moves elements ------------------------------------------------------------------------------------------------
def _taken(x: Pointer, at: int, condition: bool) -> np.generic:
    return x[at] if condition else x.array.dtype.type(0)


def _move(to: Memory, i: int, x: Memory, at: int, condition: bool = True, count: int = 4) -> None:
    """Some elements, by instructions that move 16 bytes, if they are as many; zeros where the condition does not hold."""
    for memory, place in ((to, i), (x, at)):
        nbytes = min(16, count * memory.array.itemsize)
        if condition and place * memory.array.itemsize % nbytes:
            raise SimulationError(f"place {place} is no multiple of {nbytes} bytes")
    if condition:
        x.moves(at, count, False)
    to.moves(i, count, True)
    for k in range(count):
        to.put(i + k, x.get(at + k) if condition else 0)


def _copy_some(to: Memory, i: int, x: Memory, at: int, count: int) -> None:
    for k in range(min(count, 4)):
        to[i + k] = x[at + k]


def _add_products(sums: Registers, a: Registers, n: int, b: Registers, m: int) -> None:
    """Products of float32 are exact in float64, so that each sum is rounded to float32 once, but for a rare rounding in between."""
    products = np.multiply.outer(a.array[:n], b.array[:m], dtype=np.float64)
    sums.array[:n * m] = products.ravel() + sums.array[:n * m]


# what lanes of a warp ask for ----------------------------------------------------------------------------------------
def compute(function: Callable[..., np.ndarray], arguments: Sequence[tuple[Any, ...]]) -> np.ndarray:
    from ..machine import NumPyMachine

    return function(NumPyMachine(), *(np.array(column) for column in zip(*arguments)))


_COMBINE = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum, "and": np.logical_and,
            "or": np.logical_or}


def fold(prim: str, *arguments: np.ndarray) -> tuple[np.ndarray, ...]:
    """What each lane gets from a fold of arrays [..., lanes]: lane i combined with i ^ 16, then i ^ 8, ... i ^ 1."""
    values, *places = arguments
    distance = WARP // 2
    while distance:
        other = values[..., LANES ^ distance]
        if places:
            better = other > values if prim == "argmax" else other < values
            worse = values > other if prim == "argmax" else values < other
            there = places[0][..., LANES ^ distance]
            take = better | (~worse & (there < places[0]))
            values, places[0] = np.where(take, other, values), np.where(take, there, places[0])
        else:
            values = _COMBINE[prim](values, other)
        distance //= 2
    return values, *places


# arithmetic ----------------------------------------------------------------------------------------------------------
def _divided(a: Any, b: Any, what: str) -> Any:
    """Integer division as kernels do it: by 0 it gives 0 and the remainder a."""
    a, b = np.broadcast_arrays(a, b)
    dtype, by_zero = np.result_type(a, b), b == 0
    quotient = np.floor_divide(a, np.where(by_zero, b.dtype.type(1), b))
    rest = a - quotient * b
    if what.startswith("trunc"):
        off = (rest != 0) & ((a < 0) != (b < 0))
        quotient, rest = quotient + off, rest - np.where(off, b, b.dtype.type(0))
    return np.where(by_zero, 0 if what.endswith("div") else a, quotient if what.endswith("div") else rest).astype(dtype)[()]


def _quotient32(a: int, b: int) -> int:
    if not (0 <= a < 1 << 32 and 0 < b < 1 << 32):
        raise SimulationError(f"quotient32 of {a} and {b}: they are not in [0, 2**32)")
    return a // b


def _modulo(a: Any, b: Any, what: str) -> Any:
    if a.dtype.kind != "f":
        return _divided(a, b, what)
    return np.fmod(a, b) if what == "fmod" else np.mod(a, b)


def _power(x: Any, y: Any) -> Any:
    return np.where(y >= 0, np.power(x, np.maximum(y, 0)), x.dtype.type(1))[()]


def _rounded(x: Any, dtype: np.dtype) -> np.float32:
    """What a number is as a float of 16 bits."""
    x = np.asarray(x)
    return (x if dtype == np.float16 and x.dtype == np.float64 else x.astype(np.float32)).astype(dtype).astype(np.float32)[()]


def _cut(x: np.float32, dtype: np.dtype) -> Any:
    """The bits of a float of 16 bits.  Raises SimulationError for what is none."""
    found = np.asarray(x).astype(dtype)
    if found.astype(np.float32) != x and x == x:
        raise SimulationError(f"{x!r} is stored as {dtype} and was not rounded")
    return found.view(np.uint16)[()]


def _cast(dtype: np.dtype) -> Callable[[Any], Any]:
    return lambda x: np.asarray(x).astype(dtype)[()]


@functools.cache
def namespace() -> dict[str, Callable[..., Any]]:
    """The names whose meaning is the same for whichever thread asks; `meetings` are no functions of one thread."""
    names: dict[str, Callable[..., Any]] = {
        "select": lambda c, a, b: a if c else b, "not_": np.logical_not, "inf": lambda x: x.dtype.type(np.inf),
        "outside": lambda index, limit: int(not 0 <= index < limit),
        "inside": lambda index, limit: index if 0 <= index < limit else 0,
        "onwards": Words.onwards, "quotient": lambda a, b: a // b, "quotient32": _quotient32, "smaller": min, "larger": max,
        "unforeseen": lambda x: x,
        "float_bits": lambda x: x.view(f"i{x.itemsize}"), "bits_float": lambda x: x.view(np.float32),
        "taken": _taken, "take4": _move, "copy4": _move, "copy_some": _copy_some, "add_products": _add_products,
        **dict.fromkeys(("load8", "take8", "store8"), functools.partial(_move, count=8)),
        "iabs": np.abs, "isign": np.sign, "ipow": _power,
        "maximum": lambda a, b: np.maximum(b, a), "minimum": lambda a, b: np.minimum(b, a),     # the first of two zeros
        "max_step": np.fmax, "min_step": np.fmin,
        "sum_step": np.add, "product_step": np.multiply,
        "fmod": functools.partial(_modulo, what="fmod"), "floor_mod": functools.partial(_modulo, what="floor_mod")}
    for what in ("floor_div", "trunc_div", "trunc_mod"):
        names[what] = functools.partial(_divided, what=what)
    for name, code in HALVES.items():
        half = np.dtype(dtypes.as_dtype(name).as_numpy_dtype)
        names |= {code: functools.partial(_rounded, dtype=half), f"{code}_bits": functools.partial(_cut, dtype=half),
                  f"{code}_value": lambda x, half=half: x.view(half).astype(np.float32)[()],
                  f"scalar_{code}": lambda words, slot, half=half: words.scalar(slot, half).astype(np.float32)}
    for code, dtype in TYPES.items():
        names[f"scalar_{code}"] = functools.partial(Words.scalar, dtype=dtype)
        if code != "b1":
            names[code] = _cast(dtype)
            low, high = (-np.inf, np.inf) if code[0] == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
            names[f"lowest_{code}"] = functools.partial(dtype.type, low)
            names[f"highest_{code}"] = functools.partial(dtype.type, high)
    return names
