"""Arithmetic of quantized numbers: sums, products, convolutions, pooling and activations, each with the range of its result."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import QUANTIZED
from jitgraph.ops.quantize import levels
from jitgraph.ops.quantize.levels import as_quantized, f32, plain_dtype
from jitgraph.ops.quantize.plain_forms import scalars, shape_as, value_as
from jitgraph.ops.quantize.quantization import plain

_TESTED = "tests/ops/recorded/quantized.py: quantized numbers"
_WIDE = QUANTIZED.with_default(dtypes.qint32)
_NARROW = QUANTIZED.with_default(dtypes.quint8)
_PAIR = "x: T1, y: T2, min_x: float32, max_x: float32, min_y: float32, max_y: float32"
_BOUNDS = "min_output: float32, max_output: float32"
_POOLED = (f'input: T, min_input: float32, max_input: float32; ksize: list(int), strides: list(int), padding: string '
           f'{{"SAME", "VALID"}}) -> output: T, {_BOUNDS}')


def _broadcast_with_range(c: Any) -> list:
    return [shape_rules.broadcast_shapes(c.shapes[0], c.shapes[1]), *scalars(c, 2, 3, 4, 5)]


def _from_zero(x: np.ndarray, low: Any, high: Any) -> np.ndarray:
    """How many levels each element lies above that of 0."""
    values = plain(x)
    return values.astype(np.int64) - levels.level_of(0.0, low, high, values.dtype)


def _products(found: np.ndarray, a: np.ndarray, b: np.ndarray, ranges: Any, T: Any) -> tuple:
    kinds = (plain(a).dtype, plain(b).dtype, plain_dtype(T))
    low, high, other_low, other_high = ranges
    return as_quantized(found, T), *levels.range_of_products(low, high, other_low, other_high, kinds)


def _ordered(what: str, low: Any, high: Any) -> None:
    if not low < high:
        raise invalid(f"max_{what} must be larger than min_{what}.")


@op(f"QuantizedMul({_PAIR}; Toutput: type = qint32) -> z: Toutput, min_z: float32, max_z: float32", T1=QUANTIZED, T2=QUANTIZED,
    Toutput=_WIDE, shape=_broadcast_with_range, host=True, tested_in=_TESTED)
def quantized_mul(x, y, min_x, max_x, min_y, max_y, Toutput):
    """``x * y``."""
    _ordered("x", min_x, max_x)
    _ordered("y", min_y, max_y)
    found = _from_zero(x, min_x, max_x) * _from_zero(y, min_y, max_y)
    return _products(found, x, y, (min_x, max_x, min_y, max_y), Toutput)


def _range_of_sums(low: Any, high: Any, other_low: Any, other_high: Any, bits: int) -> tuple:
    """A range `bits` wider than that of the summands, so that sums of sums find room."""
    far = max(f32(high), -f32(low), f32(other_high), -f32(other_low)) * f32(1 << bits)
    return -far, far


@op(f"QuantizedAdd({_PAIR}; Toutput: type = qint32) -> z: Toutput, min_z: float32, max_z: float32", T1=QUANTIZED, T2=QUANTIZED,
    Toutput=_WIDE, shape=_broadcast_with_range, host=True, tested_in=_TESTED)
def quantized_add(x, y, min_x, max_x, min_y, max_y, Toutput):
    """``x + y``."""
    _ordered("x", min_x, max_x)
    _ordered("y", min_y, max_y)
    low, high = _range_of_sums(min_x, max_x, min_y, max_y, 14)
    kind = plain_dtype(Toutput)
    found = _in_whole_steps(x, min_x, max_x, low, high, kind) + _in_whole_steps(y, min_y, max_y, low, high, kind)
    return as_quantized(found, Toutput), low, high


def _in_whole_steps(x: np.ndarray, low: Any, high: Any, new_low: Any, new_high: Any, kind: np.dtype) -> np.ndarray:
    """The levels of another range, where each level of the old range is as far from the next: a whole number."""
    values = plain(x)
    if not values.ndim:
        return levels.in_range(values, low, high, new_low, new_high, kind).astype(np.int64)
    first, second = levels.level_of(levels.floats_of(np.array([0, 1], values.dtype), low, high), new_low, new_high, kind)
    return values.astype(np.int64) * (second - first) + first


@op("QuantizedBiasAdd(input: T1, bias: T2, min_input: float32, max_input: float32, min_bias: float32, max_bias: float32; "
    "out_type: type) "
    "-> output: out_type, min_out: float32, max_out: float32", T1=QUANTIZED, T2=QUANTIZED, out_type=QUANTIZED, host=True,
    shape=lambda c: [shape_as("BiasAdd", c, 0, 1), *scalars(c, 2, 3, 4, 5)], tested_in=_TESTED)
def quantized_bias_add(input, bias, min_input, max_input, min_bias, max_bias, out_type):
    """The sums of `input` and a vector along its last axis."""
    if input.ndim < 2:
        raise invalid(f"Input tensor must be at least 2D: {list(input.shape)}")
    if bias.ndim != 1:
        raise invalid(f"Biases must be 1D: {list(bias.shape)}")
    if bias.shape[0] != input.shape[-1]:
        raise invalid(f"Must provide as many biases as the last dimension of the input tensor: {list(bias.shape)} vs. "
                      f"{list(input.shape)}")
    low, high = _range_of_sums(min_input, max_input, min_bias, max_bias, 17)
    kind = plain_dtype(out_type)
    images, offsets = (levels.quantized_in_single(levels.floats_in_single(plain(x), a, b), low, high, kind)
                       for x, a, b in ((input, min_input, max_input), (bias, min_bias, max_bias)))
    return as_quantized(images + (offsets - levels.quantized(0.0, low, high, kind)), out_type), low, high


@op("QuantizedMatMul(a: T1, b: T2, min_a: float32, max_a: float32, min_b: float32, max_b: float32; Toutput: type = qint32, "
    "transpose_a: "
    "bool = False, transpose_b: bool = False, Tactivation: type = quint8) -> out: Toutput, min_out: float32, max_out: float32",
    T1=QUANTIZED, T2=QUANTIZED, Toutput=_WIDE, Tactivation=_NARROW, host=True,
    shape=lambda c: [shape_as("MatMul", c, 0, 1), *scalars(c, 2, 3, 4, 5)], tested_in=_TESTED)
def quantized_mat_mul(a, b, min_a, max_a, min_b, max_b, Toutput, transpose_a, transpose_b):
    """The product of two matrices, either of them transposed first if asked for."""
    left, right = _from_zero(a, min_a, max_a), _from_zero(b, min_b, max_b)
    left, right = left.T if transpose_a else left, right.T if transpose_b else right
    if left.shape[1] != right.shape[0]:
        raise invalid(f"Matrix size-compatible: In[0]: {list(a.shape)}, In[1]: {list(b.shape)}")
    return _products(left @ right, a, b, (min_a, max_a, min_b, max_b), Toutput)


@op("QuantizedConv2D(input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, min_filter: float32, "
    "max_filter: float32; "
    'strides: list(int), padding: string {"SAME", "VALID"}, out_type: type = qint32, dilations: list(int) = [1, 1, 1, 1]) -> '
    f"output: out_type, {_BOUNDS}", Tinput=QUANTIZED, Tfilter=QUANTIZED, out_type=_WIDE, host=True,
    shape=lambda c: [shape_as("Conv2D", c, 0, 1), *scalars(c, 2, 3, 4, 5)], tested_in=_TESTED)
def quantized_conv2d(input, filter, min_input, max_input, min_filter, max_filter, out_type, strides, padding, dilations):
    """The 2-D convolution (cross-correlation) of images with `filter` [height, width, in, out]."""
    if strides[1] != strides[2]:
        raise invalid("Current implementation only supports equal length strides in the row and column dimensions.")
    if strides[0] != 1 or strides[3] != 1:
        raise invalid("Current implementation does not yet support strides in the batch and depth dimensions.")
    if list(dilations) != [1, 1, 1, 1]:
        raise invalid("Current implementation only supports dilated rate as 1 in the row and column dimensions.")
    images, taps = _from_zero(input, min_input, max_input), _from_zero(filter, min_filter, max_filter)
    found = value_as("Conv2D", images.astype(np.float64), taps.astype(np.float64), strides=strides, padding=padding,
                     dilations=dilations)
    return _products(found.astype(np.int64), input, filter, (min_input, max_input, min_filter, max_filter), out_type)


def _pooled_with_range(kind: str) -> Any:
    return lambda c: [shape_as(kind, c, 0), *scalars(c, 1, 2)]


@op(f"QuantizedMaxPool({_POOLED}", T=QUANTIZED, shape=_pooled_with_range("MaxPool"), host=True, tested_in=_TESTED)
def quantized_max_pool(input, min_input, max_input, ksize, strides, padding):
    """The greatest level of each window."""
    return value_as("MaxPool", plain(input), ksize=ksize, strides=strides, padding=padding).view(input.dtype), min_input, max_input


@op(f"QuantizedAvgPool({_POOLED}", T=QUANTIZED, shape=_pooled_with_range("AvgPool"), host=True, tested_in=_TESTED)
def quantized_avg_pool(input, min_input, max_input, ksize, strides, padding):
    """The mean level of each window, cut off to a whole number."""
    values = plain(input)
    found = value_as("AvgPool", values.astype(np.float64), ksize=ksize, strides=strides, padding=padding)
    # a sum divided by a count below 2**20: what lies this near below a whole number is one
    return np.trunc(found + np.copysign(1e-9, found)).astype(values.dtype).view(input.dtype), min_input, max_input


_ACTIVATED = "min_activations: float32, max_activations: float32"


def _between(x: np.ndarray, low: Any, high: Any, top: Any, T: Any) -> tuple:
    values = plain(x)
    found = np.maximum(values, levels.quantized(0.0, low, high, values.dtype))
    if top is not None:
        found = np.minimum(found, levels.quantized(top, low, high, values.dtype))
    return as_quantized(found, T), low, high


@op(f"QuantizedRelu(features: Tinput, min_features: float32, max_features: float32; out_type: type = quint8) -> activations: "
    f"out_type, "
    f"{_ACTIVATED}", Tinput=QUANTIZED, out_type=_NARROW, host=True, shape=lambda c: [c.shapes[0], *scalars(c, 1, 2)],
    tested_in=_TESTED)
def quantized_relu(features, min_features, max_features, out_type):
    """``max(features, 0)``."""
    return _between(features, min_features, max_features, None, out_type)


@op(f"QuantizedRelu6(features: Tinput, min_features: float32, max_features: float32; out_type: type = quint8) -> "
    f"activations: out_type, "
    f"{_ACTIVATED}", Tinput=QUANTIZED, out_type=_NARROW, host=True, shape=lambda c: [c.shapes[0], *scalars(c, 1, 2)],
    tested_in=_TESTED)
def quantized_relu6(features, min_features, max_features, out_type):
    """``min(max(features, 0), 6)``."""
    return _between(features, min_features, max_features, 6.0, out_type)


@op("QuantizedReluX(features: Tinput, max_value: float32, min_features: float32, max_features: float32; out_type: type = "
    "quint8) -> "
    f"activations: out_type, {_ACTIVATED}", Tinput=QUANTIZED, out_type=_NARROW, host=True,
    shape=lambda c: [c.shapes[0], *scalars(c, 2, 3)], tested_in=_TESTED)
def quantized_relu_x(features, max_value, min_features, max_features, out_type):
    """``min(max(features, 0), max_value)``."""
    return _between(features, min_features, max_features, max_value, out_type)


_PARAMETERS = ", ".join(f"{name}: Tinput, {name}_min: float32, {name}_max: float32" for name in ("t", "m", "v", "beta", "gamma"))


def _normalized_with_range(c: Any) -> list:
    image = shape_rules.with_rank(c.shapes[0], 4, "t")
    channels = image[3]
    for index in (3, 6, 9, 12):
        channels = shape_rules.merge_sizes(channels, shape_rules.with_rank(c.shapes[index], 1, "a statistic")[0])
    return [(*image[:3], channels), *scalars(c, 1, 2, 4, 5, 7, 8, 10, 11, 13, 14)]


@op(f"QuantizedBatchNormWithGlobalNormalization({_PARAMETERS}; out_type: type, variance_epsilon: float, "
    f"scale_after_normalization: bool) "
    "-> result: out_type, result_min: float32, result_max: float32", Tinput=QUANTIZED, out_type=QUANTIZED, host=True,
    shape=_normalized_with_range, tested_in=_TESTED)
def quantized_batch_norm(t, t_min, t_max, m, m_min, m_max, v, v_min, v_max, beta, beta_min, beta_max, gamma, gamma_min, gamma_max,
                         out_type, variance_epsilon, scale_after_normalization):
    """``(t - m) / sqrt(v + variance_epsilon)``, times `gamma` if asked for, plus `beta`: with ten bits behind the point."""
    kind, low, high = plain_dtype(out_type), f32(-(1 << 20)), f32(1 << 20)
    mean, variance, offset, factor = (levels.floats_of(plain(x), a, b) for x, a, b in (
        (m, m_min, m_max), (v, v_min, v_max), (beta, beta_min, beta_max), (gamma, gamma_min, gamma_max)))
    scale = f32(1) / np.sqrt(variance + f32(variance_epsilon))
    scale = scale * factor if scale_after_normalization else scale
    scales, offsets, one = (levels.quantized(x, low, high, kind) for x in (scale, -mean * scale + offset, 1.0))
    wide = levels.in_range(plain(t), t_min, t_max, low, high, kind)
    with np.errstate(over="ignore"):
        product = (wide * scales).astype(np.int64)          # of 32 bits, as the kernel has it
        quotient = np.sign(product) * (np.abs(product) // int(one))
        return as_quantized((quotient + offsets).astype(kind), out_type), low, high
