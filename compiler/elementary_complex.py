"""Functions of complex numbers: the same Python for NumPy arrays and kernels, as `elementary`.

A complex number is the pair (real part, imaginary part).  `FUNCTIONS` maps a name to `function(m, *pairs)`, which gives a pair, a
real number or a truth value.  Infinities and NaN are as in C's <complex.h> where a function names them; products are the plain
four products, as NumPy's and TensorFlow's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import elementary_circular as circular
from . import elementary_exponential as exponential
from .elementary_exponential import INF

if TYPE_CHECKING:
    from .machine_base import Machine, Number

    Pair = tuple[Number, Number]

# exp(x) of a larger x than the first overflows, while exp(x) cos(y) may not: it is exp(x - shift) cos(y) exp(shift)
SHIFT = {32: (80.0, 44.25, 1.6501781191944438e19), 64: (700.0, 350.0, 1.0070908870280797e152)}
# beyond, the real part of tanh is 1
FLAT = {32: 11.0, 64: 22.0}
LN_TWO = 0.6931471805599453
# sizes whose squares are neither too large nor too small, and what others are multiplied by
SQUARABLE, SCALE = (2.0**-480, 2.0**480), 2.0**600


# parts and arithmetic -------------------------------------------------------------------------------------------------
def pair(m: Machine, x: Number, y: Number) -> Pair:
    """The complex number with these parts."""
    return x, y


def real(m: Machine, z: Pair) -> Number:
    return z[0]


def imag(m: Machine, z: Pair) -> Number:
    return z[1]


def conj(m: Machine, z: Pair) -> Pair:
    return z[0], -z[1]


def neg(m: Machine, z: Pair) -> Pair:
    return -z[0], -z[1]


def add(m: Machine, a: Pair, b: Pair) -> Pair:
    return a[0] + b[0], a[1] + b[1]


def sub(m: Machine, a: Pair, b: Pair) -> Pair:
    return a[0] - b[0], a[1] - b[1]


def mul(m: Machine, a: Pair, b: Pair) -> Pair:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def div(m: Machine, a: Pair, b: Pair) -> Pair:
    """a / b by the quotient of b's parts, so that nothing overflows on the way (Smith), as NumPy has it."""
    wide = m.ge(m.abs(b[0]), m.abs(b[1]))
    most, least = m.select(wide, b[0], b[1]), m.select(wide, b[1], b[0])
    ratio = least / most
    scale = 1.0 / (most + least * ratio)
    x = m.select(wide, a[0] + a[1] * ratio, a[0] * ratio + a[1]) * scale
    y = m.select(wide, a[1] - a[0] * ratio, a[1] * ratio - a[0]) * scale
    by_zero = m.eq(m.abs(b[0]) + m.abs(b[1]), 0.0)
    return m.select(by_zero, a[0] * INF, x), m.select(by_zero, a[1] * INF, y)


def eq(m: Machine, a: Pair, b: Pair) -> Number:
    return m.eq(a[0], b[0]) & m.eq(a[1], b[1])


def ne(m: Machine, a: Pair, b: Pair) -> Number:
    return m.ne(a[0], b[0]) | m.ne(a[1], b[1])


# sizes ----------------------------------------------------------------------------------------------------------------
def _largest(m: Machine, z: Pair) -> Number:
    """The larger part's size; NaN only if no part is a number."""
    x, y = m.abs(z[0]), m.abs(z[1])
    return m.select(m.gt(y, x), y, m.select(m.isnan(x), y, x))


def _squarable(m: Machine, z: Pair) -> tuple[Number, Number, Number]:
    """(x, y, s): the parts of a number of float64 times s, a power of two, so that their squares are in range."""
    size = _largest(m, z)
    s = m.select(m.gt(size, SQUARABLE[1]), m.const(1 / SCALE, size), m.select(m.lt(size, SQUARABLE[0]), m.const(SCALE, size),
                                                                           m.const(1.0, size)))
    return z[0] * s, z[1] * s, s


