"""Convolutions and products of quantized numbers with what follows them in one node: bias, sum, relu, requantization.

TensorFlow 1.15 has these where it is built with MKL.  There a level stands for a float without an offset: those of quint8 for 0
to the range's greatest absolute value, those of qint8 for that on both sides of 0.  One function takes all stages; an op names
those that it has.
"""
from __future__ import annotations

import re
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import QUANTIZED, TypeSet
from jitgraph.graph.errors import UnimplementedError
from jitgraph.ops.quantize.levels import as_quantized, f32, plain_dtype
from jitgraph.ops.quantize.plain_forms import shape_as, value_as
from jitgraph.ops.quantize.quantization import plain

_TESTED = "tests/ops/test_fused_products.py: quantized numbers"
_BIAS = TypeSet(dtypes.float32, dtypes.qint32)


def _reach(low: Any, high: Any) -> np.ndarray:
    """The greatest absolute value of a range, or of each range."""
    return np.maximum(np.abs(np.asarray(low, f32)), np.abs(np.asarray(high, f32)))


def _top(kind: np.dtype) -> float:
    return float(np.iinfo(kind).max)


def _one_level(low: Any, high: Any, kind: np.dtype) -> np.ndarray:
    """The distance of two neighbours among the levels, of which there are as many below 0 as above."""
    info = np.iinfo(kind)
    return (np.asarray(high, f32) - np.asarray(low, f32)) / f32(int(info.max) - max(int(info.min), -int(info.max)))


def _range_of(a: Any, b: Any, kinds: tuple) -> tuple:
    """The range of 32-bit sums of products: a vector for each of its ends where each channel has a range of its own."""
    step = _one_level(a[0], a[1], kinds[0]) * _one_level(b[0], b[1], kinds[1])
    info = np.iinfo(np.int32)
    return (step * f32(info.min)).astype(f32), (step * f32(info.max)).astype(f32)


def _fitted(x: np.ndarray, kind: np.dtype) -> np.ndarray:
    info = np.iinfo(kind)
    return np.clip(np.rint(x), info.min, info.max).astype(kind)


def _stages(sums: np.ndarray, per_level: np.ndarray, out_type: Any, bias: Any = None, relu: bool = False, frozen: Any = None,
            summand: Any = None, ends: Any = None) -> tuple:
    """(the result, the ends of its range).

    `sums`: of products, in int64; `per_level`: the float that 1 of them stands for, for all or for each channel; `bias`: floats
    or sums; `frozen`: the range to which the result is brought; `summand`: floats, or (levels, their range); `ends`: the range
    of the result where it is not brought to another.
    """
    if bias is not None:
        values = plain(bias)
        sums = sums + (values if values.dtype != f32 else np.rint(values / per_level).astype(np.int64))
    if frozen is None:
        if summand is not None:
            sums = sums + np.rint(summand / per_level).astype(np.int64)
        sums = np.maximum(sums, 0) if relu else sums
        return as_quantized(_fitted(sums, plain_dtype(out_type)), out_type), *ends
    kind, span = plain_dtype(out_type), _reach(*frozen)
    one = span / f32(_top(kind))
    found = sums * (per_level / one)
    if summand is not None:
        levels, low, high = summand
        values = plain(levels)
        found = found + values * (_reach(low, high) / f32(_top(values.dtype)) / one)
    found = np.maximum(found, 0) if relu else found
    return as_quantized(_fitted(found, kind), out_type), f32(frozen[0]), f32(frozen[1])


def _per_level(a: np.ndarray, a_range: tuple, b: np.ndarray, b_range: tuple) -> np.ndarray:
    return _reach(*a_range) * _reach(*b_range) / f32(_top(plain(a).dtype) * _top(plain(b).dtype))


def _has(op_type: str, stage: str) -> bool:
    return stage in op_type


# -- convolutions --------------------------------------------------------------------------------------------------

def _conv_signature(op_type: str) -> str:
    """The signature of a fused convolution, which follows from its name."""
    fused, depthwise = op_type != "QuantizedConv2DPerChannel", _has(op_type, "Depthwise")
    bias, again, summed = _has(op_type, "Bias"), _has(op_type, "Requantize"), _has(op_type, "Sum")
    parts = ["input: Tinput", "filter: Tfilter"]
    parts += [f"bias: {'Tbias' if again else 'float32'}"] if bias else []
    parts += [f"{end}_{what}: float32" for what in ("input", "filter") for end in ("min", "max")]
    parts += ["min_freezed_output: float32", "max_freezed_output: float32"] if again else []
    if summed:
        parts += ["summand: Tsummand", "min_summand: float32", "max_summand: float32"] if again else ["summand: float32"]
    default = ("quint8" if _has(op_type, "Relu") else "qint8") if again else "qint32"
    attrs = [f"out_type: type = {default}", "strides: list(int)", 'padding: string {"SAME", "VALID"}',
             "dilations: list(int) = [1, 1, 1, 1]"]
    attrs += ["padding_list: list(int) = []"] if fused and not depthwise else []
    return f"{op_type}({', '.join(parts)}; {', '.join(attrs)}) -> output: out_type, min_output: float32, max_output: float32"


