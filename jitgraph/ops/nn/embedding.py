"""``tf.nn.embedding_lookup``: rows of a matrix, or of the parts that it is kept in."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.composite import convert_n_to_tensor_or_indexed_slices
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import colocate_with, name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays import sequences
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import rank, reshape, shape, size
from jitgraph.ops.elementwise.cast import cast


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
    from jitgraph.ops.elementwise.clip import clip_by_norm

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
