"""Convolutions and their gradients.  The NumPy meaning: windows as a matrix (im2col), then one matrix product."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw, ints, results
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.counting import gradient_of_nodes
from jitgraph.graph.dtypes import FLOATS, INDEX
from jitgraph.ops.arrays.shape import shape
from jitgraph.ops.linalg.matmul import product
from jitgraph.ops.nn import volume_lowering, window_geometry, window_lowering
from jitgraph.ops.nn.window_geometry import Layout, Window
from jitgraph.ops.reduce.precise_sum import precise_sum

STRETCH = 1 << 22       # bytes of windows that are written out as a matrix at a time: they stay in the cache

_CONV_TYPES = FLOATS + dtypes.int32
_ATTRS_2D = ('strides: list(int), use_cudnn_on_gpu: bool = true, padding: string {"SAME", "VALID", "EXPLICIT"}, '
             'explicit_paddings: list(int) = [], data_format: string {"NHWC", "NCHW"} = "NHWC", '
             'dilations: list(int) = [1, 1, 1, 1]')
_ATTRS_3D = ('strides: list(int) >= 5, padding: string {"SAME", "VALID"}, data_format: string {"NDHWC", "NCDHW"} = "NDHWC", '
             'dilations: list(int) = [1, 1, 1, 1, 1]')
_ATTRS_DEPTHWISE = ('strides: list(int), padding: string {"SAME", "VALID"}, '
                    'data_format: string {"NHWC", "NCHW"} = "NHWC", dilations: list(int) = [1, 1, 1, 1]')


def _windows(size: Any, taps: Any, layout: Layout, strides: Any, padding: str, dilations: Any,
             explicit_paddings: Any = (), stated: bool = False) -> list[Window]:
    """The windows along the spatial axes of an input with spatial sizes `size` and a filter with `taps`."""
    for what, values in (("stride", strides), ("dilation", dilations)):
        if len(values) != len(layout.spatial) + 2:
            raise ValueError(f"The convolution requires the {what} attribute to contain {len(layout.spatial) + 2} values, but got: "
                             f"{len(values)}")
    steps, gaps = layout.pick(strides), layout.pick(dilations)
    explicit = [tuple(explicit_paddings[2 * i:2 * i + 2]) for i in layout.spatial] if explicit_paddings else [None] * len(
        layout.spatial)
    return [window_geometry.window(d, n, step, gap, padding, pads, stated)
            for d, n, step, gap, pads in zip(size, taps, steps, gaps, explicit)]


def _conv_shape(c: Any) -> Any:
    rank = len(c.attrs["data_format"])
    value = shape_rules.with_rank(c.shapes[0], rank, "input")
    filters = shape_rules.with_rank(c.shapes[1], rank, "filter")
    layout = Layout.of(c.attrs["data_format"])
    channels, inner = value[layout.channel], filters[-2]
    if channels is not None and inner is not None and channels != inner and (inner == 0 or channels % inner != 0):
        raise ValueError(f"Depth of input ({channels}) is not a multiple of input depth of filter ({inner})")
    wins = _windows(layout.pick(value), filters[:-2], layout, c.attrs["strides"], c.attrs["padding"], c.attrs["dilations"],
                    c.attrs.get("explicit_paddings", ()), not c.running)
    return layout.shape(value[layout.batch], [w.output for w in wins], filters[-1])


def _values_windows(size: Any, taps: Any, layout: Layout, strides: Any, padding: str, dilations: Any,
                    explicit_paddings: Any = ()) -> list[Window]:
    """``_windows`` for values.  Raises InvalidArgumentError for steps along the batch or the channels, which graphs may state."""
    for what, values in (("strides", strides), ("dilations", dilations)):
        if not layout.is_spatial(values):
            raise invalid(f"Current implementation does not yet support {what} in the batch and depth dimensions.")
    return _windows(size, taps, layout, strides, padding, dilations, explicit_paddings)


def _columns(x: np.ndarray, wins: list[Window], taps: Any) -> np.ndarray:
    """The windows of x [batch, spatial..., channels] as a matrix [batch * outputs, taps * channels]."""
    view = window_geometry.view(window_geometry.padded(x, wins), wins, taps)
    split = 1 + len(wins)
    return view.reshape(int(np.prod(view.shape[:split])), int(np.prod(view.shape[split:])))


def _convolve(x: np.ndarray, filters: np.ndarray, wins: list[Window]) -> np.ndarray:
    """x [batch, spatial..., in], filters [taps..., in / groups, out] -> [batch, outputs..., out]."""
    taps, inner, out = filters.shape[:-2], filters.shape[-2], filters.shape[-1]
    result_shape = (x.shape[0], *(w.output for w in wins))
    groups = x.shape[-1] // inner if inner else 1
    if inner == 1 and groups > 1:
        return _convolve_channels(window_geometry.padded(x, wins), filters, wins, result_shape)
    result = (np.empty if math.prod(taps) else np.zeros)((*result_shape, out), x.dtype)
    for g in range(groups):
        mine = slice(g * (out // groups), (g + 1) * (out // groups))
        kernel = filters[..., mine].reshape(math.prod(taps) * inner, out // groups)
        for images in _stretches(x, inner, wins, taps):
            columns = _columns(x[images, ..., g * inner:(g + 1) * inner], wins, taps)
            part = result[images, ..., mine]
            part[...] = product(columns, kernel).reshape(part.shape)
    return result


def _stretches(x: np.ndarray, inner: int, wins: list[Window], taps: Any) -> list[slice]:
    """Images whose windows, written as a matrix, stay in the cache."""
    one = x.itemsize * inner * math.prod(taps) * math.prod(w.output for w in wins)
    step = max(STRETCH // max(one, 1), 1)
    return [slice(k, min(k + step, len(x))) for k in range(0, len(x), step)] if one else []


def _convolve_channels(x: np.ndarray, filters: np.ndarray, wins: list[Window], result_shape: tuple) -> np.ndarray:
    """Padded x with one filter group per channel: tap after tap."""
    if x.dtype.itemsize == 2:
        return _convolve_channels(_wide(x), _wide(filters), wins, result_shape).astype(x.dtype)
    channels = x.shape[-1]
    result = np.zeros((*result_shape, channels, filters.shape[-1] // channels), x.dtype)
    for tap in np.ndindex(*filters.shape[:-2]):
        result += x[window_geometry.tap_slices(wins, tap)][..., None] * filters[tap].reshape(channels, -1)
    return result.reshape(*result_shape, filters.shape[-1])


def _wide(a: np.ndarray) -> np.ndarray:
    return a.astype(np.float32) if a.dtype.itemsize == 2 else a


def _input_gradient(size: Any, filters: np.ndarray, grad: np.ndarray, wins: list[Window]) -> np.ndarray:
    """The gradient [batch, spatial..., in] of a convolution for its input of spatial sizes `size`."""
    if grad.dtype.itemsize == 2:
        return _input_gradient(size, _wide(filters), _wide(grad), wins).astype(grad.dtype)
    taps, inner, out = filters.shape[:-2], filters.shape[-2], filters.shape[-1]
    batch, *sizes, channels = size
    full = np.zeros((batch, *(w.before + d + w.after for w, d in zip(wins, sizes)), channels), grad.dtype)
    groups = channels // inner if inner else 1
    if inner == 1 and groups > 1:
        split = grad.reshape(*grad.shape[:-1], channels, out // channels)
        for tap in np.ndindex(*taps):
            full[window_geometry.tap_slices(wins, tap)] += (split * filters[tap].reshape(channels, -1)).sum(-1, dtype=grad.dtype)
        return window_geometry.cropped(full, wins, sizes)
    for g in range(groups):
        part = grad[..., g * (out // groups):(g + 1) * (out // groups)]
        flat = part.reshape(math.prod(part.shape[:-1]), out // groups)
        target = full[..., g * inner:(g + 1) * inner]
        for tap in np.ndindex(*taps):
            kernel = filters[tap][:, g * (out // groups):(g + 1) * (out // groups)]
            target[window_geometry.tap_slices(wins, tap)] += product(flat, kernel.T).reshape(*part.shape[:-1], inner)
    return window_geometry.cropped(full, wins, sizes)


def _filter_gradient(x: np.ndarray, size: Any, grad: np.ndarray, wins: list[Window]) -> np.ndarray:
    """The gradient [taps..., in / groups, out] of a convolution for its filters of shape `size`."""
    *taps, inner, out = size
    groups = x.shape[-1] // inner if inner else 1
    if inner == 1 and groups > 1:
        padded, split = window_geometry.padded(x, wins), grad.reshape(math.prod(grad.shape[:-1]), groups, out // groups)
        result = np.empty((*taps, 1, out), x.dtype)
        for tap in np.ndindex(*taps):
            under = padded[window_geometry.tap_slices(wins, tap)].reshape(len(split), groups, 1)
            result[tap] = precise_sum(under * split, 0).reshape(1, out)
        return result
    result = np.zeros((*taps, inner, out), np.float32 if x.dtype.itemsize == 2 else x.dtype)
    for g in range(groups):
        mine = slice(g * (out // groups), (g + 1) * (out // groups))
        for images in _stretches(x, inner, wins, taps):
            columns = _columns(x[images, ..., g * inner:(g + 1) * inner], wins, taps)
            part = grad[images, ..., mine].reshape(len(columns), out // groups)
            result[..., mine] += (_wide(columns.T) @ _wide(part)).reshape(*taps, inner, out // groups)
    return result.astype(x.dtype, copy=False)


def _forward(x: np.ndarray, filters: np.ndarray, data_format: str, *geometry: Any) -> np.ndarray:
    layout = Layout.of(data_format)
    x = layout.channels_last(x)
    if filters.shape[-2] == 0 or x.shape[-1] % max(filters.shape[-2], 1):
        raise invalid(f"input depth must be evenly divisible by filter depth: {x.shape[-1]} vs {filters.shape[-2]}")
    if filters.shape[-1] % max(x.shape[-1] // filters.shape[-2], 1):
        raise invalid(f"A convolution in {x.shape[-1] // filters.shape[-2]} groups, as input depth {x.shape[-1]} and filter input "
                      f"depth {filters.shape[-2]} do not match, needs a multiple of them as output depth, not {filters.shape[-1]}")
    return layout.restore(_convolve(x, filters, _values_windows(x.shape[1:-1], filters.shape[:-2], layout, *geometry)))


def _backward_input(sizes: Any, filters: np.ndarray, grad: np.ndarray, data_format: str, *geometry: Any) -> np.ndarray:
    layout = Layout.of(data_format)
    sizes = [int(d) for d in sizes]
    if len(sizes) == len(filters.shape) - 2:       # only the spatial sizes are given
        sizes = list(layout.shape(grad.shape[layout.batch], sizes, filters.shape[-2]))
    size = [sizes[layout.batch], *layout.pick(sizes), sizes[layout.channel]]
    wins = _values_windows(size[1:-1], filters.shape[:-2], layout, *geometry)
    grad = layout.channels_last(grad)
    if filters.shape[-2] == 0 or size[-1] % filters.shape[-2]:
        raise invalid(f"input depth must be evenly divisible by filter depth: {size[-1]} vs {filters.shape[-2]}")
    _check_output(grad, size[0], wins, filters.shape[-1])
    return layout.restore(_input_gradient(size, filters, np.ascontiguousarray(grad), wins))


def _backward_filter(x: np.ndarray, sizes: Any, grad: np.ndarray, data_format: str, *geometry: Any) -> np.ndarray:
    layout = Layout.of(data_format)
    x, grad = layout.channels_last(x), layout.channels_last(grad)
    size = [int(d) for d in sizes]
    wins = _values_windows(x.shape[1:-1], size[:-2], layout, *geometry)
    if size[-2] == 0 or x.shape[-1] % size[-2]:
        raise invalid(f"input depth must be evenly divisible by filter depth: {x.shape[-1]} vs {size[-2]}")
    _check_output(grad, x.shape[0], wins, size[-1])
    return _filter_gradient(x, size, np.ascontiguousarray(grad), wins)


def _check_output(grad: np.ndarray, batch: int, wins: list[Window], channels: int) -> None:
    """That `grad` [batch, spatial..., channels] is one of the output that the other operands give."""
    expected = (batch, *(w.output for w in wins), channels)
    if grad.shape != expected:
        raise invalid(f"Size of out_backprop doesn't match computed: actual = {list(grad.shape)}, computed = {list(expected)}")


def _with_gradients(forward: Any, rng: Any, dtype: Any) -> list:
    """Input, filter, the gradient of the output and the attributes of each sample of a convolution."""
    return [(x, w, draw(rng, results(forward, [x, w], attrs)[0].shape, dtype), attrs)
            for (x, w), attrs in forward.opdef.samples(rng, dtype)]


def _input_gradient_samples(forward: Any) -> Callable:
    return lambda rng, dtype: [([ints(*x.shape), w, grad], attrs) for x, w, grad, attrs in _with_gradients(forward, rng, dtype)]


def _filter_gradient_samples(forward: Any) -> Callable:
    return lambda rng, dtype: [([x, ints(*w.shape), grad], attrs) for x, w, grad, attrs in _with_gradients(forward, rng, dtype)]


# -- 2-D -----------------------------------------------------------------------------------------------------------

_STEPS = ({"strides": [1, 1, 1, 1], "padding": "SAME"}, {"strides": [1, 2, 2, 1], "padding": "VALID"},
          {"strides": [1, 2, 1, 1], "padding": "SAME"})


def _conv_2d_samples(rng: Any, dtype: Any) -> list:
    x, w = draw(rng, (2, 5, 4, 3), dtype), draw(rng, (3, 2, 3, 2), dtype)
    dilated = {"strides": [1, 1, 1, 1], "padding": "VALID", "dilations": [1, 2, 1, 1]}
    return [([x, w], attrs) for attrs in (*_STEPS, dilated)]


@op(f"Conv2D(input: T, filter: T; {_ATTRS_2D}) -> output: T", T=_CONV_TYPES, shape=_conv_shape, lower=window_lowering.forward,
    costly=True, flops=shape_rules.flops_of_products, samples=_conv_2d_samples)
def _conv2d(input, filter, strides, padding, explicit_paddings, data_format, dilations):
    """2-D convolution (cross-correlation) of images with `filter` [height, width, in, out]."""
    return _forward(input, filter, data_format, strides, padding, dilations, explicit_paddings)


def _geometry(op: Any, *names: str) -> dict[str, Any]:
    return {name: op.attrs[name] for name in names}


_NAMES_2D = ("strides", "padding", "explicit_paddings", "use_cudnn_on_gpu", "data_format", "dilations")


@_conv2d.gradient
def _(op, grad):
    value, filters = op.inputs
    sizes, filter_sizes = raw.ShapeN([value, filters])
    geometry = _geometry(op, *_NAMES_2D)
    return [raw.Conv2DBackpropInput(sizes, filters, grad, **geometry),
            raw.Conv2DBackpropFilter(value, filter_sizes, grad, **geometry)]


def _backprop_input_shape(c: Any) -> Any:
    wanted = shape_rules.shape_from(c, 0)
    rank = len(c.attrs["data_format"])
    if wanted is not None and len(wanted) == rank - 2 and c.shapes[2] is not None:
        layout = Layout.of(c.attrs["data_format"])
        inner = None if c.shapes[1] is None else c.shapes[1][-2]
        return layout.shape(c.shapes[2][layout.batch], wanted, inner)
    return shape_rules.with_rank(wanted, rank, "input_sizes")


def _filter_shape(c: Any) -> Any:
    """The shape that filter_sizes state, of as many dimensions as the input."""
    return shape_rules.with_rank(shape_rules.shape_from(c, 1), len(c.attrs["data_format"]), "filter_sizes")


@op(f"Conv2DBackpropInput(input_sizes: int32, filter: T, out_backprop: T; {_ATTRS_2D}) -> output: T", T=_CONV_TYPES,
    shape=_backprop_input_shape, lower=window_lowering.input_gradient, samples=_input_gradient_samples(_conv2d),
    flops=shape_rules.flops_of_input_gradient)
def conv2d_backprop_input(input_sizes, filter, out_backprop, strides, padding, explicit_paddings, data_format, dilations):
    """The gradient of Conv2D for an input of shape `input_sizes`."""
    return _backward_input(input_sizes, filter, out_backprop, data_format, strides, padding, dilations,
                           explicit_paddings)


@conv2d_backprop_input.gradient
def _(op, grad):
    _, filters, out = op.inputs
    geometry = _geometry(op, *_NAMES_2D)
    return [None, raw.Conv2DBackpropFilter(grad, shape(filters), out, **geometry),
            raw.Conv2D(grad, filters, **geometry)]


@op(f"Conv2DBackpropFilter(input: T, filter_sizes: int32, out_backprop: T; {_ATTRS_2D}) -> output: T", T=FLOATS,
    shape=_filter_shape, lower=window_lowering.filter_gradient, samples=_filter_gradient_samples(_conv2d),
    flops=shape_rules.flops_of_filter_gradient)
def conv2d_backprop_filter(input, filter_sizes, out_backprop, strides, padding, explicit_paddings, data_format,
                           dilations):
    """The gradient of Conv2D for a filter of shape `filter_sizes`."""
    return _backward_filter(input, filter_sizes, out_backprop, data_format, strides, padding, dilations,
                            explicit_paddings)


@conv2d_backprop_filter.gradient
def _(op, grad):
    value, _, out = op.inputs
    geometry = _geometry(op, *_NAMES_2D)
    return [raw.Conv2DBackpropInput(shape(value), grad, out, **geometry), None,
            raw.Conv2D(value, grad, **geometry)]


# -- 3-D -----------------------------------------------------------------------------------------------------------

_NAMES_3D = ("strides", "padding", "data_format", "dilations")


def _conv_3d_samples(rng: Any, dtype: Any) -> list:
    x, w = draw(rng, (1, 3, 4, 3, 2), dtype), draw(rng, (2, 2, 2, 2, 2), dtype)
    return [([x, w], {"strides": [1] * 5, "padding": padding}) for padding in ("SAME", "VALID")]


@op(f"Conv3D(input: T, filter: T; {_ATTRS_3D}) -> output: T", T=FLOATS, shape=_conv_shape, lower=volume_lowering.forward,
    costly=True, flops=shape_rules.flops_of_products, samples=_conv_3d_samples)
def _conv3d(input, filter, strides, padding, data_format, dilations):
    """3-D convolution (cross-correlation) of volumes with `filter` [depth, height, width, in, out]."""
    return _forward(input, filter, data_format, strides, padding, dilations)


@_conv3d.gradient
@gradient_of_nodes(4)
def _(op, grad):
    value, filters = op.inputs
    sizes, filter_sizes = raw.ShapeN([value, filters])
    geometry = _geometry(op, *_NAMES_3D)
    return [raw.Conv3DBackpropInputV2(sizes, filters, grad, **geometry),
            raw.Conv3DBackpropFilterV2(value, filter_sizes, grad, **geometry)]


@op(f"Conv3DBackpropInputV2(input_sizes: Tshape, filter: T, out_backprop: T; {_ATTRS_3D}) -> output: T", T=FLOATS,
    Tshape=INDEX, shape=_backprop_input_shape, lower=volume_lowering.input_gradient, samples=_input_gradient_samples(_conv3d),
    flops=shape_rules.flops_of_input_gradient)
def conv3d_backprop_input(input_sizes, filter, out_backprop, strides, padding, data_format, dilations):
    """The gradient of Conv3D for an input of shape `input_sizes`."""
    return _backward_input(input_sizes, filter, out_backprop, data_format, strides, padding, dilations)


@conv3d_backprop_input.gradient
def _(op, grad):
    _, filters, out = op.inputs
    geometry = _geometry(op, *_NAMES_3D)
    return [None, raw.Conv3DBackpropFilterV2(grad, shape(filters), out, **geometry),
            raw.Conv3D(grad, filters, **geometry)]


@op(f"Conv3DBackpropFilterV2(input: T, filter_sizes: int32, out_backprop: T; {_ATTRS_3D}) -> output: T", T=FLOATS,
    shape=_filter_shape, lower=volume_lowering.filter_gradient, samples=_filter_gradient_samples(_conv3d),
    flops=shape_rules.flops_of_filter_gradient)
def conv3d_backprop_filter(input, filter_sizes, out_backprop, strides, padding, data_format, dilations):
    """The gradient of Conv3D for a filter of shape `filter_sizes`."""
    return _backward_filter(input, filter_sizes, out_backprop, data_format, strides, padding, dilations)


@conv3d_backprop_filter.gradient
def _(op, grad):
    value, _, out = op.inputs
    geometry = _geometry(op, *_NAMES_3D)
    return [raw.Conv3DBackpropInputV2(shape(value), grad, out, **geometry), None,
            raw.Conv3D(value, grad, **geometry)]


# -- depthwise -----------------------------------------------------------------------------------------------------

def _depthwise_shape(c: Any) -> Any:
    value = shape_rules.with_rank(c.shapes[0], 4, "input")
    filters = shape_rules.with_rank(c.shapes[1], 4, "filter")
    layout = Layout.of(c.attrs["data_format"])
    channels = shape_rules.merge_sizes(value[layout.channel], filters[2])
    wins = _windows(layout.pick(value), filters[:2], layout, c.attrs["strides"], c.attrs["padding"], c.attrs["dilations"],
                    stated=not c.running)
    out = None if channels is None or filters[3] is None else channels * filters[3]
    return layout.shape(value[layout.batch], [w.output for w in wins], out)


def _grouped(filters: np.ndarray) -> np.ndarray:
    """Filters [h, w, in, multiplier] as those of a convolution with one group per channel: [h, w, 1, in * multiplier]."""
    rows, columns, channels, multiplier = filters.shape
    return filters.reshape(rows, columns, 1, channels * multiplier)


def _depthwise_samples(rng: Any, dtype: Any) -> list:
    x, w = draw(rng, (2, 5, 4, 3), dtype), draw(rng, (3, 2, 3, 2), dtype)
    return [([x, w], attrs) for attrs in _STEPS[:2]]


@op(f"DepthwiseConv2dNative(input: T, filter: T; {_ATTRS_DEPTHWISE}) -> output: T", T=FLOATS, shape=_depthwise_shape,
    lower=window_lowering.depthwise, costly=True, flops=shape_rules.flops_of_depthwise, samples=_depthwise_samples)
def _depthwise_conv2d(input, filter, strides, padding, data_format, dilations):
    """2-D convolution of each channel by itself with `filter` [height, width, in, multiplier]."""
    return _forward(input, _grouped(filter), data_format, strides, padding, dilations)


@_depthwise_conv2d.gradient
def _(op, grad):
    value, filters = op.inputs
    geometry = _geometry(op, "strides", "padding", "data_format", "dilations")
    return [raw.DepthwiseConv2dNativeBackpropInput(shape(value), filters, grad, **geometry),
            raw.DepthwiseConv2dNativeBackpropFilter(value, shape(filters), grad, **geometry)]


@op(f"DepthwiseConv2dNativeBackpropInput(input_sizes: int32, filter: T, out_backprop: T; {_ATTRS_DEPTHWISE}) "
    "-> output: T", T=FLOATS, shape=_backprop_input_shape, lower=window_lowering.depthwise_input_gradient,
    samples=_input_gradient_samples(_depthwise_conv2d))
def depthwise_backprop_input(input_sizes, filter, out_backprop, strides, padding, data_format, dilations):
    """The gradient of DepthwiseConv2dNative for an input of shape `input_sizes`."""
    return _backward_input(input_sizes, _grouped(filter), out_backprop, data_format, strides, padding, dilations)


@depthwise_backprop_input.gradient
def _(op, grad):
    _, filters, out = op.inputs
    geometry = _geometry(op, "strides", "padding", "data_format", "dilations")
    return [None, raw.DepthwiseConv2dNativeBackpropFilter(grad, shape(filters), out, **geometry),
            raw.DepthwiseConv2dNative(grad, filters, **geometry)]


@op(f"DepthwiseConv2dNativeBackpropFilter(input: T, filter_sizes: int32, out_backprop: T; {_ATTRS_DEPTHWISE}) "
    "-> output: T", T=FLOATS, shape=_filter_shape, lower=window_lowering.depthwise_filter_gradient,
    samples=_filter_gradient_samples(_depthwise_conv2d))
def depthwise_backprop_filter(input, filter_sizes, out_backprop, strides, padding, data_format, dilations):
    """The gradient of DepthwiseConv2dNative for a filter of shape `filter_sizes`."""
    sizes = [int(d) for d in filter_sizes]
    grouped = [*sizes[:2], 1, sizes[2] * sizes[3]]
    return _backward_filter(input, grouped, out_backprop, data_format, strides, padding, dilations).reshape(sizes)


@depthwise_backprop_filter.gradient
def _(op, grad):
    value, _, out = op.inputs
    geometry = _geometry(op, "strides", "padding", "data_format", "dilations")
    return [raw.DepthwiseConv2dNativeBackpropInput(shape(value), grad, out, **geometry), None,
            raw.DepthwiseConv2dNative(value, grad, **geometry)]