def _names(op_type: str) -> list:
    return re.findall(r"(\w+): \w+", _conv_signature(op_type).partition(";")[0])


def _conv(op_type: str) -> Any:
    """The op of that name."""
    again, depthwise, relu = _has(op_type, "Requantize"), _has(op_type, "Depthwise"), _has(op_type, "Relu")
    names = _names(op_type)
    plain_type = "DepthwiseConv2dNative" if depthwise else "Conv2D"

    def shape(c):
        output = shape_as(plain_type, c, 0, 1)
        if again:
            return [output, (), ()]
        ends = c.shapes[names.index("min_filter")]
        return [output, ends, ends]

    def value(*inputs, out_type, strides, padding, dilations, padding_list=()):
        if padding_list:
            raise UnimplementedError(None, None, f"{op_type} with padding_list: write tf.pad before it")
        given = dict(zip(names, inputs))
        images, taps = given["input"], given["filter"]
        a_range = given["min_input"], given["max_input"]
        b_range = given["min_filter"], given["max_filter"]
        for name, one in zip(("input", "filter"), (a_range, b_range)):
            if np.shape(one[0]) != np.shape(one[1]):
                raise invalid(f"min_{name} and max_{name} must have the same shape")
        found = value_as(plain_type, plain(images).astype(np.float64), plain(taps).astype(np.float64), strides=strides,
                         padding=padding, dilations=dilations)
        summand = given.get("summand")
        if again and summand is not None:
            summand = summand, given["min_summand"], given["max_summand"]
        sums, per_level = np.rint(found).astype(np.int64), _per_level(images, a_range, taps, b_range)
        return _stages(sums, per_level, out_type, given.get("bias"), relu,
                       (given["min_freezed_output"], given["max_freezed_output"]) if again else None, summand,
                       _range_of(a_range, b_range, (plain(images).dtype, plain(taps).dtype)))

    value.__name__ = "".join("_" + c.lower() if c.isupper() else c for c in op_type)[1:]
    value.__doc__ = ("A convolution of quantized numbers" + (" by channel" if depthwise else "")
                     + (", plus a bias" if "bias" in names else "") + (", plus another tensor" if "summand" in names else "")
                     + (", and 0 in place of what is negative" if relu else "") + (", in the range given." if again else "."))
    types: dict[str, Any] = {"Tinput": QUANTIZED, "Tfilter": QUANTIZED,
             "out_type": QUANTIZED.with_default(dtypes.quint8 if again and relu else dtypes.qint8 if again else dtypes.qint32)}
    types |= {"Tbias": _BIAS} if again and "bias" in names else {}
    types |= {"Tsummand": QUANTIZED} if again and "summand" in names else {}
    return op(_conv_signature(op_type), shape=shape, host=True, tested_in=_TESTED, **types)(value)


CONVOLUTIONS = {name: _conv(name) for name in (
    "QuantizedConv2DPerChannel", "QuantizedConv2DAndRelu", "QuantizedConv2DAndRequantize", "QuantizedConv2DAndReluAndRequantize",
    "QuantizedConv2DWithBias", "QuantizedConv2DWithBiasAndRelu", "QuantizedConv2DWithBiasAndRequantize",
    "QuantizedConv2DWithBiasAndReluAndRequantize", "QuantizedConv2DWithBiasSumAndRelu",
    "QuantizedConv2DWithBiasSumAndReluAndRequantize", "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
    "QuantizedDepthwiseConv2D", "QuantizedDepthwiseConv2DWithBias", "QuantizedDepthwiseConv2DWithBiasAndRelu",
    "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize")}


# -- products of matrices ------------------------------------------------------------------------------------------

