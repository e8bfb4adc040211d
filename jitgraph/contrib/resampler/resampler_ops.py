"""``resampler``: images read at any points, by bilinear interpolation (Jaderberg and others, 2015)."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import TypeSet
from jitgraph.graph.scopes import name_scope

_HALVES = TypeSet(dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64)


def _output_shape(c: Any) -> Any:
    images = shape_rules.with_rank(c.shapes[0], 4, "data")
    points = shape_rules.with_rank_at_least(c.shapes[1], 2, "warp")
    return None if points is None else (*points[:-1], images[3])


def _corners(size: tuple, points: np.ndarray) -> list:
    """For each corner around the points: (row, column, whether it is in the image, weight, d weight / dx, d weight / dy)."""
    _, height, width, _ = size
    x, y = points[..., 0], points[..., 1]
    left, top = np.floor(x), np.floor(y)
    inside = (x > -1) & (y > -1) & (x < width) & (y < height)
    found = []
    for dy, dx in ((0, 0), (0, 1), (1, 0), (1, 1)):
        row, column = (top + dy).astype(np.int64), (left + dx).astype(np.int64)
        wx, wy = 1 - np.abs(x - (left + dx)), 1 - np.abs(y - (top + dy))
        here = inside & (row >= 0) & (row < height) & (column >= 0) & (column < width)
        found.append((np.clip(row, 0, height - 1), np.clip(column, 0, width - 1), here, wx * wy,
                      wy * (1 if dx else -1), wx * (1 if dy else -1)))
    return found


def _batch_of(points: np.ndarray) -> np.ndarray:
    return np.arange(points.shape[0]).reshape(-1, *[1] * (points.ndim - 2))


def _samples(rng: Any, dtype: Any) -> list:
    return [[draw(rng, (2, 3, 4, 2), dtype), draw(rng, shape, dtype, -1.5, 4.5)] for shape in ((2, 5, 2), (2, 2, 3, 2))]


@op("Resampler(data: T, warp: T) -> output: T", T=_HALVES, shape=_output_shape, samples=_samples)
def _resampler(data, warp):
    """The values of `data` [batch, height, width, channels] at the points (x, y) of `warp` [batch, ..., 2]; 0 outside."""
    batch = _batch_of(warp)
    total = np.zeros((*warp.shape[:-1], data.shape[-1]), data.dtype)
    for row, column, here, weight, _, _ in _corners(data.shape, warp):
        total += (np.where(here, weight, 0)[..., None] * data[batch, row, column]).astype(data.dtype)
    return total


@_resampler.gradient
def _(op, grad):
    return list(raw.ResamplerGrad(op.inputs[0], op.inputs[1], grad))


def _grad_samples(rng: Any, dtype: Any) -> list:
    return [[data, warp, draw(rng, (*warp.shape[:-1], 2), dtype)] for data, warp in _samples(rng, dtype)]


@op("ResamplerGrad(data: T, warp: T, grad_output: T) -> grad_data: T, grad_warp: T", T=_HALVES,
    shape=lambda c: [c.shapes[0], c.shapes[1]], samples=_grad_samples)
def _resampler_grad(data, warp, grad_output):
    """The gradients of Resampler for images and points."""
    batch = np.broadcast_to(_batch_of(warp), warp.shape[:-1])
    of_data, of_warp = np.zeros_like(data), np.zeros_like(warp)
    for row, column, here, weight, by_x, by_y in _corners(data.shape, warp):
        np.add.at(of_data, (batch, row, column), (np.where(here, weight, 0)[..., None] * grad_output).astype(data.dtype))
        product = np.where(here, np.sum(data[batch, row, column] * grad_output, -1), 0)
        of_warp[..., 0] += product * by_x
        of_warp[..., 1] += product * by_y
    return of_data, of_warp


def resampler(data: Any, warp: Any, name: str = "resampler") -> Any:
    """The values of images `data` [batch, height, width, channels] at the points (x, y) of `warp` [batch, ..., 2].

    The result is [batch, ..., channels]; points outside give 0.
    """
    with name_scope(name, "resampler", [data, warp]):
        data, warp = convert_to_tensor(data, name="data"), convert_to_tensor(warp, name="warp")
        return _resampler(data, warp)
