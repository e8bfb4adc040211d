"""pow, sqrt, rsqrt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import elementary_coefficients as c
from .elementary_exponential import INF, NAN, reduce_log, scale

if TYPE_CHECKING:
    from .machine_base import Machine, Number

C0 = (2.8853900817779268, 4.0710547481862066e-17)  # 2 / ln 2 in two parts
C1 = (0.9617966939259756, 5.0577616648125907e-17)  # a third of it


def sqrt(m: Machine, x: Number) -> Number:
    """Square root, correctly rounded; NaN below 0, -0 at -0."""
    return m.sqrt(x)


def rsqrt(m: Machine, x: Number) -> Number:
    """1 / sqrt(x); inf at 0, -inf at -0. Error: 1.6 ULP (float32), 1.5 ULP (float64)."""
    return 1.0 / m.sqrt(x)


def pow(m: Machine, x: Number, y: Number) -> Number:
    """x**y with all special cases of IEEE 754. Error: 1.0 ULP (float32), 1.2 ULP (float64).

    A negative x has a power where y is an integer; pow(x, 0) = pow(1, y) = 1 even for NaN.
    """
    size = m.abs(x)
    result = (_pow32 if m.width(x) == 32 else _pow64)(m, size, y)
    half = y * 0.5
    integer = m.eq(m.floor(y), y)
    odd = integer & m.ne(m.floor(half), half)
    result = m.select(odd & m.lt(m.bits(x), 0), -result, result)
    result = m.select(m.lt(x, 0.0) & m.lt(size, INF) & ~integer, NAN, result)
    one = m.eq(x, 1.0) | m.eq(y, 0.0) | (m.eq(size, 1.0) & m.eq(m.abs(y), INF))
    return m.select(one, 1.0, result)


def _log2_ends(m: Machine, x: Number, log2: Number) -> Number:
    """log2, but right at x = 0 and infinity."""
    return m.select(m.eq(x, 0.0), -INF, m.select(m.lt(x, INF), log2, m.widen(x) if m.width(x) == 32 else x))


def _pow32(m: Machine, x: Number, y: Number) -> Number:
    """x**y for x >= 0 in float32: the logarithm in float64, the power of two of its fraction in float32."""
    k, f = reduce_log(m, x)
    f = m.widen(f)
    log2 = m.fma(f, m.polynomial(f, c.LOG2_POW_32), m.widen(k))
    t = m.widen(y) * _log2_ends(m, x, log2)
    t = m.max(-200.0, m.min(200.0, t))  # 2**t is 0 or infinite well before
    n, i = m.round_shift(t)
    r = m.narrow(t - n)
    return scale(m, m.fma(r, m.polynomial(r, c.EXP2_32), 1.0), m.low(i))


def _pow64(m: Machine, x: Number, y: Number) -> Number:
    """x**y for x >= 0 in float64: the logarithm to about 66 bits, as high and low part."""
    high, low = _log2_parts(m, *reduce_log(m, x))
    high = _log2_ends(m, x, high)
    if not m.has_fma:  # Veltkamp's splitting overflows for larger y; the result does, too
        y = m.max(-(2.0**900), m.min(2.0**900, y))
    t, error = m.two_product(y, high)
    clamped = m.max(-1100.0, m.min(1100.0, t))
    n, i = m.round_shift(clamped)
    rest = m.select(m.eq(clamped, t), m.fma(y, low, error), 0.0)
    r = (clamped - n) + rest
    return scale(m, m.fma(r, m.polynomial(r, c.EXP2_64), 1.0), i)


def _log2_parts(m: Machine, k: Number, f: Number) -> tuple[Number, Number]:
    """(high, low): k + log2(1 + f) in two floats.

    With s = f / (2 + f), log2(1 + f) = s (C0 + s**2 (C1 + s**2 p(s**2))).
    """
    # s = sh + sl to twice the precision
    u = f + 2.0
    u_low = f - (u - 2.0)
    reciprocal = 1.0 / u
    sh = f * reciprocal
    p, e = m.two_product(sh, u)
    sl = ((f - p) - e - sh * u_low) * reciprocal
    zh, e = m.two_product(sh, sh)
    zl = m.fma(sh + sh, sl, e)
    wh, wl = m.fast_two_sum(m.const(C1[0], f), zh * m.polynomial(zh, c.LOG2_POW_64))
    wl = wl + C1[1]
    qh, e = m.two_product(zh, wh)
    ql = e + m.fma(zh, wl, zl * wh)
    rh, rl = m.fast_two_sum(m.const(C0[0], f), qh)
    rl = rl + (ql + C0[1])
    ph, e = m.two_product(sh, rh)
    pl = e + m.fma(sh, rl, sl * rh)
    high, e = m.fast_two_sum(k, ph)
    return high, e + pl
