"""Finds the coefficients in `elementary_coefficients.py`: minimax polynomials by Remez exchange, in 60-digit arithmetic.

    pip install mpmath
    python -m jitgraph.compiler.elementary_fit              > compiler/elementary_coefficients.py

Each entry of `FITS` states one polynomial p(t) on [low, high]: it makes max |(p(t) - f(t)) * weight(t)| smallest. The weight
turns the polynomial's error into the relative error of the function that is built from it. Not needed at run time.
"""

from __future__ import annotations

from typing import Callable, NamedTuple

import mpmath as mp
import numpy as np

DIGITS = 60
GRID = 1200


class Fit(NamedTuple):
    """One polynomial: `terms` coefficients, of `bits` bits (32 or 64: rounded to float32 or float64)."""

    bits: int
    terms: int
    low: object
    high: object
    f: Callable
    weight: Callable


def remez(f, weight, low, high, terms):
    """(coefficients, error): the minimax polynomial of `terms` terms on a Chebyshev grid over [low, high]."""
    low, high = mp.mpf(low), mp.mpf(high)
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * GRID)) for k in range(GRID)]
    wanted, weights = [mp.mpf(f(t)) for t in grid], [abs(mp.mpf(weight(t))) for t in grid]
    nodes = [round((GRID - 1) * k / terms) for k in range(terms + 1)]
    for _ in range(60):
        rows = [[grid[n] ** k for k in range(terms)] + [(-1) ** i / weights[n]] for i, n in enumerate(nodes)]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([wanted[n] for n in nodes]))
        coefficients, level = list(solution[:terms]), abs(solution[terms])
        errors = [(mp.polyval(coefficients[::-1], t) - y) * w for t, y, w in zip(grid, wanted, weights)]
        worst = max(map(abs, errors))
        if worst <= level * mp.mpf("1.0005"):
            break
        nodes = _alternating(errors, terms + 1)
    return coefficients, worst


def _alternating(errors, count):
    """Indices of `count` extrema of alternating sign: the largest of each run of one sign, less the smallest at the ends."""
    peaks = []
    for i, error in enumerate(errors):
        if peaks and (error > 0) == (errors[peaks[-1]] > 0):
            if abs(error) > abs(errors[peaks[-1]]):
                peaks[-1] = i
        else:
            peaks.append(i)
    while len(peaks) > count:
        if len(peaks) - count >= 2:
            weakest = min(range(len(peaks) - 1), key=lambda k: max(abs(errors[peaks[k]]), abs(errors[peaks[k + 1]])))
            if 0 < weakest < len(peaks) - 2:
                del peaks[weakest : weakest + 2]
                continue
        peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
    if len(peaks) < count:
        raise ArithmeticError(f"Remez exchange lost alternation: {len(peaks)} of {count} extrema")
    return peaks


def _near_zero(f, at_zero):
    """f, with its limit at 0 (f cancels there)."""
    return lambda t: mp.mpf(at_zero) if abs(t) < mp.mpf("1e-20") else f(t)


def _root(f):
    """f(sqrt(t)) for polynomials in the square of the argument."""
    return lambda t: f(mp.sqrt(t))


def _erfcx(t):
    x = 3 * (1 + t) / (1 - t) / 2
    return mp.exp(x * x) * mp.erfc(x)


def _lgamma_without_zeros(x):
    return mp.loggamma(x) / (x - 1) / (x - 2)


DIGAMMA_ROOT = "1.461632144968362341262659542325721328468196204006446351295988408598786440353801811"
HALF_LN2 = "0.34657359027997265471"
EXPM1 = _near_zero(lambda t: (mp.expm1(t) - t) / t**2, 0.5)
EXPM1_WEIGHT = _near_zero(lambda t: t**2 / mp.expm1(t), 0)
LOG_LOW, LOG_HIGH = "-0.2930", "0.4143"
ATANH = _near_zero(_root(lambda s: (2 * mp.atanh(s) - 2 * s) / s**3), mp.mpf(2) / 3)
QUARTER_PI = "0.6169"  # (pi/4)**2, and a little

