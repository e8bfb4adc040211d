"""Images resized by a method that is given by name or number, and standardized."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.image.image_checks import after, as_batch, assertion, at_least_3d, checked_3d, dimensions, unbatched
from jitgraph.ops.image.image_dtype import convert_image_dtype
from jitgraph.ops.image.image_geometry import pad_to_bounding_box
from jitgraph.ops.reduce.reductions import reduce_mean, reduce_prod, reduce_std


class ResizeMethod:
    """The methods of ``tf.image.resize_images``."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


_OPS = {0: "ResizeBilinear", "bilinear": "ResizeBilinear", 1: "ResizeNearestNeighbor",
        "nearest": "ResizeNearestNeighbor", 2: "ResizeBicubic", "bicubic": "ResizeBicubic", 3: "ResizeArea",
        "area": "ResizeArea"}


def _kept_aspect(images: Tensor, new: list) -> Tensor:
    """The largest size inside `new` that has the proportions of the images."""
    _, height, width, _ = dimensions(images, 4)
    scale = raw.Minimum(*(cast(wanted, dtypes.float32) / cast(size, dtypes.float32)
                          for wanted, size in zip(new, (height, width))))
    scaled = [cast(raw.Round(scale * cast(size, dtypes.float32)), dtypes.int32) for size in (height, width)]
    return convert_to_tensor(scaled, dtypes.int32, name="size")


def resize_images(images: Any, size: Any, method: Any = ResizeMethod.BILINEAR, align_corners: bool = False,
                  preserve_aspect_ratio: bool = False, name: str | None = None) -> Tensor:
    """An image, or a batch of them, resized to `size` (height, width) by a method of ``tf.image.ResizeMethod``.

    The result is float32, but of the dtype of `images` for NEAREST_NEIGHBOR, and if the size does not change.
    ``align_corners=True`` makes the centers of the corner pixels coincide.  Raises ValueError for images without shape,
    a size that is not two integers, or another method.
    """
    return resized(images, size, lambda batch, size: _resized(batch, size, method, align_corners), preserve_aspect_ratio, name,
                   keep_if_same=True)


def resized(images: Any, size: Any, resize: Callable, preserve_aspect_ratio: bool, name: str | None,
            keep_if_same: bool = False) -> Tensor:
    """An image, or a batch of them, of another size: ``resize(batch, size)``, called if the size differs or in any case."""
    with name_scope(name, "resize", [images, size]):
        images = convert_to_tensor(images, name="images")
        if images._shape is None:
            raise ValueError("'images' contains no shape.")
        if len(images._shape) not in (3, 4):
            raise ValueError("'images' must have either 3 or 4 dimensions.")
        images, batch = as_batch(images)
        try:
            size = convert_to_tensor(size, dtypes.int32, name="size")
        except (TypeError, ValueError):
            raise ValueError("'size' must be a 1-D int32 Tensor") from None
        if size._shape is not None and (len(size._shape) != 1 or size._shape[0] not in (None, 2)):
            raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
        if preserve_aspect_ratio:
            known = constant_value(size)
            size = _kept_aspect(images, [size[0], size[1]] if known is None else known.tolist())
        # TensorFlow does not know the size that it computes, and thus resizes to the same size, too
        known = None if preserve_aspect_ratio else constant_value(size)
        new = [None, None] if known is None else [int(n) for n in known]
        if keep_if_same and None not in new and list(images._shape[1:3]) == new:
            return unbatched(images, batch)
        found = resize(images, size)
        found.set_shape([None, *new, None])
        return unbatched(found, batch)


def _resized(images: Tensor, size: Any, method: Any, align_corners: bool) -> Tensor:
    if not isinstance(method, (int, str)) or method not in _OPS:
        raise ValueError("Resize method is not implemented.")
    return getattr(raw, _OPS[method])(images, size, align_corners=align_corners)


def _floored(x: Any) -> Any:
    if isinstance(x, Tensor):
        return raw.Cast(raw.Floor(x), DstT=dtypes.int32)
    return int(np.floor(x))


def resize_image_with_pad(image: Any, target_height: Any, target_width: Any, method: Any = ResizeMethod.BILINEAR,
                          align_corners: bool = False) -> Tensor:
    """An image, or a batch of them, resized in its own proportions to fit a size, with zeros beside it."""
    return resized_with_pad(image, target_height, target_width,
                            lambda batch, size: _resized(batch, size, method, align_corners))


def resized_with_pad(image: Any, target_height: Any, target_width: Any, resize: Callable) -> Tensor:
    """As ``resize_image_with_pad``, resized by ``resize(batch, size)``."""
    with name_scope(None, "resize_image_with_pad", [image]):
        image, batch = as_batch(convert_to_tensor(image, name="image"))
        checks = at_least_3d(image)
        checks += assertion(target_width > 0, "target_width must be > 0.")
        checks += assertion(target_height > 0, "target_height must be > 0.")
        image = after(checks, image)
        _, height, width, _ = dimensions(image, 4)
        sizes = [raw.Cast(n, DstT=dtypes.float64) for n in (height, width, target_height, target_width)]
        ratio = raw.Maximum(sizes[1] / sizes[3], sizes[0] / sizes[2])
        real = [sizes[0] / ratio, sizes[1] / ratio]
        new = [_floored(size) for size in real]
        top, left = (_at_least_0(_floored((target - size) / 2)) for target, size in zip(sizes[2:], real))
        found = pad_to_bounding_box(resize(image, new), top, left, target_height, target_width)
        count_nodes(0 if found.shape.is_fully_defined() else 2)         # TensorFlow asks for the sizes of the result
        return unbatched(found, batch)


def _at_least_0(x: Any) -> Any:
    return raw.Maximum(x, 0) if isinstance(x, Tensor) else max(x, 0)


def per_image_standardization(image: Any) -> Tensor:
    """Each image minus its mean, over its standard deviation (at least 1 / sqrt of its number of elements)."""
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = checked_3d(convert_to_tensor(image, name="image"))
        kind = image.dtype.base_dtype
        if kind not in (dtypes.float16, dtypes.float32):
            image = convert_image_dtype(image, dtypes.float32)
        count = reduce_prod(raw.Shape(image)[-3:])
        mean = reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        deviation = reduce_std(image, axis=[-1, -2, -3], keepdims=True)
        least = raw.Rsqrt(raw.Cast(count, DstT=image.dtype.base_dtype))
        found = raw.RealDiv(image - mean, raw.Maximum(deviation, least), name=scope)
        return convert_image_dtype(found, kind, saturate=True)
