"""Windows over images [batch, height, width, channels]: pooling, depthwise convolution, and their gradients."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import sizes
from ..emit import cuda_windows, depthwise, windows
from ..emit.window_text import NEAR
from ..ir import Node
from ..sizes import Dim
from .kind import Kind
from .products import rounded_once


class Window(Kind):
    """What goes over windows: `taps` pixels along each axis, the first of them `before` pixels before the images."""

    attributes = {"taps": "pixels of a window, along rows and columns", "strides": "from one window to the next",
                  "before": "pixels of the first window that lie before the images"}

    def operations(self, node: Node) -> Dim:
        small = min((*node.inputs, node.out), key=lambda v: sizes.count(v.shape))
        return 2 * sizes.product(small.shape) * (node.attrs["taps"][0] * node.attrs["taps"][1])

    def tap_images(self, node: Node, x: np.ndarray, size: Sequence[int], outside: float) -> np.ndarray:
        """What every tap of the windows sees: [taps, batch, *size, channels], `outside` where that is no pixel."""
        before = node.attrs["before"]
        under, whole = self.under_taps(node, size)
        after = [max(w - b - d, 0) for w, b, d in zip(whole, before, x.shape[1:3])]
        x = np.pad(x, [(0, 0), *zip(before, after), (0, 0)], constant_values=outside)
        return np.stack([x[index] for index in under])

    def under_taps(self, node: Node, size: Sequence[int]) -> tuple[list[tuple[slice, ...]], list[int]]:
        """(for every tap, the index of what it sees in images with zeros around; rows and columns that all see together)"""
        taps, strides = node.attrs["taps"], node.attrs["strides"]
        gaps = node.attrs.get("dilations", (1, 1))
        steps = [(n - 1) * s + 1 for n, s in zip(size, strides)]
        under = [(slice(None), *(slice(t * g, t * g + n, s) for t, g, n, s in zip(tap, gaps, steps, strides)))
                 for tap in np.ndindex(*taps)]
        return under, [n + (t - 1) * g for n, t, g in zip(steps, taps, gaps)]

    def sent_back(self, node: Node, parts: np.ndarray) -> np.ndarray:
        """The sum over taps of what each sends to the pixel that it sees: the transpose of `tap_images`."""
        before = node.attrs["before"]
        batch, height, width, channels = node.out.shape
        under, whole = self.under_taps(node, parts.shape[2:4])
        found = np.zeros((batch, *(max(w, b + d) for w, b, d in zip(whole, before, (height, width))), channels), parts.dtype)
        for part, index in zip(parts, under):
            found[index] += part
        return found[:, before[0]:before[0] + height, before[1]:before[1] + width]

    def counts(self, node: Node, image: tuple[int, ...], size: Sequence[int]) -> np.ndarray:
        """How many pixels each window sees."""
        return self.tap_images(node, np.ones((1, *image, 1)), size, 0).sum(0)


def lowest(dtype: np.dtype, finite: bool = True) -> Any:
    """The lowest number of a dtype, `finite` or not: what a maximum begins with."""
    if dtype.kind != "f":
        return np.iinfo(dtype).min
    return np.finfo(dtype).min if finite else -np.inf


class Pool(Window):
    """The maximum or mean of each window.  Input: images."""

    name = "pool"
    attributes = {**Window.attributes, "op": "max or mean",
                  "finite": "whether a maximum begins with the lowest finite number, which it is of nothing but NaN, else -inf"}
    reads_halves = ("cuda",)
    kernels = {"cpu": windows.emit_pool, "cuda": cuda_windows.emit_pool}

    @rounded_once
    def meaning(self, node: Node, x: np.ndarray) -> Any:
        size = node.out.shape[1:3]
        if node.attrs["op"] == "max":
            low = lowest(x.dtype, node.attrs["finite"])
            return np.fmax.reduce(self.tap_images(node, x, size, low), 0, initial=low)
        return (self.tap_images(node, x, size, 0).sum(0) / self.counts(node, x.shape[1:3], size)).astype(x.dtype)


class PoolGrad(Window):
    """max: each gradient goes to the first element of its window that is the maximum, or to the first of all if that is NaN;
    near_max: to all that differ from the result by less than 1e-5; mean: it is shared among all.  Inputs: images, results,
    gradients of these; of mean only the last."""

    name = "pool_grad"
    attributes = {**Window.attributes, "op": "max, near_max or mean"}
    reads_halves = ("cuda",)
    kernels = {"cpu": windows.emit_pool_gradient, "cuda": cuda_windows.emit_pool_gradient}

    @rounded_once
    def meaning(self, node: Node, *arrays: np.ndarray) -> Any:
        op, dy = node.attrs["op"], arrays[-1]
        if op == "mean":
            share = dy / self.counts(node, node.out.shape[1:3], dy.shape[1:3]).astype(dy.dtype)
            return self.sent_back(node, np.stack([share] * int(np.prod(node.attrs["taps"]))))
        x = np.fmax(arrays[0], lowest(dy.dtype)) if op == "max" else arrays[0]
        seen = self.tap_images(node, x, dy.shape[1:3], np.nan)
        if op == "max":
            hits = seen == arrays[1]
            inside = self.tap_images(node, np.ones(x.shape, bool), dy.shape[1:3], False)
            first = inside & (np.cumsum(inside, 0) == 1)
            lost = first & self.tap_images(node, np.isnan(arrays[0]), dy.shape[1:3], False)
            hits = lost | hits & ~lost.any(0) & (np.cumsum(hits, 0) == 1)
        else:
            with np.errstate(invalid="ignore"):
                hits = np.abs(seen - arrays[1]) < seen.dtype.type(NEAR)
        return self.sent_back(node, np.where(hits, dy, 0).astype(dy.dtype))


class Depthwise(Window):
    """y[n, i, j, c * multiplier + k] = sum over taps of x[..., c] * w[tap, c, k].  Inputs: images, filter."""

    name = "depthwise"
    attributes = {**Window.attributes, "multiplier": "results of each channel",
                  "dilations": "from one pixel of a window to the next"}
    reads_halves = ("cuda",)
    kernels = {"cpu": depthwise.emit_depthwise, "cuda": cuda_windows.emit_depthwise}

    @rounded_once
    def meaning(self, node: Node, x: np.ndarray, w: np.ndarray) -> Any:
        seen = self.tap_images(node, x, node.out.shape[1:3], 0)
        return np.einsum("tnijc,tck->nijck", seen, w.reshape(-1, *w.shape[2:])).reshape(node.out.shape)


class DepthwiseInput(Window):
    """The gradient of a depthwise convolution for its images.  Inputs: gradient of the result, filter."""

    name = "depthwise_input"
    attributes = Depthwise.attributes
    reads_halves = ("cuda",)
    kernels = {"cpu": depthwise.emit_depthwise_input, "cuda": cuda_windows.emit_depthwise_input}

    @rounded_once
    def meaning(self, node: Node, dy: np.ndarray, w: np.ndarray) -> Any:
        dy = dy.reshape(*dy.shape[:3], *w.shape[2:])
        return self.sent_back(node, np.einsum("nijck,tck->tnijc", dy, w.reshape(-1, *w.shape[2:])))


class DepthwiseFilter(Window):
    """Partial gradients for the filter, one for each part of the rows of windows.  Inputs: images, gradient of the result."""

    name = "depthwise_filter"
    attributes = Depthwise.attributes
    kernels = {"cpu": depthwise.emit_depthwise_filter, "cuda": cuda_windows.emit_depthwise_filter}

    def meaning(self, node: Node, x: np.ndarray, dy: np.ndarray) -> Any:
        chunks, *shape = node.out.shape
        batch, rows, columns = dy.shape[:3]
        seen = self.tap_images(node, x, (rows, columns), 0).reshape(-1, batch * rows, columns, x.shape[3])
        dy = dy.reshape(batch * rows, columns, *shape[2:])
        ends = [q * batch * rows // chunks for q in range(chunks + 1)]
        parts = [np.einsum("tijc,ijck->tck", seen[:, start:end], dy[start:end]) for start, end in zip(ends, ends[1:])]
        return np.stack(parts).reshape(node.out.shape)


POOL, POOL_GRAD = Pool(), PoolGrad()
DEPTHWISE, DEPTHWISE_INPUT, DEPTHWISE_FILTER = Depthwise(), DepthwiseInput(), DepthwiseFilter()
