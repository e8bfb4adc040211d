"""Windows of volumes [batch, planes, rows, columns, channels] as channels."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw
from jitgraph.graph import shape_rules
from jitgraph.graph.dtypes import REALS
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.texts import as_text
from jitgraph.ops.nn import window_geometry


def _windows(sizes: Any, ksizes: Any, strides: Any, padding: Any) -> list:
    padding = as_text(padding)
    return [window_geometry.window(size, taps, step, 1, padding)
            for size, taps, step in zip(sizes, ksizes[1:4], strides[1:4])]


def _shape(c: Any) -> Any:
    x = shape_rules.with_rank(c.shapes[0], 5, "input")
    ksizes = c.attrs["ksizes"]
    wins = _windows(x[1:4], ksizes, c.attrs["strides"], c.attrs["padding"])
    taps = ksizes[1] * ksizes[2] * ksizes[3]
    return (x[0], *(w.output for w in wins), None if x[4] is None else x[4] * taps)


def _samples(rng, dtype):
    x = draw(rng, (1, 3, 4, 5, 2), dtype)
    return [([x], {"ksizes": [1, 2, 2, 3, 1], "strides": [1, 1, 2, 2, 1], "padding": padding})
            for padding in ("SAME", "VALID")]


@op('ExtractVolumePatches(input: T; ksizes: list(int) >= 5, strides: list(int) >= 5, padding: string {"SAME", '
    '"VALID"}) -> patches: '
    "T", T=REALS, shape=_shape, samples=_samples)
def _extract_volume_patches(input, ksizes, strides, padding):
    """Every window of the volumes, flattened, as the channels of a new volume."""
    window_geometry.check_across_space("Only support {} across space.", ksizes=ksizes, strides=strides)
    taps = tuple(ksizes[1:4])
    wins = _windows(input.shape[1:4], ksizes, strides, padding)
    view = window_geometry.view(np.ascontiguousarray(window_geometry.padded(input, wins)), wins, taps)
    return view.reshape(*view.shape[:4], math.prod(view.shape[4:]))


@_extract_volume_patches.gradient
def _(op, grad):
    """The gradients of each place summed: windows of the numbers of the places say where each came from."""
    x = op.inputs[0]
    taps = {name: op.get_attr(name) for name in ("ksizes", "strides", "padding")}
    sizes = raw.Shape(x)
    count = sizes[1] * sizes[2] * sizes[3]
    numbers = raw.Reshape(raw.Range(1, count + 1, 1), raw.ConcatV2([[1], sizes[1:4], [1]], 0))
    places = raw.Reshape(raw.ExtractVolumePatches(numbers, **taps), [-1]) - 1      # -1 in the padding: dropped
    outputs = raw.Shape(grad)
    channels = sizes[4]
    each = raw.Reshape(grad, raw.ConcatV2([outputs[:4], [-1], raw.ExpandDims(channels, 0)], 0))
    turned = raw.Transpose(each, [1, 2, 3, 4, 0, 5])
    rows = raw.Reshape(turned, raw.Pack([-1, sizes[0] * channels]))
    summed = raw.UnsortedSegmentSum(rows, places, count)
    back = raw.Transpose(raw.Reshape(summed, raw.Pack([count, sizes[0], channels])), [1, 0, 2])
    return raw.Reshape(back, sizes)


def extract_volume_patches(input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None) -> Tensor:
    """Every window (`ksizes` [1, planes, rows, columns, 1]) of volumes [n, d, h, w, c], flattened to channels."""
    return _extract_volume_patches(input, ksizes=list(ksizes), strides=list(strides), padding=padding, name=name)


def extract_patches(images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None) -> Tensor:
    """Every window (`sizes` [1, height, width, 1]) of images [n, h, w, c], flattened to channels."""
    return raw.ExtractImagePatches(images, ksizes=list(sizes), strides=list(strides), rates=list(rates), padding=padding,
                                   name=name)
