"""2-D convolutions and poolings in the compiler's primitives: padding, layout, and which of them are matrix products.

Groups of channels are convolutions of their own, side by side.  What these cannot express (filters whose size is not
known, on some targets large windows of a pooling) raises NotImplementedError: the NumPy meaning runs instead.
"""
from __future__ import annotations

import math
from typing import Any

from jitgraph.declare import prim
from jitgraph.graph import dtypes
from jitgraph.ops.nn import window_geometry
from jitgraph.ops.nn.window_geometry import FEW_TAPS, Layout, Window

LARGE_FILTER = 1 << 15  # products per pixel from which a filter's gradient is a matrix product, and not summed by parts
WIDE = ("float32", "float64")
FACTORS = (*WIDE, "float16", "bfloat16")        # of convolutions, and what images that are pooled are
POINT = Window(1, 1, 1, 0, 0, 1)
TURNED = (0, 2, 1, 3)   # images with rows and columns exchanged


def forward(b: Any, x: Any, w: Any, strides: Any, padding: str, explicit_paddings: Any, data_format: str,
            dilations: Any) -> Any:
    """Conv2D."""
    layout, x = _channels_last(b, x, data_format, FACTORS)
    kh, kw, channels, out = _known(w.shape)
    groups = _groups(x.shape[3], channels, out)
    wins = _windows(x.shape[1:3], (kh, kw), layout, strides, padding, dilations, explicit_paddings)
    return _restored(b, _grouped(b, groups, lambda x, w: _forward(b, x, w, wins), x, w), layout)


def _forward(b: Any, x: Any, w: Any, wins: list[Window]) -> Any:
    kh, kw, channels, out = _known(w.shape)
    size = tuple(win.output for win in wins)
    if _is_one_column(wins, x.shape, kw):
        y = _forward(b, _one_row(b, x), b.reshape(w, (1, kh, kw * channels, out)), [POINT, wins[0]])
        return b.reshape(y, (x.shape[0], *size, out))
    if kh > 1 and _is_one_column(wins[::-1], _turned_shape(x.shape), kh):
        return b.transpose(_forward(b, b.transpose(x, TURNED), b.transpose(w, (1, 0, 2, 3)), wins[::-1]), TURNED)
    if _is_matrix_product(wins, (kh, kw)):
        y = b.matmul(b.reshape(x, (-1, channels)), b.reshape(w, (channels, out)))
        return b.reshape(y, (x.shape[0], *size, out))
    return b.convolve(x, w, size, *_steps(wins), _around(wins))


def input_gradient(b: Any, input_sizes: Any, w: Any, dy: Any, strides: Any, padding: str, explicit_paddings: Any,
                   data_format: str, dilations: Any) -> Any:
    """Conv2DBackpropInput."""
    layout, dy = _channels_last(b, dy, data_format, FACTORS)
    kh, kw, channels, out = _known(w.shape)
    wanted = input_sizes.constant
    _check(wanted is not None and out == dy.shape[3])
    sizes = wanted.tolist()
    if len(sizes) == 2:         # only the spatial sizes are given
        sizes = layout.shape(dy.shape[0], sizes, channels)
    groups = _groups(sizes[layout.channel], channels, out)
    size = layout.pick(sizes)
    wins = _windows(size, (kh, kw), layout, strides, padding, dilations, explicit_paddings)
    _check_output(dy, sizes[layout.batch], wins, out)
    for axis, win in enumerate(wins):
        if win.stride > 1 and win.dilation > 1:     # as of windows at every pixel, of which most get no gradient
            count = size[axis] + win.before + win.after - win.extent + 1
            dy = spread(b, dy, win.stride, 1 + axis)
            dy = b.slice(dy, (0,) * 4, [count if k == 1 + axis else d for k, d in enumerate(dy.shape)])
            wins[axis] = win._replace(stride=1, output=count)
    return _restored(b, _grouped(b, groups, lambda w, dy: _input_gradient(b, size, w, dy, wins), w, dy), layout)


