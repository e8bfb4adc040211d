"""Ops that resize images [batch, height, width, channels]: bilinear, nearest neighbor, bicubic and area; see ``resize_taps``."""
from __future__ import annotations

import operator
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import TypeSet, op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.ops.arrays.shape import plain_sizes
from jitgraph.ops.image import resize_in_runs
from jitgraph.ops.image.resize_taps import Taps, bilinear, f32, gradient_taps, nearest, nearest_gradient_taps, scale_of, taps_of

_IMAGES = TypeSet(dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16, dtypes.int32, dtypes.int64, dtypes.float16,
                  dtypes.float32, dtypes.float64)
_VECTOR = 16                            # numbers beside each other from which a loop over them is fast


# -- shapes and samples ------------------------------------------------------------------------------------------------

def _sizes(c: Any, index: int) -> tuple:
    value = c.constant(index)
    if not shape_rules.known(value):
        return None, None
    sizes = plain_sizes(value)
    if len(sizes) != 2:
        raise ValueError(f"Dimension must be 2 but is {len(sizes)}: size is [new_height, new_width]")
    return tuple(sizes)


def _resized_shape(c: Any) -> Any:
    batch, _, _, channels = shape_rules.with_rank(c.shapes[0], 4, "images")
    shape_rules.merge_sizes(shape_rules.with_rank(c.shapes[1], 1, "size")[0], 2)
    return (batch, *_sizes(c, 1), channels)