def abs(m: Machine, z: Pair) -> Number:
    """sqrt(x * x + y * y); infinite where a part is, though the other be NaN."""
    if m.width(z[0]) == 32:
        x, y = m.widen(z[0]), m.widen(z[1])
        size = m.narrow(m.sqrt(x * x + y * y))
    else:
        x, y, s = _squarable(m, z)
        size = m.sqrt(x * x + y * y) / s
    return m.select(m.eq(_largest(m, z), INF), m.const(INF, size), size)


def sqrt(m: Machine, z: Pair) -> Pair:
    """The root with the real part not below zero, in the half of the plane where z is."""
    narrow = m.width(z[0]) == 32
    if narrow:
        x, y = m.widen(z[0]), m.widen(z[1])
    else:
        x, y, s = _squarable(m, z)
    size = m.sqrt(x * x + y * y)
    root = m.sqrt((size + m.abs(x)) * 0.5)
    other = m.abs(y) / (root + root)
    other = m.select(m.eq(root, 0.0), root, other)
    right = m.le(0.0, x)
    first, second = m.select(right, root, other), m.select(right, other, root)
    if narrow:
        first, second = m.narrow(first), m.narrow(second)
    else:
        back = m.sqrt(1.0 / s)
        first, second = first * back, second * back
    infinite = m.eq(m.abs(z[1]), INF)
    endless = m.eq(z[0], INF)
    left = m.eq(z[0], -INF)
    first = m.select(infinite | endless, m.const(INF, first), m.select(left, m.select(m.isnan(z[1]), z[1], z[1] * 0.0), first))
    second = m.select(infinite | left, m.const(INF, second), m.select(endless, z[1] * 0.0, second))
    return m.abs(first), m.copysign(second, z[1])


def rsqrt(m: Machine, z: Pair) -> Pair:
    root = sqrt(m, z)
    one = m.const(1.0, z[0])
    return div(m, (one, one * 0.0), root)


# exponential ----------------------------------------------------------------------------------------------------------
def _scaled_exp(m: Machine, x: Number) -> tuple[Number, Number]:
    """(e, s): exp(x) = e * s, where e does not overflow unless exp(x) is far out of range."""
    most, shift, factor = SHIFT[m.width(x)]
    large = m.gt(x, most)
    return exponential.exp(m, m.select(large, x - shift, x)), m.select(large, m.const(factor, x), m.const(1.0, x))


def exp(m: Machine, z: Pair) -> Pair:
    x, y = z
    e, s = _scaled_exp(m, x)
    vanishes = m.eq(x, -INF)
    endless = _is_endless(m, x, y)
    first, second = e * circular.cos(m, y) * s, e * circular.sin(m, y) * s
    first = m.select(vanishes, m.const(0.0, x), m.select(endless, x, first))
    second = m.select(m.eq(y, 0.0), y, m.select(vanishes, m.const(0.0, x), second))
    return first, second


def log(m: Machine, z: Pair) -> Pair:
    """log |z| from the exact sum of squares near 1, where it nearly vanishes; and the angle."""
    if m.width(z[0]) == 32:
        x, y = m.widen(z[0]), m.widen(z[1])
        squares, lost = m.two_sum(x * x, y * y)
        size = m.narrow(exponential.log(m, squares) * 0.5 + _near_one(m, squares, lost))
    else:
        x, y, s = _squarable(m, z)
        (xx, x_lost), (yy, y_lost) = m.two_product(x, x), m.two_product(y, y)
        squares, lost = m.two_sum(xx, yy)
        size = exponential.log(m, squares) * 0.5 + _near_one(m, squares, lost + (x_lost + y_lost))
        size = size + m.select(m.eq(s, 1.0), m.const(0.0, s), m.select(m.gt(s, 1.0), m.const(-600 * LN_TWO, s),
                                                                      m.const(600 * LN_TWO, s)))
    size = m.select(m.eq(_largest(m, z), INF), m.const(INF, size), size)
    return size, circular.atan2(m, z[1], z[0])


