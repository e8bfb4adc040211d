"""3-D convolutions and poolings in the compiler's primitives: as 2-D ones, over planes.

A volume [n, depth, height, width, channels] is a batch of n * depth planes.  A convolution takes the planes that the taps
along the depth meet as further channels of one plane, so that one 2-D convolution does all; a pooling pools planes first
and then, rows and columns being one axis, along the depth; the gradient of a maximum looks at planes tap by tap.

What `window_lowering` cannot express in 2-D, and dtypes that there are no kernels for, raise NotImplementedError: the
NumPy meaning runs instead.
"""
from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

from jitgraph.declare import prim
from jitgraph.graph import dtypes
from jitgraph.ops.nn import window_geometry, window_lowering
from jitgraph.ops.nn.window_geometry import NEAR, Layout, Window
from jitgraph.ops.nn.window_lowering import FACTORS, _channels_last, _check, _known, _restored, spread

_PLANES = "NHWC"


def forward(b: Any, x: Any, w: Any, strides: Any, padding: str, data_format: str, dilations: Any) -> Any:
    """Conv3D: x [n, depth, height, width, in] (or channels first), w [taps..., in, out]."""
    layout, x = _channels_last(b, x, data_format, FACTORS)
    taps, _, _, channels, _ = _known(w.shape)
    _check(x.shape[4] == channels)      # the planes that meet are groups of their own otherwise
    win = _along_depth(x.shape[1], taps, layout, strides, padding, dilations)
    y = window_lowering.forward(b, _met(b, x, taps, win), _of_planes(b, w), *_plane_geometry(layout, strides, padding, dilations))
    return _restored(b, _volume(b, y, x.shape[0], win.output), layout)


def input_gradient(b: Any, input_sizes: Any, w: Any, dy: Any, strides: Any, padding: str, data_format: str,
                   dilations: Any) -> Any:
    """Conv3DBackpropInput: plane d gets what the planes d + before - k * dilation of dy, spread by the stride, meet."""
    layout, dy = _channels_last(b, dy, data_format, FACTORS)
    taps, *plane_taps, channels, out = _known(w.shape)
    _check(input_sizes.constant is not None)
    wanted = input_sizes.constant.tolist()
    if len(wanted) == 3:        # only the spatial sizes are given
        wanted = layout.shape(dy.shape[0], wanted, channels)
    _check(wanted[layout.channel] == channels and wanted[layout.batch] == dy.shape[0])
    size = layout.pick(wanted)
    win = _along_depth(size[0], taps, layout, strides, padding, dilations)
    _check(dy.shape[1] == win.output)
    missing = size[0] + win.before - win.output * win.stride
    shifted = Window(win.extent, 1, win.dilation, win.extent - 1 - win.before, missing if missing > 0 else 0, size[0])
    met = _met(b, spread(b, dy, win.stride, 1), taps, shifted)
    # tap k of the filter is tap taps - 1 - k of what is met
    flipped = b.transpose(b.reverse(w, [0]), (1, 2, 3, 0, 4))
    dx = window_lowering.input_gradient(b, _sizes(b, size[1:]), b.reshape(flipped, (*plane_taps, channels, taps * out)), met,
                                        *_plane_geometry(layout, strides, padding, dilations))
    return _restored(b, _volume(b, dx, dy.shape[0], size[0]), layout)


def filter_gradient(b: Any, x: Any, filter_sizes: Any, dy: Any, strides: Any, padding: str, data_format: str,
                    dilations: Any) -> Any:
    """Conv3DBackpropFilter."""
    layout, x = _channels_last(b, x, data_format, FACTORS)
    dy = _channels_last(b, dy, data_format, FACTORS)[1]
    _check(filter_sizes.constant is not None)
    taps, *plane_taps, channels, out = _known(tuple(filter_sizes.constant.tolist()))
    _check(x.shape[4] == channels)
    win = _along_depth(x.shape[1], taps, layout, strides, padding, dilations)
    _check(dy.shape[1] == win.output)
    dw = window_lowering.filter_gradient(b, _met(b, x, taps, win), _sizes(b, [*plane_taps, taps * channels, out]), _planes(b, dy),
                                         *_plane_geometry(layout, strides, padding, dilations))
    return b.transpose(b.reshape(dw, (*plane_taps, taps, channels, out)), (2, 0, 1, 3, 4))


def input_gradient_like(b: Any, x: Any, w: Any, dy: Any, strides: Any, padding: str, dilations: Any) -> Any:
    """Conv3DBackpropInput of old graph files, which takes x itself for its sizes."""
    return input_gradient(b, _sizes(b, x.shape), w, dy, strides, padding, "NDHWC", dilations)


