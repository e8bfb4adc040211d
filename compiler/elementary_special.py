"""erf and erfc."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import elementary_coefficients as c
from .elementary_exponential import power_of_two, reduce_exp, scale

if TYPE_CHECKING:
    from .machine_base import Machine, Number


def _exp_normal(m: Machine, x: Number) -> Number:
    """e**x where the result is a normal number."""
    r, n = reduce_exp(m, x)
    return (m.fma(r * r, m.polynomial(r, c.EXP_32 if m.width(x) == 32 else c.EXP_64), r) + 1.0) * power_of_two(m, n)


def erf(m: Machine, x: Number) -> Number:
    """The error function: x + x p(x**2) for |x| < 1, 1 - exp(p(|x|)) above.

    Error: 1.1 ULP (float32), 1.2 ULP (float64).
    """
    narrow = m.width(x) == 32
    size = m.abs(x)
    near = m.fma(size, m.polynomial(x * x, c.ERF_32 if narrow else c.ERF_64), size)
    end = 3.95 if narrow else 5.95
    far = 1.0 - _exp_normal(m, m.polynomial(m.min(end, size), c.LOG_ERFC_32 if narrow else c.LOG_ERFC_64))
    return m.copysign(m.select(m.lt(size, 1.0), near, far), x)


def erfc(m: Machine, x: Number) -> Number:
    """1 - erf(x), with all digits while it gets small. Error: 2.5 ULP (float32), 2.2 ULP (float64).

    exp(-x**2) erfcx(x), where erfcx(x) (x + 1.5) is a polynomial in t = (x - 1.5) / (x + 1.5). What the square, the
    last steps of the polynomial and the quotient lose to rounding is carried along.
    """
    narrow = m.width(x) == 32
    size = m.min(11.0 if narrow else 28.0, m.abs(x))
    square, square_lost = m.two_product(size, size)
    r, n = reduce_exp(m, -square)
    tail = m.fma(r * r, m.polynomial(r, c.EXP_32 if narrow else c.EXP_64), r)  # e**r - 1
    q, share, lost = _erfcx(m, size)
    share = share - square_lost
    y = scale(m, q + m.fma(q, m.fma(share, tail, share) + tail, lost), n)
    y = m.select(m.lt(x, 0.0), 2.0 - y, y)
    return m.select(m.isnan(x), x, y)


def _erfcx(m: Machine, x: Number) -> tuple[Number, Number, Number]:
    """(q, share, lost): exp(x**2) erfc(x) = q (1 + share) + lost to more than a float's digits, for x >= 0."""
    denominator, denominator_lost = m.fast_two_sum(m.max(1.5, x), m.min(1.5, x))
    u = 1.0 / denominator
    share = m.fma(u, -denominator, 1.0) - u * denominator_lost
    t = m.fma(u, -3.0, 1.0)
    t_lost = m.fma(u * share, -3.0, m.fma(u, -3.0, 1.0 - t))
    first, *rest = c.ERFCX_32 if m.width(x) == 32 else c.ERFCX_64
    slope = m.horner(t, rest)
    p = m.fma(t, slope, first)
    p_lost = m.fma(t_lost, slope, m.fma(t, slope, first - p))
    q, q_lost = m.two_product(p, u)
    return q, share, m.fma(p_lost, u, q_lost)
