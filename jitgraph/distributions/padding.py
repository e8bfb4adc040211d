"""Tensors with something before or behind them along one axis."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape, dimension_at_index
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import one_hot
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.pad import pad as padded_by
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.shape import rank as rank_of


def pad(x: Any, axis: Any, front: bool = False, back: bool = False, value: Any = 0, count: Any = 1,
        name: str | None = None) -> Tensor:
    """`x` with `count` times `value` before what stands along `axis` (`front`), behind it (`back`), or both."""
    with name_scope(name, "pad", [x, value, count]):
        x = convert_to_tensor(x, name="x")
        value = convert_to_tensor(value, dtype=x.dtype, name="value")
        count = convert_to_tensor(count, name="count")
        rank = x.shape.ndims if x.shape.ndims is not None else rank_of(x, name="ndims")
        axis = convert_to_tensor(axis, name="axis")
        known = static_value(axis)
        shape = None
        if known is None:
            axis = where_v2(axis < 0, rank + axis, axis)
        else:
            axis = known if known >= 0 else rank + known
            if known >= 0 or x.shape.ndims is not None:
                shape = _padded_shape(x.shape, int(axis), static_value(count), front + back)
        paddings = one_hot(indices=stack([axis if front else -1, axis if back else -1]), depth=rank, axis=0, on_value=count,
                           dtype=dtypes.int32)
        found = padded_by(x, paddings=paddings, constant_values=value)
        if shape is not None:
            found.set_shape(shape)
        return found


def _padded_shape(shape: TensorShape, axis: int, count: Any, sides: int) -> TensorShape:
    size = TensorShape(None if count is None else [dimension_at_index(shape, axis) + int(count) * sides])
    return shape[:axis].concatenate(size.concatenate(shape[axis + 1:]))
