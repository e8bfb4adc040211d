"""2-D convolutions in the compiler's primitives: padding, layout, and which of them a product of matrices can do.

What these cannot express (groups of channels, filters whose size is not known, strides and gaps together in a gradient)
raises NotImplementedError: the NumPy meaning runs instead.
"""
from __future__ import annotations

from typing import Any

from jitgraph.ops import windows
from jitgraph.ops.windows import Layout, Window


def forward(b: Any, x: Any, w: Any, strides: Any, padding: str, explicit_paddings: Any, data_format: str,
            dilations: Any) -> Any:
    """Conv2D."""
    layout, x = _channels_last(b, x, data_format)
    kh, kw, channels, out = _known(w.shape)
    _check(x.shape[3] == channels)
    wins = _windows(x.shape[1:3], (kh, kw), layout, strides, padding, dilations, explicit_paddings)
    size = tuple(win.output for win in wins)
    x = _padded(b, x, wins)
    if _is_matrix_product(wins, (kh, kw)):
        y = b.reshape(b.matmul(b.reshape(x, (-1, channels)), b.reshape(w, (channels, out))), (x.shape[0], *size, out))
    else:
        y = b.convolve(x, w, size, *_steps(wins))
    return _restored(b, y, layout)


def input_gradient(b: Any, input_sizes: Any, w: Any, dy: Any, strides: Any, padding: str, explicit_paddings: Any,
                   data_format: str, dilations: Any) -> Any:
    """Conv2DBackpropInput."""
    layout, dy = _channels_last(b, dy, data_format)
    kh, kw, channels, out = _known(w.shape)
    wanted = input_sizes.constant
    _check(wanted is not None and out == dy.shape[3])
    sizes = list(wanted)
    size = sizes if len(sizes) == 2 else layout.pick(sizes)
    wins = _windows(size, (kh, kw), layout, strides, padding, dilations, explicit_paddings)
    _check(all(win.stride == 1 or win.dilation == 1 for win in wins))
    _check(all(d == win.output for d, win in zip(dy.shape[1:3], wins)))
    if _is_matrix_product(wins, (kh, kw)):
        flat = b.matmul(b.reshape(dy, (-1, out)), b.reshape(w, (channels, out)), False, True)
        return _restored(b, b.reshape(flat, (dy.shape[0], *size, channels)), layout)
    margins, around = [], []
    for win, taps, d in zip(wins, (kh, kw), size):
        before = (-(-taps // win.stride) - 1) * win.dilation
        last = (d - 1 + win.before) // win.stride         # the last output that an input could belong to
        after = last - (win.output - 1)
        margins.append(before)
        around.append((before, after if after > 0 else 0))
    dy = _pad(b, dy, around)
    before = tuple(win.before for win in wins)
    dx = b.convolve_input(dy, b.transpose(w, (0, 1, 3, 2)), tuple(size), *_steps(wins), before, tuple(margins))
    return _restored(b, dx, layout)


def filter_gradient(b: Any, x: Any, filter_sizes: Any, dy: Any, strides: Any, padding: str, explicit_paddings: Any,
                    data_format: str, dilations: Any) -> Any:
    """Conv2DBackpropFilter."""
    layout, x = _channels_last(b, x, data_format)
    dy = _channels_last(b, dy, data_format)[1]
    wanted = filter_sizes.constant
    _check(wanted is not None)
    kh, kw, channels, out = _known(tuple(wanted))
    _check(x.shape[3] == channels and dy.shape[3] == out)
    wins = _windows(x.shape[1:3], (kh, kw), layout, strides, padding, dilations, explicit_paddings)
    _check(all(d == win.output for d, win in zip(dy.shape[1:3], wins)))
    return b.convolve_filter(_padded(b, x, wins), dy, (kh, kw, channels, out), *_steps(wins))


def _check(holds: Any) -> None:
    if not holds:
        raise NotImplementedError


def _known(shape: tuple) -> list[int]:
    """The sizes of a filter as plain numbers, none of them 0."""
    _check(all(isinstance(d, int) or hasattr(d, "dtype") for d in shape))
    found = [int(d) for d in shape]
    _check(all(found))
    return found


def _channels_last(b: Any, x: Any, data_format: str) -> tuple[Layout, Any]:
    _check(x.dtype.name in ("float32", "float64"))
    layout = Layout.of(data_format)
    return layout, b.transpose(x, (layout.batch, *layout.spatial, layout.channel))


def _restored(b: Any, y: Any, layout: Layout) -> Any:
    order = (layout.batch, *layout.spatial, layout.channel)
    return b.transpose(y, [order.index(i) for i in range(4)])


def _windows(size: Any, taps: Any, layout: Layout, strides: Any, padding: str, dilations: Any,
             explicit: Any) -> list[Window]:
    pairs = [tuple(explicit[2 * i:2 * i + 2]) for i in layout.spatial] if explicit else [None, None]
    return [windows.window(d, n, step, gap, padding, pair)
            for d, n, step, gap, pair in zip(size, taps, layout.pick(strides), layout.pick(dilations), pairs)]


def _steps(wins: list[Window]) -> tuple[tuple, tuple]:
    return tuple(int(win.stride) for win in wins), tuple(int(win.dilation) for win in wins)


def _padded(b: Any, x: Any, wins: list[Window]) -> Any:
    return _pad(b, x, [(win.before, win.after) for win in wins])


def _pad(b: Any, x: Any, amounts: Any) -> Any:
    if all(lo == 0 and hi == 0 for lo, hi in amounts):
        return x
    before, after = zip((0, 0), *amounts, (0, 0))
    return b.pad(x, before, after)


def _is_matrix_product(wins: list[Window], taps: tuple) -> bool:
    return taps == (1, 1) and all(win.stride == 1 and win.before == 0 and win.after == 0 for win in wins)
