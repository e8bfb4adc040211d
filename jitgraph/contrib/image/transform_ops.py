"""Images under projective transforms: ``transform``, ``rotate``, ``translate``."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import counted_as
from jitgraph.graph.dtypes import TypeSet
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones, zeros
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.elementary import cos, sin
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.matrix_ops import matrix_inverse

_DTYPES = TypeSet(dtypes.uint8, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64)


def _output_shape(c: Any) -> Any:
    images = shape_rules.with_rank(c.shapes[0], 4, "images")
    size = shape_rules.shape_from(c, 2)
    return (images[0], *(size or (None, None)), images[3])


def _read(images: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The pixels [batch, h, w, channels] at `rows` and `columns` [batch, h, w], 0 outside."""
    height, width = images.shape[1:3]
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    row, column = np.where(inside, rows, 0).astype(np.int64), np.where(inside, columns, 0).astype(np.int64)
    found = images[np.arange(len(images))[:, None, None], row, column]
    return np.where(inside[..., None], found, images.dtype.type(0))


def _rounded(x: np.ndarray) -> np.ndarray:
    """The nearest whole numbers, halves away from 0."""
    return np.trunc(x + np.copysign(np.float32(0.5), x))


def _samples(rng: Any, dtype: Any) -> list:
    images = draw(rng, (2, 3, 4, 2), dtype)
    turns = np.array([[0.5, -0.8, 1, 0.8, 0.5, 0, 0, 0], [1, 0, 1, 0.2, 1, 0, 0.01, 0.02]], np.float32)
    return [([images, turns, ints(4, 3)], {"interpolation": kind}) for kind in ("NEAREST", "BILINEAR")]


@op("ImageProjectiveTransformV2(images: dtype, transforms: float32, output_shape: int32; interpolation: string) -> "
    "transformed_images: dtype", dtype=_DTYPES, shape=_output_shape, samples=_samples,
    gradient_differs="read at the nearest places of the inverse transform, as in TensorFlow")
