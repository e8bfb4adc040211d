"""The derivative of the regularized incomplete gamma functions with respect to `a`, in float64.

``P(a, x)`` is the lower function, ``Q = 1 - P`` the upper one.  Each method takes the same few steps whatever the numbers are.
"""
from __future__ import annotations

import numpy as np

SMALL_X = 32.0          # up to here the power series has few terms, above it the expansion in 1 / x does
SMALL_A = 16.0          # from here on the logarithm of P or Q is smooth enough in `a` to be differentiated by differences
HUGE_A = 1e26           # from here on float64 has no steps in `a` that are small enough for differences
SERIES_TERMS = 32 + 12 * 6 + 60         # terms are small beyond n = x + 12 sqrt(x)
EXPANSION_TERMS = 32                    # then 32! / 32 ** 32 is left, which is about 1e-13
# weights of f(a + k h) - f(a - k h) in h times the derivative; the error is that of the 9th derivative
DIFFERENCES = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
STEP = 0.02             # of these differences, in units of sqrt(a), the scale on which P and Q change


def lower_slope(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """dP/da for float64 arrays of one shape; NaN where a <= 0 or x < 0, but 0 where x is 0."""
    slope = np.full(x.shape, np.nan)
    slope[x == 0] = 0
    valid = (a > 0) & (x > 0) & np.isfinite(a)
    slope[valid & np.isinf(x)] = 0
    valid &= np.isfinite(x)
    for where, method in ((x <= SMALL_X, _by_series), ((x > SMALL_X) & (a < SMALL_A), _by_expansion),
                          ((x > SMALL_X) & (a >= SMALL_A) & (a < HUGE_A), _by_differences),
                          ((x > SMALL_X) & (a >= HUGE_A), _by_normal)):
        chosen = valid & where
        if chosen.any():
            with np.errstate(all="ignore"):
                slope[chosen] = method(a[chosen], x[chosen])
    return slope


def _by_series(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """P is the sum over n of ``x ** (a + n) exp(-x) / gamma(a + n + 1)`` (DLMF 8.7.1)."""
    from scipy.special import gammaln, psi

    log_x, total = np.log(x), np.zeros(x.shape)
    for n in range(SERIES_TERMS):
        total += np.exp((a + n) * log_x - x - gammaln(a + n + 1)) * (log_x - psi(a + n + 1))
    return total


def _by_expansion(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Q is ``x ** (a - 1) exp(-x) / gamma(a)`` times the sum over k of (a - 1) ... (a - k) / x ** k (DLMF 8.11.2)."""
    from scipy.special import gammaln, psi

    term, slope = np.ones(x.shape), np.zeros(x.shape)
    total, slopes = term.copy(), slope.copy()
    for k in range(1, EXPANSION_TERMS):
        slope = (slope * (a - k) + term) / x
        term = term * (a - k) / x
        total += term
        slopes += slope
    return -np.exp((a - 1) * np.log(x) - x - gammaln(a)) * (total * (np.log(x) - psi(a)) + slopes)


def _by_differences(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Central differences of the logarithm of P, or of Q where that is the smaller of the two."""
    from scipy.special import gammainc, gammaincc

    slope = np.empty(x.shape)
    for function, sign, chosen in ((gammainc, 1, a >= x), (gammaincc, -1, a < x)):
        middle, rim = a[chosen], x[chosen]
        step = middle + STEP * np.sqrt(middle) - middle         # exactly what is added to `a` below
        value, total = function(middle, rim), np.zeros(middle.shape)
        for k, weight in enumerate(DIFFERENCES, 1):
            total += weight * (np.log(function(middle + k * step, rim)) - np.log(function(middle - k * step, rim)))
        # where the function is too small for its logarithm, the slope is none either
        slope[chosen] = sign * np.where(np.isfinite(total), value * total / step, 0)
    return slope


def _by_normal(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """P is nearly the normal distribution of mean and variance `a` (DLMF 8.11.10)."""
    return -np.exp(-((x - a) / np.sqrt(a)) ** 2 / 2) / np.sqrt(2 * np.pi * a)
