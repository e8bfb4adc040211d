"""Convolutions as a device's library makes them: of images without a frame of zeros, with filters [out, kh, kw, in].

They give what their inputs are made of: floats of 16 bits are added up in float32 and rounded once.  `making.library_convolutions`
makes them; what the library declines, the target's own kernel does.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .. import sizes
from ..emit import cuda_convolve, cuda_library
from ..ir import Node, alike
from ..kernel import Kernel
from ..sizes import Dim
from .convolutions import STEPS, convolved, filter_gradient, seen
from .kind import Kind
from .products import wide

if TYPE_CHECKING:
    from ..options import Options


class LibraryConv(Kind):
    """What the three have in common.  Each is one of images [n, h, w, in], the filter and results [n, oh, ow, out] or their
    gradients, made of the two others."""

    attributes = {**STEPS, "before": "rows and columns of zeros before images"}
    is_stored = True
    reads_halves = ("cuda",)
    what: ClassVar[str]                         # see LibraryConvolution
    places: ClassVar[tuple[int, int, int]]      # images, filter and results among the inputs and what it gives

    def three(self, node: Node) -> list[Any]:
        """Images, filter, results."""
        values = [*node.inputs, node.out]
        return [values[k] for k in self.places]

    def kernel(self, node: Node, target: str, options: Options) -> Kernel | None:
        found = super().kernel(node, target, options)
        if found is not None and options.uses("library_convolutions"):
            found.library = cuda_library.convolution(node, self.what, self.places, options)
        return found

    def operations(self, node: Node) -> Dim:
        _, w, y = self.three(node)
        _, kh, kw, channels = w.shape
        return 2 * sizes.product(y.shape) * (kh * kw * channels)

    def violation(self, node: Node) -> str | None:
        x, w, y = self.three(node)
        fits = alike([x.shape[3], y.shape[3]], [w.shape[3], w.shape[0]])
        return None if fits else "images, filter and results have other channels"


class ImageConv(LibraryConv):
    """A convolution.  Inputs: images, filter."""

    name, what, places = "image_conv", "forward", (0, 1, 2)
    kernels = {"cuda": cuda_convolve.emit_image_forward}

    def meaning(self, node: Node, x: np.ndarray, w: np.ndarray) -> Any:
        size, strides, dilations = node.out.shape[1:3], node.attrs["strides"], node.attrs["dilations"]
        found = convolved(_framed(node, wide(x), w.shape[1:3], size), np.moveaxis(wide(w), 0, -1), size, strides, dilations)
        return found.astype(x.dtype)


class ImageConvInput(LibraryConv):
    """The gradient for images.  Inputs: that of results, the filter."""

    name, what, places = "image_conv_input", "input", (2, 1, 0)
    kernels = {"cuda": cuda_convolve.emit_image_input_gradient}

    def meaning(self, node: Node, dy: np.ndarray, w: np.ndarray) -> Any:
        strides, dilations, size = node.attrs["strides"], node.attrs["dilations"], dy.shape[1:3]
        found = _framed(node, np.zeros(node.out.shape, wide(dy).dtype), w.shape[1:3], size)
        for i, j in np.ndindex(*w.shape[1:3]):
            seen(found, (i, j), size, strides, dilations)[...] += wide(dy) @ wide(w)[:, i, j]
        (top, left), (height, width) = node.attrs["before"], node.out.shape[1:3]
        return found[:, top:top + height, left:left + width].astype(dy.dtype)


class ImageConvFilter(LibraryConv):
    """The gradient for the filter.  Inputs: images, the gradient of results."""

    name, what, places = "image_conv_filter", "filter", (0, 2, 1)
    kernels = {"cuda": cuda_convolve.emit_image_filter_gradient}

    def meaning(self, node: Node, x: np.ndarray, dy: np.ndarray) -> Any:
        out, *taps, channels = node.out.shape
        framed = _framed(node, wide(x), taps, dy.shape[1:3])
        (found,) = filter_gradient(framed, wide(dy), (1, *taps, channels, out), node.attrs["strides"], node.attrs["dilations"])
        return np.moveaxis(found, -1, 0).astype(x.dtype)


def _framed(node: Node, x: np.ndarray, taps: Any, size: Any) -> np.ndarray:
    """Images with as many zeros around them as windows of so many results see."""
    around = [(0, 0)]
    for d, t, n, before, stride, gap in zip(x.shape[1:3], taps, size, *(node.attrs[name] for name in (
            "before", "strides", "dilations"))):
        around.append((before, max((n - 1) * stride + (t - 1) * gap + 1 - before - d, 0)))
    return np.pad(x, [*around, (0, 0)])


IMAGE_CONV, IMAGE_CONV_INPUT, IMAGE_CONV_FILTER = ImageConv(), ImageConvInput(), ImageConvFilter()
