"""Local response normalisation in the compiler's primitives: sums over neighbouring channels as shifted reads.

Dtypes other than float32 and radii below 0 raise NotImplementedError: the NumPy meaning, which computes in float64, runs
instead.
"""
from __future__ import annotations

from typing import Any

from jitgraph.declare import prim
from jitgraph.graph import dtypes

MOST_SHIFTS = 33        # channels added up one after the other; of 64, more lose to the product with a band of ones


def forward(b: Any, x: Any, depth_radius: int, bias: float, alpha: float, beta: float) -> Any:
    """LRN: x [..., channels]."""
    return x * _power(_norm(b, x, depth_radius, bias, alpha), beta)


def gradient(b: Any, dy: Any, x: Any, y: Any, depth_radius: int, bias: float, alpha: float, beta: float) -> Any:
    """LRNGrad: all of them [..., channels]."""
    norm = _norm(b, x, depth_radius, bias, alpha)
    through = _around(b, dy * y / norm, depth_radius)
    return dy * _power(norm, beta) - (2 * alpha * beta) * x * through


def _norm(b: Any, x: Any, radius: int, bias: float, alpha: float) -> Any:
    if x.dtype != dtypes.float32 or radius < 0:
        raise NotImplementedError
    return bias + alpha * _around(b, x * x, radius)


def _around(b: Any, x: Any, radius: int) -> Any:
    """For each channel the sum over the channels up to `radius` away."""
    *outer, channels = x.shape
    if 2 * radius + 1 > MOST_SHIFTS:
        away = prim.abs(b.iota((channels, channels), 0, dtypes.int32) - b.iota((channels, channels), 1, dtypes.int32))
        band = b.cast(prim.le(away, radius), x.dtype)
        return b.reshape(b.matmul(b.reshape(x, (-1, channels)), band), x.shape)
    rest = (0,) * len(outer)
    padded = b.pad(x, (*rest, radius), (*rest, radius))
    total = b.slice(padded, (*rest, 0), x.shape)
    for shift in range(1, 2 * radius + 1):
        total = total + b.slice(padded, (*rest, shift), x.shape)
    return total


def _power(norm: Any, beta: float) -> Any:
    """norm ** -beta; roots where they do, which cost far less than a power."""
    if beta == 1:
        return 1 / norm
    if beta == 0.5:
        return prim.rsqrt(norm)
    if beta == 0.75:
        root = prim.rsqrt(norm)
        return root * prim.sqrt(root)
    return prim.pow(norm, -beta)
