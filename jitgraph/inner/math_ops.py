"""Names of ``tensorflow.python.ops.math_ops`` that ``tf`` does not have."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph.composite import IndexedSlices
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import fill
from jitgraph.ops.arrays.partition import dynamic_stitch
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.shape import size
from jitgraph.ops.elementwise.cast import cast


def _ReductionDims(x: Any, axis: Any, reduction_indices: Any = None) -> Any:
    """The dimensions that a reduction of `x` takes: `axis`, all if it is None.  Raises ValueError if both names are given."""
    if reduction_indices is not None:
        if axis is not None:
            raise ValueError("Can't specify both 'axis' and 'reduction_indices'.")
        axis = reduction_indices
    if axis is not None:
        return axis
    if isinstance(x, Tensor) and x.shape.rank is not None:
        return constant(np.arange(x.shape.rank, dtype=np.int32))
    return range_of(0, rank_of(x))


def reduced_shape(input_shape: Any, axes: Any) -> Tensor:
    """The shape of a reduction that keeps dimensions, from the shape of its input and the dimensions that it takes."""
    input_shape, axes = cast(input_shape, dtypes.int32), cast(axes, dtypes.int32)
    rank = size(input_shape)
    axes = (axes + rank) % rank
    taken = shape_of(axes)
    return dynamic_stitch([range_of(rank), axes], [input_shape, fill(taken, 1)])


def _as_indexed_slices_list(inputs: Any, optimize: bool = True) -> list:
    """`inputs` as IndexedSlices.  Raises TypeError if they are no list."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Expected a list or tuple, not a {type(inputs)}")
    return [one if isinstance(one, IndexedSlices) else _as_indexed_slices(one) for one in inputs]


def _as_indexed_slices(x: Any) -> IndexedSlices:
    shape = shape_of(x)
    return IndexedSlices(x, range_of(0, shape[0]), shape)