FITS = {
    # e**t = 1 + t + t**2 p(t); the relative error is that of e**t - 1
    "EXP_32": Fit(32, 5, "-" + HALF_LN2, HALF_LN2, EXPM1, lambda t: t**2 * mp.exp(-t)),
    "EXP_64": Fit(64, 10, "-" + HALF_LN2, HALF_LN2, EXPM1, lambda t: t**2 * mp.exp(-t)),
    "EXPM1_32": Fit(32, 6, "-" + HALF_LN2, HALF_LN2, EXPM1, EXPM1_WEIGHT),
    "EXPM1_64": Fit(64, 10, "-" + HALF_LN2, HALF_LN2, EXPM1, EXPM1_WEIGHT),
    # log(1 + t) = t + t**2 p(t)
    "LOG_32": Fit(32, 9, LOG_LOW, LOG_HIGH, _near_zero(lambda t: (mp.log1p(t) - t) / t**2, -0.5), _near_zero(lambda t: t**2 / mp.log1p(t), 0)),
    # log((1 + s) / (1 - s)) = 2 s + s**3 p(s**2)
    "LOG_64": Fit(64, 7, 0, "0.02945", ATANH, _near_zero(_root(lambda s: s**3 / mp.atanh(s)), 0)),
    # log2(1 + t) = t p(t), for pow in float32
    "LOG2_POW_32": Fit(64, 13, LOG_LOW, LOG_HIGH, _near_zero(lambda t: mp.log1p(t) / t / mp.log(2), 1 / mp.log(2)), _near_zero(lambda t: t / mp.log1p(t), 1)),
    # 2**t = 1 + t p(t)
    "EXP2_32": Fit(32, 6, "-0.5", "0.5", _near_zero(lambda t: mp.expm1(t * mp.log(2)) / t, mp.log(2)), lambda t: t / mp.power(2, t)),
    # sin(r) = r + r**3 p(r**2), cos(r) = 1 - r**2 / 2 + r**4 p(r**2)
    "SIN_32": Fit(32, 3, 0, QUARTER_PI, _near_zero(_root(lambda r: (mp.sin(r) - r) / r**3), mp.mpf(-1) / 6), _near_zero(_root(lambda r: r**3 / mp.sin(r)), 0)),
    "COS_32": Fit(32, 3, 0, QUARTER_PI, _near_zero(_root(lambda r: (mp.cos(r) - 1 + r**2 / 2) / r**4), mp.mpf(1) / 24), _root(lambda r: r**4 / mp.cos(r))),
    "SIN_64": Fit(64, 6, 0, QUARTER_PI, _near_zero(_root(lambda r: (mp.sin(r) - r) / r**3), mp.mpf(-1) / 6), _near_zero(_root(lambda r: r**3 / mp.sin(r)), 0)),
    "COS_64": Fit(64, 6, 0, QUARTER_PI, _near_zero(_root(lambda r: (mp.cos(r) - 1 + r**2 / 2) / r**4), mp.mpf(1) / 24), _root(lambda r: r**4 / mp.cos(r))),
    # tan(r) = r + r**3 p(r**2)
    "TAN_32": Fit(32, 7, 0, QUARTER_PI, _near_zero(_root(lambda r: (mp.tan(r) - r) / r**3), mp.mpf(1) / 3), _near_zero(_root(lambda r: r**3 / mp.tan(r)), 0)),
    # asin(s) = s + s**3 p(s**2) up to 1/2, atan(t) = t + t**3 p(t**2) up to tan(pi/8)
    "ASIN_32": Fit(32, 5, 0, "0.25", _near_zero(_root(lambda s: (mp.asin(s) - s) / s**3), mp.mpf(1) / 6), _near_zero(_root(lambda s: s**3 / mp.asin(s)), 0)),
    "ASIN_64": Fit(64, 12, 0, "0.25", _near_zero(_root(lambda s: (mp.asin(s) - s) / s**3), mp.mpf(1) / 6), _near_zero(_root(lambda s: s**3 / mp.asin(s)), 0)),
    "ATAN_32": Fit(32, 5, 0, "0.1716", _near_zero(_root(lambda t: (mp.atan(t) - t) / t**3), mp.mpf(-1) / 3), _near_zero(_root(lambda t: t**3 / mp.atan(t)), 0)),
    "ATAN_64": Fit(64, 11, 0, "0.1716", _near_zero(_root(lambda t: (mp.atan(t) - t) / t**3), mp.mpf(-1) / 3), _near_zero(_root(lambda t: t**3 / mp.atan(t)), 0)),
    # sinh(x) = x + x**3 p(x**2) for |x| < 1
    "SINH_32": Fit(32, 3, 0, 1, _near_zero(_root(lambda r: (mp.sinh(r) - r) / r**3), mp.mpf(1) / 6), _near_zero(_root(lambda r: r**3 / mp.sinh(r)), 0)),
    "SINH_64": Fit(64, 6, 0, 1, _near_zero(_root(lambda r: (mp.sinh(r) - r) / r**3), mp.mpf(1) / 6), _near_zero(_root(lambda r: r**3 / mp.sinh(r)), 0)),
    # exp(x**2) erfc(x) (x + 1.5) = p(t), t = (x - 1.5) / (x + 1.5), for x from 0 to where erfc underflows
    "ERFCX_32": Fit(32, 13, -1, "0.76", lambda t: _erfcx(t) * 3 / (1 - t), lambda t: (1 - t) / _erfcx(t)),
    "ERFCX_64": Fit(64, 28, -1, "0.895", lambda t: _erfcx(t) * 3 / (1 - t), lambda t: (1 - t) / _erfcx(t)),
    # lgamma(x) = (x - 1) (x - 2) p(x - 1.75) for 1 <= x <= 2.5;
    # lgamma(x) = (x - 1/2) log(x) - x + log(2 pi) / 2 + p(1 / x**2) / x for x >= 7
    "LGAMMA": Fit(64, 26, "-0.75", "0.75", lambda t: _lgamma_without_zeros(t + 1.75), lambda t: 1 / _lgamma_without_zeros(t + 1.75)),
    "LGAMMA_TAIL": Fit(64, 7, "1e-12", "0.020409", _root(lambda v: v**-1 * (mp.loggamma(1 / v) - (1 / v - 0.5) * mp.log(1 / v) + 1 / v - mp.log(2 * mp.pi) / 2)), _root(lambda v: v)),
    # digamma(x) = (x - root) p(x - 1.5) for 1 <= x <= 2; digamma(x) = log(x) - 1 / (2 x) - p(1 / x**2) / x**2 for x >= 7
    "DIGAMMA": Fit(64, 21, "-0.5", "0.5", lambda t: mp.digamma(t + 1.5) / (t + 1.5 - mp.mpf(DIGAMMA_ROOT)), lambda t: (t + 1.5 - mp.mpf(DIGAMMA_ROOT)) / mp.digamma(t + 1.5)),
    "DIGAMMA_TAIL": Fit(64, 7, "1e-12", "0.020409", _root(lambda v: (-mp.digamma(1 / v) + mp.log(1 / v) - v / 2) / v**2), _root(lambda v: v**2)),
    # log2((1 + s) / (1 - s)) = s (C0 + C1 s**2 + s**4 p(s**2)), C0 = 2 / ln 2, C1 = C0 / 3, for pow in float64
    "LOG2_POW_64": Fit(64, 8, 0, "0.02945", _near_zero(_root(lambda s: (2 * mp.atanh(s) / s - 2 - 2 * s**2 / 3) / s**4 / mp.log(2)), mp.mpf(2) / 5 / mp.log(2)), lambda t: t**2),
    "EXP2_64": Fit(64, 12, "-0.5", "0.5", _near_zero(lambda t: mp.expm1(t * mp.log(2)) / t, mp.log(2)), lambda t: t / mp.power(2, t)),
    # erf(x) = x + x p(x**2) for |x| < 1; erf(x) = 1 - exp(p(x)) above, until it rounds to 1
    "ERF_32": Fit(32, 7, 0, 1, _near_zero(_root(lambda x: mp.erf(x) / x - 1), 2 / mp.sqrt(mp.pi) - 1), _near_zero(_root(lambda x: x / mp.erf(x)), 1)),
    "ERF_64": Fit(64, 12, 0, 1, _near_zero(_root(lambda x: mp.erf(x) / x - 1), 2 / mp.sqrt(mp.pi) - 1), _near_zero(_root(lambda x: x / mp.erf(x)), 1)),
    "LOG_ERFC_32": Fit(32, 7, 1, "3.95", lambda x: mp.log(mp.erfc(x)), lambda x: mp.erfc(x) / mp.erf(x)),
    "LOG_ERFC_64": Fit(64, 18, 1, "5.95", lambda x: mp.log(mp.erfc(x)), lambda x: mp.erfc(x) / mp.erf(x)),
}


def fit(name):
    """(coefficients as floats, largest weighted error of the unrounded ones) of one entry."""
    entry = FITS[name]
    with mp.workdps(DIGITS):
        coefficients, error = remez(entry.f, entry.weight, entry.low, entry.high, entry.terms)
        if entry.bits == 32:
            return settle(entry, coefficients), float(error)
        return [float(mp.nstr(c, 30)) for c in coefficients], float(error)


def settle(entry, coefficients):
    """The coefficients as float32 values: rounded, then moved one by one to neighbours as long as the error falls."""
    t = [mp.mpf(entry.low) + (mp.mpf(entry.high) - mp.mpf(entry.low)) * k / 300 for k in range(301)]
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


def main():
    print('"""Coefficients of minimax polynomials, lowest power first. Written by `elementary_fit.py`, which says what each is."""')
    for name in FITS:
        coefficients, error = fit(name)
        print(f"\n{name} = (  # error 2**{np.log2(error):.1f}")
        for value in coefficients:
            print(f"    {value!r},")
        print(")")


if __name__ == "__main__":
    main()
