"""Images of one dtype as another: floats count from 0 to 1, integers up to their largest value."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import as_dtype
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
                return convert(raw.FloorDiv(image, (have.max + 1) // (dtype.max + 1)), dtype, name=scope)
            return raw.Mul(convert(image, dtype), (dtype.max + 1) // (have.max + 1), name=scope)
        if have.is_integer:
            return raw.Mul(cast(image, dtype), 1.0 / have.max, name=scope)
        return convert(raw.Mul(image, dtype.max + 0.5), dtype, name=scope)     # half more, so that casts round
