"""Transforms of constants: batch normalisations in filters, weights of fewer bits."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.protobuf import messages
from jitgraph.tools.graph_transforms.parameters import Parameters, invalid
from jitgraph.tools.graph_transforms.patterns import (
    Match,
    Pattern,
    constant,
    copy_of,
    replaced,
    value_of,
)

_ANY, _CONST = ("*", ()), ("Const", ())
_CONV: Pattern = ("Conv2D|DepthwiseConv2dNative", (_ANY, _CONST))
_STATISTICS = (_CONST,) * 4
_NORM = "BatchNormWithGlobalNormalization|FusedBatchNorm"


def _columns(conv: Any, weights: np.ndarray) -> int:
    if conv.op == "Conv2D":
        return weights.shape[3]
    return weights.shape[2] * weights.shape[3] if conv.op == "DepthwiseConv2dNative" else weights.shape[1]


def _scaled(node: Any, scale: np.ndarray) -> Any:
    """A constant of weights whose columns are multiplied."""
    weights = value_of(node)
    return constant(node.name, (weights.reshape(-1, scale.size) * scale).reshape(weights.shape).astype(np.float32))


def fold_batch_norms(graph_def: Any, given: Parameters) -> Any:
    """Multiplies the weights of a convolution or product with the constant that its result is multiplied with."""

    def make(match: Match, used: set[str]) -> Iterable[Any]:
        conv, (inner, weights) = match.inputs[0].node, [one.node for one in match.inputs[0].inputs]
        factor = match.inputs[1].node
        if used & {conv.name, weights.name, factor.name}:
            return [match.node, conv, inner, weights, factor]
        scale = value_of(factor)
        if scale.shape != (_columns(conv, value_of(weights)),):
            raise invalid(f"Mul constant input to batch norm has bad shape: {list(scale.shape)}")
        product = copy_of(conv)
        product.name = match.node.name
        return [_scaled(weights, scale), inner, product]

    return replaced(graph_def, ("Mul", (("Conv2D|MatMul|DepthwiseConv2dNative", (_ANY, _CONST)), _CONST)), make)


def _scale_and_offset(match: Match) -> tuple[np.ndarray, np.ndarray]:
    fused = match.node.op == "FusedBatchNorm"
    values = [value_of(one.node) for one in match.inputs[1:]]
    mean, variance, beta, gamma = [values[k] for k in ((2, 3, 1, 0) if fused else range(4))]
    for name, value in (("Variance", variance), ("Beta", beta), ("gamma", gamma)):
        if value.shape != mean.shape[:1]:
            raise invalid(f"{name} input to batch norm has bad shape: {list(value.shape)}")
    scale = np.float32(1) / np.sqrt(variance + np.float32(match.node.attr["epsilon" if fused else "variance_epsilon"].f))
    if fused or match.node.attr["scale_after_normalization"].b:
        scale = scale * gamma
    return scale, -mean * scale + beta


def _with_bias(conv: Match, scale: np.ndarray, offset: np.ndarray, name: str) -> list[Any]:
    """A convolution with scaled weights, and the sum of it and the offset under `name`."""
    weights = conv.inputs[1].node
    bias = constant(f"{conv.node.name}_bn_offset", offset.astype(np.float32))
    total = messages.NodeDef(name=name, op="BiasAdd", input=[conv.node.name, bias.name])
    for key in ("data_format", "T"):
        if key in conv.node.attr:
            total.attr[key].CopyFrom(conv.node.attr[key])
    return [_scaled(weights, scale), conv.inputs[0].node, conv.node, bias, total]


def _after_convolution(match: Match, used: set[str]) -> Iterable[Any]:
    return _with_bias(match.inputs[0], *_scale_and_offset(match), match.node.name)


def _after_batch_to_space(match: Match, used: set[str]) -> Iterable[Any]:
    space, conv = match.inputs[0], match.inputs[0].inputs[0]
    name = f"{conv.node.name}/biasadd"
    moved = copy_of(space.node)
    moved.name, moved.input[0] = match.node.name, name
    return [*_with_bias(conv, *_scale_and_offset(match), name), space.inputs[1].node, space.inputs[2].node, moved]


def _after_concatenation(match: Match, used: set[str]) -> Iterable[Any]:
    concat, (scale, offset) = match.inputs[0], _scale_and_offset(match)
    first, second, axis = concat.inputs
    parts = [(scale, offset), (scale, offset)]
    if int(value_of(axis.node)) == 3:
        split = value_of(first.inputs[1].node).shape[3]
        parts = [(scale[:split], offset[:split]), (scale[split:], offset[split:])]
    names = [f"{concat.node.name}_bn_in{k}" for k in range(2)]
    joined = copy_of(concat.node)
    joined.name = match.node.name
    joined.input[0], joined.input[1] = names
    return [*_with_bias(first, *parts[0], names[0]), *_with_bias(second, *parts[1], names[1]), axis.node, joined]


def fold_old_batch_norms(graph_def: Any, given: Parameters) -> Any:
    """Puts batch normalisations by one node into the weights of the convolution before, and a sum behind it."""
    shapes: list[tuple[Pattern, Callable]] = [
        (_CONV, _after_convolution), (("BatchToSpaceND", (_CONV, _CONST, _CONST)), _after_batch_to_space),
        (("ConcatV2|Concat", (_CONV, _CONV, _CONST)), _after_concatenation)]
    for inner, make in shapes:
        before = -1
        while before != len(graph_def.node):        # a node less or more for each that was folded
            before = len(graph_def.node)
            graph_def = replaced(graph_def, (_NORM, (inner, *_STATISTICS)), make)
    return graph_def


def _weights(node: Any, least: int) -> np.ndarray | None:
    """The floats of a constant that has at least so many."""
    for key in ("dtype", "value"):
        if key not in node.attr:
            raise invalid(f"No '{key}' attribute for Const node {node.name}")
    values = value_of(node)
    return values if node.attr["dtype"].type == messages.DT_FLOAT and values.size >= least else None


def _range(values: np.ndarray) -> tuple[np.float32, np.float32]:
    smallest_normal = np.finfo(np.float32).tiny     # TensorFlow begins the search for the largest there
    return np.float32(values.min()), max(np.float32(values.max()), np.float32(smallest_normal))


def quantize_weights(graph_def: Any, given: Parameters) -> Any:
    """Makes constants of `minimum_size` floats and more those of 8 bits, with a Dequantize behind them."""
    least = given.one("minimum_size", 1024)

    def make(match: Match, used: set[str]) -> Iterable[Any]:
        values = _weights(match.node, least)
        if values is None:
            return [match.node]
        low, high = _range(values)
        low, high = min(low, np.float32(0)), max(high, np.float32(0))
        if low == high:
            high = low + np.float32(1) if abs(low) < 1e-6 else 2 * low if low > 0 else low / 2
        name = match.node.name
        ends = [constant(f"{name}_quantized_{which}", end) for which, end in (("min", low), ("max", high))]
        made = messages.NodeDef(name=name, op="Dequantize", input=[f"{name}_quantized_const", *(one.name for one in ends)])
        made.attr["T"].type = messages.DT_QUINT8
        made.attr["mode"].s = b"MIN_FIRST"
        return [constant(f"{name}_quantized_const", _in_eight_bits(values, low, high), dtypes.quint8), *ends, made]

    return replaced(graph_def, _CONST, make)


def _in_eight_bits(values: np.ndarray, low: np.float32, high: np.float32) -> np.ndarray:
    """Numbers 0 to 255 for floats from `low` to `high`, as MIN_FIRST counts them."""
    scale = 255.0 / (float(high) - float(low))
    steps = np.rint(values.astype(np.float64) * scale) - np.rint(float(low) * scale)
    return np.clip(steps, 0, 255).astype(np.uint8)


def round_weights(graph_def: Any, given: Parameters) -> Any:
    """Rounds constants of 16 floats and more to the middles of `num_steps` equal steps, so that files compress well."""
    count = given.one("num_steps", 256)

    def make(match: Match, used: set[str]) -> Iterable[Any]:
        values = _weights(match.node, 16)
        if values is None:
            return [match.node]
        low, high = _range(values)
        if low == high:
            low, high = (low, low + np.float32(1)) if abs(low) < 1e-6 else (low, 2 * low) if low > 0 else (2 * high, high)
        width = np.float32((high - low) / np.float32(count))
        steps = np.floor((values - low) / width).astype(np.int32)
        return [constant(match.node.name, low + width * (steps.astype(np.float32) + np.float32(0.5)))]

    return replaced(graph_def, _CONST, make)