def _matrix_product(op_type: str) -> Any:
    again, relu = _has(op_type, "Requantize"), _has(op_type, "Relu")
    bias = "float32" if relu and not again else "Tbias"
    parts = f"a: T1, b: T2, bias: {bias}, min_a: float32, max_a: float32, min_b: float32, max_b: float32"
    parts += ", min_freezed_output: float32, max_freezed_output: float32" if again else ""
    default = dtypes.quint8 if again else dtypes.qint32
    biases: dict[str, Any] = {"Tbias": _BIAS} if bias == "Tbias" else {}

    def value(a, b, bias, min_a, max_a, min_b, max_b, *frozen, Toutput, transpose_a, transpose_b, input_quant_mode):
        left, right = plain(a).astype(np.int64), plain(b).astype(np.int64)
        left, right = left.T if transpose_a else left, right.T if transpose_b else right
        if left.shape[1] != right.shape[0]:
            raise invalid(f"Matrix size-incompatible: In[0]: {list(a.shape)}, In[1]: {list(b.shape)}")
        sums, kinds = left @ right, (plain(a).dtype, plain(b).dtype)
        per_level = _per_level(a, (min_a, max_a), b, (min_b, max_b))
        if input_quant_mode in ("MIN_FIRST", b"MIN_FIRST"):     # the lowest level of `a` stands for min_a
            one = f32(max_a - min_a) / f32(_top(kinds[0]))
            per_level = one * _reach(min_b, max_b) / f32(_top(kinds[1]))
            sums = sums + np.rint(right.sum(0) * (f32(min_a) / one)).astype(np.int64)
        return _stages(sums, per_level, Toutput, bias, relu, frozen or None, None, _range_of((min_a, max_a), (min_b, max_b), kinds))

    value.__doc__ = "The product of quantized matrices, plus a bias" + (", and 0 in place of what is negative" if relu else "") + (
        ", in the range given." if again else ".")
    value.__name__ = "".join("_" + c.lower() if c.isupper() else c for c in op_type)[1:]
    return op(f"{op_type}({parts}; Toutput: type = {default.name}, transpose_a: bool = False, transpose_b: bool = False, "
              'input_quant_mode: string {"MIN_FIRST", "SCALED"} = "MIN_FIRST") -> out: Toutput, min_out: float32, max_out: float32',
              shape=lambda c: [shape_as("MatMul", c, 0, 1), (), ()], host=True, tested_in=_TESTED, T1=QUANTIZED, T2=QUANTIZED,
              Toutput=QUANTIZED.with_default(default), **biases)(value)


PRODUCTS = {name: _matrix_product(name) for name in (
    "QuantizedMatMulWithBias", "QuantizedMatMulWithBiasAndRelu", "QuantizedMatMulWithBiasAndReluAndRequantize")}


# -- requantization, a range for each channel ----------------------------------------------------------------------

_HALF = f32(2.0 ** 31)
_SUMS = QUANTIZED.with_default(dtypes.qint32)


def _channels(c: Any) -> None:
    for index in (1, 2):
        shape_rules.with_rank(c.shapes[index], 1, "a range's ends")


def _scalar_ends(c: Any) -> list:
    _channels(c)
    return [(), ()]


@op("RequantizationRangePerChannel(input: T, input_min: float32, input_max: float32; clip_value_max: float) -> "
    "output_min: float32, output_max: float32", T=_SUMS, shape=_scalar_ends, host=True, tested_in=_TESTED)
def requantization_range_per_channel(input, input_min, input_max, clip_value_max):
    """The range that 32-bit sums really use, of which each channel has its own: one range, at most `clip_value_max`."""
    _same_channels(input, input_min, input_max)
    values = plain(input).reshape(-1, input.shape[-1]).astype(np.float64)
    used = np.abs(values).max(0, initial=0).astype(f32)
    far = f32((_reach(input_min, input_max) * used / _HALF).max(initial=0))
    far = min(far, f32(clip_value_max)) if clip_value_max > 0 else far
    return (f32(0) if (values >= 0).all() else -far), far


def _same_channels(input: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    for name, given in (("input_min", low), ("input_max", high)):
        if given.size != input.shape[-1]:
            raise invalid(f"{name} has incorrect size, expected {input.shape[-1]} was {given.size}")


def _kept(c: Any) -> list:
    _channels(c)
    return [c.shapes[0], (), ()]


@op("RequantizePerChannel(input: T, input_min: float32, input_max: float32, requested_output_min: float32, "
    "requested_output_max: float32; out_type: type = quint8) -> output: out_type, output_min: float32, output_max: float32",
    T=_SUMS, out_type=QUANTIZED.with_default(dtypes.quint8), shape=_kept, host=True, tested_in=_TESTED)
def requantize_per_channel(input, input_min, input_max, requested_output_min, requested_output_max, out_type):
    """32-bit sums, of which each channel has a range, in the range asked for."""
    _same_channels(input, input_min, input_max)
    kind, values = plain_dtype(out_type), plain(input)
    scale = f32(_top(kind)) * (_reach(input_min, input_max) / _reach(requested_output_min, requested_output_max) / _HALF)
    return as_quantized(_fitted(values * scale, kind), out_type), f32(requested_output_min), f32(requested_output_max)
