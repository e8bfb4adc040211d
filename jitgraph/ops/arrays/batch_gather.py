"""Gathers in batches: of each row by indices of its own."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.gather import gather_nd as plain_gather_nd
from jitgraph.ops.arrays.grids import meshgrid
from jitgraph.ops.arrays.join import concat, stack, unstack
from jitgraph.ops.arrays.layout import tile, transpose
from jitgraph.ops.arrays.shape import rank, reshape, shape


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Any:
    """``gather`` along the last axis of `indices`, its other axes going in pairs with those of `params`."""
    with name_scope(name, "BatchGather", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        if indices._shape is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        return gather(params, indices, axis=len(indices._shape) - 1, batch_dims=len(indices._shape) - 1)


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: Any = 0) -> Any:
    """The slices of `params` at the multi-dimensional `indices`, whose last axis has one index per dimension.

    The first `batch_dims` dimensions of `params` and `indices` go in pairs.  The result has the shape
    ``indices.shape[:-1] + params.shape[batch_dims + indices.shape[-1]:]``.  An index out of range raises
    InvalidArgumentError in a run.
    """
    if isinstance(batch_dims, (Tensor, np.integer)):
        batch_dims = int(np.squeeze(constant_value(batch_dims)))
    if batch_dims != 0:
        return batch_gather_nd(params, indices, batch_dims, name)
    if hasattr(params, "handle"):
        return params.gather_nd(indices, name=name)         # a resource variable reads only these
    return plain_gather_nd(params, indices, name=name)


def batch_gather_nd(params: Any, indices: Any, batch_dims: int, name: str | None = None) -> Any:
    """``gather_nd`` where the first `batch_dims` dimensions of `params` and `indices` go in pairs."""
    with name_scope(name, "BatchGatherND", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        if not isinstance(batch_dims, int):
            raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
        if batch_dims < 0:
            raise ValueError("tf.gather_nd does not allow negative batch_dims.")
        for what, tensor in (("indices", indices), ("params", params)):
            if tensor._shape is not None and batch_dims >= len(tensor._shape):
                raise ValueError(f"batch_dims = {batch_dims} must be less than rank({what}) = {len(tensor._shape)}")
        params_shape, indices_shape = shape(params), shape(indices)
        batch_shape = params_shape[:batch_dims]
        batch_size = raw.Prod(batch_shape, [0])
        inner_rank = rank(indices) - batch_dims - 1
        inner_shape = indices_shape[batch_dims:-1]
        # the coordinates of each pair, as rows
        steps = [raw.Cast(raw.Range(0, size, 1), DstT=indices.dtype.base_dtype) for size in unstack(batch_shape, axis=0)]
        columns = [reshape(grid, (-1,)) for grid in meshgrid(*steps, indexing="ij")]
        pairs = transpose(stack(columns, axis=0))
        pairs_shape = shape(pairs)
        pairs = reshape(pairs, concat([pairs_shape[:1], ones(inner_rank, dtypes.int32), pairs_shape[1:]], 0))
        pairs = tile(pairs, concat(((1,), inner_shape, (1,)), 0))
        # before the indices within a pair
        within = reshape(indices, concat(([batch_size], indices_shape[batch_dims:]), 0))
        picked = plain_gather_nd(params, concat((pairs, within), -1))
        return reshape(picked, concat((batch_shape, shape(picked)[1:]), 0))


# -- embeddings ----------------------------------------------------------------------------------------------------