def _image_projective_transform(images, transforms, output_shape, interpolation):
    """The images read where `transforms` [batch or 1, 8] map the pixels of the result to; 0 outside."""
    if transforms.shape[0] not in (1, images.shape[0]) or transforms.shape[1] != 8:
        raise invalid("Input transform should be num_images x 8 or 1 x 8")
    height, width = (int(n) for n in output_shape)
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    a = np.broadcast_to(transforms, (images.shape[0], 8)).T[:, :, None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = a[6] * x + a[7] * y + np.float32(1)
        columns, rows = (a[0] * x + a[1] * y + a[2]) / scale, (a[3] * x + a[4] * y + a[5]) / scale
    gone = scale == 0
    columns, rows = np.where(gone, np.float32(-9), columns), np.where(gone, np.float32(-9), rows)
    if interpolation == "NEAREST":
        return _read(images, _rounded(rows), _rounded(columns))
    top, left = np.floor(rows), np.floor(columns)
    total = np.zeros((*columns.shape, images.shape[3]), np.float32 if images.dtype.itemsize < 8 else np.float64)
    for dy in (0, 1):
        for dx in (0, 1):
            weight = (1 - np.abs(rows - (top + dy))) * (1 - np.abs(columns - (left + dx)))
            total += weight[..., None] * _read(images, top + dy, left + dx)
    return total.astype(images.dtype)


@_image_projective_transform.gradient
def _(op, grad):
    images, transforms = op.inputs[:2]
    inverse = matrices_to_flat_transforms(matrix_inverse(flat_transforms_to_matrices(transforms)))
    return [raw.ImageProjectiveTransformV2(grad, inverse, shape_of(images)[1:3], interpolation=op.attrs["interpolation"]),
            None, None]


def _as_batch(images: Any) -> Any:
    """Images [height, width], [height, width, channels] or a batch of these as a batch.  Raises TypeError for others."""
    if images.dtype.base_dtype not in _DTYPES:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    rank = images.shape.ndims
    if rank is None:
        raise TypeError("image_or_images rank must be statically known")
    if rank not in (2, 3, 4):
        raise TypeError("Images should have rank between 2 and 4.")
    if rank == 4:
        return images
    return images[None, :, :, None] if rank == 2 else images[None]


def _like(images: Any, output: Any) -> Any:
    rank = images.shape.ndims
    return output if rank == 4 else output[0, :, :, 0] if rank == 2 else output[0]


def transform(images: Any, transforms: Any, interpolation: str = "NEAREST", output_shape: Any = None,
              name: str | None = None) -> Any:
    """`images` read at other places: the pixel (x, y) comes from ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with
    k = c0 x + c1 y + 1, where `transforms` [8] or [batch, 8] is (a0, a1, a2, b0, b1, b2, c0, c1).

    `images`: [height, width], [height, width, channels] or a batch; `interpolation`: "NEAREST" or "BILINEAR"; `output_shape`:
    (height, width), by default those of the images.  What lies outside is 0.  Raises TypeError for other ranks and dtypes.
    """
    with name_scope(name, "transform"):
        given = convert_to_tensor(images, name="images")
        transforms = convert_to_tensor(transforms, name="transforms", dtype=dtypes.float32)
        batch = _as_batch(given)
        if output_shape is None:
            output_shape = shape_of(batch)[1:3]
            known = constant_value(output_shape)
            if known is not None:
                with counted_as(0):         # TensorFlow keeps the slice
                    output_shape = constant(known, dtypes.int32, name="known_shape")
        output_shape = convert_to_tensor(output_shape, dtypes.int32, name="output_shape")
        if not output_shape.shape.is_compatible_with([2]):
            raise ValueError("output_shape must be a 1-D Tensor of 2 elements: new_height, new_width")
        if transforms.shape.ndims not in (1, 2):
            raise TypeError("Transforms should have rank 1 or 2.")
        if transforms.shape.ndims == 1:
            transforms = transforms[None]
        output = raw.ImageProjectiveTransformV2(batch, transforms, output_shape, interpolation=interpolation.upper())
        return _like(given, output)


def rotate(images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None) -> Any:
    """`images` turned counterclockwise by `angles` (radians; a scalar or [batch]) around their centres; see ``transform``."""
    with name_scope(name, "rotate"):
        given = convert_to_tensor(images)
        batch = _as_batch(given)
        height = cast(shape_of(batch)[1], dtypes.float32)[None]
        width = cast(shape_of(batch)[2], dtypes.float32)[None]
        turned = transform(batch, angles_to_projective_transforms(angles, height, width), interpolation=interpolation)
        return _like(given, turned)


def translate(images: Any, translations: Any, interpolation: str = "NEAREST", name: str | None = None) -> Any:
    """`images` shifted by `translations` (dx, dy), [2] or [batch, 2]; see ``transform``."""
    with name_scope(name, "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation=interpolation)


def angles_to_projective_transforms(angles: Any, image_height: Any, image_width: Any, name: str | None = None) -> Any:
    """The transforms [batch, 8] of rotations around the centres of images.  Raises TypeError for other ranks."""
    with name_scope(name, "angles_to_projective_transforms"):
        angles = convert_to_tensor(angles, name="angles", dtype=dtypes.float32)
        if angles.shape.ndims not in (0, 1):
            raise TypeError("Angles should have rank 0 or 1.")
        if angles.shape.ndims == 0:
            angles = angles[None]
        x = ((image_width - 1) - (cos(angles) * (image_width - 1) - sin(angles) * (image_height - 1))) / 2.0
        y = ((image_height - 1) - (sin(angles) * (image_width - 1) + cos(angles) * (image_height - 1))) / 2.0
        count = shape_of(angles)[0]
        columns = [cos(angles)[:, None], -sin(angles)[:, None], x[:, None], sin(angles)[:, None], cos(angles)[:, None],
                   y[:, None], zeros((count, 2), dtypes.float32)]
        return concat(columns, axis=1)


def translations_to_projective_transforms(translations: Any, name: str | None = None) -> Any:
    """The transforms [batch, 8] of shifts (dx, dy).  Raises TypeError for other ranks."""
    with name_scope(name, "translations_to_projective_transforms"):
        shifts = convert_to_tensor(translations, name="translations", dtype=dtypes.float32)
        if shifts.shape.ndims is None:
            raise TypeError("translation_or_translations rank must be statically known")
        if shifts.shape.ndims not in (1, 2):
            raise TypeError("Translations should have rank 1 or 2.")
        if shifts.shape.ndims == 1:
            shifts = shifts[None]
        count = shape_of(shifts)[0]
        columns = [ones((count, 1), dtypes.float32), zeros((count, 1), dtypes.float32), -shifts[:, 0, None],
                   zeros((count, 1), dtypes.float32), ones((count, 1), dtypes.float32), -shifts[:, 1, None],
                   zeros((count, 2), dtypes.float32)]
        return concat(columns, axis=1)


def compose_transforms(*transforms: Any) -> Any:
    """The transform that does the first of `transforms` ([8] or [batch, 8]) before the others, in the order of reading."""
    assert transforms, "transforms cannot be empty"
    with name_scope("compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for one in transforms[1:]:
            composed = matmul(composed, flat_transforms_to_matrices(one))
        return matrices_to_flat_transforms(composed)


def flat_transforms_to_matrices(transforms: Any) -> Any:
    """Transforms [8] or [batch, 8] as matrices [batch, 3, 3].  Raises ValueError for other ranks."""
    with name_scope("flat_transforms_to_matrices"):
        transforms = convert_to_tensor(transforms, name="transforms")
        if transforms.shape.ndims not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {transforms}")
        transforms = reshape(transforms, constant([-1, 8]))
        return reshape(concat([transforms, ones([shape_of(transforms)[0], 1])], axis=1), constant([-1, 3, 3]))


def matrices_to_flat_transforms(transform_matrices: Any) -> Any:
    """Matrices [3, 3] or [batch, 3, 3] as transforms [batch, 8].  Raises ValueError for other ranks."""
    with name_scope("matrices_to_flat_transforms"):
        matrices = convert_to_tensor(transform_matrices, name="transform_matrices")
        if matrices.shape.ndims not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {matrices}")
        flat = reshape(matrices, constant([-1, 9]))
        flat /= flat[:, 8:9]
        return flat[:, :8]
