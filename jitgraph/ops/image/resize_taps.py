"""Where the pixels of a resized image lie in the old one, and what they weigh there.

Where that is depends on two attributes: with align_corners the centers of the corner pixels coincide; with half_pixel_centers
pixels are squares and the corners of the images coincide; by default position i is i times the scale, which moves the picture by
up to half a pixel.
"""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

f32 = np.float32
_CUBIC_STEPS = 1024                     # weights of the cubic are taken from a table with so many steps


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
def bilinear(size: int, new: int, align_corners: bool, half_pixel_centers: bool) -> tuple:
    """For each new pixel the one before it, the one after it and how far it is on the way."""
    at = _positions(size, new, align_corners, half_pixel_centers)
    floor = np.floor(at)
    lower = np.maximum(floor.astype(np.int64), 0)
    upper = np.minimum(np.ceil(at).astype(np.int64), size - 1)
    return lower, upper, at - floor


@functools.lru_cache(64)
def nearest(size: int, new: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
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
def bicubic(size: int, new: int, align_corners: bool, half_pixel_centers: bool) -> tuple[np.ndarray, np.ndarray]:
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


def covered(size: Any, new: Any, align_corners: bool) -> Any:
    """At least as many pixels as each of `new` ones covers of `size`."""
    between = align_corners and new > 1
    return (size - between) // (new - between) + 3


@functools.lru_cache(64)
def area(size: int, new: int, align_corners: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each new pixel the places of those that it covers, the share of each, and whether it is one: [new, taps] each."""
    scale, index = scale_of(size, new, align_corners), np.arange(new, dtype=f32)
    begin, end = (at[:, None] * scale for at in (index, index + f32(1)))
    at = np.floor(begin).astype(np.int64) + np.arange(covered(size, new, align_corners))
    left, right = at.astype(f32), (at + 1).astype(f32)
    first = np.where(right > end, scale, right - begin)
    shares = np.where(left < begin, first, np.where(right > end, end - left, f32(1)))
    used = at < np.ceil(end)
    return np.clip(at, 0, size - 1), np.where(used, shares, f32(0)), used


class Taps:
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

    def transposed(self, size: int) -> Taps:
        """What sends the new pixels' gradients back to the `size` pixels that they were made of."""
        rows: list[list[tuple[int, np.float32]]] = [[] for _ in range(size)]
        for i, row in enumerate(self._rows()):
            for place, weight in row:
                rows[place].append((i, weight))
        return Taps(rows)

    def of_numbers(self, depth: int) -> Taps:
        """The same for rows of pixels, of `depth` numbers each, that lie one behind the other."""
        every = np.arange(depth)
        return Taps([[(place * depth + k, weight) for place, weight in row] for row in self._rows() for k in every])

    def __call__(self, images: np.ndarray, axis: int) -> np.ndarray:
        """The images resized along an axis."""
        found = np.zeros((*images.shape[:axis], len(self.places), *images.shape[axis + 1:]), f32)
        beside = (1,) * (images.ndim - 1 - axis)
        for places, weights, used in zip(self.places.T, self.weights.T, self.used.T):
            term = np.take(images, places, axis) * weights.reshape(-1, *beside)
            found += term if used.all() else np.where(used.reshape(-1, *beside), term, f32(0))
        return found


def weighed(kind: str, size: int, new: int, align_corners: bool, half_pixel_centers: bool) -> tuple[np.ndarray, np.ndarray]:
    """The places and the weights of the pixels that each new one is made of, which are equally many: [new, taps] both."""
    if kind == "nearest":
        return nearest(size, new, align_corners, half_pixel_centers)[:, None], np.ones((new, 1), f32)
    if kind == "bicubic":
        return bicubic(size, new, align_corners, half_pixel_centers)
    lower, upper, way = bilinear(size, new, align_corners, half_pixel_centers)
    return np.stack([lower, upper], 1), np.stack([f32(1) - way, way], 1)


@functools.lru_cache(64)
def taps_of(kind: str, size: int, new: int, align_corners: bool, half_pixel_centers: bool = False) -> Taps:
    """A resize along one axis by one of three methods."""
    if kind == "area":
        return Taps([list(zip(places[used], shares[used])) for places, shares, used in zip(*area(size, new, align_corners))])
    places, weights = weighed(kind, size, new, align_corners, half_pixel_centers)
    return Taps([list(zip(*row)) for row in zip(places, weights)])


@functools.lru_cache(64)
def gradient_taps(kind: str, size: int, new: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    return taps_of(kind, size, new, align_corners, half_pixel_centers).transposed(size)


@functools.lru_cache(64)
def nearest_gradient_taps(size: int, new: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    return Taps([[(place, f32(1))] for place in nearest(size, new, align_corners, half_pixel_centers)]).transposed(size)
