"""Finds the coefficients in `elementary_coefficients.py`: minimax polynomials by Remez exchange, with 60 digits.

    pip install mpmath
    python tests/compiler/elementary_fit.py > compiler/elementary_coefficients.py

Each entry of `FITS` states one polynomial p(t) on [low, high]: it makes max |(p(t) - f(t)) * weight(t)| smallest. The
weight turns the polynomial's error into the relative error of the function built from it. Not needed at run time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import mpmath as mp
import numpy as np

DIGITS = 60
GRID = 1200


class Fit(NamedTuple):
    """One polynomial: `terms` coefficients, of `bits` bits (32 or 64: rounded to float32 or float64)."""

    bits: int
    terms: int
    low: str | float
    high: str | float
    f: Callable
    weight: Callable


def remez(f, weight, low, high, terms):
    """(coefficients, error): the minimax polynomial of `terms` terms on a Chebyshev grid over [low, high]."""
    low, high = mp.mpf(low), mp.mpf(high)
    middle, half = (low + high) / 2, (high - low) / 2
    grid = [middle - half * mp.cos(mp.pi * (2 * k + 1) / (2 * GRID)) for k in range(GRID)]
    wanted, weights = [mp.mpf(f(t)) for t in grid], [abs(mp.mpf(weight(t))) for t in grid]
    nodes = [round((GRID - 1) * k / terms) for k in range(terms + 1)]
    for _ in range(60):
        rows = [[grid[n] ** k for k in range(terms)] + [(-1) ** i / weights[n]] for i, n in enumerate(nodes)]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([wanted[n] for n in nodes]))
        coefficients, level = list(solution[:terms]), abs(solution[terms])
        errors = [(_value(coefficients, t) - y) * w for t, y, w in zip(grid, wanted, weights)]
        worst = max(map(abs, errors))
        if worst <= level * mp.mpf("1.0005"):
            break
        nodes = _alternating(errors, terms + 1)
    return coefficients, worst


def _value(coefficients, t):
    total = mp.mpf(0)
    for c in reversed(coefficients):
        total = total * t + c
    return total


def _alternating(errors, count):
    """Indices of `count` extrema of alternating sign: the largest of each run of one sign, less the smallest ones."""
    peaks = []
    for i, error in enumerate(errors):
        if peaks and (error > 0) == (errors[peaks[-1]] > 0):
            if abs(error) > abs(errors[peaks[-1]]):
                peaks[-1] = i
        else:
            peaks.append(i)
    sizes = [abs(errors[i]) for i in peaks]
    while len(peaks) > count:
        weakest = min(range(len(peaks) - 1), key=lambda k: max(sizes[k], sizes[k + 1]))
        if len(peaks) - count >= 2 and 0 < weakest < len(peaks) - 2:
            del peaks[weakest : weakest + 2], sizes[weakest : weakest + 2]
        else:
            end = 0 if sizes[0] < sizes[-1] else -1
            del peaks[end], sizes[end]
    if len(peaks) < count:
        raise ArithmeticError(f"Remez exchange lost alternation: {len(peaks)} of {count} extrema")
    return peaks


def settle(entry, coefficients):
    """The coefficients as float32 values: rounded, then moved one by one to neighbours as long as the error falls."""
    low, high = mp.mpf(entry.low), mp.mpf(entry.high)
    t = [low + (high - low) * k / 300 for k in range(301)]
    wanted, weights = (np.array([float(g(v)) for v in t]) for g in (entry.f, entry.weight))
    powers = np.array([float(v) for v in t])[:, None] ** np.arange(len(coefficients))

    def error(c):
        return np.abs((powers @ c.astype(np.float64) - wanted) * weights).max()

    best = np.array([float(mp.nstr(c, 30)) for c in coefficients], np.float32)
    moved = True
    while moved:
        moved = False
        for k in range(len(best)):
            for end in (-np.inf, np.inf):
                trial = best.copy()
                trial[k] = np.nextafter(best[k], np.float32(end))
                if error(trial) < error(best) * 0.999:
                    best, moved = trial, True
    return best.tolist()


def fit(name):
    """(coefficients as floats, largest weighted error of the unrounded ones) of one entry."""
    entry = FITS[name]
    with mp.workdps(DIGITS):
        coefficients, error = remez(entry.f, entry.weight, entry.low, entry.high, entry.terms)
        if entry.bits == 32:
            return settle(entry, coefficients), float(error)
        return [float(mp.nstr(c, 30)) for c in coefficients], float(error)


def _near_zero(f, at_zero):
    """f, with its limit at 0 (f cancels there)."""
    return lambda t: mp.mpf(at_zero) if abs(t) < mp.mpf("1e-20") else f(t)


def _root(f):
    """f(sqrt(t)), for polynomials in the square of the argument."""
    return lambda t: f(mp.sqrt(t))


def _odd(bits, terms, high, f, cubic):
    """f(s) = s + s**3 p(s**2), s**2 up to `high`; `cubic` is the coefficient of s**3."""
    rest = _near_zero(_root(lambda s: (f(s) - s) / s**3), cubic)
    return Fit(bits, terms, 0, high, rest, _near_zero(_root(lambda s: s**3 / f(s)), 0))


def _cosine(bits, terms):
    """cos(r) = 1 - r**2 / 2 + r**4 p(r**2)."""
    rest = _near_zero(_root(lambda r: (mp.cos(r) - 1 + r**2 / 2) / r**4), mp.mpf(1) / 24)
    return Fit(bits, terms, 0, QUARTER_PI, rest, _root(lambda r: r**4 / mp.cos(r)))


def _exponential(bits, terms, weight):
    """e**t = 1 + t + t**2 p(t)."""
    return Fit(bits, terms, -HALF_LN2, HALF_LN2, _near_zero(lambda t: (mp.expm1(t) - t) / t**2, 0.5), weight)


EXPM1_WEIGHT = _near_zero(lambda t: t**2 / mp.expm1(t), 0)


def _power_of_two(bits, terms):
    """2**t = 1 + t p(t)."""
    slope = _near_zero(lambda t: mp.expm1(t * mp.log(2)) / t, mp.log(2))
    return Fit(bits, terms, -0.5, 0.5, slope, lambda t: t / mp.power(2, t))


def _erf(bits, terms):
    """erf(x) = x + x p(x**2) for |x| < 1."""
    rest = _near_zero(_root(lambda x: mp.erf(x) / x - 1), 2 / mp.sqrt(mp.pi) - 1)
    return Fit(bits, terms, 0, 1, rest, _near_zero(_root(lambda x: x / mp.erf(x)), 1))


def _log_erfc(bits, terms, high):
    """erf(x) = 1 - exp(p(x)) for 1 <= x <= high, where it rounds to 1."""
    return Fit(bits, terms, 1, high, lambda x: mp.log(mp.erfc(x)), lambda x: mp.erfc(x) / mp.erf(x))


def _erfcx(bits, terms, high):
    """exp(x**2) erfc(x) (x + 1.5) = p(t), t = (x - 1.5) / (x + 1.5), for x from 0 to where erfc underflows."""

    def f(t):
        x = 3 * (1 + t) / (1 - t) / 2
        return mp.exp(x * x) * mp.erfc(x) * (x + 1.5)

    return Fit(bits, terms, -1, high, f, lambda t: 1 / f(t))


def _lgamma_without_zeros(t):
    x = t + 1.75
    return mp.loggamma(x) / (x - 1) / (x - 2)


def _lgamma_tail(v):
    """Of x = 1 / v."""
    return (mp.loggamma(1 / v) - (1 / v - 0.5) * mp.log(1 / v) + 1 / v - mp.log(2 * mp.pi) / 2) / v


def _digamma_without_zero(t):
    x = t + 1.5
    return mp.digamma(x) / (x - mp.mpf(DIGAMMA_ROOT))


def _digamma_tail(v):
    """Of x = 1 / v."""
    return (mp.log(1 / v) - v / 2 - mp.digamma(1 / v)) / v**2


# s (2 / ln 2 + 2 / (3 ln 2) s**2 + s**4 p(s**2)) is log2((1 + s) / (1 - s))
LOG2_TAIL = _near_zero(
    _root(lambda s: (2 * mp.atanh(s) / s - 2 - 2 * s**2 / 3) / s**4 / mp.log(2)), mp.mpf(2) / 5 / mp.log(2)
)
DIGAMMA_ROOT = "1.461632144968362341262659542325721328468196204006446351295988408598786440353801811"
HALF_LN2 = 0.34657359027997264
LOG_LOW, LOG_HIGH = "-0.2930", "0.4143"  # sqrt(1/2) - 1, sqrt(2) - 1
LOG_SQUARE = "0.02945"  # (sqrt(2) - 1)**2 / (sqrt(2) + 1)**2
QUARTER_PI = "0.6169"  # (pi/4)**2

FITS = {
    "EXP_32": _exponential(32, 5, lambda t: t**2 * mp.exp(-t)),
    "EXP_64": _exponential(64, 10, lambda t: t**2 * mp.exp(-t)),
    "EXPM1_32": _exponential(32, 6, EXPM1_WEIGHT),
    "EXPM1_64": _exponential(64, 10, EXPM1_WEIGHT),
    "SINH_32": _odd(32, 3, 1, mp.sinh, mp.mpf(1) / 6),
    "SINH_64": _odd(64, 7, 1, mp.sinh, mp.mpf(1) / 6),
    # log(1 + t) = t + t**2 p(t)
    "LOG_32": Fit(
        32, 9, LOG_LOW, LOG_HIGH,
        _near_zero(lambda t: (mp.log1p(t) - t) / t**2, -0.5), _near_zero(lambda t: t**2 / mp.log1p(t), 0),
    ),
    # log((1 + s) / (1 - s)) = 2 s + s**3 p(s**2)
    "LOG_64": Fit(
        64, 7, 0, LOG_SQUARE,
        _near_zero(_root(lambda s: (2 * mp.atanh(s) - 2 * s) / s**3), mp.mpf(2) / 3),
        _near_zero(_root(lambda s: s**3 / mp.atanh(s)), 0),
    ),
    # log2(1 + t) = t p(t), in float64 for pow in float32
    "LOG2_POW_32": Fit(
        64, 13, LOG_LOW, LOG_HIGH,
        _near_zero(lambda t: mp.log1p(t) / t / mp.log(2), 1 / mp.log(2)), _near_zero(lambda t: t / mp.log1p(t), 1),
    ),
    "LOG2_POW_64": Fit(64, 8, 0, LOG_SQUARE, LOG2_TAIL, lambda t: t**2),
    "EXP2_32": _power_of_two(32, 6),
    "EXP2_64": _power_of_two(64, 12),
    "SIN_32": _odd(32, 3, QUARTER_PI, mp.sin, mp.mpf(-1) / 6),
    "SIN_64": _odd(64, 6, QUARTER_PI, mp.sin, mp.mpf(-1) / 6),
    "COS_32": _cosine(32, 3),
    "COS_64": _cosine(64, 6),
    "TAN_32": _odd(32, 7, QUARTER_PI, mp.tan, mp.mpf(1) / 3),
    "ASIN_32": _odd(32, 5, "0.25", mp.asin, mp.mpf(1) / 6),
    "ASIN_64": _odd(64, 12, "0.25", mp.asin, mp.mpf(1) / 6),
    "ATAN_32": _odd(32, 5, "0.1716", mp.atan, mp.mpf(-1) / 3),  # tan(pi/8)**2
    "ATAN_64": _odd(64, 11, "0.1716", mp.atan, mp.mpf(-1) / 3),
    "ERF_32": _erf(32, 7),
    "ERF_64": _erf(64, 12),
    "LOG_ERFC_32": _log_erfc(32, 7, "3.95"),
    "LOG_ERFC_64": _log_erfc(64, 18, "5.95"),
    "ERFCX_32": _erfcx(32, 13, "0.76"),
    "ERFCX_64": _erfcx(64, 28, "0.895"),
    # lgamma(x) = (x - 1) (x - 2) p(x - 1.75) for 1 <= x <= 2.5;
    # lgamma(x) = (x - 1/2) log(x) - x + log(2 pi) / 2 + p(1 / x**2) / x for x >= 7
    "LGAMMA": Fit(64, 26, -0.75, 0.75, _lgamma_without_zeros, lambda t: 1 / _lgamma_without_zeros(t)),
    "LGAMMA_TAIL": Fit(64, 7, "1e-12", "0.020409", _root(_lgamma_tail), _root(lambda v: v)),
    # digamma(x) = (x - root) p(x - 1.5) for 1 <= x <= 2;
    # digamma(x) = log(x) - 1 / (2 x) - p(1 / x**2) / x**2 for x >= 7
    "DIGAMMA": Fit(64, 21, -0.5, 0.5, _digamma_without_zero, lambda t: 1 / _digamma_without_zero(t)),
    "DIGAMMA_TAIL": Fit(64, 7, "1e-12", "0.020409", _root(_digamma_tail), _root(lambda v: v**2)),
}  # fmt: skip


def main():
    print('"""Coefficients of minimax polynomials, lowest power first, as `tests/compiler/elementary_fit.py` finds them."""')
    for name in FITS:
        coefficients, error = fit(name)
        print(f"\n{name} = (  # error 2**{np.log2(error):.1f}")
        for value in coefficients:
            print(f"    {value!r},")
        print(")")


if __name__ == "__main__":
    main()
