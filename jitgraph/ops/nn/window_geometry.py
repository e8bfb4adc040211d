"""The geometry of convolution and pooling: layouts, padding, output sizes, and the windows of an array.

Inside, data is [batch, spatial..., channels]; ``Layout`` translates.  SAME pads so that the output size is
ceil(input / stride), with the odd element at the end; VALID does not pad; EXPLICIT states the padding.
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jitgraph.graph.errors import UnimplementedError

WRITTEN_OUT = 25        # taps of a window that kernels write out one after the other; more are gone through by loops
FEW_TAPS = 9            # of a depthwise filter, for several windows at a time; of a larger one, they write out a row
NEAR = 1e-5             # TensorFlow's kernel for volumes takes numbers that differ by less for the maximum


class Layout(NamedTuple):
    """Which axes of a tensor are which: the batch, the spatial axes, the channels."""

    batch: int
    spatial: tuple[int, ...]
    channel: int

    @classmethod
    def of(cls, data_format: str) -> Layout:
        """The layout of "NHWC", "NCHW", "NDHWC" or "NCDHW"."""
        spatial = tuple(i for i, letter in enumerate(data_format) if letter not in "NC")
        return cls(data_format.index("N"), spatial, data_format.index("C"))

    def channels_last(self, x: np.ndarray) -> np.ndarray:
        """A view of x with axes [batch, spatial..., channels]."""
        return x.transpose(self.batch, *self.spatial, self.channel)

    def restore(self, x: np.ndarray) -> np.ndarray:
        """x, with axes [batch, spatial..., channels], in this layout again."""
        order = (self.batch, *self.spatial, self.channel)
        return np.ascontiguousarray(x.transpose(np.argsort(order)))

    def shape(self, batch: Any, spatial: Any, channel: Any) -> tuple:
        """The shape of a tensor of these sizes."""
        sizes = {self.batch: batch, self.channel: channel, **dict(zip(self.spatial, spatial))}
        return tuple(sizes[i] for i in range(len(sizes)))

    def pick(self, values: Any) -> list:
        """The spatial ones of a list with one value per axis (``strides``)."""
        return [values[i] for i in self.spatial]

    def is_spatial(self, *lists: Any) -> bool:
        """Whether lists with one value per axis (``strides``) have 1 for the batch and the channels."""
        return all(values[self.batch] == values[self.channel] == 1 for values in lists)


def check_across_space(message: str, **lists: Any) -> None:
    """Raises UnimplementedError for a list, one value per axis with the channels last, that has not 1 at both ends."""
    for what, values in lists.items():
        if values[0] != 1 or values[-1] != 1:
            raise UnimplementedError(None, None, message.format(what))


class Window(NamedTuple):
    """A window along one axis: its size with dilation, stride, dilation, padding before and after, output size."""

    extent: Any
    stride: Any
    dilation: Any
    before: Any
    after: Any
    output: Any


def window(size: Any, length: Any, stride: int, dilation: int, padding: str, explicit: Any = None,
           stated: bool = False) -> Window:
    """The window of `length` taps along an axis of `size` elements (None: unknown).

    Raises ValueError for windows that do not advance and, as TensorFlow does, for an input that is smaller than a VALID window:
    for each that a graph states (`stated`, of convolutions and pools); else, as in a run, for those that lack twice a stride or
    more, others give no output.
    """
    for what, least in (("Stride", stride), ("Dilation rate", dilation)):
        if least < 1:
            raise ValueError(f"{what} must be > 0, but got {least}")
    extent = None if length is None else (length - 1) * dilation + 1
    if size is None or extent is None:
        known = padding == "SAME" and size is not None
        output = (size + stride - 1) // stride if known else None
        return Window(extent, stride, dilation, None, None, output)
    if padding == "SAME":
        output = (size + stride - 1) // stride
        needed = (output - 1) * stride + extent - size
        needed = needed if needed > 0 else 0
        return Window(extent, stride, dilation, needed // 2, needed - needed // 2, output)
    before, after = explicit if padding == "EXPLICIT" else (0, 0)
    room = size + before + after - extent
    if room < 0:
        if stated:
            raise ValueError(f"Negative dimension size caused by subtracting {extent} from {size + before + after}")
        if room <= -2 * stride:
            raise ValueError(f"Computed output size would be negative: {(room + stride) // stride} [input_size: "
                             f"{size + before + after}, effective_filter_size: {extent}, stride: {stride}]")
        return Window(extent, stride, dilation, before, after, 0)
    return Window(extent, stride, dilation, before, after, room // stride + 1)


def padded(x: np.ndarray, wins: list, value: Any = 0) -> np.ndarray:
    """x [batch, spatial..., channels] with the padding of the windows."""
    amounts = [(0, 0), *((w.before, w.after) for w in wins), (0, 0)]
    return x if not any(lo or hi for lo, hi in amounts) else np.pad(x, amounts, constant_values=value)


def view(x: np.ndarray, wins: list, taps: Any) -> np.ndarray:
    """A view of padded x as [batch, output..., taps..., channels]: all windows, without a copy."""
    batch, *sizes, channels = x.strides
    shape = (x.shape[0], *(w.output for w in wins), *taps, x.shape[-1])
    strides = (batch, *(s * w.stride for s, w in zip(sizes, wins)), *(s * w.dilation for s, w in zip(sizes, wins)),
               channels)
    return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=False)


def tap_slices(wins: list, tap: Any) -> tuple:
    """The index of padded x [batch, spatial..., channels] that is under one tap of all windows."""
    return (slice(None), *(slice(t * w.dilation, t * w.dilation + (w.output - 1) * w.stride + 1, w.stride)
                           if w.output else slice(0, 0) for t, w in zip(tap, wins)), slice(None))


def cropped(x: np.ndarray, wins: list, sizes: Any) -> np.ndarray:
    """x [batch, padded spatial..., channels] without the padding of the windows."""
    index = (slice(None), *(slice(w.before, w.before + d) for w, d in zip(wins, sizes)))
    return x[index]
