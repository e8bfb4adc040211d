"""Images: methods of resizing by name, corners of pixels aligned."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.seeds import get_seed
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.image import image_box_sampling
from jitgraph.ops.image.image_resize_methods import resized, resized_with_pad
from jitgraph.v2.calls import from_v1


class ResizeMethod:
    """The methods of ``tf.image.resize``."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


_SMOOTH = {"bilinear": "triangle", "bicubic": "keyscubic"}          # their filters if the image is antialiased
_FILTERS = ("lanczos3", "lanczos5", "gaussian", "mitchellcubic")
_OPS = {"bilinear": "ResizeBilinear", "nearest": "ResizeNearestNeighbor", "bicubic": "ResizeBicubic"}


def _resize(images: Tensor, size: Any, method: Any, antialias: bool) -> Tensor:
    """Images [batch, height, width, channels] of another size.  Raises ValueError for another method."""
    kernel = method if method in _FILTERS else _SMOOTH.get(method) if antialias else None
    if kernel is not None:
        scale = cast(size, dtypes.float32) / cast(shape_of(images)[1:3], dtypes.float32)
        return raw.ScaleAndTranslate(images, size, scale, zeros([2]), kernel_type=kernel, antialias=antialias)
    if method == ResizeMethod.AREA:
        return raw.ResizeArea(images, size)
    if method not in _OPS:
        raise ValueError("Resize method is not implemented.")
    return getattr(raw, _OPS[method])(images, size, half_pixel_centers=True)


def resize(images: Any, size: Any, method: Any = ResizeMethod.BILINEAR, preserve_aspect_ratio: bool = False,
           antialias: bool = False, name: str | None = None) -> Tensor:
    """An image, or a batch of them, resized to `size` (height, width) by a method of ``tf.image.ResizeMethod``.

    Pixels are squares, and the corners of the images coincide.  The result is float32, but of the dtype of `images` for
    NEAREST_NEIGHBOR.  `antialias` smooths an image that becomes smaller.  Raises ValueError for images without shape, a size
    that is not two integers, or another method.
    """
    return resized(images, size, lambda batch, size: _resize(batch, size, method, antialias), preserve_aspect_ratio, name)


def resize_with_pad(image: Any, target_height: Any, target_width: Any, method: Any = ResizeMethod.BILINEAR,
                    antialias: bool = False) -> Tensor:
    """An image, or a batch of them, resized in its own proportions to fit a size, with zeros beside it; see ``resize``."""
    return resized_with_pad(image, target_height, target_width,
                            lambda batch, size: resize(batch, size, method, antialias=antialias))


@from_v1("image.crop_and_resize")
def crop_and_resize(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0, name=None):
    """The `boxes` [n, 4] (y1, x1, y2, x2 from 0 to 1) of the images `box_indices` [n], resized to `crop_size`."""


@from_v1("image.draw_bounding_boxes")
def draw_bounding_boxes(images, boxes, colors, name=None):
    """Images with the outlines of `boxes` [batch, boxes, 4] in `colors` [n, channels]; None: those of TensorFlow."""


def extract_glimpse(input: Any, size: Any, offsets: Any, centered: bool = True, normalized: bool = True, noise: str = "uniform",
                    name: str | None = None) -> Tensor:
    """Windows [batch, *size, channels] of images around `offsets` [batch, 2].

    Outside of the image is `noise`: "uniform", "gaussian" or "zero".  See ``tf.compat.v1.image.extract_glimpse``.
    """
    return raw.ExtractGlimpse(input, size, offsets, centered=centered, normalized=normalized, uniform_noise=False, noise=noise,
                              name=name)


def sample_distorted_bounding_box(image_size: Any, bounding_boxes: Any, seed: int = 0, min_object_covered: Any = 0.1,
                                  aspect_ratio_range: Any = None, area_range: Any = None, max_attempts: int | None = None,
                                  use_image_if_no_bounding_boxes: bool | None = None, name: str | None = None) -> Any:
    """(begin, size, bboxes): a random window of an image; see ``tf.compat.v1.image.sample_distorted_bounding_box``.

    `seed` 0: other windows in each session.
    """
    seeds = get_seed(seed) if seed else (0, 0)
    return image_box_sampling.sample_distorted_bounding_box(
        image_size, bounding_boxes, *seeds, min_object_covered, aspect_ratio_range, area_range, max_attempts,
        use_image_if_no_bounding_boxes, name)
