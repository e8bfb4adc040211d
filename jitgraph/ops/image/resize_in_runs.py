"""Resizes between sizes that only the run knows, in primitives.

Where the pixels lie, NumPy is asked in the run: few numbers, the same as for sizes that are known.  So one program stands for
images of all sizes.  A gradient goes back to the pixels by adding up rows of a table.
"""
from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from jitgraph.declare import prim
from jitgraph.graph import dtypes
from jitgraph.ops.image.resize_taps import area, bilinear, covered, f32, nearest, scale_of, weighed


def are_open(*sizes: Any) -> bool:
    """Whether one of the sizes depends on the run."""
    return not all(isinstance(size, int) for size in sizes)


def between(b: Any, have: Any, new: Any, align_corners: bool, half_pixel_centers: bool) -> list:
    """For each of `new` pixels the one of `have` before it, the one after it and how far it is on the way: [new] each."""
    return [_asked(b, functools.partial(_part_between, k, align_corners, half_pixel_centers), have, new, new, dtype)
            for k, dtype in enumerate((dtypes.int32, dtypes.int32, dtypes.float32))]


def _part_between(k: int, align_corners: bool, half_pixel_centers: bool, sizes: Any) -> np.ndarray:
    return bilinear(*map(int, sizes), align_corners, half_pixel_centers)[k].astype(f32 if k == 2 else np.int32)


def nearest_places(b: Any, have: Any, new: Any, align_corners: bool, half_pixel_centers: bool) -> Any:
    """For each of `new` pixels the nearest of `have`: [new]."""
    return _asked(b, functools.partial(_nearest_places, align_corners, half_pixel_centers), have, new, new, dtypes.int32)


def _nearest_places(align_corners: bool, half_pixel_centers: bool, sizes: Any) -> np.ndarray:
    return nearest(*map(int, sizes), align_corners, half_pixel_centers).astype(np.int32)


def by_cubics(b: Any, images: Any, new: Any, align_corners: bool, half_pixel_centers: bool) -> Any:
    """Images of another height and width, `new`, by cubic interpolation, float32."""
    found = b.cast(images, dtypes.float32)
    for axis, wanted in zip((1, 2), new):
        have, beside = images.shape[axis], (1,) * (3 - axis)
        asked = ((functools.partial(part, "bicubic", align_corners, half_pixel_centers), dtype)
                 for part, dtype in ((_places, dtypes.int64), (_weights, dtypes.float32)))
        places, weights = (_asked(b, function, have, wanted, wanted * 4, dtype) for function, dtype in asked)
        places, weights = (b.transpose(b.reshape(x, (wanted, 4)), (1, 0)) for x in (places, weights))
        found = b.reduce("add", b.gather(found, places, axis) * b.reshape(weights, (4, wanted, *beside)), [axis])
    return found


def by_areas(b: Any, images: Any, new: Any, align_corners: bool) -> Any:
    """Images of another height and width, `new`, each pixel the mean of the area that it covers, float32."""
    found, zero = b.cast(images, dtypes.float32), b.const(0, dtypes.float32)
    for axis, wanted in zip((1, 2), new):
        have, beside = images.shape[axis], (1,) * (3 - axis)
        taps = covered(have, wanted, align_corners)
        places, shares = (b.transpose(b.reshape(_asked(b, functools.partial(_part_of_area, k, align_corners), have, wanted,
                                                       wanted * taps, dtype), (wanted, taps)), (1, 0))
                          for k, dtype in enumerate((dtypes.int64, dtypes.float32)))
        shares = b.reshape(shares, (taps, wanted, *beside))
        # what is not covered adds nothing, whatever the pixel is
        found = b.reduce("add", prim.select(shares > zero, b.gather(found, places, axis) * shares, zero), [axis])
    sides = [side for pair in zip(images.shape[1:3], new) for side in pair]
    share = b.host(functools.partial(_share_of_one, align_corners), [b.size(np.array(sides, object), dtypes.int64)], (1,),
                   dtypes.float32)
    return found * b.reshape(share, ())


def _part_of_area(k: int, align_corners: bool, sizes: Any) -> np.ndarray:
    return area(*map(int, sizes), align_corners)[k].reshape(-1).astype(f32 if k else np.int64)


def _share_of_one(align_corners: bool, sizes: Any) -> np.ndarray:
    """What a whole pixel is of those that become one."""
    rows, new_rows, columns, new_columns = map(int, sizes)
    return np.array([f32(1) / (scale_of(rows, new_rows, align_corners) * scale_of(columns, new_columns, align_corners))])


def sent_back(b: Any, kind: str, grads: Any, sizes: Any, align_corners: bool, half_pixel_centers: bool) -> Any:
    """What the gradients [batch, new height, new width, depth] of a resize give to images of `sizes`, float32."""
    found = b.cast(grads, dtypes.float32)
    for axis, have in zip((1, 2), sizes):
        found = _sent_back_along(b, kind, found, axis, have, (align_corners, half_pixel_centers))
    return found


_TAPS = {"nearest": 1, "bilinear": 2, "bicubic": 4}         # pixels that each new one is made of, along an axis


def _sent_back_along(b: Any, kind: str, grads: Any, axis: int, have: Any, centers: tuple[bool, bool]) -> Any:
    """The same along one axis: its rows, of what lies behind it, are added to those of the pixels that they were made of."""
    *lead, new = grads.shape[:axis + 1]
    inner, taps, many = grads.shape[axis + 1:], _TAPS[kind], dtypes.int64
    before, row = math.prod(lead), math.prod(inner)
    places = _asked(b, functools.partial(_places, kind, *centers), have, new, new * taps, many)
    weights = _asked(b, functools.partial(_weights, kind, *centers), have, new, new * taps, dtypes.float32)
    count = before * new * taps
    to = b.iota((before, new * taps), 0, many) * b.const(have, many) + b.reshape(places, (1, new * taps))
    source = b.iota((before, new, taps), 0, many) * b.const(new, many) + b.iota((before, new, taps), 1, many)
    factors = b.broadcast(b.reshape(weights, (1, new * taps)), (before, new * taps))
    picked = b.gather(b.reshape(grads, (before * new, row)), b.reshape(source, (count,)), 0)
    table = b.scatter("add", (before * have, row), b.reshape(to, (count,)), picked, factors=b.reshape(factors, (count,)))
    return b.reshape(table, (*lead, have, *inner))


def _asked(b: Any, function: Any, have: Any, new: Any, count: Any, dtype: Any) -> Any:
    """`count` numbers that a function of both sizes gives in the run."""
    return b.host(function, [b.size(np.array([have, new], object), dtypes.int64)], (count,), dtype)


def _places(kind: str, align_corners: bool, half_pixel_centers: bool, sizes: Any) -> np.ndarray:
    return weighed(kind, int(sizes[0]), int(sizes[1]), align_corners, half_pixel_centers)[0].reshape(-1).astype(np.int64)


def _weights(kind: str, align_corners: bool, half_pixel_centers: bool, sizes: Any) -> np.ndarray:
    return weighed(kind, int(sizes[0]), int(sizes[1]), align_corners, half_pixel_centers)[1].reshape(-1).astype(f32)
