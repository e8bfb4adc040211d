"""Quantization simulated in floats: values rounded to the steps that an integer of a few bits would have.

The range is moved a little so that 0 is one of the steps (B. Jacob et al., "Quantization and training of neural networks for
efficient integer-arithmetic-only inference", 2018).
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import FLOATS, elementwise, op
from jitgraph.declare.samples import draw
from jitgraph.graph import shape_rules

f32 = np.float32


# -- the steps ---------------------------------------------------------------------------------------------------------

def _limits(num_bits: int, narrow_range: bool) -> tuple[int, int]:
    if not 2 <= num_bits <= 16:
        raise invalid(f"num_bits must be between 2 and 16, inclusive, got {num_bits}")
    return int(bool(narrow_range)), (1 << num_bits) - 1


def _nudged(low: Any, high: Any, num_bits: int, narrow_range: bool) -> tuple:
    """The range moved so that 0 is a step, and the size of a step, as expressions in prims."""
    least, most = _limits(num_bits, narrow_range)
    step = (high - low) / float(most - least)
    zero = least - low / step
    zero = prim.select(zero < least, zero * 0 + least, prim.select(zero > most, zero * 0 + most, prim.floor(zero + 0.5)))
    return (least - zero) * step, (most - zero) * step, step


def _quantized(x: Any, low: Any, high: Any, num_bits: int, narrow_range: bool) -> Any:
    """x rounded to the steps of a range; 0 where the range is empty and at 0."""
    empty = prim.logical_and(prim.eq(low, 0), prim.eq(high, 0))
    low, high, step = _nudged(low, prim.select(empty, high + 1, high), num_bits, narrow_range)
    shifted = prim.min(prim.max(x, low), high) - low
    found = prim.floor(shifted * (1 / step) + 0.5) * step + low
    return prim.select(empty, found * 0, found)


def _inside(x: Any, low: Any, high: Any, num_bits: int, narrow_range: bool) -> tuple:
    """Which elements lie in the range (all if it is empty), below and above it."""
    empty = prim.logical_and(prim.eq(low, 0), prim.eq(high, 0))
    low, high, _ = _nudged(low, prim.select(empty, high + 1, high), num_bits, narrow_range)
    below, above = prim.logical_and(x < low, prim.logical_not(empty)), prim.logical_and(x > high, prim.logical_not(empty))
    return prim.logical_not(prim.logical_or(below, above)), below, above


def _fixed(minimum: float, maximum: float) -> tuple:
    if not minimum < maximum:
        raise invalid(f"min has to be smaller than max, was: {minimum} >= {maximum}")
    return f32(minimum), f32(maximum)


# -- a range that is fixed ---------------------------------------------------------------------------------------------

_RANGE = "min: float = -6.0, max: float = 6.0, num_bits: int = 8, narrow_range: bool = False"
_BITS = "num_bits: int = 8, narrow_range: bool = False"
_STRAIGHT = "straight through the rounding, by definition; differences are zero or infinite"


def _samples(*shapes: tuple) -> Any:
    def samples(rng: Any, dtype: Any) -> list:
        found = []
        for attrs in ({}, {"num_bits": 3, "narrow_range": True}):
            found.append(([draw(rng, shape, f32, -8, 8) for shape in shapes], attrs))
        return found

    return samples


@elementwise(f"FakeQuantWithMinMaxArgs(inputs: float32; {_RANGE}) -> outputs: float32", samples=_samples((3, 4)),
             gradient_differs=_STRAIGHT)
def fake_quant_with_min_max_args(inputs, min, max, num_bits, narrow_range):
    """The inputs rounded to the steps between `min` and `max`."""
    return _quantized(inputs, *_fixed(min, max), num_bits, narrow_range)


@elementwise(f"FakeQuantWithMinMaxArgsGradient(gradients: float32, inputs: float32; {_RANGE}) -> backprops: float32",
             samples=_samples((3, 4), (3, 4)))
def fake_quant_with_min_max_args_gradient(gradients, inputs, min, max, num_bits, narrow_range):
    """The gradients where the inputs lie between `min` and `max`, else 0."""
    inside, _, _ = _inside(inputs, *_fixed(min, max), num_bits, narrow_range)
    return prim.select(inside, gradients, gradients * 0)


def _bits(op: Any) -> dict[str, Any]:
    return {name: op.get_attr(name) for name in ("num_bits", "narrow_range")}


@fake_quant_with_min_max_args.gradient
def _(op, grad):
    return raw.FakeQuantWithMinMaxArgsGradient(grad, op.inputs[0], min=op.get_attr("min"), max=op.get_attr("max"),
                                               **_bits(op))


# -- a range that is learned -------------------------------------------------------------------------------------------

def _range_samples(*ranks: Any) -> Any:
    def samples(rng: Any, dtype: Any) -> list:
        found = []
        for attrs in ({}, {"num_bits": 4, "narrow_range": True}):
            arrays = [draw(rng, (3, 4), f32, -8, 8) for _ in range(ranks[0])]
            found.append(([*arrays, draw(rng, ranks[1], f32, -5, -1), draw(rng, ranks[1], f32, 1, 5)], attrs))
        return found

    return samples


def _scalars(c: Any, at: int) -> Any:
    shape_rules.with_rank(c.shapes[at], 0, "min")
    shape_rules.with_rank(c.shapes[at + 1], 0, "max")
    return c.shapes[0]


def _vectors(c: Any, at: int) -> Any:
    shape = shape_rules.with_rank_at_least(c.shapes[0], 1, "inputs")
    depth = None if shape is None else shape[-1]
    for i in (at, at + 1):
        depth = shape_rules.merge_sizes(depth, shape_rules.with_rank(c.shapes[i], 1, "min and max")[0])
    return None if shape is None else (*shape[:-1], depth)


@op(f"FakeQuantWithMinMaxVars(inputs: float32, min: float32, max: float32; {_BITS}) -> outputs: float32",
    shape=lambda c: _scalars(c, 1), samples=_range_samples(1, ()),
    lower=lambda b, x, low, high, num_bits, narrow_range: _quantized(x, low, high, num_bits, narrow_range),
    gradient_differs=_STRAIGHT)
def fake_quant_with_min_max_vars(inputs, min, max, num_bits, narrow_range):
    """The inputs rounded to the steps between the scalars `min` and `max`."""
    return np.asarray(_quantized(inputs, f32(min), f32(max), num_bits, narrow_range), f32)


@op(f"FakeQuantWithMinMaxVarsPerChannel(inputs: float32, min: float32, max: float32; {_BITS}) -> outputs: float32",
    shape=lambda c: _vectors(c, 1), samples=_range_samples(1, (4,)),
    lower=lambda b, x, low, high, num_bits, narrow_range: _quantized(x, low, high, num_bits, narrow_range),
    gradient_differs=_STRAIGHT)
def fake_quant_with_min_max_vars_per_channel(inputs, min, max, num_bits, narrow_range):
    """The inputs rounded to the steps between `min` and `max`, which have one element for each channel (last axis)."""
    return np.asarray(_quantized(inputs, min, max, num_bits, narrow_range), f32)


_GRADIENTS = (f"(gradients: float32, inputs: float32, min: float32, max: float32; {_BITS}) -> backprops_wrt_input: float32, "
              "backprop_wrt_min: float32, backprop_wrt_max: float32")


def _sums(gradients: np.ndarray, inputs: np.ndarray, low: Any, high: Any, bits: tuple, axes: Any) -> tuple:
    inside, below, above = _inside(inputs, low, high, *bits)
    parts = [np.where(mask, gradients, f32(0)) for mask in (inside, below, above)]
    return parts[0], *(np.asarray(part.sum(axes, dtype=f32)) for part in parts[1:])


@op("FakeQuantWithMinMaxVarsGradient" + _GRADIENTS, shape=lambda c: [_scalars(c, 2), (), ()],
    samples=_range_samples(2, ()))
def fake_quant_with_min_max_vars_gradient(gradients, inputs, min, max, num_bits, narrow_range):
    """The gradients inside the range, and the sums of those below and above it."""
    return _sums(gradients, inputs, f32(min), f32(max), (num_bits, narrow_range), None)


def _channel_shapes(c: Any) -> list:
    shape = _vectors(c, 2)
    return [shape, c.shapes[2], c.shapes[3]] if shape is None else [shape, (shape[-1],), (shape[-1],)]


@op("FakeQuantWithMinMaxVarsPerChannelGradient" + _GRADIENTS, shape=_channel_shapes, samples=_range_samples(2, (4,)))
def fake_quant_with_min_max_vars_per_channel_gradient(gradients, inputs, min, max, num_bits, narrow_range):
    """The gradients inside the range, and the sums of those below and above it for each channel."""
    return _sums(gradients, inputs, min, max, (num_bits, narrow_range), tuple(range(inputs.ndim - 1)))


@fake_quant_with_min_max_vars.gradient
def _(op, grad):
    return list(raw.FakeQuantWithMinMaxVarsGradient(grad, *op.inputs, **_bits(op)))


@fake_quant_with_min_max_vars_per_channel.gradient
def _(op, grad):
    return list(raw.FakeQuantWithMinMaxVarsPerChannelGradient(grad, *op.inputs, **_bits(op)))


# -- there and back ----------------------------------------------------------------------------------------------------

def _there_and_back(x: np.ndarray, low: Any, high: Any, signed: bool, bits: int, given: bool, narrow: bool,
                    half_up: bool = False) -> np.ndarray:
    """x as integers of some bits would hold it: scaled so that the range fits and 0 stays 0, rounded, and scaled back."""
    kind = x.dtype if x.dtype.itemsize > 2 else np.dtype(f32)
    wide = x.astype(kind)
    least = kind.type(-(1 << (bits - 1)) + bool(narrow) if signed else 0)
    most = kind.type((1 << (bits - 1)) - 1 if signed else (1 << bits) - 1)
    if not given and x.size:
        low, high = wide.min(), wide.max()
    low, high = kind.type(low), kind.type(high)
    if low > high:
        raise invalid(f"Invalid range: input_min {low} > input_max {high}")
    huge = np.finfo(kind).max
    by_low = least / low if least * low > 0 else huge
    by_high = most / high if most * high > 0 else huge
    if by_low < by_high:
        scale, back = by_low, low / least
        high = most * back
    else:
        scale, back = by_high, high / most
        low = least * back
    if given:
        wide = np.clip(wide, low, high)
    scaled = wide * scale
    return ((np.floor(scaled + kind.type(0.5)) if half_up else np.rint(scaled)) * back).astype(x.dtype)


_SIGNED = "signed_input: bool = True"


@op(f"QuantizeAndDequantize(input: T; {_SIGNED}, num_bits: int = 8, range_given: bool = False, input_min: float = 0.0, "
    "input_max: float = 0.0) -> output: T", T=FLOATS, shape=shape_rules.same_as_input, host=True,
    grad=lambda op, grad: grad, gradient_differs=_STRAIGHT)
def _quantize_and_dequantize_v1(input, signed_input, num_bits, range_given, input_min, input_max):
    """The input rounded as integers of some bits would be."""
    return _there_and_back(input, input_min, input_max, signed_input, num_bits, range_given, False)


@op(f"QuantizeAndDequantizeV2(input: T, input_min: T, input_max: T; {_SIGNED}, num_bits: int = 8, range_given: bool = "
    'False, round_mode: string {"HALF_TO_EVEN", "HALF_UP"} = "HALF_TO_EVEN", narrow_range: bool = False) -> output: T',
    T=FLOATS, shape=shape_rules.same_as_input, host=True, grad=lambda op, grad: [grad, None, None],
    samples=lambda rng, dtype: [([draw(rng, (2, 3), dtype), np.array(-2, dtype), np.array(2, dtype)], {"range_given": given})
                                for given in (True, False)], gradient_differs=_STRAIGHT)
def _quantize_and_dequantize_v2(input, input_min, input_max, signed_input, num_bits, range_given, round_mode,
                                narrow_range):
    """The input rounded as integers of some bits would be."""
    return _there_and_back(input, input_min, input_max, signed_input, num_bits, range_given, narrow_range,
                           round_mode in ("HALF_UP", b"HALF_UP"))


@op(f"QuantizeAndDequantizeV3(input: T, input_min: T, input_max: T, num_bits: int32; {_SIGNED}, range_given: bool = True, "
    "narrow_range: bool = False) -> output: T", T=FLOATS, shape=shape_rules.same_as_input, host=True,
    grad=lambda op, grad: [grad, None, None, None],
    samples=lambda rng, dtype: [([draw(rng, (2, 3), dtype), np.array(-2, dtype), np.array(2, dtype), np.array(6, np.int32)],
                                 {"range_given": given}) for given in (True, False)], gradient_differs=_STRAIGHT)
def _quantize_and_dequantize_v3(input, input_min, input_max, num_bits, signed_input, range_given, narrow_range):
    """The input rounded as integers of some bits, a tensor, would be."""
    return _there_and_back(input, input_min, input_max, signed_input, int(num_bits), range_given, narrow_range)


def quantize_and_dequantize(input: Any, input_min: Any, input_max: Any, signed_input: bool = True, num_bits: int = 8,
                            range_given: bool = False, round_mode: str = "HALF_TO_EVEN", name: str | None = None,
                            narrow_range: bool = False) -> Any:
    """The input rounded as integers of `num_bits` would be, over its own range or, if given, that of two numbers."""
    return _quantize_and_dequantize_v2(input, input_min, input_max, signed_input=signed_input, num_bits=num_bits,
                                       range_given=range_given, round_mode=round_mode, narrow_range=narrow_range,
                                       name=name)
