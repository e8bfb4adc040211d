"""Names of ``tensorflow.python.framework.common_shapes`` and ``tensor_shape`` that ``tf`` does not have."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.layout import broadcast_static_shape

broadcast_shape = broadcast_static_shape


def is_broadcast_compatible(shape_x: Any, shape_y: Any) -> bool:
    """Whether two shapes of known rank can be broadcast."""
    if shape_x.ndims is None or shape_y.ndims is None:
        return False
    try:
        broadcast_static_shape(shape_x, shape_y)
    except ValueError:
        return False
    return True


def scalar_shape(unused_op: Any) -> list[TensorShape]:
    """[the shape of a scalar]"""
    return [TensorShape([])]


def unchanged_shape(op: Any) -> list[TensorShape]:
    """[the shape of the first input]"""
    return [op.inputs[0].get_shape()]


def vector(length: Any) -> TensorShape:
    """The shape of a vector."""
    return TensorShape([length])


def matrix(rows: Any, cols: Any) -> TensorShape:
    """The shape of a matrix."""
    return TensorShape([rows, cols])
