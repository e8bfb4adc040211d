"""Composites on arrays: sequence_mask, meshgrid, batch_gather, embedding_lookup."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_n_to_tensor_or_indexed_slices, convert_to_tensor
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import colocate_with, name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops import sequences
from jitgraph.ops.cast import cast
from jitgraph.ops.constant import constant
from jitgraph.ops.fill import ones
from jitgraph.ops.gather import gather
from jitgraph.ops.gather import gather_nd as plain_gather_nd
from jitgraph.ops.identity import identity
from jitgraph.ops.join import concat, stack, unstack
from jitgraph.ops.layout import tile, transpose
from jitgraph.ops.reduce import reduce_max
from jitgraph.ops.sets import where
from jitgraph.ops.shape import expand_dims, rank, reshape, shape, size


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool_, name: str | None = None) -> Any:
    """mask[..., j] = j < lengths[...], of width `maxlen` (by default the largest length), as `dtype`.

    Raises ValueError if `maxlen` is no scalar.
    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            longest = reduce_max(lengths)
            maxlen = raw.Maximum(constant(0, longest.dtype), longest)
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen._shape:
            raise ValueError("maxlen must be scalar for sequence_mask")
        kind = maxlen.dtype.base_dtype
        row = raw.Range(constant(0, kind), maxlen, constant(1, kind))
        mask = row < raw.Cast(expand_dims(lengths, -1), DstT=kind)
        wanted = None if dtype is None else as_dtype(dtype).base_dtype
        return mask if wanted in (None, dtypes.bool_) else raw.Cast(mask, DstT=wanted)


def meshgrid(*args: Any, **kwargs: Any) -> list:
    """For vectors x, y, ...: one grid each, ``x[j]`` and ``y[i]`` at [i, j] (``indexing="ij"``: x[i] and y[j]).

    Raises ValueError for other values of `indexing`, TypeError for other keywords.
    """
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with name_scope(name, "meshgrid", args):
        count = len(args)
        ones_before = (1,) * count
        columns = [reshape(stack(x), (*ones_before[:i], -1, *ones_before[i + 1:])) for i, x in enumerate(args)]
        sizes = [size(x) for x in args]
        dtype = convert_to_tensor(args[0]).dtype.base_dtype
        if indexing == "xy" and count > 1:
            columns[0] = reshape(columns[0], (1, -1) + (1,) * (count - 2))
            columns[1] = reshape(columns[1], (-1, 1) + (1,) * (count - 2))
            sizes[0], sizes[1] = sizes[1], sizes[0]
        full = ones(sizes, dtype)
        return [column * full for column in columns]


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
    if isinstance(batch_dims, Tensor):
        batch_dims = int(constant_value(batch_dims))
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

def embedding_lookup(params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None,
                     validate_indices: bool = True, max_norm: Any = None) -> Any:
    """The rows `ids` (any shape) of an embedding `params`: one tensor or variable, or a list of its parts.

    Parts hold the rows by `partition_strategy`: "mod" (row i in part i mod n) or "div" (consecutive rows).  With
    `max_norm`, rows of a larger Euclidean norm are scaled down to it.  Raises ValueError without parts or for another
    strategy.
    """
    if params is None or (isinstance(params, (list, tuple)) and not params):
        raise ValueError("Need at least one param")
    if hasattr(params, "_get_variable_list"):
        params = list(params)
    if not isinstance(params, (list, tuple)):
        params = [params]
    params = list(params)
    with name_scope(name, "embedding_lookup", [*params, ids]) as scope:
        if not any(hasattr(p, "handle") for p in params):
            params = convert_n_to_tensor_or_indexed_slices(params, name="params")
        ids = convert_to_tensor(ids, name="ids")
        if len(params) == 1:
            with colocate_with(params[0].op):
                found = _clipped(gather(params[0], ids, name=scope), ids, max_norm)
            return identity(found)
        return _from_parts(params, ids, partition_strategy, max_norm, scope)


def _clipped(rows: Any, ids: Any, max_norm: Any) -> Any:
    if max_norm is None:
        return rows
    from jitgraph.ops.clip import clip_by_norm

    first = len(ids._shape) if ids._shape is not None else None
    if first is None or rows._shape is None:
        axes: Any = sequences.range(rank(ids), rank(rows))
    else:
        axes = list(range(first, len(rows._shape)))
    return clip_by_norm(rows, max_norm, axes=axes)


def _places(ids: Any, params: list, strategy: str) -> tuple[Any, Any]:
    """For each id the part it is in and its row there."""
    count = len(params)
    if strategy == "mod":
        return ids % count, ids // count
    if strategy != "div":
        raise ValueError("Unrecognized partition strategy: " + strategy)
    rows = [p.shape[0].value for p in params]
    if None in rows:
        known = stack([shape(p)[0] if n is None else n for n, p in zip(rows, params)])
        total = raw.Sum(cast(known, ids.dtype.base_dtype), [0])
    else:
        total = constant(sum(rows), ids.dtype.base_dtype)
    each, extras = total // count, total % count    # the first `extras` parts have one row more
    part = raw.Maximum(ids // (each + 1), (ids - extras) // each)
    return part, where(part < extras, ids % (each + 1), (ids - extras) % each)


def _from_parts(params: list, ids: Any, strategy: str, max_norm: Any, scope: str) -> Any:
    """The ids are dealt out to their parts, looked up there, and put together in their old order."""
    flat = reshape(ids, [-1])
    positions = sequences.range(size(flat))
    part, row = _places(flat, params, strategy)
    part = cast(part, dtypes.int32)
    rows = raw.DynamicPartition(row, part, num_partitions=len(params))
    places = raw.DynamicPartition(positions, part, num_partitions=len(params))
    found = []
    for p, wanted in zip(params, rows):
        with colocate_with(p.op):
            found.append(gather(p, wanted))
    result = raw.ParallelDynamicStitch(places, found, name=scope)
    inner = params[0].shape[1:]
    for p in params[1:]:
        inner = inner.merge_with(p.shape[1:])
    tail: Any = inner
    if not inner.is_fully_defined():
        with colocate_with(params[0].op):
            tail = shape(params[0])
        tail = tail[1:]
    result = reshape(result, concat([shape(ids), tail], 0))
    result.set_shape(TensorShape._of(ids._shape).concatenate(inner))
    return _clipped(result, ids, max_norm)
