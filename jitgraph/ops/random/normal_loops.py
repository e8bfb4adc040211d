"""Normal numbers of float64 and what is made of them, drawn by compiled loops: the numbers that `philox` and `random_rejection`
draw by NumPy, bit for bit.

TensorFlow takes logarithm, sine and cosine from C's library, and so do these loops: from the same one as Python's `math`.
"""
from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable

import numpy as np

from jitgraph.declare.host_code import HostCode
from jitgraph.ops.random.philox import RESERVED, Bits
from jitgraph.ops.random.philox_text import BLOCK, START

_UNIT = "f64(i64((({high} & u64(0xFFFFF)) << half) | {low})) * " + repr(2.0 ** -52)

# two normal numbers of the block `counter`, the sine before the cosine
_PAIR = f"""
{BLOCK}
            first, angle = {_UNIT.format(high="c0", low="c1")}, {2 * np.pi!r} * ({_UNIT.format(high="c2", low="c3")})
            if first < 1e-7:
                first = 1e-7
            radius = sqrt(-2.0 * call_f64(logarithm, first))
            a = call_f64(sine, angle) * radius
            b = call_f64(cosine, angle) * radius
"""

_NORMALS = HostCode("normals", ("i64", "f64"), f"""def normals(x0, y0, sizes, begin, end):
    count, logarithm, sine, cosine = sizes[0], sizes[1], sizes[2], sizes[3]
{START}
    for q in range(begin, end):
        counter = start + u64(q)
        for once in range(1):{_PAIR}
            y0[2 * q] = a
            if 2 * q + 1 < count:
                y0[2 * q + 1] = b
    return 0
""")

# each two numbers have a sequence of blocks of their own
_TRUNCATED = HostCode("truncated_normals", ("i64", "f64"), f"""def truncated_normals(x0, y0, sizes, begin, end):
    count, logarithm, sine, cosine = sizes[0], sizes[1], sizes[2], sizes[3]
{START}
    for q in range(begin, end):
        kept, block = 0, q * 128
        while kept < 2:
            counter = start + u64(block)
            block = block + 1{_PAIR}
            if fabs(a) < 2.0:
                if 2 * q + kept < count:
                    y0[2 * q + kept] = a
                kept = kept + 1
            if (fabs(b) < 2.0) & (kept < 2):
                if 2 * q + kept < count:
                    y0[2 * q + kept] = b
                kept = kept + 1
    return 0
""")

# uniform and normal numbers come in pairs from a block each, the second one first
_NEXT_NORMAL = f"""
            if left_normal:
                x, left_normal = held_normal, False
            else:
                counter = start + u64(block)
                block = block + 1{_PAIR.replace(chr(10) + " " * 12, chr(10) + " " * 16)}
                x, held_normal, left_normal = b, a, True"""
_NEXT_UNIT = f"""
            if left_unit:
                u, left_unit = held_unit, False
            else:
                counter = start + u64(block)
                block = block + 1
{BLOCK.replace(" " * 12, " " * 16)}
                held_unit = {_UNIT.format(high="c0", low="c1")}
                u, left_unit = {_UNIT.format(high="c2", low="c3")}, True"""


def _deeper(text: str, more: int) -> str:
    return text.replace("\n", "\n" + "    " * more)


_GAMMAS = HostCode("gammas", ("i64", "f64", "f64"), f"""def gammas(x0, x1, y0, sizes, begin, end):
    samples, logarithm, sine, cosine, power = sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]
{START}
    for q in range(begin, end):
        alpha, block = x1[quotient(q, samples)], q * {RESERVED}
        left_unit, left_normal, held_unit, held_normal, u, x = False, False, 0.0, 0.0, 0.0, 0.0
        found = lowest_f64() - lowest_f64()
        d = alpha + {-1.0 / 3!r}
        if alpha < 1.0:
            d = alpha + {2.0 / 3!r}
        if alpha == 1.0:{_NEXT_UNIT}
            found = -call_f64(logarithm, 1.0 - u)
        else:
            going = d > 0.0
            while going:{_deeper(_NEXT_NORMAL, 1)}
                v = 1.0 + {1.0 / 3!r} / sqrt(d) * x
                if v > 0.0:{_deeper(_NEXT_UNIT, 2)}
                    v = v * v * v
                    going = u >= 1.0 - 0.0331 * (x * x) * (x * x)
                    if going:
                        going = call_f64(logarithm, u) >= 0.5 * x * x + d * (1.0 - v + call_f64(logarithm, v))
                    found = d * v
            if alpha < 1.0:{_deeper(_NEXT_UNIT, 1)}
                if alpha == 0.0:
                    found = found * 0.0
                else:
                    found = found * call_f64_f64(power, u, 1.0 / alpha)
        y0[q] = found
    return 0
""")


@functools.cache
def _functions() -> tuple[int, ...] | None:
    """Where log, sin, cos and pow of C's library lie: those that Python's `math` calls, or None."""
    try:
        library = ctypes.CDLL(None)
        functions = [getattr(library, name) for name in ("log", "sin", "cos", "pow")]
    except (OSError, AttributeError, TypeError):
        return None
    expected: tuple[Callable[..., float], ...] = math.log, math.sin, math.cos, math.pow
    for function, known, arity in zip(functions, expected, (1, 1, 1, 2)):
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * arity
        if any(function(*given) != known(*given) for given in ((0.1 + k * 0.37, 0.3 * k)[:arity] for k in range(64))):
            return None
    return tuple(ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions)


def _seeds(bits: Bits) -> np.ndarray:
    return np.array([bits.seed, bits.seed2, bits.start], np.uint64).view(np.int64)


def normals(bits: Bits, count: int) -> np.ndarray | None:
    """`count` numbers of the standard normal distribution; None where the loop is not compiled."""
    return _drawn(_NORMALS, bits, count)


def truncated_normals(bits: Bits, count: int) -> np.ndarray | None:
    """`count` of them, those of absolute value 2 and more drawn again; None where the loop is not compiled."""
    return _drawn(_TRUNCATED, bits, count)


def _drawn(loop: HostCode, bits: Bits, count: int) -> np.ndarray | None:
    functions, out = _functions(), np.empty(count)
    if functions is None or loop(_seeds(bits), out, sizes=(count, *functions[:3]), end=(count + 1) // 2) is None:
        return None
    return out


def gammas(alphas: np.ndarray, count: int, bits: Bits) -> np.ndarray | None:
    """`count` numbers of the gamma distribution for each of the float64 shapes `alphas` [n], row by row: [n * count]; None where
    the loop is not compiled."""
    functions, out = _functions(), np.empty(len(alphas) * count)
    if functions is None or _GAMMAS(_seeds(bits), alphas, out, sizes=(count, *functions), end=out.size) is None:
        return None
    return out