def filter_gradient_like(b: Any, x: Any, w: Any, dy: Any, strides: Any, padding: str, dilations: Any) -> Any:
    """Conv3DBackpropFilter of old graph files, which takes the filter itself for its sizes."""
    return filter_gradient(b, x, _sizes(b, w.shape), dy, strides, padding, "NDHWC", dilations)


# -- poolings ------------------------------------------------------------------------------------------------------

# TensorFlow's maxima of volumes begin with -inf, those of images with the lowest finite number
_plane_max_pool = functools.partial(window_lowering.max_pool, finite=False)


def max_pool(b: Any, x: Any, ksize: Any, strides: Any, padding: str, data_format: str) -> Any:
    """MaxPool3D."""
    return _pool(b, _plane_max_pool, x, ksize, strides, padding, data_format)


def mean_pool(b: Any, x: Any, ksize: Any, strides: Any, padding: str, data_format: str) -> Any:
    """AvgPool3D: the mean of planes' means, which have equally many elements under every tap along the depth."""
    return _pool(b, window_lowering.mean_pool, x, ksize, strides, padding, data_format)


def _pool(b: Any, pool: Any, x: Any, ksize: Any, strides: Any, padding: str, data_format: str) -> Any:
    layout, x = _channels_last(b, x, data_format)
    plane, depth = _split(layout, ksize, strides, padding)
    pooled = _volume(b, pool(b, _planes(b, x), *plane), *x.shape[:2])
    y = pool(b, _columns(b, pooled), *depth)
    return _restored(b, b.reshape(y, (*y.shape[:2], *pooled.shape[2:])), layout)


def max_pool_gradient(b: Any, x: Any, y: Any, dy: Any, ksize: Any, strides: Any, padding: str, data_format: str) -> Any:
    """MaxPool3DGrad: each tap along the depth brings a plane to each result, whose pixels that are near it get its gradient."""
    layout, x = _channels_last(b, x, data_format, FACTORS)
    y, dy = (_channels_last(b, v, data_format, FACTORS)[1] for v in (y, dy))
    plane, (taps, steps, *_) = _split(layout, ksize, strides, padding)
    win = window_geometry.window(x.shape[1], int(taps[1]), int(steps[1]), 1, padding)
    _check(y.shape[1] == win.output and dy.shape[1] == win.output)
    if _are_apart(x.shape, layout, ksize, strides, padding):
        return _restored(b, _near_gradient(b, x, y, dy, layout.pick(ksize)), layout)
    n, size, *rest = x.shape
    padded = x
    if _is_padded(win):
        padded = b.pad(x, (0, win.before, 0, 0, 0), (0, win.after, 0, 0, 0), math.nan)      # which is near nothing
    parts = []
    for tap in range(win.extent):
        met = b.slice(padded, (0, tap, 0, 0, 0), (n, win.output, *rest), (1, win.stride, 1, 1, 1))
        part = window_lowering.max_pool_gradient(b, _planes(b, met), _planes(b, y), _planes(b, dy), *plane, op="near_max")
        apart = spread(b, _volume(b, part, n, win.output), win.stride, 1)
        missing = win.before + size - tap - win.output * win.stride
        placed = b.pad(apart, (0, tap, 0, 0, 0), (0, missing if missing > 0 else 0, 0, 0, 0))
        parts.append(b.slice(placed, (0, win.before, 0, 0, 0), x.shape))
    return _restored(b, functools.reduce(operator.add, parts), layout)


def _are_apart(shape: Any, layout: Layout, ksize: Any, strides: Any, padding: str) -> bool:
    """Whether each element of a volume of this shape, channels last, is in one window."""
    taps, steps = layout.pick(ksize), layout.pick(strides)
    return all(isinstance(size, int) and tap == step and size % tap == 0 for size, tap, step in zip(shape[1:4], taps, steps))


