"""Names of ``tensorflow.python.ops.inplace_ops``: copies of a tensor with a part of it replaced."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.shape import expand_dims, reshape, shape
from jitgraph.ops.elementwise.cast import cast

empty = raw.Empty


def _changed(name: str, doc: str) -> tuple[Callable, Callable]:
    """The function that is said to change `x` itself, which no node here does, and that which changes a copy."""

    def alias(x: Any, i: Any, v: Any) -> Tensor:
        x = convert_to_tensor(x)
        v, replaced = convert_to_tensor(v, x.dtype.base_dtype), getattr(raw, f"Inplace{name}")
        if i is None:
            return reshape(replaced(reshape(x, [1, -1]), [0], reshape(v, [1, -1])), shape(x))
        i = cast(i, dtypes.int32)
        if i.shape.ndims == 0:
            return replaced(x, reshape(i, [1]), expand_dims(v, 0))
        return replaced(x, i, v)

    def copying(x: Any, i: Any, v: Any) -> Tensor:
        return alias(raw.DeepCopy(x), i, v)

    for function, prefix in ((alias, "alias_"), (copying, "")):
        function.__name__ = f"{prefix}inplace_{name.lower()}"
        function.__doc__ = (f"`x` with {doc}: all of it for None, the row `i` for an int scalar (`v` is that row), the rows `i` "
                            "for a vector (`v` has a row for each).  `x` itself stays as it is.")
    return alias, copying


alias_inplace_update, inplace_update = _changed("Update", "a part replaced by `v`")
alias_inplace_add, inplace_add = _changed("Add", "`v` added to a part")
alias_inplace_sub, inplace_sub = _changed("Sub", "`v` subtracted from a part")


def empty_like(x: Any, init: bool | None = None) -> Tensor:
    """A tensor of the shape and dtype of another, and of any values; zeros with `init`."""
    x = convert_to_tensor(x)
    return raw.Empty(shape(x), dtype=x.dtype.base_dtype, init=bool(init))
