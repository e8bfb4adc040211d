"""Images scaled and moved at once, by a kernel that weighs the pixels around each place: ScaleAndTranslate and its gradient.

An output pixel x lies at ``(x + 0.5 - translation) / scale`` of the input.  Each axis is a matrix of weights of its own, so an
image is multiplied with one matrix from the left and one from the right.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import TypeSet

f32 = np.float32
_IMAGES = TypeSet(*(dtypes.as_dtype(name) for name in (
    "int8", "uint8", "int16", "uint16", "int32", "int64", "bfloat16", "float16", "float32", "float64")))


def _lanczos(radius: float) -> Callable:
    def kernel(x: np.ndarray) -> np.ndarray:
        near = np.maximum(x, f32(1e-3))
        found = radius * np.sin(np.pi * near) * np.sin(np.pi * near / radius) / (np.pi * np.pi * near * near)
        return np.where(x > radius, 0, np.where(x <= f32(1e-3), 1, found))
    return kernel


def _cubic(near: tuple, far: tuple) -> Callable:
    return lambda x: np.where(x >= 2, 0, np.where(x >= 1, np.polyval(far, x), np.polyval(near, x)))


# of each kernel how far it reaches, and its weight at a distance (Mitchell and Netravali 1988; Keys 1981)
KERNELS: dict[str, tuple[float, Callable]] = {
    "lanczos1": (1.0, _lanczos(1.0)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, lambda x: np.where(x >= 1.5, 0, np.exp(-x * x / (2 * 0.5 * 0.5)))),
    "box": (1.0, lambda x: np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))),
    "triangle": (1.0, lambda x: np.where(x < 1, 1 - x, 0)),
    "keyscubic": (2.0, _cubic((1.5, -2.5, 0, 1), (-0.5, 2.5, -4, 2))),
    "mitchellcubic": (2.0, _cubic((7 / 6, -2, 0, 8 / 9), (-7 / 18, 2, -10 / 3, 16 / 9))),
}


def _weights(kernel_type: str, outputs: int, inputs: int, scale: Any, translation: Any, antialias: bool) -> np.ndarray:
    """The matrix [outputs, inputs] of one axis: zero rows for places outside of the image."""
    radius, kernel = KERNELS[kernel_type]
    inverse = f32(1) / f32(scale)
    wide = max(inverse, f32(1)) if antialias else f32(1)
    found = np.zeros((outputs, inputs), f32)
    for x in range(outputs):
        place = f32(f32(x + 0.5) * inverse + -inverse * f32(translation))
        if place < 0 or place > inputs:
            continue
        first = min(max(math.ceil(place - f32(radius) * wide - f32(0.5)), 0), inputs - 1)
        last = min(max(math.floor(place + f32(radius) * wide - f32(0.5)), 0), inputs - 1)
        distances = np.abs((np.arange(first, last + 1, dtype=f32) + f32(0.5) - place) / wide)
        weights = kernel(distances).astype(f32)
        total = weights.sum(dtype=f32)
        if abs(total) >= 1000 * np.finfo(f32).tiny:
            found[x, first:last + 1] = weights / total
    return found


def _matrices(outputs: Any, inputs: Any, scale: np.ndarray, translation: np.ndarray, kernel_type: str, antialias: bool) -> list:
    return [_weights(kernel_type, int(outputs[i]), int(inputs[i]), scale[i], translation[i], antialias) for i in (0, 1)]


def _checked(scale: np.ndarray, translation: np.ndarray, kernel_type: str) -> None:
    if kernel_type not in KERNELS:
        raise invalid(f"Unrecognized kernel type: {kernel_type}")
    for given in (scale, translation):
        if given.shape != (2,):
            raise invalid(f"t must have two elements[{','.join(map(str, given.shape))}]")
    if not (scale > 0).all():
        raise invalid("Scale must be greater than zero.")


def _both(rows: np.ndarray, columns: np.ndarray, images: np.ndarray) -> np.ndarray:
    """Images [batch, height, width, channels], each channel between the two matrices."""
    return np.einsum("yh,bhwc,xw->byxc", rows, images.astype(f32), columns, optimize=True).astype(f32)


def _scaled(c: Any) -> Any:
    image = shape_rules.with_rank(c.shapes[0], 4, "images")
    for index, what in ((1, "size"), (2, "scale"), (3, "translation")):
        shape_rules.with_rank(c.shapes[index], 1, what)
    if c.shapes[1] is not None and c.shapes[1][0] not in (None, 2):
        raise ValueError(f"Dimension must be 2 but is {c.shapes[1][0]}")
    height, width = shape_rules.shape_from(c, 1) or (None, None)
    return (image[0], height, width, image[3])


def _samples(rng: Any, dtype: Any) -> list:
    images = draw(rng, (2, 5, 4, 3), dtype)
    return [([images, ints(7, 3), np.array([1.4, 0.75], f32), np.array([0.25, -0.5], f32)],
             {"kernel_type": kind, "antialias": smooth}) for kind in KERNELS for smooth in (True, False)]


@op('ScaleAndTranslate(images: T, size: int32, scale: float32, translation: float32; kernel_type: string = "lanczos3", '
    "antialias: bool = True) -> resized_images: float32", T=_IMAGES, shape=_scaled, host=True, samples=_samples,
    gradient_differs="it is there for float32 alone")
def scale_and_translate(images, size, scale, translation, kernel_type, antialias):
    """Images [batch, height, width, channels] scaled, then moved, seen through a window of `size` (height, width).

    `scale` and `translation`: float32 [2], rows then columns; `kernel_type`: a key of ``KERNELS``; `antialias`: the kernel
    widens where the image shrinks.  A run raises InvalidArgumentError for another kernel and scales that are not above 0.
    """
    if size.shape != (2,):
        raise invalid(f"output shape must be 1-dimensional with 2 elements, not of shape {list(size.shape)}")
    if not (size > 0).all():
        raise invalid("output dimensions must be positive")
    _checked(scale, translation, kernel_type)
    if not all(images.shape[1:3]):
        raise invalid("input image must be of non-zero size")
    return _both(*_matrices(size, images.shape[1:3], scale, translation, kernel_type, antialias), images)


@op('ScaleAndTranslateGrad(grads: T, original_image: T, scale: float32, translation: float32; kernel_type: string = "lanczos3", '
    "antialias: bool = True) -> output: T", T=TypeSet(dtypes.float32), shape=shape_rules.same_as(1), host=True,
    samples=lambda rng, dtype: [([draw(rng, (2, 7, 3, 3), dtype), draw(rng, (2, 5, 4, 3), dtype), np.array([1.4, 0.75], f32),
                                  np.array([0.25, -0.5], f32)], {"kernel_type": kind}) for kind in KERNELS])
def scale_and_translate_grad(grads, original_image, scale, translation, kernel_type, antialias):
    """What ScaleAndTranslate hands back to its images: the matrices the other way."""
    _checked(scale, translation, kernel_type)
    rows, columns = _matrices(grads.shape[1:3], original_image.shape[1:3], scale, translation, kernel_type, antialias)
    return _both(rows.T, columns.T, grads)


@scale_and_translate.gradient
def _(op, grad):
    return [scale_and_translate_grad(grad, op.inputs[0], op.inputs[2], op.inputs[3], kernel_type=op.get_attr("kernel_type"),
                                     antialias=op.get_attr("antialias")), None, None, None]
