"""Transforms of convolutions: dilated ones by larger filters, and those that take in what pads or resizes images before them."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.tools.graph_transforms.parameters import Parameters
from jitgraph.tools.graph_transforms.patterns import (
    Match,
    Pattern,
    attributes_of,
    constant,
    node_of,
    replaced,
    value_of,
)

_ANY: Pattern = ("*", ())
_RESIZE: Pattern = ("ResizeBilinear", ())


def flatten_atrous_conv(graph_def: Any, given: Parameters) -> Any:
    """Makes a convolution between SpaceToBatchND and BatchToSpaceND one whose filter has zeros between its numbers."""

    def make(match: Match, used: set[str]) -> Iterable[Any]:
        conv, (space, taps) = match.inputs[0].node, match.inputs[0].inputs
        rates, numbers = value_of(space.inputs[1].node).ravel(), value_of(taps.node)
        sizes = [(size - 1) * int(rate) + 1 for size, rate in zip(numbers.shape, rates)]
        spread = np.zeros((*sizes, *numbers.shape[2:]), np.float32)
        spread[::rates[0], ::rates[1]] = numbers
        kept = attributes_of(conv, "T", "strides", "data_format", *(["use_cudnn_on_gpu"] if conv.op == "Conv2D" else []))
        made = node_of(conv.op, match.node.name, [space.node.input[0], taps.node.name], padding=b"SAME", **kept)
        made.device = conv.device
        return [space.inputs[0].node, constant(taps.node.name, spread), made]

    batches: Pattern = ("SpaceToBatchND", (_ANY, _ANY, _ANY))
    return replaced(graph_def, ("BatchToSpaceND", (("Conv2D|DepthwiseConv2dNative", (batches, _ANY)), _ANY, _ANY)), make)


def fuse_pad_and_conv(graph_def: Any, given: Parameters) -> Any:
    """Makes a MirrorPad and the Conv2D behind it one FusedPadConv2D."""

    def make(match: Match, used: set[str]) -> Iterable[Any]:
        pad, conv = match.inputs[0].node, match.node
        made = node_of("FusedPadConv2D", conv.name, [*pad.input[:2], conv.input[1]],
                       **attributes_of(pad, "mode"), **attributes_of(conv, "T", "padding", "strides"))
        return [match.inputs[1].node, *(one.node for one in match.inputs[0].inputs), made]

    return replaced(graph_def, ("Conv2D", (("MirrorPad", (_ANY, _ANY)), _ANY)), make)


def _resized(resize: Any, conv: Any, paddings: str, mode: dict[str, Any]) -> Any:
    made = node_of("FusedResizeAndPadConv2D", conv.name, [*resize.input[:2], paddings, conv.input[1]],
                   **mode, **attributes_of(conv, "T", "padding", "strides"))
    if "align_corners" in resize.attr:
        made.attr["resize_align_corners"].CopyFrom(resize.attr["align_corners"])
    return made


def fuse_resize_pad_and_conv(graph_def: Any, given: Parameters) -> Any:
    """Makes a ResizeBilinear, the MirrorPad behind it and the Conv2D behind that one FusedResizeAndPadConv2D."""

    def make(match: Match, used: set[str]) -> Iterable[Any]:
        pad = match.inputs[0]
        made = _resized(pad.inputs[0].node, match.node, pad.node.input[1], attributes_of(pad.node, "mode"))
        return [match.inputs[1].node, pad.inputs[1].node, made]

    return replaced(graph_def, ("Conv2D", (("MirrorPad", (_RESIZE, _ANY)), _ANY)), make)


def fuse_resize_and_conv(graph_def: Any, given: Parameters) -> Any:
    """Makes a ResizeBilinear and the Conv2D behind it one FusedResizeAndPadConv2D, which pads by nothing."""

    def make(match: Match, used: set[str]) -> Iterable[Any]:
        nothing = constant(f"{match.node.name}_dummy_paddings", np.zeros((4, 2), np.int32), dtypes.int32)
        made = _resized(match.inputs[0].node, match.node, nothing.name, {"mode": b"REFLECT"})
        return [match.inputs[1].node, nothing, made]

    return replaced(graph_def, ("Conv2D", (_RESIZE, _ANY)), make)
