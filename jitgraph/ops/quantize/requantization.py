"""Quantized numbers in another range, or of fewer bits: Requantize and its kin, and arrays of them put together."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import INDEX, QUANTIZED, TypeSet
from jitgraph.ops.quantize import levels
from jitgraph.ops.quantize.levels import as_quantized, f32, plain_dtype
from jitgraph.ops.quantize.plain_forms import scalars, shape_as, value_as
from jitgraph.ops.quantize.quantization import plain

_TESTED = "tests/ops/recorded/quantized.py: quantized numbers"
_BOUNDS = "output_min: float32, output_max: float32"


def used_range(values: np.ndarray, low: Any, high: Any) -> tuple[np.float32, np.float32]:
    """The floats that the least and the greatest of the levels stand for, the least no greater than 0."""
    info = np.iinfo(values.dtype)
    ends = np.array([values.min(initial=info.max), values.max(initial=info.min)], values.dtype)
    least, greatest = levels.floats_of(ends, f32(low), f32(high))
    return min(f32(0), least), greatest


@op(f"RequantizationRange(input: Tinput, input_min: float32, input_max: float32) -> {_BOUNDS}", Tinput=QUANTIZED, host=True,
    shape=lambda c: scalars(c, 1, 2), tested_in=_TESTED)
def requantization_range(input, input_min, input_max):
    """The range that the levels of `input` really use; it holds 0."""
    return used_range(plain(input), input_min, input_max)


@op(f"Requantize(input: Tinput, input_min: float32, input_max: float32, requested_output_min: float32, requested_output_max: "
    f"float32"
    f"; out_type: type) -> output: out_type, {_BOUNDS}", Tinput=QUANTIZED, out_type=QUANTIZED, host=True,
    shape=lambda c: [c.shapes[0], *scalars(c, 1, 2, 3, 4)], tested_in=_TESTED)
def requantize(input, input_min, input_max, requested_output_min, requested_output_max, out_type):
    """The levels of the range asked for that stand for the same floats."""
    low, high = f32(requested_output_min), f32(requested_output_max)
    if low > 0:
        raise invalid(f"requested_output_min must be <= 0, but got {low:g}")
    if high < low:
        raise invalid(f"requested_output_max must be >= requested_output_min, but got {high:g} and {low:g}")
    found = levels.in_range(plain(input), input_min, input_max, low, high, plain_dtype(out_type))
    return as_quantized(found, out_type), low, high


@op(f"QuantizeDownAndShrinkRange(input: Tinput, input_min: float32, input_max: float32; out_type: type) -> output: out_type, "
    f"{_BOUNDS}",
    Tinput=QUANTIZED, out_type=QUANTIZED, host=True, shape=lambda c: [c.shapes[0], *scalars(c, 1, 2)], tested_in=_TESTED)
def quantize_down_and_shrink_range(input, input_min, input_max, out_type):
    """The same numbers with fewer bits, in the range that they really use."""
    low, high = used_range(plain(input), input_min, input_max)
    found = levels.in_range(plain(input), input_min, input_max, low, high, plain_dtype(out_type))
    return as_quantized(found, out_type), low, high


def _joined_shape(c: Any) -> list:
    count = (len(c.shapes) - 1) // 3
    return [shape_as("ConcatV2", c, *range(1, count + 1), 0), *scalars(c, *range(count + 1, 3 * count + 1))]


@op(f"QuantizedConcat(concat_dim: int32, values: N*T, input_mins: N*float32, input_maxes: N*float32; N: int >= 2) -> output: "
    f"T, {_BOUNDS}",
    host=True, shape=_joined_shape, tested_in=_TESTED)
def quantized_concat(concat_dim, values, input_mins, input_maxes):
    """The `values` end to end along `concat_dim`, in the range that holds all of theirs."""
    if not 0 <= concat_dim < values[0].ndim:
        raise invalid(f"ConcatOp : Expected concatenating dimensions in the range [0, {values[0].ndim}), but got {concat_dim}")
    low, high = f32(min(input_mins)), f32(max(input_maxes))
    kind = plain(values[0]).dtype
    if kind.kind == "i":
        high = max(abs(low), abs(high))
        low = -high
    parts = [plain(x) if (a, b) == (low, high) else
             levels.quantized_in_single(levels.floats_in_single(plain(x), a, b), low, high, kind)
             for x, a, b in zip(values, input_mins, input_maxes)]
    return value_as("ConcatV2", parts, concat_dim).view(values[0].dtype), low, high


@op(f"QuantizedReshape(tensor: T, shape: Tshape, input_min: float32, input_max: float32) -> output: T, {_BOUNDS}", Tshape=INDEX,
    host=True, shape=lambda c: [shape_as("Reshape", c, 0, 1), *scalars(c, 2, 3)], tested_in=_TESTED)
def quantized_reshape(tensor, shape, input_min, input_max):
    """The same elements in another shape."""
    return value_as("Reshape", tensor, shape), input_min, input_max


@op("QuantizedResizeBilinear(images: T, size: int32, min: float32, max: float32; align_corners: bool = False, "
    "half_pixel_centers: bool = False) -> resized_images: T, out_min: float32, out_max: float32",
    T=TypeSet(dtypes.quint8, dtypes.qint32, dtypes.float32), host=True,
    shape=lambda c: [shape_as("ResizeBilinear", c, 0, 1), *scalars(c, 2, 3)], tested_in=_TESTED)
def quantized_resize_bilinear(images, size, min, max, align_corners, half_pixel_centers):
    """Images of another height and width by linear interpolation, in whole numbers."""
    from jitgraph.ops.image.image_resize import interpolation

    if images.dtype == np.float32:
        how = {"align_corners": align_corners, "half_pixel_centers": half_pixel_centers}
        return value_as("ResizeBilinear", images, size, **how), min, max
    values = plain(images)
    (above, below, down), (left, right, along) = interpolation(values, size, align_corners, half_pixel_centers)
    found, one = values.astype(f32).astype(np.int64), 1 << (7 if values.dtype == np.uint8 else 30)      # the kernel loses bits, too
    along, down = (np.trunc(way * f32(one)).astype(np.int64) for way in (along[:, None], down[:, None, None]))
    at_left, at_right = found[:, :, left], found[:, :, right]
    rows = at_left * one + (at_right - at_left) * along
    top, bottom = rows[:, above], rows[:, below]
    mixed = top + _quotient(bottom - top, one) * down
    return _quotient(mixed + one // 2, one).astype(values.dtype).view(images.dtype), min, max


def _quotient(x: np.ndarray, divisor: int) -> np.ndarray:
    """Towards 0, as machines divide."""
    return np.where(x < 0, -(-x // divisor), x // divisor)


@op("QuantizedInstanceNorm(x: T, x_min: float32, x_max: float32; output_range_given: bool = False, given_y_min: float = 0.0, "
    "given_y_max: float = 0.0, variance_epsilon: float = 1e-5, min_separation: float = 0.001) -> y: T, y_min: float32, "
    "y_max: float32",
    T=QUANTIZED, host=True, shape=lambda c: [shape_rules.with_rank(c.shapes[0], 4), *scalars(c, 1, 2)], tested_in=_TESTED)
def quantized_instance_norm(x, x_min, x_max, output_range_given, given_y_min, given_y_max, variance_epsilon, min_separation):
    """Each channel of each image with mean 0 and variance 1, in the range given or that of the result."""
    if output_range_given and not given_y_min < given_y_max:
        raise invalid(f"given_y_min must be less than given_y_max : {given_y_min:g} >= {given_y_max:g}")
    if not x_min < x_max:
        raise invalid(f"input_min must be less than input_max : {x_min:g} >= {x_max:g}")
    values = plain(x)
    scale, single = f32(f32(x_max) - f32(x_min)) / f32(255), values.astype(f32)
    far = scale * (single - single.mean((1, 2), keepdims=True, dtype=f32))
    normal = far * (1 / np.sqrt(np.square(far).mean((1, 2), keepdims=True, dtype=f32) + f32(variance_epsilon)))
    low, high = (f32(given_y_min), f32(given_y_max)) if output_range_given else (normal.min(), normal.max())
    high = max(high, f32(low + f32(min_separation)))
    return levels.quantized_in_single(normal, low, high, values.dtype).view(x.dtype), low, high
