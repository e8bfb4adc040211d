"""Dimensions of ragged tensors as arguments name them."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.tensor import Tensor


def positive_axis(axis: Any, ndims: int | None) -> int:
    """A dimension counted from the first.  Raises TypeError for what is no int, ValueError for one that is not there."""
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if ndims is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -ndims <= axis < ndims:
        raise ValueError(f"axis={axis} out of bounds: expected {-ndims}<=axis<{ndims}")
    return axis + ndims if axis < 0 else axis


def reduced_axes(axis: Any, ndims: int | None) -> list[int]:
    """The dimensions that a reduction goes over, the last first.

    Raises ValueError for a tensor without a constant value, and for negative ones of an unknown rank.
    """
    if isinstance(axis, Tensor):
        axis = constant_value(axis)
        if axis is None:
            raise ValueError("axis must be known at graph construction time.")
    axis = axis.tolist() if isinstance(axis, (np.ndarray, np.generic)) else axis
    axes = [positive_axis(one, ndims) for one in (axis if isinstance(axis, (list, tuple)) else [axis])]
    return sorted(axes, reverse=True)
