"""The levels of quantized numbers: which float each integer of a range stands for, and which integer is nearest to a float.

Ops of graph files that compute with quantized numbers do so in three ways, of which each rounds differently; all three are here.
"""
from __future__ import annotations

from typing import Any

import numpy as np

f32 = np.float32
RANGE = "min_output: float32, max_output: float32"


def plain_dtype(T: Any) -> np.dtype:
    """The integer dtype behind a quantized one."""
    kind = np.dtype(T.as_numpy_dtype)
    return kind[0] if kind.names else kind


def as_quantized(x: np.ndarray, T: Any) -> np.ndarray:
    """Integers as an array of the quantized dtype."""
    return np.ascontiguousarray(x.astype(plain_dtype(T))).view(T.as_numpy_dtype).reshape(x.shape)


def rounded(x: Any) -> Any:
    """To the nearest whole number, halves away from zero."""
    whole = np.trunc(x)
    return whole + np.where(np.abs(x - whole) >= 0.5, np.copysign(1, x), 0).astype(np.asarray(x).dtype)


def _steps(kind: np.dtype) -> float:
    return 2.0 ** (8 * kind.itemsize)


def level_of(x: Any, low: Any, high: Any, kind: np.dtype) -> np.ndarray:
    """The levels nearest to floats, in int64, also those outside of the range."""
    lowest = np.iinfo(kind).min
    if low == high:
        return np.full(np.shape(x), lowest, np.int64)
    steps = _steps(kind)
    scale = steps / (float(f32(high) - f32(low)) * (steps / (steps - 1.0)))
    found = rounded(np.asarray(x, f32).astype(np.float64) * scale) - rounded(np.float64(low) * scale)
    return np.asarray(found).astype(np.int64) + lowest


def quantized(x: Any, low: Any, high: Any, kind: np.dtype) -> np.ndarray:
    """The levels of the range that are nearest to floats."""
    info = np.iinfo(kind)
    return np.clip(level_of(x, low, high, kind), info.min, info.max).astype(kind)


def floats_of(levels: np.ndarray, low: Any, high: Any) -> np.ndarray:
    """The floats that levels stand for, computed in double precision."""
    if low == high:
        return np.full(levels.shape, low, f32)
    steps, lowest = _steps(levels.dtype), np.iinfo(levels.dtype).min
    scale = float(f32(high) - f32(low)) * (steps / (steps - 1.0)) / steps
    first = float(rounded(f32(low) / f32(scale))) * float(f32(scale))
    return (first + (levels.astype(np.float64) - lowest) * scale).astype(f32)


def floats_in_single(levels: np.ndarray, low: Any, high: Any) -> np.ndarray:
    """The same computed in single precision."""
    low, high = f32(low), f32(high)
    scale = f32(float(high - low) / (_steps(levels.dtype) - 1.0))
    first = low if low == high else rounded(low / scale) * scale
    return (first - f32(np.iinfo(levels.dtype).min) * scale) + levels.astype(f32) * scale


def quantized_in_single(x: np.ndarray, low: Any, high: Any, kind: np.dtype) -> np.ndarray:
    """The levels nearest to floats, computed in single precision."""
    low, high = f32(low), f32(high)
    info = np.iinfo(kind)
    scale = f32(0) if low == high else f32((_steps(kind) - 1.0) / float(high - low))
    found = rounded(x * scale) - (rounded(low * scale) - f32(info.min))
    return np.clip(found, f32(max(info.min, -2147483648)), min(f32(info.max), f32(2147483520))).astype(np.int32).astype(kind)


def in_range(levels: np.ndarray, low: Any, high: Any, new_low: Any, new_high: Any, kind: np.dtype) -> np.ndarray:
    """The levels of another range that stand for the same floats; from 32 to 8 bits by whole numbers alone."""
    if levels.dtype == np.int32 and kind == np.uint8:
        return _in_eight_bits(levels, f32(low), f32(high), f32(new_low), f32(new_high))
    return quantized(floats_of(levels, low, high), new_low, new_high, kind)


def _in_eight_bits(levels: np.ndarray, low: Any, high: Any, new_low: Any, new_high: Any) -> np.ndarray:
    span, new_span = high - low, new_high - new_low
    scale = offset = new_offset = 0
    if new_span:
        scale = int(255.0 * 65536 * float(span) / float(new_span))
        offset = int(f32(float(low + high) / 2.0) * f32(255.0 / float(new_span)) * f32(65536))
        new_offset = int(65536 * (float(new_low) * 255.0) / float(new_span))
    found = ((levels.astype(np.int64) * scale) >> 32) + (offset - new_offset + 32768)
    return np.clip(found >> 16, 0, 255).astype(np.uint8)


def one_level(low: Any, high: Any, kind: np.dtype) -> Any:
    """The distance of two neighbours among the levels."""
    info = np.iinfo(kind)
    return (f32(high) - f32(low)) / f32(int(info.max) - int(info.min))


def range_of_products(low: Any, high: Any, other_low: Any, other_high: Any, kinds: Any) -> tuple:
    """The range of the levels that products of levels are: `kinds` are the two dtypes and that of the products."""
    step = one_level(low, high, kinds[0]) * one_level(other_low, other_high, kinds[1])
    info = np.iinfo(kinds[2])
    return step * f32(info.min), step * f32(info.max)
