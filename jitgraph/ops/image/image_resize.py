"""Ops that resize images [batch, height, width, channels]: bilinear, nearest neighbor, bicubic and area.

Where a pixel of the result lies in the input depends on two attributes: with align_corners the centers of the corner
pixels coincide; with half_pixel_centers pixels are squares and the corners of the images coincide; by default position
i is i times the scale, which moves the picture by up to half a pixel.
"""
from __future__ import annotations

import functools
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

f32 = np.float32
_IMAGES = TypeSet(dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16, dtypes.int32, dtypes.int64, dtypes.float16,
                  dtypes.float32, dtypes.float64)
_VECTOR = 16                            # numbers beside each other from which a loop over them is fast
_CUBIC_STEPS = 1024                     # weights of the cubic are taken from a table with so many steps


# -- positions and weights ---------------------------------------------------------------------------------------------

def scale_of(size: int, new: int, align_corners: bool) -> np.float32:
    """How many pixels of the input lie beside each other in one of the result."""
    if align_corners and new > 1:
        return f32(size - 1) / f32(new - 1)
    return f32(size) / f32(new)


def _positions(size: int, new: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    """Where the centers of `new` pixels lie among `size` pixels: float32 [new]."""
    scale, index = scale_of(size, new, align_corners), np.arange(new, dtype=f32)
    if half_pixel_centers:
        return (index + f32(0.5)) * scale - f32(0.5)
    return index * scale


@functools.lru_cache(64)
def _bilinear(size: int, new: int, align_corners: bool, half_pixel_centers: bool) -> tuple:
    """For each new pixel the one before it, the one after it and how far it is on the way."""
    at = _positions(size, new, align_corners, half_pixel_centers)
    floor = np.floor(at)
    lower = np.maximum(floor.astype(np.int64), 0)
    upper = np.minimum(np.ceil(at).astype(np.int64), size - 1)
    return lower, upper, at - floor


@functools.lru_cache(64)
def _nearest(size: int, new: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    scale, index = scale_of(size, new, align_corners), np.arange(new, dtype=f32)
    at = (index + f32(0.5)) * scale if half_pixel_centers else index * scale
    found = np.floor(at + f32(0.5)) if align_corners else np.floor(at)
    return np.clip(found.astype(np.int64), 0, size - 1)


@functools.cache
def _cubic_table(a: float) -> tuple[np.ndarray, np.ndarray]:
    """Keys' cubic (1981) at distances 0 to 1, and 1 to 2."""
    x = np.arange(_CUBIC_STEPS + 1, dtype=f32) / f32(_CUBIC_STEPS)
    c = f32(a)
    near = ((c + f32(2)) * x - (c + f32(3))) * x * x + f32(1)
    x = x + f32(1)
    far = ((c * x - f32(5) * c) * x + f32(8) * c) * x - f32(4) * c
    return near, far


@functools.lru_cache(64)
def _bicubic(size: int, new: int, align_corners: bool, half_pixel_centers: bool) -> tuple[np.ndarray, np.ndarray]:
    """For each new pixel four pixels (repeated at the border) and their weights: [new, 4] each."""
    at = _positions(size, new, align_corners, half_pixel_centers)
    floor = np.floor(at)
    step = np.rint((at - floor) * f32(_CUBIC_STEPS)).astype(np.int64)
    near, far = _cubic_table(-0.5 if half_pixel_centers else -0.75)
    wanted = floor.astype(np.int64)[:, None] + np.arange(-1, 3)
    places = np.clip(wanted, 0, size - 1)
    weights = np.stack([far[step], near[step], near[_CUBIC_STEPS - step], far[_CUBIC_STEPS - step]], 1)
    if half_pixel_centers:              # pixels outside have no weight, the others share it
        weights = np.where(places == wanted, weights, f32(0))
        total = weights.sum(1, dtype=f32, keepdims=True)
        weights = np.where(np.abs(total) >= 1000 * np.finfo(f32).tiny, weights / total, weights)
    return places, weights


@functools.lru_cache(64)
def _area(size: int, new: int, align_corners: bool) -> list[list[tuple[int, np.float32]]]:
    """For each new pixel those that it covers, and the share of each."""
    scale = scale_of(size, new, align_corners)
    rows = []
    for i in range(new):
        begin, end = f32(i) * scale, f32(i + 1) * scale
        row = []
        for j in range(int(np.floor(begin)), int(np.ceil(end))):
            if j < begin:
                part = scale if j + 1 > end else f32(j + 1) - begin
            else:
                part = end - f32(j) if j + 1 > end else f32(1)
            row.append((min(max(j, 0), size - 1), part))
        rows.append(row)
    return rows


class _Taps:
    """A resize along one axis: each new pixel is a sum of `weights` times the pixels at `places`, [new, taps] both.

    What is not `used` adds nothing, whatever the pixel is.
    """

    def __init__(self, rows: list[list[tuple[int, np.float32]]]):
        count = max(map(len, rows), default=0)
        self.places = np.zeros((len(rows), count), np.int32)
        self.weights = np.zeros((len(rows), count), f32)
        self.used = np.zeros((len(rows), count), bool)
        for i, row in enumerate(rows):
            for k, (place, weight) in enumerate(row):
                self.places[i, k], self.weights[i, k], self.used[i, k] = place, weight, True

    def _rows(self) -> list[list[tuple[int, np.float32]]]:
        return [list(zip(places[used], weights[used])) for places, weights, used in zip(self.places, self.weights, self.used)]

    def transposed(self, size: int) -> _Taps:
        """What sends the new pixels' gradients back to the `size` pixels that they were made of."""
        rows: list[list[tuple[int, np.float32]]] = [[] for _ in range(size)]
        for i, row in enumerate(self._rows()):
            for place, weight in row:
                rows[place].append((i, weight))
        return _Taps(rows)

    def of_numbers(self, depth: int) -> _Taps:
        """The same for rows of pixels, of `depth` numbers each, that lie one behind the other."""
        every = np.arange(depth)
        return _Taps([[(place * depth + k, weight) for place, weight in row] for row in self._rows() for k in every])

    def __call__(self, images: np.ndarray, axis: int) -> np.ndarray:
        """The images resized along an axis."""
        found = np.zeros((*images.shape[:axis], len(self.places), *images.shape[axis + 1:]), f32)
        beside = (1,) * (images.ndim - 1 - axis)
        for places, weights, used in zip(self.places.T, self.weights.T, self.used.T):
            term = np.take(images, places, axis) * weights.reshape(-1, *beside)
            found += term if used.all() else np.where(used.reshape(-1, *beside), term, f32(0))
        return found


@functools.lru_cache(64)
def _taps(kind: str, size: int, new: int, align_corners: bool, half_pixel_centers: bool = False) -> _Taps:
    """A resize along one axis by one of three methods."""
    if kind == "area":
        return _Taps(_area(size, new, align_corners))
    if kind == "bilinear":
        lower, upper, way = _bilinear(size, new, align_corners, half_pixel_centers)
        places, weights = np.stack([lower, upper], 1), np.stack([f32(1) - way, way], 1)
    else:
        places, weights = _bicubic(size, new, align_corners, half_pixel_centers)
    return _Taps([list(zip(*row)) for row in zip(places, weights)])


@functools.lru_cache(64)
def _gradient_taps(kind: str, size: int, new: int, align_corners: bool, half_pixel_centers: bool) -> _Taps:
    return _taps(kind, size, new, align_corners, half_pixel_centers).transposed(size)


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


def _new_size(images: np.ndarray, size: Any) -> tuple[int, int]:
    if images.ndim != 4:
        raise invalid(f"input must be 4-dimensional{list(images.shape)}")
    if np.shape(size) != (2,):
        raise invalid(f"size must have two elements{list(np.shape(size))}")
    height, width = (int(n) for n in size)
    if height <= 0 or width <= 0:
        raise invalid("output dimensions must be positive")
    if not images.shape[1] or not images.shape[2]:
        raise invalid("input image must be of non-zero size")
    return height, width


def _samples(*attributes: dict) -> Any:
    def samples(rng: Any, dtype: Any) -> list:
        images = draw(rng, (2, 3, 4, 2), dtype, 0, 9)
        return [([images, np.array(size, np.int32)], attrs) for size in ((5, 7), (2, 3), (1, 1), (3, 4))
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


def _known_size(size: Any) -> tuple[int, int] | None:
    """The new size if it is known and positive; others are refused by the NumPy meaning."""
    sizes = None if size.constant is None else tuple(plain_sizes(size.constant))
    return None if sizes is None or any(n <= 0 for n in sizes) else sizes


def _lower_bilinear(b: Any, images: Any, size: Any, align_corners: bool, half_pixel_centers: bool) -> Any:
    new = _known_size(size)
    if new is None:
        return NotImplemented
    found = b.cast(images, dtypes.float32)
    for axis in (2, 1):
        have = operator.index(images.shape[axis])
        if have == new[axis - 1]:
            continue
        lower, upper, way = _bilinear(have, new[axis - 1], align_corners, half_pixel_centers)
        before = b.gather(found, b.const(lower.astype(np.int32), dtypes.int32), axis)
        after = b.gather(found, b.const(upper.astype(np.int32), dtypes.int32), axis)
        found = before + (after - before) * b.const(way.reshape(-1, *(1,) * (3 - axis)), dtypes.float32)
    return found


def interpolation(images: np.ndarray, size: Any, align_corners: bool, half_pixel_centers: bool) -> list[tuple]:
    """For the new rows and for the new columns: the old one before each, the one after it and how far it is on the way."""
    new = _new_size(images, size)
    return [_bilinear(images.shape[axis], new[axis - 1], align_corners, half_pixel_centers) for axis in (1, 2)]


@op("ResizeBilinear(images: T, size: int32; align_corners: bool = False, half_pixel_centers: bool = False) -> "
    "resized_images: float32", T=_IMAGES + dtypes.bfloat16, shape=_resized_shape, lower=_lower_bilinear,
    samples=_samples(*_CENTERS), checks=True)
def _resize_bilinear(images, size, align_corners, half_pixel_centers):
    """Images of another height and width, by linear interpolation between the nearest four pixels."""
    height, width = _new_size(images, size)
    found = images.astype(f32)
    if (height, width) == images.shape[1:3]:
        return found
    found = _along(found, 2, *_bilinear(images.shape[2], width, align_corners, half_pixel_centers))
    return _along(found, 1, *_bilinear(images.shape[1], height, align_corners, half_pixel_centers))


def _resize_gradient(kind: str) -> Any:
    def value(grads: Any, original_image: Any, align_corners: Any, half_pixel_centers: Any) -> Any:
        found = grads
        for axis in (1, 2):
            taps = _gradient_taps(kind, original_image.shape[axis], grads.shape[axis], align_corners, half_pixel_centers)
            found = taps(found, axis)
        return found.astype(original_image.dtype)

    return value


def _lower_gradient(kind: str) -> Any:
    def lower(b: Any, grads: Any, original: Any, align_corners: bool, half_pixel_centers: bool) -> Any:
        taps = [_gradient_taps(kind, operator.index(size), operator.index(new), align_corners, half_pixel_centers)
                for size, new in zip(original.shape[1:3], grads.shape[1:3])]
        return b.cast(_lower_resized(b, grads, *taps), original.dtype)

    return lower


def _lower_resized(b: Any, images: Any, rows: _Taps, columns: _Taps) -> Any:
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


def _lower_taps(b: Any, x: Any, taps: _Taps, axis: int) -> Any:
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
    new = _known_size(size)
    if new is None:
        return NotImplemented
    for axis in (2, 1):
        places = _nearest(operator.index(images.shape[axis]), new[axis - 1], align_corners, half_pixel_centers)
        images = b.gather(images, b.const(places.astype(np.int32), dtypes.int32), axis)
    return images


@op("ResizeNearestNeighbor(images: T, size: int32; align_corners: bool = False, half_pixel_centers: bool = False) -> "
    "resized_images: T", T=_IMAGES, shape=_resized_shape, lower=_lower_nearest, samples=_samples(*_CENTERS), checks=True)
def _resize_nearest_neighbor(images, size, align_corners, half_pixel_centers):
    """Images of another height and width, each pixel the one nearest to it."""
    height, width = _new_size(images, size)
    found = np.take(images, _nearest(images.shape[1], height, align_corners, half_pixel_centers), 1)
    return np.take(found, _nearest(images.shape[2], width, align_corners, half_pixel_centers), 2)


@functools.lru_cache(64)
def _nearest_gradient_taps(size: int, new: int, align_corners: bool, half_pixel_centers: bool) -> _Taps:
    return _Taps([[(place, f32(1))] for place in _nearest(size, new, align_corners, half_pixel_centers)]).transposed(size)


def _lower_nearest_grad(b: Any, grads: Any, size: Any, align_corners: bool, half_pixel_centers: bool) -> Any:
    sizes = _known_size(size)
    if sizes is None or grads.dtype != dtypes.float32:
        return NotImplemented
    return _lower_resized(b, grads, *(_nearest_gradient_taps(have, operator.index(new), align_corners, half_pixel_centers)
                                      for have, new in zip(sizes, grads.shape[1:3])))


@op("ResizeNearestNeighborGrad(grads: T, size: int32; align_corners: bool = False, half_pixel_centers: bool = False) -> "
    "output: T", T=TypeSet(dtypes.uint8, dtypes.int8, dtypes.int32, dtypes.float16, dtypes.float32, dtypes.float64),
    shape=_resized_shape, checks=True, lower=_lower_nearest_grad,
    samples=lambda rng, dtype: [([draw(rng, (2, 5, 3, 2), dtype), np.array([3, 4], np.int32)], a) for a in _CENTERS])
def _resize_nearest_neighbor_grad(grads, size, align_corners, half_pixel_centers):
    """The gradient of ResizeNearestNeighbor with respect to its images: sums over the pixels made of one."""
    height, width = _new_size(grads, size)
    batch, new_height, new_width, channels = grads.shape
    rows = _nearest(height, new_height, align_corners, half_pixel_centers)
    columns = _nearest(width, new_width, align_corners, half_pixel_centers)
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
        new = _known_size(size)
        if new is None:
            return NotImplemented
        have = [operator.index(n) for n in images.shape[1:3]]
        found = _lower_resized(b, images, *(_taps(kind, *sizes, align_corners, half_pixel_centers) for sizes in zip(have, new)))
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
    height, width = _new_size(images, size)
    found = images.astype(f32)
    for axis, new in ((1, height), (2, width)):
        found = _taps("bicubic", images.shape[axis], new, align_corners, half_pixel_centers)(found, axis)
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
        found = _taps("area", images.shape[axis], new, align_corners)(found, axis)
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
