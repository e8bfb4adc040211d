"""sin, cos, tan and their inverses.

Arguments are reduced to r = x - q pi/2 with |r| <= pi/4 by subtracting q times pi/2 in parts (Cody and Waite), in
float64 even for float32; larger ones, rarely met, with as many digits of 1/(2 pi) as they need (Payne and Hanek).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import elementary_coefficients as c
from .elementary_exponential import INF, power_of_two

if TYPE_CHECKING:
    from .machine_base import Machine, Number

TWO_OVER_PI = 0.6366197723675814
# pi/2 in three parts of 33 bits and a rest, and in one and two rests: 33 bits times a quadrant below 2**20 are exact
# even without fma
PI_HALF_PARTS = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.4784276603689e-32)
PI_HALF_PAIR = (1.5707963267341256, 6.077100506506192e-11, 3.5215598651832e-27)
# pi/2, rounded and the rest; twice and half of these are parts of pi and pi/4
PI_HALF = {32: (1.5707963705062866, -4.371138828673793e-08), 64: (1.5707963267948966, 6.123233995736766e-17)}
TAN_EIGHTH_PI = 0.41421356237309503
# the sums of Cody and Waite are good up to here: with fma, without
LIMIT = {32: (2.0**27, 2.0**20), 64: (2.0**30, 2.0**20)}

CHUNK = 26  # bits of 1/(2 pi) in one float64, so that it times half a significand is exact
CHUNKS = 8  # 208 bits: 81 before the point for the largest scaled argument, the rest behind it
# floor(2**1274 / (2 pi)), as mpmath with 500 digits gives it
TURN_BITS = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921c"
    "fe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980f"
    "ef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d08"
    "56033046fc7b6babf0cfbc209af436",
    16,
)
TURN_TABLE = tuple(float((TURN_BITS >> (1274 - CHUNK * (k + 1))) & ((1 << CHUNK) - 1)) for k in range(49))


def _is_large(m: Machine, x: Number) -> Number:
    return m.gt(m.abs(x), LIMIT[m.width(x)][0 if m.has_fma else 1])


def _reduce(m: Machine, x: Number) -> tuple[Number, Number]:
    """(r, q): x = r + q pi/2 with |r| <= pi/4 in the float type of x, for x that is not large."""
    if m.width(x) == 32:
        r, _, quadrant = _reduce_with_rest(m, x)
        return r, quadrant
    n, quadrant = m.round_shift(x, TWO_OVER_PI)
    r = x
    for part in PI_HALF_PARTS:
        r = m.fma(n, -part, r)
    return r, quadrant


def _reduce_with_rest(m: Machine, x: Number) -> tuple[Number, Number, Number]:
    """(r, rest, q): as `_reduce`, with x = r + rest + q pi/2 and a rest below the rounding of r."""
    high, middle, low = PI_HALF_PAIR
    if m.width(x) == 32:
        x = m.widen(x)
        n, quadrant = m.round_shift(x, TWO_OVER_PI)
        return _narrow(m, m.fma(n, -middle, m.fma(n, -high, x)), quadrant)
    n, quadrant = m.round_shift(x, TWO_OVER_PI)
    product, product_lost = m.two_product(n, m.const(middle, n))
    r, lost = m.two_sum(m.fma(n, -high, x), -product)
    return *m.fast_two_sum(r, lost - m.fma(n, low, product_lost)), quadrant


def _narrow(m: Machine, r: Number, quadrant: Number) -> tuple[Number, Number, Number]:
    """(r, rest, q) in float32 from r in float64."""
    narrow = m.narrow(r)
    return narrow, m.narrow(r - m.widen(narrow)), m.low(quadrant)


def _reduce_large(m: Machine, x: Number) -> tuple[Number, Number, Number]:
    """(r, rest, q) as `_reduce_with_rest`, modulo a whole turn, for |x| >= 2**20.

    The products of x with the digits of 1/(2 pi) that matter are exact, so their whole turns can be dropped one by one.
    """
    if m.width(x) == 32:
        r, _, quadrant = _reduce_large(m, m.widen(x))
        return _narrow(m, r, quadrant)
    exponent = (m.shr(m.bits(x), 52) & 2047) - 1023
    first = m.shr(m.max(0, exponent - 54) * 2521, 16)  # digits before chunk (exponent - 54) // 26 give whole turns
    x = x * power_of_two(m, first * -CHUNK)
    high = m.from_bits(m.bits(x) & ~((1 << 27) - 1))
    total = (m.const(0.0, x),) * 3
    for k in range(CHUNKS):
        chunk = m.table(TURN_TABLE, first + k) * 2.0 ** (-CHUNK * (k + 1))
        for part in (high, x - high):
            product = part * chunk
            total = _add_turns(m, total, product - m.rint(product))
    turns, low = m.fast_two_sum(total[0], total[1])
    n, quadrant = m.round_shift(turns, 4.0)
    r, rest = m.two_sum(turns * 4.0 - n, (low + total[2]) * 4.0)
    high, low = PI_HALF[64]
    product, error = m.two_product(r, m.const(high, x))
    return *m.fast_two_sum(product, error + m.fma(r, low, rest * high)), quadrant


def _add_turns(m: Machine, total: tuple[Number, Number, Number], x: Number) -> tuple[Number, Number, Number]:
    """total + x less whole turns, where total is the sum of three floats, each a rest of the one before."""
    s, e = m.two_sum(total[0], x)
    middle, e = m.two_sum(total[1], e)
    return s - m.rint(s), middle, total[2] + e


def sine_cosine(m: Machine, r: Number, rest: Number | None = None) -> tuple[Number, Number]:
    """(sin(r + rest), cos(r + rest)) for |r| <= pi/4 and a rest below the rounding of r."""
    z = r * r
    narrow = m.width(r) == 32
    half = z * 0.5
    one = 1.0 - half
    sine_tail, cosine_tail = c.SIN_32 if narrow else c.SIN_64, c.COS_32 if narrow else c.COS_64
    cosine_lost = (1.0 - one) - half
    if rest is None:
        sine = m.fma(r * z, m.polynomial(z, sine_tail), r)
    else:
        sine = r + m.fma(r * z, m.polynomial(z, sine_tail), rest * one)
        cosine_lost = m.fma(-r, rest, cosine_lost)
    return sine, one + m.fma(z * z, m.polynomial(z, cosine_tail), cosine_lost)


def _sine(m: Machine, r: Number, quadrant: Number) -> Number:
    """sin(r + quadrant pi/2)."""
    sine, cosine = sine_cosine(m, r)
    y = m.select(m.eq(quadrant & 1, 0), sine, cosine)
    return m.from_bits(m.bits(y) ^ ((quadrant & 2) << (m.width(r) - 2)))


def _tangent(m: Machine, r: Number, rest: Number, quadrant: Number) -> Number:
    """tan(r + rest + quadrant pi/2)."""
    even = m.eq(quadrant & 1, 0)
    if m.width(r) == 32:
        t = r + m.fma(r * (r * r), m.polynomial(r * r, c.TAN_32), m.fma(r, r, 1.0) * rest)
        return m.select(even, t, -1.0) / m.select(even, m.const(1.0, t), t)
    sine, cosine = sine_cosine(m, r, rest)
    return m.select(even, sine, -cosine) / m.select(even, cosine, sine)


def _sin_large(m: Machine, x: Number) -> Number:
    r, _, quadrant = _reduce_large(m, x)
    return _sine(m, r, quadrant)


def _cos_large(m: Machine, x: Number) -> Number:
    r, _, quadrant = _reduce_large(m, x)
    return _sine(m, r, quadrant + 1)


def _tan_large(m: Machine, x: Number) -> Number:
    return _tangent(m, *_reduce_large(m, x))


def sin(m: Machine, x: Number) -> Number:
    """Sine, of any finite x; NaN at infinity. Error: 1.6 ULP (float32), 2.3 ULP (float64)."""
    y = m.rarely(_is_large, _sin_large, _sine(m, *_reduce(m, x)), x)
    return m.select(m.eq(x, 0.0), x, y)


def cos(m: Machine, x: Number) -> Number:
    """Cosine, of any finite x; NaN at infinity. Error: 1.6 ULP (float32), 2.1 ULP (float64)."""
    r, quadrant = _reduce(m, x)
    return m.rarely(_is_large, _cos_large, _sine(m, r, quadrant + 1), x)


def tan(m: Machine, x: Number) -> Number:
    """Tangent, of any finite x; NaN at infinity. Error: 1.7 ULP (float32), 2.0 ULP (float64)."""
    y = m.rarely(_is_large, _tan_large, _tangent(m, *_reduce_with_rest(m, x)), x)
    return m.select(m.eq(x, 0.0), x, y)


def _asin_parts(m: Machine, x: Number) -> tuple[Number, Number]:
    """(large, a): asin|x| = a where not large, pi/2 - 2 a where large."""
    narrow = m.width(x) == 32
    size = m.abs(x)
    large = m.gt(size, 0.5)
    z = m.select(large, (1.0 - size) * 0.5, size * size)
    s = m.select(large, m.sqrt(z), size)
    return large, m.fma(s * z, m.polynomial(z, c.ASIN_32 if narrow else c.ASIN_64), s)


def asin(m: Machine, x: Number) -> Number:
    """Arc sine; NaN for |x| > 1. Error: 2.4 ULP (float32), 2.2 ULP (float64)."""
    high, low = PI_HALF[m.width(x)]
    large, a = _asin_parts(m, x)
    return m.copysign(m.select(large, high - (a + a - low), a), x)


def acos(m: Machine, x: Number) -> Number:
    """Arc cosine; NaN for |x| > 1. Error: 1.2 ULP (float32), 1.1 ULP (float64)."""
    high, low = PI_HALF[m.width(x)]
    large, a = _asin_parts(m, x)
    signed = m.copysign(a, x)
    ends = m.select(m.lt(x, 0.0), high - (a - low), a) * 2.0
    return m.select(large, ends, high - (signed - low))


def _angle(m: Machine, least: Number, most: Number) -> Number:
    """atan(least / most) for 0 <= least <= most, most > 0."""
    far = m.gt(least, most * TAN_EIGHTH_PI)
    t = m.select(far, least - most, least) / m.select(far, least + most, most)
    z = t * t
    high, low = PI_HALF[m.width(t)]
    tail = m.polynomial(z, c.ATAN_32 if m.width(t) == 32 else c.ATAN_64)
    a = m.fma(t * z, tail, m.select(far, m.const(low * 0.5, t), 0.0))
    return m.select(far, m.const(high * 0.5, t), 0.0) + (t + a)


def atan(m: Machine, x: Number) -> Number:
    """Arc tangent. Error: 1.9 ULP (float32), 1.4 ULP (float64)."""
    high, low = PI_HALF[m.width(x)]
    size = m.abs(x)
    steep = m.gt(size, 1.0)
    a = _angle(m, m.select(steep, 1.0, size), m.select(steep, size, 1.0))
    return m.copysign(m.select(steep, high - (a - low), a), x)


def atan2(m: Machine, y: Number, x: Number) -> Number:
    """The angle of the point (x, y), from -pi to pi, also for zeros and infinities of either sign.

    Error: 2.0 ULP (float32), 1.3 ULP (float64).
    """
    high, low = PI_HALF[m.width(x)]
    across, along = m.abs(y), m.abs(x)
    steep = m.gt(across, along)
    least, most = m.select(steep, along, across), m.select(steep, across, along)
    # their sum must not overflow
    shrink = m.select(m.gt(most, 2.0**126 if m.width(x) == 32 else 2.0**1022), m.const(0.25, x), 1.0)
    endless = m.eq(most, INF)
    least = m.select(endless, m.select(m.eq(least, INF), m.const(1.0, x), 0.0), least * shrink)
    most = m.select(endless | m.eq(most, 0.0), 1.0, most * shrink)
    a = _angle(m, least, most)
    a = m.select(steep, high - (a - low), a)
    a = m.select(m.lt(m.bits(x), 0), high * 2.0 - (a - low * 2.0), a)
    return m.select(m.isnan(y), y, m.copysign(a, y))