def _near_gradient(b: Any, x: Any, y: Any, dy: Any, taps: Any) -> Any:
    """The gradient of maxima over windows side by side, element by element: that of the window where it is near the maximum."""
    n, *size, channels = x.shape
    counts = [length // tap for length, tap in zip(size, taps)]
    _check([*y.shape[1:4]] == counts and [*dy.shape[1:4]] == counts)
    each = [n, *(d for pair in zip(counts, map(int, taps)) for d in pair), channels]
    one = [n, *(d for count in counts for d in (count, 1)), channels]
    wide = x.dtype if x.dtype.name in window_lowering.WIDE else dtypes.float32
    apart = b.cast(b.reshape(x, each), wide) - b.cast(b.reshape(y, one), wide)
    dx = prim.select(prim.abs(apart) < NEAR, b.reshape(dy, one), 0)
    return b.reshape(dx, x.shape)


def mean_pool_gradient(b: Any, sizes: Any, dy: Any, ksize: Any, strides: Any, padding: str, data_format: str) -> Any:
    """AvgPool3DGrad."""
    _check(sizes.constant is not None)
    layout, dy = _channels_last(b, dy, data_format)
    wanted = sizes.constant.tolist()
    n, size, channels = wanted[layout.batch], layout.pick(wanted), wanted[layout.channel]
    plane, depth = _split(layout, ksize, strides, padding)
    columns = _sizes(b, [n, size[0], dy.shape[2] * dy.shape[3], channels])
    to_planes = b.reshape(window_lowering.mean_pool_gradient(b, columns, _columns(b, dy), *depth), (n * size[0], *dy.shape[2:]))
    dx = window_lowering.mean_pool_gradient(b, _sizes(b, [n * size[0], *size[1:], channels]), to_planes, *plane)
    return _restored(b, _volume(b, dx, n, size[0]), layout)


def _split(layout: Layout, ksize: Any, strides: Any, padding: str) -> tuple[tuple, tuple]:
    """The geometry (ksize, strides, padding, format) of the pooling of planes, and of the one of columns along the depth."""
    _check(layout.is_spatial(ksize, strides))
    (taps, *plane_taps), (step, *plane_steps) = layout.pick(ksize), layout.pick(strides)
    return (([1, *plane_taps, 1], [1, *plane_steps, 1], padding, _PLANES),
            ([1, taps, 1, 1], [1, step, 1, 1], padding, _PLANES))


def _columns(b: Any, x: Any) -> Any:
    """A volume [n, depth, height, width, c] as images [n, depth, height * width, c]."""
    return b.reshape(x, (*x.shape[:2], x.shape[2] * x.shape[3], x.shape[4]))


# -- planes --------------------------------------------------------------------------------------------------------

def _planes(b: Any, x: Any) -> Any:
    """A volume [n, depth, height, width, c] as planes [n * depth, height, width, c]."""
    return b.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def _volume(b: Any, planes: Any, n: Any, depth: Any) -> Any:
    """Planes as n volumes of that depth."""
    return b.reshape(planes, (n, depth, *planes.shape[1:]))


def _sizes(b: Any, sizes: Any) -> Any:
    """Sizes, known or symbolic, as the value of a shape."""
    found = np.empty(len(sizes), object)
    found[:] = sizes
    return b.size(found, dtypes.int32)


def _along_depth(size: Any, taps: Any, layout: Layout, strides: Any, padding: str, dilations: Any) -> Window:
    _check(layout.is_spatial(strides, dilations))
    return window_geometry.window(size, taps, layout.pick(strides)[0], layout.pick(dilations)[0], padding)


def _plane_geometry(layout: Layout, strides: Any, padding: str, dilations: Any) -> tuple:
    """Strides, padding, explicit paddings, format and dilations of a 2-D convolution of planes."""
    return [1, *layout.pick(strides)[1:], 1], padding, (), _PLANES, [1, *layout.pick(dilations)[1:], 1]


def _met(b: Any, x: Any, taps: int, win: Window) -> Any:
    """The planes of x [n, depth, height, width, c] that each output along the depth meets, as channels of one plane:
    [n * win.output, height, width, taps * c]."""
    padded = b.pad(x, (0, win.before, 0, 0, 0), (0, win.after, 0, 0, 0)) if _is_padded(win) else x
    n, _, height, width, channels = x.shape
    shape, strides = (n, win.output, height, width, channels), (1, int(win.stride), 1, 1, 1)
    met = [b.slice(padded, (0, k * win.dilation, 0, 0, 0), shape, strides) for k in range(taps)]
    return _planes(b, met[0] if taps == 1 else b.concat(met, 4))


def _of_planes(b: Any, w: Any) -> Any:
    """A filter [depth taps, kh, kw, in, out] for what `_met` gives: [kh, kw, depth taps * in, out]."""
    taps, kh, kw, channels, out = w.shape
    return b.reshape(b.transpose(w, (1, 2, 0, 3, 4)), (kh, kw, taps * channels, out))


def _is_padded(win: Window) -> bool:
    """Whether there may be zeros around; for sizes that only the run knows there are, so that one program stands for all."""
    return not all(isinstance(d, int) and d == 0 for d in (win.before, win.after))