def _new_size(images: np.ndarray, size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> tuple[int, int]:
    if images.ndim != 4:
        raise invalid(f"input must be 4-dimensional{list(images.shape)}")
    if np.shape(size) != (2,):
        raise invalid(f"size must have two elements{list(np.shape(size))}")
    height, width = (int(n) for n in size)
    if height <= 0 or width <= 0:
        raise invalid("output dimensions must be positive")
    if not images.shape[1] or not images.shape[2]:
        raise invalid("input image must be of non-zero size")
    if align_corners and half_pixel_centers:
        raise invalid("If half_pixel_centers is True, align_corners must be False.")
    return height, width


def _samples(*attributes: dict) -> Any:
    def samples(rng: Any, dtype: Any) -> list:
        images = draw(rng, (2, 3, 4, 2), dtype, 0, 9)
        return [([images, np.array(size, np.int32)], attrs) for size in ((5, 7), (2, 3), (1, 1), (3, 4), (3, 2))
                for attrs in attributes]

    return samples


def _gradient_samples() -> Any:
    def samples(rng: Any, dtype: Any) -> list:
        return [([draw(rng, (2, 5, 3, 2), f32), draw(rng, (2, 3, 4, 2), dtype)], attrs) for attrs in _CENTERS]

    return samples


_CENTERS: tuple[dict[str, bool], ...] = ({}, {"align_corners": True}, {"half_pixel_centers": True})


# -- bilinear ----------------------------------------------------------------------------------------------------------

def _along(x: np.ndarray, axis: int, lower: np.ndarray, upper: np.ndarray, way: np.ndarray) -> np.ndarray:
    before = np.take(x, lower, axis)
    weight = way.reshape(-1, *(1,) * (x.ndim - 1 - axis))
    return before + (np.take(x, upper, axis) - before) * weight


def _known_size(size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> tuple[int, int] | None:
    """The new size if it is known and positive, and the centers are of one kind; others are refused by the NumPy meaning."""
    if align_corners and half_pixel_centers:
        return None
    sizes = None if size.constant is None else tuple(plain_sizes(size.constant))
    return None if sizes is None or any(n <= 0 for n in sizes) else sizes


def _lower_bilinear(b: Any, images: Any, size: Any, align_corners: bool, half_pixel_centers: bool) -> Any:
    new = _known_size(size, align_corners, half_pixel_centers)
    if new is None:
        return NotImplemented
    found = images
    for axis in (2, 1):
        have, wanted = images.shape[axis], new[axis - 1]
        if have == wanted:
            continue
        if _picks(have, wanted, images.dtype, align_corners, half_pixel_centers):
            found = b.slice(found, (0,) * 4, [wanted if k == axis else size for k, size in enumerate(found.shape)],
                            [have // wanted if k == axis else 1 for k in range(4)])
            continue
        found = b.cast(found, dtypes.float32)
        if resize_in_runs.are_open(have, wanted):
            lower, upper, way = resize_in_runs.between(b, have, wanted, align_corners, half_pixel_centers)
        else:
            at = bilinear(have, wanted, align_corners, half_pixel_centers)
            lower, upper = (b.const(places.astype(np.int32), dtypes.int32) for places in at[:2])
            way = b.const(at[2], dtypes.float32)
        before, after = (b.gather(found, places, axis) for places in (lower, upper))
        found = before + (after - before) * b.reshape(way, (wanted, *(1,) * (3 - axis)))
    return b.cast(found, dtypes.float32)


def _picks(have: Any, wanted: int, dtype: Any, align_corners: bool, half_pixel_centers: bool) -> bool:
    """Whether each new pixel is an old one: of integers, as infinities would become NaN on their way to the next."""
    return isinstance(have, int) and dtype.is_integer and not (align_corners or half_pixel_centers) and have % wanted == 0


def interpolation(images: np.ndarray, size: Any, align_corners: bool, half_pixel_centers: bool) -> list[tuple]:
    """For the new rows and for the new columns: the old one before each, the one after it and how far it is on the way."""
    new = _new_size(images, size, align_corners, half_pixel_centers)
    return [bilinear(images.shape[axis], new[axis - 1], align_corners, half_pixel_centers) for axis in (1, 2)]


@op("ResizeBilinear(images: T, size: int32; align_corners: bool = False, half_pixel_centers: bool = False) -> "
    "resized_images: float32", T=_IMAGES + dtypes.bfloat16, shape=_resized_shape, lower=_lower_bilinear,
    samples=_samples(*_CENTERS), checks=True)
def _resize_bilinear(images, size, align_corners, half_pixel_centers):
    """Images of another height and width, by linear interpolation between the nearest four pixels."""
    height, width = _new_size(images, size, align_corners, half_pixel_centers)
    found = images.astype(f32)
    if (height, width) == images.shape[1:3]:
        return found
    found = _along(found, 2, *bilinear(images.shape[2], width, align_corners, half_pixel_centers))
    return _along(found, 1, *bilinear(images.shape[1], height, align_corners, half_pixel_centers))


def _resize_gradient(kind: str) -> Any:
    def value(grads: Any, original_image: Any, align_corners: Any, half_pixel_centers: Any) -> Any:
        found = grads
        for axis in (1, 2):
            taps = gradient_taps(kind, original_image.shape[axis], grads.shape[axis], align_corners, half_pixel_centers)
            found = taps(found, axis)
        return found.astype(original_image.dtype)

    return value


def _lower_gradient(kind: str) -> Any:
    def lower(b: Any, grads: Any, original: Any, align_corners: bool, half_pixel_centers: bool) -> Any:
        if resize_in_runs.are_open(*original.shape[1:3], *grads.shape[1:3]):
            return b.cast(resize_in_runs.sent_back(b, kind, grads, original.shape[1:3], align_corners, half_pixel_centers),
                          original.dtype)
        taps = [gradient_taps(kind, size, new, align_corners, half_pixel_centers)
                for size, new in zip(original.shape[1:3], grads.shape[1:3])]
        return b.cast(_lower_resized(b, grads, *taps), original.dtype)

    return lower


def _lower_resized(b: Any, images: Any, rows: Taps, columns: Taps) -> Any:
    """Images resized along both axes, float32."""
    batch, old_height, old_width, depth = (images.shape[0], *map(operator.index, images.shape[1:]))
    height, width = len(rows.places), len(columns.places)
    found = b.reshape(b.cast(images, dtypes.float32), (batch, old_height, old_width * depth))
    found = _lower_taps(b, found, rows, 1)                              # [batch, height, old width * depth]
    if depth < _VECTOR:                 # places of single numbers make rows that are long enough to be computed at once
        found = _lower_taps(b, found, columns.of_numbers(depth), 2)
    else:
        found = _lower_taps(b, b.reshape(found, (batch, height, old_width, depth)), columns, 2)
    return b.reshape(found, (batch, height, width, depth))


def _lower_taps(b: Any, x: Any, taps: Taps, axis: int) -> Any:
    """x resized along an axis: for every tap a row of it, weighed and added up."""
    beside = (1,) * (x.rank - 1 - axis)
    places, weights, used = (a.T for a in (taps.places, taps.weights, taps.used))
    terms = b.gather(x, b.const(np.ascontiguousarray(places), dtypes.int32), axis)          # [..., taps, size, ...]
    terms = terms * b.const(weights.reshape(*weights.shape, *beside), dtypes.float32)
    if not used.all():
        chosen = b.const(used.reshape(*used.shape, *beside), dtypes.bool_)
        terms = prim.select(chosen, terms, b.const(0, dtypes.float32))
    return b.reduce("add", terms, [axis])


@op("ResizeBilinearGrad(grads: float32, original_image: T; align_corners: bool = False, half_pixel_centers: bool = "
    "False) -> output: T", T=TypeSet(dtypes.float32, dtypes.bfloat16, dtypes.float16, dtypes.float64),
    shape=lambda c: c.shapes[1], lower=_lower_gradient("bilinear"), samples=_gradient_samples())
def _resize_bilinear_grad(grads, original_image, align_corners, half_pixel_centers):
    """The gradient of ResizeBilinear with respect to its images."""
    return _resize_gradient("bilinear")(grads, original_image, align_corners, half_pixel_centers)


def _centers(op: Any) -> dict[str, bool]:
    return {name: op.get_attr(name) for name in ("align_corners", "half_pixel_centers")}


@_resize_bilinear.gradient
def _(op, grad):
    return [raw.ResizeBilinearGrad(grad, op.inputs[0], **_centers(op)), None]


@_resize_bilinear_grad.gradient
def _(op, grad):
    return [raw.ResizeBilinear(grad, raw.Shape(op.inputs[0])[1:3], **_centers(op)), None]


# -- nearest neighbor --------------------------------------------------------------------------------------------------

def _lower_nearest(b: Any, images: Any, size: Any, align_corners: bool, half_pixel_centers: bool) -> Any:
    new = _known_size(size, align_corners, half_pixel_centers)
    if new is None:
        return NotImplemented
    for axis in (2, 1):
        have, wanted = images.shape[axis], new[axis - 1]
        if resize_in_runs.are_open(have, wanted):
            places = resize_in_runs.nearest_places(b, have, wanted, align_corners, half_pixel_centers)
        else:
            places = b.const(nearest(have, wanted, align_corners, half_pixel_centers).astype(np.int32), dtypes.int32)
        images = b.gather(images, places, axis)
    return images


@op("ResizeNearestNeighbor(images: T, size: int32; align_corners: bool = False, half_pixel_centers: bool = False) -> "
    "resized_images: T", T=_IMAGES, shape=_resized_shape, lower=_lower_nearest, samples=_samples(*_CENTERS), checks=True)
def _resize_nearest_neighbor(images, size, align_corners, half_pixel_centers):
    """Images of another height and width, each pixel the one nearest to it."""
    height, width = _new_size(images, size, align_corners, half_pixel_centers)
    found = np.take(images, nearest(images.shape[1], height, align_corners, half_pixel_centers), 1)
    return np.take(found, nearest(images.shape[2], width, align_corners, half_pixel_centers), 2)


def _lower_nearest_grad(b: Any, grads: Any, size: Any, align_corners: bool, half_pixel_centers: bool) -> Any:
    sizes = _known_size(size)
    if sizes is None or grads.dtype != dtypes.float32:
        return NotImplemented
    if resize_in_runs.are_open(*sizes, *grads.shape[1:3]):
        return resize_in_runs.sent_back(b, "nearest", grads, sizes, align_corners, half_pixel_centers)
    return _lower_resized(b, grads, *(nearest_gradient_taps(have, new, align_corners, half_pixel_centers)
                                      for have, new in zip(sizes, grads.shape[1:3])))


@op("ResizeNearestNeighborGrad(grads: T, size: int32; align_corners: bool = False, half_pixel_centers: bool = False) -> "
    "output: T", T=TypeSet(dtypes.uint8, dtypes.int8, dtypes.int32, dtypes.float16, dtypes.float32, dtypes.float64),
    shape=_resized_shape, checks=True, lower=_lower_nearest_grad,
    samples=lambda rng, dtype: [([draw(rng, (2, 5, 3, 2), dtype), np.array([3, 4], np.int32)], a) for a in _CENTERS])
def _resize_nearest_neighbor_grad(grads, size, align_corners, half_pixel_centers):
    """The gradient of ResizeNearestNeighbor with respect to its images: sums over the pixels made of one."""
    height, width = _new_size(grads, size)
    batch, new_height, new_width, channels = grads.shape
    rows = nearest(height, new_height, align_corners, half_pixel_centers)
    columns = nearest(width, new_width, align_corners, half_pixel_centers)
    found = np.zeros((batch, height, width, channels), grads.dtype)
    np.add.at(found, (slice(None), rows[:, None], columns), grads)
    return found


@_resize_nearest_neighbor.gradient
def _(op, grad):
    image = op.inputs[0]
    known = image._shape
    size = raw.Shape(image)[1:3] if known is None or None in known[1:3] else np.array(known[1:3], np.int32)
    return [raw.ResizeNearestNeighborGrad(grad, size, **_centers(op)), None]


@_resize_nearest_neighbor_grad.gradient
def _(op, grad):
    return [raw.ResizeNearestNeighbor(grad, raw.Shape(op.inputs[0])[1:3], **_centers(op)), None]


# -- bicubic and area --------------------------------------------------------------------------------------------------

def _lower_taps_of(kind: str) -> Any:
    def lower(b: Any, images: Any, size: Any, align_corners: bool, half_pixel_centers: bool = False) -> Any:
        new = _known_size(size, align_corners, half_pixel_centers)
        if new is None:
            return NotImplemented
        if resize_in_runs.are_open(*images.shape[1:3], *new):
            if kind == "area":
                return resize_in_runs.by_areas(b, images, new, align_corners)
            return resize_in_runs.by_cubics(b, images, new, align_corners, half_pixel_centers)
        have = [operator.index(n) for n in images.shape[1:3]]
        found = _lower_resized(b, images, *(taps_of(kind, *sizes, align_corners, half_pixel_centers) for sizes in zip(have, new)))
        return found * (f32(1) / _area_of(have, new, align_corners)) if kind == "area" else found

    return lower


def _area_of(have: Any, new: Any, align_corners: bool) -> Any:
    """How many pixels become one."""
    return scale_of(have[0], new[0], align_corners) * scale_of(have[1], new[1], align_corners)


@op("ResizeBicubic(images: T, size: int32; align_corners: bool = False, half_pixel_centers: bool = False) -> "
    "resized_images: float32", T=_IMAGES, shape=_resized_shape, lower=_lower_taps_of("bicubic"), samples=_samples(*_CENTERS),
    checks=True)
def _resize_bicubic(images, size, align_corners, half_pixel_centers):
    """Images of another height and width, by cubic interpolation (Keys, 1981) between sixteen pixels."""
    height, width = _new_size(images, size, align_corners, half_pixel_centers)
    found = images.astype(f32)
    for axis, new in ((1, height), (2, width)):
        found = taps_of("bicubic", images.shape[axis], new, align_corners, half_pixel_centers)(found, axis)
    return found


@op("ResizeBicubicGrad(grads: float32, original_image: T; align_corners: bool = False, half_pixel_centers: bool = "
    "False) -> output: T", T=TypeSet(dtypes.float32, dtypes.float64), shape=lambda c: c.shapes[1],
    lower=_lower_gradient("bicubic"), samples=_gradient_samples())
def _resize_bicubic_grad(grads, original_image, align_corners, half_pixel_centers):
    """The gradient of ResizeBicubic with respect to its images."""
    return _resize_gradient("bicubic")(grads, original_image, align_corners, half_pixel_centers)


@_resize_bicubic.gradient
def _(op, grad):
    if op.inputs[0].dtype.base_dtype not in (dtypes.float32, dtypes.float64):
        return [None, None]
    return [raw.ResizeBicubicGrad(grad, op.inputs[0], **_centers(op)), None]


@op("ResizeArea(images: T, size: int32; align_corners: bool = False) -> resized_images: float32", T=_IMAGES,
    shape=_resized_shape, lower=_lower_taps_of("area"), samples=_samples({}, {"align_corners": True}), checks=True)
def _resize_area(images, size, align_corners):
    """Images of another height and width, each pixel the mean of the area it covers."""
    height, width = _new_size(images, size)
    found = images.astype(f32)
    for axis, new in ((1, height), (2, width)):
        found = taps_of("area", images.shape[axis], new, align_corners)(found, axis)
    return found * (f32(1) / _area_of(images.shape[1:3], (height, width), align_corners))


# -- public functions --------------------------------------------------------------------------------------------------

def resize_bilinear(images: Any, size: Any, align_corners: bool = False, name: str | None = None,
                    half_pixel_centers: bool = False) -> Any:
    """Images [batch, height, width, channels] resized to `size` (height, width) by linear interpolation, float32."""
    return _resize_bilinear(images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name)


def resize_nearest_neighbor(images: Any, size: Any, align_corners: bool = False, name: str | None = None,
                            half_pixel_centers: bool = False) -> Any:
    """Images [batch, height, width, channels] resized to `size` (height, width) by the nearest pixel, of their dtype."""
    return _resize_nearest_neighbor(images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers,
                                    name=name)


def resize_bicubic(images: Any, size: Any, align_corners: bool = False, name: str | None = None,
                   half_pixel_centers: bool = False) -> Any:
    """Images [batch, height, width, channels] resized to `size` (height, width) by cubic interpolation, float32."""
    return _resize_bicubic(images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name)


def resize_area(images: Any, size: Any, align_corners: bool = False, name: str | None = None) -> Any:
    """Images [batch, height, width, channels] resized to `size` (height, width) by means over areas, float32."""
    return _resize_area(images, size, align_corners=align_corners, name=name)