def _input_gradient(b: Any, size: Any, w: Any, dy: Any, wins: list[Window]) -> Any:
    kh, kw, channels, out = _known(w.shape)
    batch, shape = dy.shape[0], (dy.shape[0], *size, channels)
    if _is_one_column(wins, shape, kw):
        dx = _input_gradient(b, (1, size[0]), b.reshape(w, (1, kh, kw * channels, out)),
                             b.reshape(dy, (batch, 1, dy.shape[1], out)), [POINT, wins[0]])
        return b.reshape(dx, shape)
    if kh > 1 and _is_one_column(wins[::-1], _turned_shape(shape), kh):
        dx = _input_gradient(b, size[::-1], b.transpose(w, (1, 0, 2, 3)), b.transpose(dy, TURNED), wins[::-1])
        return b.transpose(dx, TURNED)
    if _is_matrix_product(wins, (kh, kw)):
        return b.reshape(b.matmul(b.reshape(dy, (-1, out)), b.reshape(w, (channels, out)), False, True), shape)
    around = []
    for win, taps, d in zip(wins, (kh, kw), size):
        before = (-(-taps // win.stride) - 1) * win.dilation
        last = (d - 1 + win.before) // win.stride         # the last output that an input could belong to
        after = last - (win.output - 1)
        around.append((before, after if after > 0 else 0))
    before = tuple(win.before for win in wins)
    return b.convolve_input(dy, b.transpose(w, (0, 1, 3, 2)), tuple(size), *_steps(wins), before, around)


def filter_gradient(b: Any, x: Any, filter_sizes: Any, dy: Any, strides: Any, padding: str, explicit_paddings: Any,
                    data_format: str, dilations: Any) -> Any:
    """Conv2DBackpropFilter."""
    layout, x = _channels_last(b, x, data_format, FACTORS)
    dy = _channels_last(b, dy, data_format, FACTORS)[1]
    wanted = filter_sizes.constant
    _check(wanted is not None)
    shape = _known(tuple(wanted.tolist()))
    groups = _groups(x.shape[3], shape[2], shape[3])
    wins = _windows(x.shape[1:3], shape[:2], layout, strides, padding, dilations, explicit_paddings)
    _check_output(dy, x.shape[0], wins, shape[3])
    of_group = [*shape[:3], shape[3] // groups]
    return _grouped(b, groups, lambda x, dy: _filter_gradient(b, x, of_group, dy, wins), x, dy)


def _filter_gradient(b: Any, x: Any, shape: list[int], dy: Any, wins: list[Window]) -> Any:
    kh, kw, channels, out = shape
    if _is_one_column(wins, x.shape, kw):
        dy = b.reshape(dy, (x.shape[0], 1, dy.shape[1], out))
        return b.reshape(_filter_gradient(b, _one_row(b, x), [1, kh, kw * channels, out], dy, [POINT, wins[0]]), shape)
    if kh > 1 and _is_one_column(wins[::-1], _turned_shape(x.shape), kh):
        dw = _filter_gradient(b, b.transpose(x, TURNED), [kw, kh, channels, out], b.transpose(dy, TURNED), wins[::-1])
        return b.transpose(dw, (1, 0, 2, 3))
    if _is_matrix_product(wins, (kh, kw)) and channels * out >= LARGE_FILTER:
        return b.reshape(b.matmul(b.reshape(x, (-1, channels)), b.reshape(dy, (-1, out)), True, False), shape)
    return b.convolve_filter(x, dy, tuple(shape), *_steps(wins), _around(wins))


def spread(b: Any, x: Any, stride: int, axis: int) -> Any:
    """x with stride - 1 elements of zeros after each of its elements along an axis."""
    if stride == 1:
        return x
    head, count, rest = x.shape[:axis], x.shape[axis], x.shape[axis + 1:]
    after = [stride - 1 if k == axis + 1 else 0 for k in range(x.rank + 1)]
    apart = b.pad(b.reshape(x, (*head, count, 1, *rest)), [0] * (x.rank + 1), after)
    return b.reshape(apart, (*head, count * stride, *rest))


def _groups(depth: Any, channels: int, out: int) -> int:
    """How many groups the `depth` channels of images are in, for a filter that takes `channels` and makes `out`."""
    _check(isinstance(depth, int) and 0 < channels <= depth and depth % channels == 0 and out % (depth // channels) == 0)
    return depth // channels


def _grouped(b: Any, groups: int, function: Any, *values: Any) -> Any:
    """function(*values), for each group of their last axes by itself; the results side by side along theirs."""
    if groups == 1:
        return function(*values)

    def part(v: Any, group: int) -> Any:
        depth = v.shape[-1] // groups
        return b.slice(v, (*(0,) * (v.rank - 1), group * depth), (*v.shape[:-1], depth))

    return b.concat([function(*[part(v, group) for v in values]) for group in range(groups)], 3)


def _is_one_column(wins: list[Window], shape: Any, kw: int) -> bool:
    """Whether a filter is as wide as the images [n, h, w, channels], so that a window has one place in a row: the pixels
    of a row are then channels, and the rows the pixels of a single row, which is what kernels are fast at."""
    _, height, width, _ = shape
    across = wins[1]
    inside = all(isinstance(d, int) for d in (width, across.before, across.after)) and across.before == across.after == 0
    return inside and width == kw and across.dilation == 1 and (kw > 1 or not isinstance(height, int) or height > 1)


def _turned_shape(shape: Any) -> tuple:
    return tuple(shape[i] for i in TURNED)


def _one_row(b: Any, x: Any) -> Any:
    """Images [n, h, w, channels] as [n, 1, h, w * channels]."""
    n, height, width, channels = x.shape
    return b.reshape(x, (n, 1, height, width * channels))


def max_pool(b: Any, x: Any, ksize: Any, strides: Any, padding: str, data_format: str, finite: bool = True) -> Any:
    """MaxPool.  `finite`: whether a maximum is at least the lowest finite number, as TensorFlow's is in 2-D."""
    return _pool(b, "max", x, ksize, strides, padding, data_format, finite)


def mean_pool(b: Any, x: Any, ksize: Any, strides: Any, padding: str, data_format: str) -> Any:
    """AvgPool."""
    return _pool(b, "mean", x, ksize, strides, padding, data_format)


def _pool(b: Any, op: str, x: Any, ksize: Any, strides: Any, padding: str, data_format: str, finite: bool = False) -> Any:
    layout, x = _channels_last(b, x, data_format, FACTORS)
    if _is_whole(x.shape, layout, ksize, strides, padding):
        count = int(x.shape[1] * x.shape[2])
        y = b.reduce("max", x, [1, 2], True) if op == "max" else b.reduce("add", _wide(b, x), [1, 2], True) / count
        y = prim.max(y, float(y.dtype.min)) if finite and y.dtype.is_floating else y
        return _restored(b, y, layout)
    wins = _pool_windows(b, x.shape[1:3], layout, ksize, strides, padding)
    size = tuple(win.output for win in wins)
    y = b.primitive("pool", [x], (x.shape[0], *size, x.shape[3]), op=op, finite=finite,
                    **_attrs(layout.pick(ksize), wins))
    return _restored(b, y, layout)


def max_pool_gradient(b: Any, x: Any, y: Any, dy: Any, ksize: Any, strides: Any, padding: str, data_format: str,
                      op: str = "max") -> Any:
    """MaxPoolGrad; with op="near_max" each gradient goes to all elements of its window that are near `y`.

    The former finds the maximum anew, as TensorFlow's kernel does, even where another `y` is fed: mostly it is a common
    subexpression.
    """
    anew = max_pool(b, x, ksize, strides, padding, data_format) if op == "max" else y
    layout, x = _channels_last(b, x, data_format, FACTORS)
    y, dy, anew = (_channels_last(b, v, data_format, FACTORS)[1] for v in (y, dy, anew))
    wins = _pool_windows(b, x.shape[1:3], layout, ksize, strides, padding)
    for output in (y, dy):
        _check_output(output, x.shape[0], wins, x.shape[3])
    dx = b.primitive("pool_grad", [x, anew, dy], x.shape, op=op, **_attrs(layout.pick(ksize), wins))
    return _restored(b, dx, layout)


def mean_pool_gradient(b: Any, sizes: Any, dy: Any, ksize: Any, strides: Any, padding: str, data_format: str) -> Any:
    """AvgPoolGrad."""
    _check(sizes.constant is not None)
    layout, dy = _channels_last(b, dy, data_format, FACTORS)
    shape = [sizes.constant.tolist()[i] for i in (layout.batch, *layout.spatial, layout.channel)]
    if _is_whole(shape, layout, ksize, strides, padding):
        _check_output(dy, shape[0], [POINT, POINT], shape[3])
        count = int(shape[1] * shape[2])
        return _restored(b, b.broadcast(dy / count, shape), layout)
    wins = _pool_windows(b, shape[1:3], layout, ksize, strides, padding)
    _check_output(dy, shape[0], wins, shape[3])
    dx = b.primitive("pool_grad", [dy], tuple(shape), op="mean", **_attrs(layout.pick(ksize), wins))
    return _restored(b, dx, layout)


def _wide(b: Any, x: Any) -> Any:
    """What sums are made of: floats of 16 bits as float32."""
    return x if x.dtype.name in WIDE else b.cast(x, dtypes.float32)


def _is_whole(shape: Any, layout: Layout, ksize: Any, strides: Any, padding: str) -> bool:
    """Whether one window covers all rows and columns."""
    return (padding == "VALID" and layout.is_spatial(ksize, strides)
            and all(d == k for d, k in zip(shape[1:3], layout.pick(ksize))))


def _pool_windows(b: Any, size: Any, layout: Layout, ksize: Any, strides: Any, padding: str) -> list[Window]:
    """The windows of a pooling, if the target takes them so large and they go over rows and columns alone."""
    taps = layout.pick(ksize)
    _check(layout.is_spatial(ksize) and 0 < taps[0] * taps[1] <= b.tuning.taps)
    return _windows(size, taps, layout, strides, padding, (1, 1, 1, 1), ())


def _attrs(taps: Any, wins: list[Window]) -> dict[str, Any]:
    return {"taps": tuple(int(t) for t in taps), "strides": tuple(int(win.stride) for win in wins),
            "before": tuple(win.before for win in wins)}


def depthwise(b: Any, x: Any, w: Any, strides: Any, padding: str, data_format: str, dilations: Any) -> Any:
    """DepthwiseConv2dNative."""
    layout, x = _channels_last(b, x, data_format, FACTORS)
    wins, attrs = _depthwise_attrs(w.shape, x.shape[1:3], layout, strides, padding, dilations)
    _check(x.shape[3] == w.shape[2])
    y = b.primitive("depthwise", [x, w], (x.shape[0], *(win.output for win in wins), w.shape[2] * w.shape[3]), **attrs)
    return _restored(b, y, layout)


def depthwise_input_gradient(b: Any, sizes: Any, w: Any, dy: Any, strides: Any, padding: str, data_format: str,
                             dilations: Any) -> Any:
    """DepthwiseConv2dNativeBackpropInput."""
    _check(sizes.constant is not None)
    layout, dy = _channels_last(b, dy, data_format, FACTORS)
    shape = [sizes.constant.tolist()[i] for i in (layout.batch, *layout.spatial, layout.channel)]
    wins, attrs = _depthwise_attrs(w.shape, shape[1:3], layout, strides, padding, dilations)
    _check(shape[3] == w.shape[2])
    _check_output(dy, shape[0], wins, w.shape[2] * w.shape[3])
    kind = "depthwise_input"
    if _is_turned_round(wins, attrs):
        kind, w = "depthwise", b.reverse(w, (0, 1))
        attrs = {**attrs, "before": tuple(win.extent - 1 - win.before for win in wins)}
    return _restored(b, b.primitive(kind, [dy, w], tuple(shape), **attrs), layout)


def _is_turned_round(wins: list[Window], attrs: dict[str, Any]) -> bool:
    """Whether the gradient of such a depthwise convolution for its input is made as one, by the filter turned round: where
    windows are at every pixel, and several are not made at a time of all their taps."""
    plain = attrs["multiplier"] == 1 and all(win.stride == 1 for win in wins)
    return plain and (math.prod(attrs["taps"]) > FEW_TAPS or any(win.dilation > 1 for win in wins))


def depthwise_filter_gradient(b: Any, x: Any, sizes: Any, dy: Any, strides: Any, padding: str, data_format: str,
                              dilations: Any) -> Any:
    """DepthwiseConv2dNativeBackpropFilter."""
    _check(sizes.constant is not None)
    layout, x = _channels_last(b, x, data_format)
    dy = _channels_last(b, dy, data_format)[1]
    shape = tuple(sizes.constant.tolist())
    wins, attrs = _depthwise_attrs(shape, x.shape[1:3], layout, strides, padding, dilations)
    _check(x.shape[3] == shape[2])
    _check_output(dy, x.shape[0], wins, shape[2] * shape[3])
    parts = b.primitive("depthwise_filter", [x, dy], (b.depthwise_chunks_of(shape, dy.shape[:3]), *shape), **attrs)
    return b.reduce("add", parts, [0])


def _depthwise_attrs(filter_shape: Any, size: Any, layout: Layout, strides: Any, padding: str,
                     dilations: Any) -> tuple[list[Window], dict[str, Any]]:
    kh, kw, _, multiplier = _known(tuple(filter_shape))
    wins = _windows(size, (kh, kw), layout, strides, padding, dilations, ())
    return wins, {**_attrs((kh, kw), wins), "multiplier": multiplier, "dilations": tuple(int(win.dilation) for win in wins)}


def _check(holds: Any) -> None:
    if not holds:
        raise NotImplementedError


def _check_output(dy: Any, batch: Any, wins: list[Window], channels: Any) -> None:
    """That `dy` [n, h, w, c] has the shape that the windows give; the NumPy meaning says what is wrong otherwise."""
    _check(all(d == wanted for d, wanted in zip(dy.shape, (batch, *(win.output for win in wins), channels))))


def _known(shape: tuple) -> list[int]:
    """The sizes of a filter as plain numbers, none of them 0."""
    _check(all(isinstance(d, int) or hasattr(d, "dtype") for d in shape))
    found = [int(d) for d in shape]
    _check(all(found))
    return found


def _channels_last(b: Any, x: Any, data_format: str, known: tuple[str, ...] = WIDE) -> tuple[Layout, Any]:
    """The layout, and x as [batch, spatial..., channels].  `known`: the dtypes that there are kernels for."""
    _check(x.dtype.name in known and data_format in ("NHWC", "NCHW", "NDHWC", "NCDHW"))
    layout = Layout.of(data_format)
    return layout, b.transpose(x, (layout.batch, *layout.spatial, layout.channel))


def _restored(b: Any, y: Any, layout: Layout) -> Any:
    order = (layout.batch, *layout.spatial, layout.channel)
    return b.transpose(y, [order.index(i) for i in range(len(order))])


def _windows(size: Any, taps: Any, layout: Layout, strides: Any, padding: str, dilations: Any,
             explicit: Any) -> list[Window]:
    _check(layout.is_spatial(strides, dilations))
    pairs = [tuple(explicit[2 * i:2 * i + 2]) for i in layout.spatial] if explicit else [None, None]
    wins = [window_geometry.window(d, n, step, gap, padding, pair)
            for d, n, step, gap, pair in zip(size, taps, layout.pick(strides), layout.pick(dilations), pairs)]
    _check(not any(isinstance(win.output, int) and win.output == 0 for win in wins))
    return wins


def _steps(wins: list[Window]) -> tuple[tuple, tuple]:
    return tuple(int(win.stride) for win in wins), tuple(int(win.dilation) for win in wins)


def _around(wins: list[Window]) -> list[tuple]:
    """The rows and the columns of zeros before and after images."""
    return [(win.before, win.after) for win in wins]


def _is_matrix_product(wins: list[Window], taps: tuple) -> bool:
    return taps == (1, 1) and all(win.stride == 1 and win.before == 0 and win.after == 0 for win in wins)
