"""Pictures of random dots that show depth to two eyes: single image random dot stereograms (Thimbleby et al., 1994)."""
from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.graph import dtypes
from jitgraph.graph.dtypes import TypeSet

_BORDER = -1        # the last row and the last column of the table of depths


def _shape(c: Any) -> Any:
    """[height, width, channels]; the attribute says the width first."""
    if len(c.attrs["output_image_shape"]) < 3:
        raise invalid("output_image_shape must be [width, height, channels].")
    width, height, channels = c.attrs["output_image_shape"][:3]
    return height, width, 3 if c.attrs["number_colors"] > 256 else channels


def _table(depth: np.ndarray, normalize: bool, high: float, low: float, border: float) -> np.ndarray:
    """The depths between 0 (far) and 1 (near), with one more row and column of the border's."""
    wide = depth.astype(np.float64)
    if normalize and wide.size:
        if high < low:
            high, low = wide.max(), wide.min()
        with np.errstate(divide="ignore", invalid="ignore"):
            wide = (wide - low) / (high - low)
    return np.pad(np.clip(wide, 0, 1), ((0, 1), (0, 1)), constant_values=border)


def _places(pixels: np.ndarray, begin: int, extent: int, count: int) -> np.ndarray:
    """Which of `count` rows or columns of depths each pixel shows: those of a window of `extent` pixels from `begin` on."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = float(count) * (pixels - begin) / np.float64(extent)
    inside = (found >= 0) & (found < count)
    return np.where(inside, found, _BORDER).astype(np.int64)


def _separations(depth: np.ndarray, mu: float, eyes: int) -> np.ndarray:
    """How many pixels apart the two eyes see a point of that depth; a point that is no number is nowhere."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (1 - mu * depth) * eyes / (2 - mu * depth)
    found = np.where(np.isfinite(found), found, 0)
    return np.trunc(found + np.copysign(0.5, found)).astype(np.int64)


def _seen(depth: np.ndarray, beside: Any, mu: np.float32, eyes: int) -> np.ndarray:
    """Which points both eyes see: those that nothing nearer stands before, on the lines to either eye.

    `beside(t)`: the depths t pixels to the left and to the right of each point.
    """
    seen = np.full(depth.shape, True)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = 2 * (2 - float(mu) * depth) / float(mu * np.float32(eyes))
        asked, steps = seen.copy(), 0
        while asked.any():
            steps += 1
            ray = depth + slope * steps
            left, right = beside(steps)
            seen = np.where(asked, (left < ray) & (right < ray), seen)
            asked &= seen & (ray < 1)
    return seen


def _alike(depth: np.ndarray, seen: np.ndarray, mu: float, eyes: int) -> np.ndarray:
    """For each pixel of each row the one to its right that has its colour, or itself."""
    rows, width = depth.shape
    same = np.tile(np.arange(width), (rows, 1))
    apart = _separations(depth, mu, eyes)
    left = np.arange(width) - np.trunc(apart / 2).astype(np.int64)
    right = left + apart
    linked = seen & (left >= 0) & (right < width) & (right >= left)
    for x in range(width):
        row = np.flatnonzero(linked[:, x])
        here, there = left[row, x], right[row, x]
        while True:
            after = same[row, here]
            onward = (after != here) & (after < there)
            if not onward.any():
                break
            here = np.where(onward, after, here)
        same[row, here] = there
    return same


def _drawn(count: int, number_colors: int) -> np.ndarray:
    """`count` colours of ``rand`` of the C library, whose numbers they are in TensorFlow: `srand` seeds them."""
    library = ctypes.cdll.msvcrt if sys.platform == "win32" else ctypes.CDLL(None)
    numbers = np.array([library.rand() for _ in range(count)], np.int64)
    return (numbers % 2 * 255 if number_colors == 2 else numbers % 256).astype(np.uint8)


def _coloured(same: np.ndarray, channels: int, number_colors: int) -> np.ndarray:
    """Colours [height, width, channels]: drawn from each row's right end on, and taken over from pixels to the right."""
    height, width = same.shape
    picture = np.zeros((height, width, channels), np.uint8)
    free = same == np.arange(width)
    backwards = np.zeros((height, width, channels), np.uint8)
    backwards[free[:, ::-1]] = _drawn(int(free.sum()) * channels, number_colors).reshape(-1, channels)
    picture = backwards[:, ::-1].copy()
    for x in range(width - 1, -1, -1):
        row = np.flatnonzero(~free[:, x])
        picture[row, x] = picture[row, same[row, x]]
    return picture


