"""lgamma and digamma.

Both are computed in float64, also for float32. Positive arguments below 7 are moved near [1, 2] by the recurrence,
where a polynomial times the function's zeros keeps all digits near those; above, Stirling's series; negative ones,
rarely, by reflection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import elementary_coefficients as c
from .elementary_circular import sine_cosine
from .elementary_exponential import INF, log_of_parts, reduce_log

if TYPE_CHECKING:
    from .machine_base import Machine, Number

PI = 3.141592653589793
LOG_PI = 1.1447298858494002
STIRLING = 7.0  # from here on the series
STEPS = 5  # of the recurrence from there down to 2
HALF_LOG_2PI_LESS_HALF = 0.4189385332046727
DIGAMMA_ROOT = (1.4616321449683622, 9.549995429965697e-17)


def _is_not_positive(m: Machine, x: Number) -> Number:
    return m.le(x, 0.0)


def _sin_cos_pi(m: Machine, x: Number) -> tuple[Number, Number]:
    """(sin(pi x), cos(pi x)) up to a common sign, for x >= 0."""
    r = x - m.rint(x)
    size = m.abs(r)
    swap = m.gt(size, 0.25)
    angle = m.select(swap, 0.5 - size, size) * PI
    sine, cosine = sine_cosine(m, angle)
    return m.copysign(m.select(swap, cosine, sine), r), m.select(swap, sine, cosine)


def lgamma(m: Machine, x: Number) -> Number:
    """log|gamma(x)|; inf at 0, -1, -2 ... and -inf. Error: 0.6 ULP (float32), 2.8 ULP (float64).

    Below 0 the error is that of the terms whose difference the result is: near its zeros there, few digits hold.
    """
    if m.width(x) == 32:
        return m.narrow(lgamma(m, m.widen(x)))
    return m.rarely(_is_not_positive, _lgamma_reflected, _lgamma_positive(m, x), x)


def _lgamma_positive(m: Machine, x: Number) -> Number:
    small, large = m.lt(x, 1.0), m.ge(x, STIRLING)
    y, product = x, m.const(1.0, x)
    for _ in range(STEPS):
        step = m.gt(y, 2.5)
        y = m.select(step, y - 1.0, y)
        product = m.select(step, product * y, product)
    log = _log(m, m.select(small | large, x, product))
    # y is x + 1 where small; its distances from 1 and 2 are exact like this
    first, second = m.select(small, x, y - 1.0), m.select(small, x - 1.0, y - 2.0)
    near = m.fma(first, second * m.polynomial(first - 0.75, c.LGAMMA), m.select(small, -log, log))
    u = 1.0 / x
    far = m.fma(x - 0.5, log - 1.0, m.fma(u, m.polynomial(u * u, c.LGAMMA_TAIL), HALF_LOG_2PI_LESS_HALF))
    return m.select(m.lt(x, INF), m.select(large, far, near), x)


def _lgamma_reflected(m: Machine, x: Number) -> Number:
    """gamma(x) gamma(1 - x) = pi / sin(pi x)."""
    sine, _ = _sin_cos_pi(m, -x)
    y = LOG_PI - _log(m, m.abs(sine)) - _lgamma_positive(m, 1.0 - x)
    return m.select(m.eq(sine, 0.0) | m.eq(x, -INF), INF, y)


def _log(m: Machine, x: Number) -> Number:
    """log(x) for finite x > 0."""
    return log_of_parts(m, *reduce_log(m, x))


def digamma(m: Machine, x: Number) -> Number:
    """The derivative of lgamma; inf at 0, -1, -2 ... and -inf, as TensorFlow's. Error: 0.6 ULP (float32), 3.3 ULP (float64).

    Below 0 the error is that of the terms whose difference the result is.
    """
    if m.width(x) == 32:
        return m.narrow(digamma(m, m.widen(x)))
    return m.rarely(_is_not_positive, _digamma_reflected, _digamma_positive(m, x), x)


def _digamma_positive(m: Machine, x: Number) -> Number:
    small, large = m.lt(x, 1.0), m.ge(x, STIRLING)
    # p / q = the sum of 1 / (x - k) that leads down to y <= 2, or -1 / x for the way up
    y, p, q = x, m.const(0.0, x), m.const(1.0, x)
    for _ in range(STEPS):
        step = m.gt(y, 2.0)
        y = m.select(step, y - 1.0, y)
        p = m.select(step, m.fma(p, y, q), p)
        q = m.select(step, q * y, q)
    p, q = m.select(small, -1.0, m.select(large, -0.5, p)), m.select(small | large, x, q)
    y = m.select(small, x + 1.0, y)
    quotient = p / q
    distance = (y - DIGAMMA_ROOT[0]) - DIGAMMA_ROOT[1]
    near = m.fma(distance, m.polynomial(y - 1.5, c.DIGAMMA), quotient)
    z = 1.0 / (x * x)
    far = _log(m, x) + m.fma(z, -m.polynomial(z, c.DIGAMMA_TAIL), quotient)
    return m.select(m.lt(x, INF), m.select(large, far, near), x)


def _digamma_reflected(m: Machine, x: Number) -> Number:
    """digamma(1 - x) - digamma(x) = pi / tan(pi x)."""
    sine, cosine = _sin_cos_pi(m, -x)
    y = _digamma_positive(m, 1.0 - x) + PI * cosine / sine
    return m.select(m.eq(sine, 0.0) | m.eq(x, -INF), INF, y)
