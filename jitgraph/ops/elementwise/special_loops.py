"""Incomplete gamma and zeta functions of float32, by loops that are compiled: in float64, to the accuracy that float32 has.

SciPy's take as many terms as float64 needs, 3 to 50 times the time.  The methods are those of its Cephes: power series, a continued
fraction, sums by Euler and Maclaurin (S. Moshier, Methods and Programs for Mathematical Functions, 1989).
"""
from __future__ import annotations

import numpy as np

from jitgraph.declare.host_code import HostCode, contiguous

ENOUGH = 1e-10          # a term that is smaller, next to the sum, is the last
MOST = 1e5              # for larger numbers the logarithm of the first term has too few digits left
_GAMMA_TERMS = 24       # for a up to 0.4

# the sum of c / (a + 1) ... (a + n) x^n, times x^a exp(-x) / gamma(a + 1): P(a, x)
_SERIES = f"""\
                r, c, total = a, 1.0, 1.0
                while c > total * {ENOUGH}:
                    r = r + 1.0
                    c = c * (x / r)
                    total = total + c
                found = total * exp(a * log(x) - x - lgamma(a)) / a
"""
# Q(a, x) as a continued fraction
_FRACTION = f"""\
                y, z, k = 1.0 - a, x - a + 2.0, 0.0
                p2, q2, p1, q1 = 1.0, x, x + 1.0, (x - a + 2.0) * x
                total, change = p1 / q1, 1.0
                while change > {ENOUGH}:
                    k, y, z = k + 1.0, y + 1.0, z + 2.0
                    p, q = p1 * z - p2 * (y * k), q1 * z - q2 * (y * k)
                    change = 1.0
                    if q != 0.0:
                        change = fabs((total - p / q) / (p / q))
                        total = p / q
                    p2, p1, q2, q1 = p1, p, q1, q
                    if fabs(p) > 4503599627370496.0:
                        p2, p1, q2, q1 = p2 * {2.0 ** -52!r}, p1 * {2.0 ** -52!r}, q2 * {2.0 ** -52!r}, q1 * {2.0 ** -52!r}
                found = total * exp(a * log(x) - x - lgamma(a))
"""
# Q(a, x) for small a and x, without taking P from 1: the logarithm of gamma(1 + a) by its series in a (x2 holds its terms)
_SMALL = f"""\
                n, c, total, term = 0.0, 1.0, 0.0, 1.0
                while fabs(term) > fabs(total) * {ENOUGH}:
                    n = n + 1.0
                    c = c * (-x / n)
                    term = c / (a + n)
                    total = total + term
                power, sum = 1.0, 0.0
                for j in range({_GAMMA_TERMS}):
                    power = power * a
                    sum = sum + x2[j] * power
                if a > 0.4:
                    sum = lgamma(1.0 + a)
                found = -expm1(a * log(x) - sum) - exp(a * log(x) - lgamma(a)) * total
"""


def _incomplete(upper: bool) -> str:
    """`y0` of a = x0 and x = x1, both positive and finite; 1 for what is too large."""
    below, above = ("1.0 - found", "found") if upper else ("found", "1.0 - found")
    choice = """        small = False
        if x <= 1.1:
            limit = x * 1.1
            if x <= 0.5:
                limit = -0.4 / log(x)
            small = a <= limit
""" if upper else "        small = False\n"
    series = "x < a" if upper else "(x <= 1.0) | (x <= a)"
    return f"""def incomplete_gamma(x0, x1, x2, y0, sizes, begin, end):
    for i in range(begin, end):
        a, x, found = f64(x0[i]), f64(x1[i]), 0.0
        if (a > {MOST}) | (x > {MOST}):
            return 1
{choice}        if small:
{_SMALL.replace(" " * 16, " " * 12)}            y0[i] = f32(found)
        else:
            if ({series}) | (x <= 1.1) & {upper}:
{_SERIES}                y0[i] = f32({below})
            else:
{_FRACTION}                y0[i] = f32({above})
    return 0
"""


# the sum of (q + n) ** -x for x0 x > 1 and x1 q > 0
_FACTORS = (12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9, 7.47242496e10, -2.950130727918164224e12,
            1.1646782814350067249e14, -4.5979787224074726105e15, 1.8152105401943546773e17, -7.1661652561756670113e18)
_ZETA = f"""def zeta(x0, x1, x2, y0, sizes, begin, end):
    for first in range(begin, end, 256):
        last = smaller(first + 256, end)
        for i in range(first, last):
            y0[i] = 0.0
        for n in range(10):
            for i in range(first, last):
                y0[i] = y0[i] + exp(-x0[i] * log(x1[i] + f64(n)))
        for i in range(first, last):
            x, a, total = x0[i], x1[i] + 9.0, y0[i]
            b = exp(-x * log(a))
            if b > total * {ENOUGH}:
                total = total + b * a / (x - 1.0) - 0.5 * b
                factor, k, going, j = 1.0, 0.0, True, 0
                while going:
                    factor = factor * (x + k)
                    b = b / a
                    term = factor * b * x2[j]
                    total = total + term
                    factor = factor * (x + k + 1.0)
                    b = b / a
                    k = k + 2.0
                    j = j + 1
                    going = (j < {len(_FACTORS)}) & (fabs(term) > fabs(total) * {ENOUGH})
            y0[i] = total
    return 0
"""
_LOOPS = {"gammainc": HostCode("incomplete_gamma", ("f32", "f32", "f64", "f32"), _incomplete(False)),
          "gammaincc": HostCode("incomplete_gamma", ("f32", "f32", "f64", "f32"), _incomplete(True)),
          "zeta": HostCode("zeta", ("f64", "f64", "f64", "f64"), _ZETA)}


def _log_gamma_terms() -> np.ndarray:
    """The logarithm of gamma(1 + a) is the sum of term[j] * a ** (j + 1)."""
    from scipy.special import zeta

    k = np.arange(1, _GAMMA_TERMS + 1)
    return np.concatenate([[-np.euler_gamma], (-1.0) ** k[1:] * zeta(k[1:]) / k[1:]])


def computed(name: str, first: np.ndarray, second: np.ndarray) -> np.ndarray | None:
    """SciPy's function `name` ("gammainc", "gammaincc", "zeta") of float32 numbers, float32 or (zeta) float64; None where that is
    SciPy's: where the loop is not compiled, for other dtypes, and for numbers outside of its domain."""
    first, second = np.broadcast_arrays(first, second)
    is_zeta = name == "zeta"
    if first.dtype != np.float32 or second.dtype != np.float32 or not first.size:
        return None
    with np.errstate(invalid="ignore"):
        inside = (first > (1 if is_zeta else 0)) & (second > 0) & (first < np.inf) & (second < np.inf)
    if not inside.all():
        return None
    kind = np.float64 if is_zeta else np.float32
    constants = 1 / np.array(_FACTORS) if is_zeta else _log_gamma_terms()
    out = np.empty(first.shape, kind)
    given = (contiguous(v.astype(kind, copy=False)) for v in (first, second))
    return out if _LOOPS[name](*given, constants, out, end=out.size) == 0 else None
