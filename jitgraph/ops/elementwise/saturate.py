"""``tf.saturate_cast``."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.elementwise.arithmetic import maximum, minimum
from jitgraph.ops.elementwise.cast import cast


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`value` as `dtype`; what does not fit becomes the nearest value that does."""
    with name_scope(name, "saturate_cast", [value]) as scope:
        value = convert_to_tensor(value, name="value")
        dtype = as_dtype(dtype).base_dtype
        source = value.dtype.base_dtype
        if float(source.min) < float(dtype.min):        # as floats: half has no bounds of integers
            value = maximum(value, convert_to_tensor(dtype.min, source, "min"))
        if float(source.max) > float(dtype.max):
            value = minimum(value, convert_to_tensor(dtype.max, source, "max"))
        return cast(value, dtype, name=scope)
