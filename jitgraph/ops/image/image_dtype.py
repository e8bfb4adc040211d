"""Images of one dtype as another: floats count from 0 to 1, integers up to their largest value."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.saturate import saturate_cast


def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: str | None = None) -> Tensor:
    """`image` as `dtype`, scaled: the floats [0, 1) stand for the integers from 0 to the largest of their dtype.

    With `saturate`, values that `dtype` does not hold become its nearest one.  Raises AttributeError if `dtype` is
    neither float nor integer.
    """
    image = convert_to_tensor(image, name="image")
    dtype = as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    have = image.dtype.base_dtype
    if dtype == have:
        return raw.Identity(image, name=name)
    with name_scope(name, "convert_image", [image]) as scope:
        convert = saturate_cast if saturate else cast
        if have.is_floating and dtype.is_floating:
            return cast(image, dtype, name=scope)
        if have.is_integer and dtype.is_integer:
            if have.max > dtype.max:
                return convert(raw.FloorDiv(image, _step(have.max, dtype.max)), dtype, name=scope)
            return raw.Mul(convert(image, dtype), _step(dtype.max, have.max), name=scope)
        if have.is_integer:
            return raw.Mul(cast(image, dtype), 1.0 / have.max, name=scope)
        return convert(raw.Mul(image, dtype.max + 0.5), dtype, name=scope)     # half more, so that casts round


def _step(larger: int, smaller: int) -> int:
    """How many integers of a dtype up to `larger` stand for one of a dtype up to `smaller`."""
    return (larger + 1) // (smaller + 1)


def pixels_as(pixels: np.ndarray, dtype: DType) -> np.ndarray:
    """`convert_image_dtype` of an array of integers."""
    have, kind = np.iinfo(pixels.dtype).max, dtype.as_numpy_dtype
    if pixels.dtype == kind:
        return pixels
    with np.errstate(over="ignore"):                        # half has no 65535
        if dtype.is_floating:
            return pixels.astype(kind) * np.asarray(1.0 / have, kind)
        if have > dtype.max:
            return (pixels // np.asarray(_step(have, dtype.max), pixels.dtype)).astype(kind)
        return pixels.astype(kind) * np.asarray(_step(dtype.max, have), kind)
