"""Hue, saturation and value of pictures changed by one matrix, in the space YIQ."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import TypeSet
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.image.image_dtype import convert_image_dtype
from jitgraph.ops.random.draws import random_uniform

_TYPES = TypeSet(dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32,
                 dtypes.float64)
_TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]], np.float32)
_FROM_YIQ = np.array([[1, 0.95617069, 0.62143257], [1, -0.2726886, -0.64681324], [1, -1.103744, 1.70062309]], np.float32)


def _matrix(delta_h: float, scale_s: float, scale_v: float) -> np.ndarray:
    even, odd = scale_v * scale_s * math.cos(delta_h), scale_v * scale_s * math.sin(delta_h)
    turned = np.array([[scale_v, 0, 0], [0, even, -odd], [0, odd, even]], np.float32)
    found: np.ndarray = _FROM_YIQ @ turned @ _TO_YIQ
    return found


@op("AdjustHsvInYiq(images: T, delta_h: float32, scale_s: float32, scale_v: float32) -> output: T", T=_TYPES,
    shape=lambda c: shape_rules.with_rank_at_least(c.shapes[0], 3, "images"), host=True, grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [[draw(rng, (2, 2, 3), dtype), np.float32(0.5), np.float32(1.2), np.float32(0.9)]])
def _adjust_hsv_in_yiq(images, delta_h, scale_s, scale_v):
    """Pictures of other colours."""
    if images.ndim < 3:
        raise invalid(f"input must be at least 3-D, got shape{list(images.shape)}")
    if images.shape[-1] != 3:
        raise invalid(f"input must have 3 channels but instead has {images.shape[-1]} channels.")
    matrix = _matrix(float(delta_h), float(scale_s), float(scale_v))
    wide = images.astype(np.float64 if images.dtype == np.float64 else np.float32)
    return (wide @ matrix.T.astype(wide.dtype)).astype(images.dtype)


def adjust_hsv_in_yiq(image: Any, delta_hue: Any = 0, scale_saturation: Any = 1, scale_value: Any = 1,
                      name: str | None = None) -> Any:
    """Pictures [..., 3] in RGB whose hue is turned by `delta_hue` (radians), saturation and value multiplied; of the same dtype."""
    with name_scope(name, "adjust_hsv_in_yiq", [image]):
        image = convert_to_tensor(image, name="image")
        real = convert_image_dtype(image, dtypes.float32)
        return convert_image_dtype(raw.AdjustHsvInYiq(real, delta_hue, scale_saturation, scale_value), image.dtype)


def _between(low: float, high: float, seed: int | None) -> Any:
    return low if low == high else random_uniform([], low, high, seed=seed)


def random_hsv_in_yiq(image: Any, max_delta_hue: float = 0, lower_saturation: float = 1, upper_saturation: float = 1,
                      lower_value: float = 1, upper_value: float = 1, seed: int | None = None) -> Any:
    """``adjust_hsv_in_yiq`` by numbers drawn between bounds.  Raises ValueError for negative bounds, and a lower above an upper."""
    if max_delta_hue < 0:
        raise ValueError("max_delta must be non-negative.")
    for what, lower, upper in (("saturation", lower_saturation, upper_saturation), ("value", lower_value, upper_value)):
        if lower < 0:
            raise ValueError(f"lower_{what} must be non-negative.")
        if lower > upper:
            raise ValueError(f"lower_{what} must be < upper_{what}.")
    hue = 0 if max_delta_hue == 0 else random_uniform([], -max_delta_hue, max_delta_hue, seed=seed)
    saturation = _between(lower_saturation, upper_saturation, seed)
    return adjust_hsv_in_yiq(image, hue, saturation, _between(lower_value, upper_value, seed))
