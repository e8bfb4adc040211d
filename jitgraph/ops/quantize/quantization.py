"""Floats as integers of a few bits with a range, and back: QuantizeV2 and Dequantize."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.graph.dtypes import QUANTIZED, as_dtype
from jitgraph.graph.texts import as_text

f32 = np.float32
_MODES = '{"MIN_COMBINED", "MIN_FIRST", "SCALED"} = "MIN_COMBINED"'


def _limits(T: Any) -> tuple[int, int, Any]:
    """Lowest and highest value, and the plain integer dtype, of a quantized dtype."""
    plain = np.dtype(T.as_numpy_dtype)
    plain = plain[0] if plain.names else plain
    info = np.iinfo(plain)
    return int(info.min), int(info.max), plain


def plain(x: np.ndarray) -> np.ndarray:
    """The integers behind an array of a quantized dtype."""
    x = np.asarray(x)
    return x[x.dtype.names[0]] if x.dtype.names else x


def _rounded_away(x: np.ndarray) -> np.ndarray:
    return np.copysign(np.floor(np.abs(x) + f32(0.5)), x)


def _checked_range(low: Any, high: Any) -> tuple[np.float32, np.float32]:
    """A range that holds 0 and is not empty."""
    if np.ndim(low) or np.ndim(high):
        raise invalid("min_range and max_range must be scalars")
    low, high = f32(low), f32(high)
    if low > high:
        raise invalid("max_range must be larger than min_range.")
    least = f32(min(f32(0), low))
    epsilon = max(f32(1), abs(low), abs(high)) / f32(100)
    return least, f32(max(f32(0), max(high, least + epsilon)))


def _min_first(x: np.ndarray, low: np.float32, high: np.float32, lowest: int, highest: int) -> np.ndarray:
    if low == high:
        return np.zeros(x.shape, np.int64)
    steps = 2.0 ** round(np.log2(highest - lowest + 1))
    span = float(high - low) * (steps / (steps - 1))        # the range is stretched so that both ends are steps
    scale = steps / span
    found = np.round(x.astype(np.float64) * scale) - np.round(float(low) * scale) + lowest
    return np.clip(found, lowest, highest).astype(np.int64)


@op('QuantizeV2(input: float32, min_range: float32, max_range: float32; T: type, mode: string ' + _MODES + ', round_mode: '
    'string {"HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN"} = "HALF_AWAY_FROM_ZERO") -> output: T, output_min: float32, '
    "output_max: float32", T=QUANTIZED, shape=lambda c: [c.shapes[0], (), ()], host=True,
    tested_in="tests/ops/recorded/quantize.py: quantized numbers")
def _quantize_v2(input, min_range, max_range, T, mode, round_mode):
    """The input as integers, and the range that they stand for."""
    lowest, highest, kind = _limits(T)
    low, high = _checked_range(min_range, max_range)
    mode, round_mode = as_text(mode), as_text(round_mode)
    if round_mode == "HALF_TO_EVEN" and mode != "SCALED":
        raise invalid(f"Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '{mode}'.")
    if mode == "MIN_FIRST":
        found = _min_first(input, low, high, lowest, highest)
    elif mode == "MIN_COMBINED":
        scale = f32((float(highest) - float(lowest)) / float(high - low))
        half = f32((highest - lowest + 1) / 2.0 if lowest < 0 else 0)
        found = _rounded_away((np.clip(input, low, high) - low) * scale - half)
    else:
        huge = np.finfo(f32).max
        by_low = f32(lowest) / low if lowest * low > 0 else huge
        by_high = f32(highest) / high if highest * high > 0 else huge
        scale = min(by_low, by_high)
        low, high = f32(lowest) / scale, f32(highest) / scale
        scaled = np.clip(input, low, high) * scale
        found = np.rint(scaled) if round_mode == "HALF_TO_EVEN" else _rounded_away(scaled)
    return found.astype(kind).view(T.as_numpy_dtype), f32(low), f32(high)


@op('Dequantize(input: T, min_range: float32, max_range: float32; mode: string ' + _MODES + ") -> output: float32",
    T=QUANTIZED, shape=shape_rules.same_as_input, host=True, tested_in="tests/ops/recorded/quantize.py: quantized numbers")
def _dequantize(input, min_range, max_range, mode):
    """The floats that integers with a range stand for."""
    values = plain(input)
    info = np.iinfo(values.dtype)
    low, high = f32(min_range), f32(max_range)
    mode = as_text(mode)
    floats = values.astype(f32)
    if mode == "MIN_COMBINED":
        half = f32((float(info.max) - float(info.min) + 1) / 2.0 if info.min < 0 else 0)
        scale = (high - low) / f32(float(info.max) - float(info.min))
        return (floats + half) * scale + low
    if mode == "MIN_FIRST":
        steps = 2.0 ** (8 * values.dtype.itemsize)
        span = float(high - low) * (steps / (steps - 1))
        step = span / steps
        lowest = np.round(float(low) / step) * step
        return (lowest + (values.astype(np.float64) - info.min) * step).astype(f32)
    step = high / f32(info.max)
    return floats * (max(low / f32(info.min), step) if info.min < 0 else step)


def quantize(input: Any, min_range: Any, max_range: Any, T: Any, mode: str = "MIN_COMBINED",
             round_mode: str = "HALF_AWAY_FROM_ZERO", name: str | None = None) -> Any:
    """(output, output_min, output_max): floats as the quantized dtype `T`, and the range that it stands for."""
    return _quantize_v2(input, min_range, max_range, T=as_dtype(T), mode=mode, round_mode=round_mode, name=name)


def quantize_v2(input: Any, min_range: Any, max_range: Any, T: Any, mode: str = "MIN_COMBINED", name: str | None = None,
                round_mode: str = "HALF_AWAY_FROM_ZERO") -> Any:
    """As ``quantize``, with another order of arguments."""
    return quantize(input, min_range, max_range, T, mode, round_mode, name)


def dequantize(input: Any, min_range: Any, max_range: Any, mode: str = "MIN_COMBINED", name: str | None = None) -> Any:
    """The floats that a tensor of a quantized dtype stands for, given its range."""
    return _dequantize(input, min_range, max_range, mode=mode, name=name)