def _near_one(m: Machine, squares: Number, lost: Number) -> Number:
    """What the rounding of a sum near 1 takes from half its logarithm."""
    near = m.gt(squares, 0.5) & m.lt(squares, 2.0)
    return m.select(near, lost * 0.5, m.const(0.0, lost))


def sigmoid(m: Machine, z: Pair) -> Pair:
    x, y = exp(m, neg(m, z))
    one = m.const(1.0, x)
    return div(m, (one, one * 0.0), (1.0 + x, y))


# circular and hyperbolic ----------------------------------------------------------------------------------------------
def _hyperbolic(m: Machine, x: Number, for_sinh: Number, for_cosh: Number) -> tuple[Number, Number]:
    """(sinh(x) * for_sinh, cosh(x) * for_cosh), which overflow only where the products do."""
    most, shift, factor = SHIFT[m.width(x)]
    size = m.abs(x)
    large = m.gt(size, most)
    half = exponential.exp(m, size - shift) * 0.5
    return (m.select(large, m.copysign(half, x) * for_sinh * factor, exponential.sinh(m, x) * for_sinh),
            m.select(large, half * for_cosh * factor, exponential.cosh(m, x) * for_cosh))


def _is_endless(m: Machine, x: Number, y: Number) -> Number:
    """Whether x is infinite and y no finite number."""
    return m.eq(m.abs(x), INF) & ~m.lt(m.abs(y), INF)


def sinh(m: Machine, z: Pair) -> Pair:
    x, y = z
    first, second = _hyperbolic(m, x, circular.cos(m, y), circular.sin(m, y))
    first = m.select(m.eq(x, 0.0), x, m.select(_is_endless(m, x, y), m.abs(x), first))
    return first, m.select(m.eq(y, 0.0), y, second)


def cosh(m: Machine, z: Pair) -> Pair:
    x, y = z
    second, first = _hyperbolic(m, x, circular.sin(m, y), circular.cos(m, y))
    zero = m.copysign(m.const(0.0, x), x) * m.copysign(m.const(1.0, y), y)
    return (m.select(_is_endless(m, x, y), m.abs(x), first),
            m.select(m.eq(x, 0.0) | m.eq(y, 0.0), zero, second))


def sin(m: Machine, z: Pair) -> Pair:
    """i sinh(-i z)"""
    y, x = sinh(m, (z[1], -z[0]))
    return -x, y


def cos(m: Machine, z: Pair) -> Pair:
    """cosh(i z)"""
    return cosh(m, (-z[1], z[0]))


def tanh(m: Machine, z: Pair) -> Pair:
    """By tan(y) and sinh(x), as W. Kahan has it (Branch cuts for complex elementary functions, 1987)."""
    x, y = z
    t, s = circular.tan(m, y), exponential.sinh(m, x)
    beta = 1.0 + t * t
    below = 1.0 + beta * s * s
    first, second = beta * m.sqrt(1.0 + s * s) * s / below, t / below
    size = m.abs(x)
    flat = m.gt(size, FLAT[m.width(x)])
    e = exponential.exp(m, -size)
    tail = 4.0 * circular.sin(m, y) * circular.cos(m, y) * e * e
    tail = m.select(_is_endless(m, x, y), m.const(0.0, x), tail)
    first = m.select(flat & (m.lt(m.abs(y), INF) | m.eq(size, INF)), m.copysign(m.const(1.0, x), x), first)
    return m.select(m.eq(x, 0.0), x, first), m.select(m.eq(y, 0.0), y, m.select(flat, tail, second))


def tan(m: Machine, z: Pair) -> Pair:
    """-i tanh(i z)"""
    y, x = tanh(m, (-z[1], z[0]))
    return x, -y


FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (conj, neg, add, sub, mul, div, sqrt, rsqrt, exp, log, sigmoid, sinh, cosh, sin, cos, tanh, tan)
}
"""From complex numbers to one of their type."""
TO_REAL: dict[str, Callable[..., Any]] = {function.__name__: function for function in (real, imag, abs)}
COMPARISONS: dict[str, Callable[..., Any]] = {function.__name__: function for function in (eq, ne)}