def _draw_dots(picture: np.ndarray, size: int, apart: int, bottom: int) -> None:
    """Two black squares at the bottom, as far apart as points that are infinitely far: the eyes rest on them."""
    width, channels = picture.shape[1:]
    flat = picture.reshape(-1)
    half = int(apart / 2)
    steps = np.arange(max(size, 0))
    for centre in (width // 2 - half, width // 2 + half):
        columns = centre - size // 2 + steps
        places = ((bottom - steps)[:, None, None] * width + columns[:, None]) * channels + np.arange(channels)
        flat[places[(places >= 0) & (places < flat.size)]] = 0


_TESTED = "tests/contrib/image: the colours are drawn anew in each run"


@op("SingleImageRandomDotStereograms(depth_values: T; hidden_surface_removal: bool = True, convergence_dots_size: int = 8, "
    "dots_per_inch: int = 72, eye_separation: float = 2.5, mu: float = 0.3333, normalize: bool = True, "
    "normalize_max: float = -100.0, normalize_min: float = 100.0, border_level: float = 0.0, number_colors: int = 256, "
    "output_image_shape: shape = [1024, 768, 1], output_data_window: shape = [1022, 757]) -> image: uint8",
    T=TypeSet(dtypes.float64, dtypes.float32, dtypes.int64, dtypes.int32), shape=_shape, host=True, grad=NOT_DIFFERENTIABLE,
    tested_in=_TESTED)
def _stereogram(depth_values, hidden_surface_removal, convergence_dots_size, dots_per_inch, eye_separation, mu, normalize,
                normalize_max, normalize_min, border_level, number_colors, output_image_shape, output_data_window):
    """A picture [height, width, channels] whose pixels repeat at distances that two eyes see as `depth_values` [rows, columns]."""
    if depth_values.ndim != 2:
        raise invalid(f"depth_values must be 2-D, got shape {list(depth_values.shape)}")
    width, height, channels = (int(one) for one in output_image_shape[:3])
    across, down = (int(one) for one in output_data_window[:2])
    spare, dots = height - down, convergence_dots_size
    top = max(0, spare - dots) // 3 if dots > 0 else int(spare / 2)
    bottom = height - 1 - (top if dots > 0 else 0)
    begin = int((width - across) / 2)
    mu32 = np.float32(mu)
    eyes = int(np.float32(eye_separation) * np.float32(dots_per_inch))
    table = _table(depth_values, normalize, float(np.float32(normalize_max)), float(np.float32(normalize_min)),
                   float(np.float32(border_level)))
    rows, of_pixels = np.unique(_places(np.arange(height), top, down, depth_values.shape[0]), return_inverse=True)

    def depths(columns: np.ndarray) -> np.ndarray:
        return table[rows][:, _places(columns, begin, across, depth_values.shape[1])]

    x = np.arange(width)
    depth = depths(x)
    seen = np.full(depth.shape, True)
    if hidden_surface_removal:
        seen = _seen(depth, lambda steps: (depths(x - steps), depths(x + steps)), mu32, eyes)
    same = _alike(depth, seen & np.isfinite(depth), float(mu32), eyes)
    picture = _coloured(same[of_pixels.reshape(-1)], 3 if number_colors > 256 else channels, number_colors)
    if dots:
        _draw_dots(picture, dots, int(_separations(np.zeros(()), float(mu32), eyes)), bottom)
    return picture


def single_image_random_dot_stereograms(
        depth_values: Any, hidden_surface_removal: bool | None = None, convergence_dots_size: int | None = None,
        dots_per_inch: int | None = None, eye_separation: float | None = None, mu: float | None = None,
        normalize: bool | None = None, normalize_max: float | None = None, normalize_min: float | None = None,
        border_level: float | None = None, number_colors: int | None = None, output_image_shape: Any = None,
        output_data_window: Any = None) -> Any:
    """A stereogram of `depth_values` [rows, columns]: uint8 [height, width, channels], to be written by ``tf.image.encode_png``.

    `output_image_shape`: (width, height, channels), [1024, 768, 1] by default; with more than 256 `number_colors` there are 3
    channels, with 2 all is black or white.  `output_data_window` (width, height): the part, in the middle, that shows the depths,
    drawn larger or smaller; around it is `border_level`.  Depths go from 0, far, to 1, near, once `normalize` has brought them
    from `normalize_min` .. `normalize_max` there, or from all that there are where that maximum is below that minimum.
    `convergence_dots_size`: of the black squares below.  Colours come from the C library's ``rand``.
    Raises InvalidArgumentError where `depth_values` is not a matrix.
    """
    given = {name: value for name, value in locals().items() if name != "depth_values" and value is not None}
    return raw.SingleImageRandomDotStereograms(depth_values, **given)
