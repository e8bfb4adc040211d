"""The distribution functions of the normal and Laplace's distributions, without loss far from the middle."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import fill, zeros_like
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.arithmetic import maximum, minimum
from jitgraph.ops.elementwise.compare import greater, less
from jitgraph.ops.elementwise.composite_values import erf, sqrt, square
from jitgraph.ops.elementwise.elementary import exp, log, log1p
from jitgraph.ops.elementwise.special import erfc

# between these the logarithm is taken of the function itself
_LOG_NDTR_SEGMENTS = {np.float64: (np.array(-20, np.float64), np.array(8, np.float64)),
                      np.float32: (np.array(-10, np.float32), np.array(5, np.float32))}

# numerators and denominators of rational functions for the inverse, from the constant term up; Cephes, ndtri.c (Moshier, 1989)
_MIDDLE = ([-1.23916583867381258016, 13.9312609387279679503, -56.6762857469070293439, 98.0010754185999661536,
            -59.9633501014107895267],
           [-1.18331621121330003142, 15.9056225126211695515, -82.0372256168333339912, 200.260212380060660359,
            -225.462687854119370527, 86.3602421390890590575, 4.67627912898881538453, 1.95448858338141759834, 1.0])
_TAIL = ([-8.57456785154685413611e-4, -3.50424626827848203418e-2, -1.40256079171354495875e-1, 2.18663306850790267539,
          14.6849561928858024014, 44.0805073893200834700, 57.1628192246421288162, 31.5251094599893866154,
          4.05544892305962419923],
         [-9.33259480895457427372e-4, -3.80806407691578277194e-2, -1.42182922854787788574e-1, 2.50464946208309415979,
          15.0425385692907503408, 41.3172038254672030440, 45.3907635128879210584, 15.7799883256466749731, 1.0])
_FAR_TAIL = ([6.23974539184983293730e-9, 2.65806974686737550832e-6, 3.01581553508235416007e-4, 1.23716634817820021358e-2,
              2.01485389549179081538e-1, 1.33303460815807542389, 3.93881025292474443415, 6.91522889068984211695,
              3.23774891776946035970],
             [6.79019408009981274425e-9, 2.89247864745380683936e-6, 3.28014464682127739104e-4, 1.34204006088543189037e-2,
              2.16236993594496635890e-1, 1.37702099489081330271, 3.67983563856160859403, 6.02427039364742014255, 1.0])


def _floats(x: Any, name: str) -> Tensor:
    x = convert_to_tensor(x, name=name)
    if x.dtype.as_numpy_dtype not in (np.float32, np.float64):
        raise TypeError(f"{name}.dtype={x.dtype} is not handled, see docstring for supported types.")
    return x


def ndtr(x: Any, name: str = "ndtr") -> Tensor:
    """The probability that a standard normal variable is at most `x`, float32 or float64.  Raises TypeError for others."""
    with name_scope(name, values=[x]):
        return _ndtr(_floats(x, "x"))


def _ndtr(x: Tensor) -> Tensor:
    half_sqrt_2 = constant(0.5 * np.sqrt(2.0), dtype=x.dtype, name="half_sqrt_2")
    w = x * half_sqrt_2
    z = absolute(w)
    y = where_v2(less(z, half_sqrt_2), 1.0 + erf(w), where_v2(greater(w, 0.0), 2.0 - erfc(z), erfc(z)))
    return 0.5 * y


def _polynomial(x: Tensor, coefficients: Any) -> Any:
    coefficients = np.array(coefficients, x.dtype.as_numpy_dtype)
    if not coefficients.size:
        return zeros_like(x)
    return coefficients[0] + _polynomial(x, coefficients[1:]) * x


def _ratio(x: Callable[[], Tensor], polynomials: tuple) -> Tensor:
    return _polynomial(x(), polynomials[0]) / _polynomial(x(), polynomials[1])


def ndtri(p: Any, name: str = "ndtri") -> Tensor:
    """The inverse of ``ndtr``: the x below which a standard normal variable is with probability `p`, float32 or float64."""
    with name_scope(name, values=[p]):
        return _ndtri(_floats(p, "p"))


def _ndtri(p: Tensor) -> Tensor:
    lower = where_v2(p > -np.expm1(-2.0), 1.0 - p, p)
    lower = where_v2(lower <= 0.0, fill(shape_of(p), np.array(0.5, p.dtype.as_numpy_dtype)), lower)
    w = lower - 0.5
    ww = w**2
    middle = w + w * ww * _ratio(lambda: ww, _MIDDLE)
    middle *= -np.sqrt(2.0 * np.pi)
    z = sqrt(-2.0 * log(lower))
    first = z - log(z) / z
    far = _ratio(lambda: 1.0 / z, _FAR_TAIL) / z
    near = _ratio(lambda: 1.0 / z, _TAIL) / z
    far, near = first - far, first - near
    x = where_v2(lower > np.exp(-2.0), middle, where_v2(z >= 8.0, far, near))
    x = where_v2(p > 1.0 - np.exp(-2.0), x, -x)
    infinity = fill(shape_of(p), constant(np.inf, dtype=p.dtype))
    return where_v2(p <= 0.0, -infinity, where_v2(p >= 1.0, infinity, x))


def log_ndtr(x: Any, series_order: int = 3, name: str = "log_ndtr") -> Tensor:
    """The logarithm of ``ndtr``; far below 0 by an asymptotic series of `series_order` terms.

    Raises TypeError for other dtypes than float32 and float64, ValueError if the order is not from 0 to 30.
    """
    if not isinstance(series_order, int):
        raise TypeError("series_order must be a Python integer.")
    if series_order < 0:
        raise ValueError("series_order must be non-negative.")
    if series_order > 30:
        raise ValueError("series_order must be <= 30.")
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.as_numpy_dtype not in _LOG_NDTR_SEGMENTS:
            raise TypeError(f"x.dtype={x.dtype} is not supported.")
        lower, upper = _LOG_NDTR_SEGMENTS[x.dtype.as_numpy_dtype]
        is_above = greater(x, upper)
        return where_v2(is_above, -_ndtr(-x), where_v2(greater(x, lower), log(_ndtr(maximum(x, lower))),
                                                               _log_ndtr_lower(minimum(x, lower), series_order)))


def _log_ndtr_lower(x: Tensor, series_order: int) -> Tensor:
    log_scale = -0.5 * square(x) - log(-x) - 0.5 * np.log(2.0 * np.pi)
    return log_scale + log(_asymptotic_series(x, series_order))


def _asymptotic_series(x: Tensor, order: int) -> Any:
    dtype = x.dtype.as_numpy_dtype
    if order <= 0:
        return np.array(1, dtype)
    squared = square(x)
    even, odd = zeros_like(x), zeros_like(x)
    power = squared
    for n in range(1, order + 1):
        term = np.array(np.prod(np.arange(2 * n - 1, 1, -2)), dtype) / power
        if n % 2:
            odd += term
        else:
            even += term
        power *= squared
    return 1.0 + even - odd


def log_cdf_laplace(x: Any, name: str = "log_cdf_laplace") -> Tensor:
    """The logarithm of the probability that a standard Laplace variable is at most `x`."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        below = -np.log(2.0) + x
        above = log1p(-0.5 * exp(-absolute(x)))
        return where_v2(x < 0.0, below, above)


def erfinv(x: Any, name: str = "erfinv") -> Tensor:
    """The inverse of ``tf.erf``, float32 or float64.  Raises TypeError for others."""
    with name_scope(name, values=[x]):
        return ndtri((_floats(x, "x") + 1.0) / 2.0) / np.sqrt(2)
