"""Logarithms of probability densities."""
from __future__ import annotations

import math
from typing import Any

from jitgraph.ops.arrays.matrix_parts import matrix_diag_part
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.composite_values import sqrt, square
from jitgraph.ops.elementwise.elementary import log, log1p
from jitgraph.ops.linalg.matrix_ops import matrix_triangular_solve
from jitgraph.ops.reduce.reductions import reduce_sum

_LOG_TAU = math.log(2.0 * math.pi)


def normal_log_prob(loc: Any, scale: Any, x: Any) -> Any:
    """What models take for the log density of Normal(loc, scale): with log(scale) where that has 2 log(scale)."""
    z = (x - loc) / scale
    return -0.5 * (square(z) + _LOG_TAU + log(scale))


def cauchy_log_prob(loc: Any, scale: Any, x: Any) -> Any:
    """The log density of Cauchy(loc, scale) at each x."""
    z = (x - loc) / scale
    return -math.log(math.pi) - log(scale) - log1p(square(z))


def mvn_tril_log_prob(loc: Any, scale_tril: Any, x: Any) -> Any:
    """The log densities [batch] of normal vectors `x` [batch, n] with means `loc` and Cholesky factors `scale_tril`."""
    difference = x - loc
    z = matrix_triangular_solve(scale_tril, difference[..., None])[..., 0]
    log_determinant = 2.0 * reduce_sum(log(matrix_diag_part(scale_tril)), axis=-1)
    size = cast(shape_of(scale_tril)[-1], log_determinant.dtype)
    return -0.5 * (reduce_sum(square(z), axis=-1) + size * _LOG_TAU + log_determinant)


def entropy_matched_cauchy_scale(covariance: Any) -> Any:
    """The scales [..., n] of Cauchy distributions with the entropies of normal ones with `covariance` [..., n, n]."""
    return sqrt(math.e / (8.0 * math.pi) * matrix_diag_part(covariance))
