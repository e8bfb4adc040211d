"""exp, log and what is made of them: expm1, log1p, sigmoid, tanh, sinh, cosh and the inverse hyperbolic functions.

The error in each docstring is the largest measured, in units in the last place (ULP), over the whole range, denormal
results and arguments included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import elementary_coefficients as c

if TYPE_CHECKING:
    from .machine_base import Machine, Number

INF, NAN = float("inf"), float("nan")
LOG2_E = 1.4426950408889634
# ln 2 in two parts; the high part ends in zeros, so that it times an exponent is exact
LN2 = {32: (0.693145751953125, 1.428606765330187e-06), 64: (0.6931471803691238, 1.9082149292705877e-10)}
MANTISSA = {32: 23, 64: 52}
BIAS = {32: 127, 64: 1023}
SQRT_HALF_BITS = {32: 0x3F3504F3, 64: 0x3FE6A09E667F3BCD}
SMALLEST_NORMAL = {32: 2.0**-126, 64: 2.0**-1022}
EXP_RANGE = {32: (-104.0, 89.0), 64: (-746.0, 710.0)}  # beyond: 0 and infinity after rounding


def power_of_two(m: Machine, n: Number) -> Number:
    """2**n for an integer n of the normal exponent range."""
    w = m.width(n)
    return m.from_bits((n + BIAS[w]) << MANTISSA[w])


def scale(m: Machine, x: Number, n: Number) -> Number:
    """x * 2**n, for results that may be denormal or overflow; 0.5 <= |x| < 2.  In two steps, the first of them exact, where
    the machine has no instruction for it: either way one rounding, and the same bits."""
    if m.has_ldexp:
        return m.ldexp(x, n)
    half = m.sar(n, 1)
    return x * power_of_two(m, half) * power_of_two(m, n - half)


def reduce_exp(m: Machine, x: Number) -> tuple[Number, Number]:
    """(r, n): x = n ln 2 + r with |r| <= ln(2)/2 and an integer n."""
    w = m.width(x)
    high, low = LN2[w]
    n, i = m.round_shift(x, LOG2_E)
    r = m.fma(n, -low, m.fma(n, -high, x))
    return r, i


def exp(m: Machine, x: Number) -> Number:
    """e**x. Error: 1.1 ULP (float32), 1.1 ULP (float64)."""
    w = m.width(x)
    lowest, highest = EXP_RANGE[w]
    r, n = reduce_exp(m, m.max(lowest, m.min(highest, x)))
    p = m.fma(r * r, m.polynomial(r, c.EXP_32 if w == 32 else c.EXP_64), r) + 1.0
    return scale(m, p, n)


def _expm1_part(m: Machine, r: Number) -> Number:
    """e**r - 1 for |r| <= ln(2)/2."""
    return m.fma(r * r, m.polynomial(r, c.EXPM1_32 if m.width(r) == 32 else c.EXPM1_64), r)


def expm1(m: Machine, x: Number) -> Number:
    """e**x - 1, without cancellation near 0. Error: 1.5 ULP (float32), 2.2 ULP (float64)."""
    highest = EXP_RANGE[m.width(x)][1]
    r, n = reduce_exp(m, m.max(-40.0, m.min(highest, x)))
    half = power_of_two(m, n - 1)  # 2**n itself would overflow before the result does
    return m.copysign(m.fma(half, _expm1_part(m, r), half - 0.5) * 2.0, x)


def tanh(m: Machine, x: Number) -> Number:
    """Hyperbolic tangent, (e**2x - 1) / (e**2x + 1). Error: 2.5 ULP (float32), 2.4 ULP (float64)."""
    size = m.min(10.0 if m.width(x) == 32 else 20.0, m.abs(x))
    r, n = reduce_exp(m, size + size)
    whole = power_of_two(m, n)
    t = m.fma(whole, _expm1_part(m, r), whole - 1.0)
    return m.copysign(t / (t + 2.0), x)


def sigmoid(m: Machine, x: Number) -> Number:
    """1 / (1 + e**-x), as e**x / (1 + e**x) for negative x so that small results keep their digits.

    Error: 2.4 ULP (float32), 2.2 ULP (float64).
    """
    e = exp(m, -m.abs(x))
    return m.select(m.lt(x, 0.0), e, 1.0) / (e + 1.0)


def reduce_log(m: Machine, x: Number) -> tuple[Number, Number]:
    """(k, f): x = 2**k (1 + f) with an integral float k and sqrt(1/2) <= 1 + f < sqrt(2); x > 0, denormal or not."""
    w = m.width(x)
    bits = MANTISSA[w]
    tiny = m.lt(x, SMALLEST_NORMAL[w])
    i = m.bits(m.select(tiny, x * 2.0**bits, x)) - SQRT_HALF_BITS[w]
    mantissa = (i & ((1 << bits) - 1)) + SQRT_HALF_BITS[w]
    k = m.to_float(m.sar(i, bits))
    return m.select(tiny, k - float(bits), k), m.from_bits(mantissa) - 1.0


def log_of_parts(m: Machine, k: Number, f: Number) -> Number:
    """k ln 2 + log(1 + f) for sqrt(1/2) <= 1 + f < sqrt(2)."""
    high, low = LN2[m.width(f)]
    if m.width(f) == 32:
        p = m.fma(f * f, m.polynomial(f, c.LOG_32), k * low)
        return m.fma(k, high, p + f)
    s = f / (f + 2.0)
    z = s * s
    half_square = f * f * 0.5
    tail = m.fma(s, m.fma(z, m.polynomial(z, c.LOG_64), half_square), k * low)
    return m.fma(k, high, f - (half_square - tail))


def _log_specials(m: Machine, x: Number, y: Number, pole: Number) -> Number:
    """y, but -inf where x is the pole, NaN below it, and x itself where it is infinite or NaN."""
    y = m.select(m.lt(x, INF), y, x)
    y = m.select(m.lt(x, pole), NAN, y)
    return m.select(m.eq(x, pole), -INF, y)


def log(m: Machine, x: Number) -> Number:
    """Natural logarithm; -inf at 0, NaN below. Error: 1.1 ULP (float32), 0.8 ULP (float64)."""
    return _log_specials(m, x, log_of_parts(m, *reduce_log(m, x)), 0.0)


def reduce_log1p(m: Machine, x: Number) -> tuple[Number, Number]:
    """(k, f): 1 + x = 2**k (1 + f) as `reduce_log` does it.

    1 + x rounded only chooses the exponent k; f = 2**-k (1 + x) - 1 is then computed from x itself, with one rounding.
    """
    w = m.width(x)
    bits = MANTISSA[w]
    i = m.bits(x + 1.0) - SQRT_HALF_BITS[w]
    k = m.sar(i, bits)
    quarter = m.from_bits(((BIAS[w] + 2) << bits) - (k << bits))  # 4 * 2**-k: 2**-k is denormal for the largest x
    return m.to_float(k), m.fma(x, quarter, quarter - 4.0) * 0.25


def log1p(m: Machine, x: Number) -> Number:
    """log(1 + x), with all digits near 0; -inf at -1, NaN below. Error: 1.5 ULP (float32), 0.8 ULP (float64)."""
    y = log_of_parts(m, *reduce_log1p(m, x))
    return m.copysign(_log_specials(m, x, y, -1.0), x)


def _quarter_exp(m: Machine, size: Number) -> Number:
    """e**size / 4 for size >= 0: infinite only where cosh is, too."""
    w = m.width(size)
    r, n = reduce_exp(m, m.min(EXP_RANGE[w][1] + 1.0, size))
    return (m.fma(r * r, m.polynomial(r, c.EXP_32 if w == 32 else c.EXP_64), r) + 1.0) * power_of_two(m, n - 2)


def sinh(m: Machine, x: Number) -> Number:
    """Hyperbolic sine: a polynomial for |x| < 1, (e**x - e**-x) / 2 above.

    Error: 1.7 ULP (float32), 1.6 ULP (float64).
    """
    size = m.abs(x)
    z = x * x
    near = m.fma(size * z, m.polynomial(z, c.SINH_32 if m.width(x) == 32 else c.SINH_64), size)
    e = _quarter_exp(m, size)
    return m.copysign(m.select(m.lt(size, 1.0), near, (e - 0.0625 / e) * 2.0), x)


def cosh(m: Machine, x: Number) -> Number:
    """Hyperbolic cosine, (e**x + e**-x) / 2. Error: 1.5 ULP (float32), 1.3 ULP (float64)."""
    e = _quarter_exp(m, m.abs(x))
    return (e + 0.0625 / e) * 2.0


HUGE = {32: 2.0**30, 64: 2.0**60}  # here x + 1 rounds to x, and x**2 is finite


def _log1p_plain(m: Machine, x: Number, doubled: Number) -> Number:
    """log(1 + x) for finite x >= 0, plus ln 2 where doubled."""
    k, f = reduce_log1p(m, x)
    return log_of_parts(m, m.select(doubled, k + 1.0, k), f)


def asinh(m: Machine, x: Number) -> Number:
    """Inverse hyperbolic sine. Error: 1.9 ULP (float32), 1.6 ULP (float64)."""
    size = m.abs(x)
    large = m.gt(size, HUGE[m.width(x)])
    squared = size * size
    w = m.select(large, size, size + squared / (m.sqrt(squared + 1.0) + 1.0))
    y = _log1p_plain(m, w, large)
    return m.copysign(m.select(m.lt(size, INF), y, size), x)


def acosh(m: Machine, x: Number) -> Number:
    """Inverse hyperbolic cosine; NaN for x < 1. Error: 2.5 ULP (float32), 2.3 ULP (float64)."""
    large = m.gt(x, HUGE[m.width(x)])
    t = x - 1.0
    w = m.select(large, x, t + m.sqrt(t * (t + 2.0)))
    y = _log1p_plain(m, w, large)
    return m.select(m.lt(x, INF), m.select(m.lt(x, 1.0), NAN, y), x)


def atanh(m: Machine, x: Number) -> Number:
    """Inverse hyperbolic tangent; infinite at +-1, NaN beyond. Error: 1.9 ULP (float32), 1.6 ULP (float64)."""
    size = m.abs(x)
    twice = size + size
    w = twice + twice * size / (1.0 - size)
    y = _log1p_plain(m, w, m.lt(size, 0.0)) * 0.5
    y = m.select(m.eq(size, 1.0), m.const(INF, x), m.select(m.lt(size, 1.0), y, NAN))
    return m.copysign(y, x)
