"""Convolutions of images [batch, height, width, channels], and their gradients."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import sizes, winograd, winograd_matrices
from ..emit import convolve, cuda_convolve
from ..emit import winograd as winograd_kernels
from ..ir import Node, alike
from ..sizes import Dim
from .kind import Kind
from .products import wide

STEPS = {"strides": "of the windows, along rows and columns", "dilations": "pixels between neighbouring taps"}


def convolved(x: np.ndarray, w: np.ndarray, size: Sequence[int], strides: Sequence[int] = (1, 1), dilations: Sequence[int] = (1,
              1)) -> np.ndarray:
    """Images with a filter [kh, kw, in, out]: [batch, *size, out]."""
    found = np.zeros((x.shape[0], *size, w.shape[3]), w.dtype)
    for (a, b) in np.ndindex(*w.shape[:2]):
        found += seen(x, (a, b), size, strides, dilations) @ w[a, b]
    return found


def seen(x: np.ndarray, tap: tuple[int, ...], size: Sequence[int], strides: Sequence[int] = (1, 1),
         dilations: Sequence[int] = (1, 1)) -> np.ndarray:
    """The pixels that one tap of the windows sees: [batch, *size, channels]; a view."""
    i, j = (slice(t * d, t * d + (n - 1) * s + 1, s) for t, n, s, d in zip(tap, size, strides, dilations))
    return x[:, i, j]


def filter_gradient(x: np.ndarray, dy: np.ndarray, parts: tuple[int, ...], strides: Sequence[int] = (1, 1),
                    dilations: Sequence[int] = (1, 1)) -> np.ndarray:
    """Gradients for the filter, [chunks, kh, kw, in, out], of one part of the batch after the other."""
    chunks, *shape = parts
    found = np.zeros((chunks, *shape), x.dtype)
    for part, images in enumerate(np.array_split(np.arange(x.shape[0]), chunks)):
        for tap in np.ndindex(*shape[:2]):
            pixels = seen(x, tap, dy.shape[1:3], strides, dilations)[images]
            found[(part, *tap)] = np.einsum("nijc,nijo->co", pixels, dy[images])
    return found


def _channels_differ(images: Any, filters: Any) -> str | None:
    images, filters = ([one] if not isinstance(one, (list, tuple)) else one for one in (images, filters))
    return None if alike(images, filters) else "images and filter have other channels"


def whole(w: np.ndarray) -> np.ndarray:
    """A filter [blocks, kh, kw, in, columns] as [kh, kw, in, out]."""
    return np.moveaxis(w, 0, -2).reshape(*w.shape[1:-1], -1)


class Conv(Kind):
    """Inputs: images that are padded already, a filter in blocks of its columns."""

    name = "conv"
    attributes = STEPS
    is_stored = True
    reads_halves = ("cuda",)
    kernels = {"cpu": convolve.emit_forward, "cuda": cuda_convolve.emit_forward}
    epilogues = {"cuda": cuda_convolve.emit_forward}

    def operations(self, node: Node) -> Dim:
        _, kh, kw, inner, _ = node.inputs[1].shape
        return 2 * sizes.product(node.out.shape) * (kh * kw * inner)

    def violation(self, node: Node) -> str | None:
        return _channels_differ(node.inputs[0].shape[3], node.inputs[1].shape[3])

    def meaning(self, node: Node, x: np.ndarray, w: np.ndarray) -> Any:
        return convolved(wide(x), whole(wide(w)), node.out.shape[1:3], node.attrs["strides"], node.attrs["dilations"])


class ConvInput(Kind):
    """The gradient for the input.  Inputs: the gradient of the result, padded; the filter with its last axes exchanged, in
    blocks of its columns."""

    name = "conv_input"
    attributes = {**STEPS, "before": "rows and columns that the input was padded with", "margin": "and the gradient"}
    is_stored = True
    reads_halves = ("cuda",)
    kernels = {"cpu": convolve.emit_input_gradient, "cuda": cuda_convolve.emit_input_gradient}
    epilogues = {"cuda": cuda_convolve.emit_input_gradient}

    def operations(self, node: Node) -> Dim:
        _, kh, kw, inner, _ = node.inputs[1].shape
        rows, columns = node.attrs["strides"]
        return 2 * sizes.product(node.out.shape) * (kh * kw * inner) // (rows * columns)

    def violation(self, node: Node) -> str | None:
        return _channels_differ(node.inputs[0].shape[3], node.inputs[1].shape[3])

    def meaning(self, node: Node, dy: np.ndarray, w: np.ndarray) -> Any:
        dy, w = wide(dy), whole(wide(w))
        strides, dilations = node.attrs["strides"], node.attrs["dilations"]
        reached = [(n - 1) * s + (t - 1) * d + 1 for n, s, t, d in zip(dy.shape[1:3], strides, w.shape, dilations)]
        found = np.zeros((dy.shape[0], *reached, w.shape[3]), dy.dtype)
        for tap in np.ndindex(*w.shape[:2]):
            seen(found, tap, dy.shape[1:3], strides, dilations)[...] += dy @ w[tap]
        first = [b + m * s for b, m, s in zip(node.attrs["before"], node.attrs["margin"], strides)]
        size = node.out.shape[1:3]
        more = [(0, 0), *((0, max(f + n - w, 0)) for f, n, w in zip(first, size, reached)), (0, 0)]
        return np.pad(found, more)[:, first[0]:first[0] + size[0], first[1]:first[1] + size[1]]


class ConvFilter(Kind):
    """Partial gradients for the filter, one for each part of the batch.  Inputs: padded images, the gradient of the result."""

    name = "conv_filter"
    attributes = STEPS
    reads_halves = ("cuda",)
    kernels = {"cpu": convolve.emit_filter_gradient, "cuda": cuda_convolve.emit_filter_gradient}

    def operations(self, node: Node) -> Dim:
        _, kh, kw, channels, _ = node.out.shape
        return 2 * sizes.product(node.inputs[1].shape) * (kh * kw * channels)

    def violation(self, node: Node) -> str | None:
        return _channels_differ([v.shape[3] for v in node.inputs], node.out.shape[3:])

    def meaning(self, node: Node, x: np.ndarray, dy: np.ndarray) -> Any:
        return filter_gradient(wide(x), wide(dy), node.out.shape, node.attrs["strides"], node.attrs["dilations"])


class Winograd(Kind):
    """A convolution by minimal filtering.  Inputs: framed images, the transformed filter, the filter."""

    name = "winograd"
    attributes = {"flipped": "whether the filter is, along its first axes"}
    is_stored = True
    kernels = {"cpu": winograd_kernels.emit_forward}

    def operations(self, node: Node) -> Dim:
        batch, *covered, out = node.out.shape
        shape = node.inputs[2].shape
        return 2 * batch * winograd.products(covered, shape) * (shape[2] * out)

    def meaning(self, node: Node, x: np.ndarray, transformed: np.ndarray, w: np.ndarray) -> Any:
        return convolved(x, w[::-1, ::-1] if node.attrs["flipped"] else w, node.out.shape[1:3])


class WinogradWeights(Kind):
    """The transformed filter [36, panels, in, out of a panel].  Input: the filter."""

    name = "winograd_weights"
    attributes = {"flipped": "whether the filter is, along its first axes"}
    kernels = {"cpu": winograd_kernels.emit_weights}

    def meaning(self, node: Node, w: np.ndarray) -> Any:
        rows, columns = (np.array(winograd_matrices.weights(taps), float) for taps in w.shape[:2])
        w = w[::-1, ::-1] if node.attrs["flipped"] else w
        found = np.einsum("pa,qb,abio->pqio", rows, columns, w)
        count, panels, inner, panel = node.out.shape
        return np.moveaxis(found.reshape(count, inner, panels, panel), 2, 1).astype(w.dtype)


class WinogradFilter(Kind):
    """Partial gradients for the filter by minimal filtering.  Inputs: framed images, the framed gradient of the result."""

    name = "winograd_filter"
    kernels = {"cpu": winograd_kernels.emit_filter_gradient}

    def operations(self, node: Node) -> Dim:
        batch, *covered, out = node.inputs[1].shape
        return 2 * batch * winograd.products(covered, node.out.shape[1:]) * (node.out.shape[3] * out)

    def meaning(self, node: Node, x: np.ndarray, dy: np.ndarray) -> Any:
        return filter_gradient(wide(x), wide(dy), node.out.shape)


CONV, CONV_INPUT, CONV_FILTER = Conv(), ConvInput(), ConvFilter()
WINOGRAD, WINOGRAD_WEIGHTS, WINOGRAD_FILTER = Winograd(), WinogradWeights(), WinogradFilter()
