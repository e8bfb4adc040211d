"""Rows picked by index, and put back by index: gather, gather_nd, scatter_nd."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import constant_rules, dtypes, shape_rules
from jitgraph.graph.composite import IndexedSlices
from jitgraph.graph.constant_value import constant_value, value_for_shape
from jitgraph.graph.counting import counted_as
from jitgraph.graph.dtypes import TypeSet
from jitgraph.ops.arrays.join import axis_from, concat
from jitgraph.ops.arrays.place_loop import places
from jitgraph.ops.arrays.shape import expand_dims, plain_sizes, reshape, shape, size, stated_sizes

_INDICES = TypeSet(dtypes.int32, dtypes.int64)


def check_indices(indices: Any, limit: int, what: str = "indices") -> None:
    """Raises InvalidArgumentError, naming the first one, if an index is not in [0, limit)."""
    if indices.size and (indices.min() < 0 or indices.max() >= limit):
        position = np.argwhere((indices < 0) | (indices >= limit))[0]
        shown = f"[{','.join(map(str, position))}]" if position.size else ""
        raise invalid(f"{what}{shown} = {indices[tuple(position)]} is not in [0, {limit})")


def _gathered(c: Any, axis: Any, batch_dims: int = 0) -> Any:
    params, indices = c.shapes[0], c.shapes[1]
    if params is None or indices is None:
        return None
    shape_rules.with_rank_at_least(params, 1, "params")
    if not shape_rules.known(axis):
        return (None,) * (len(params) + len(indices) - 1 - batch_dims)
    axis = axis_from(axis.reshape(()), len(params))
    batch = batch_dims + len(indices) if batch_dims < 0 else batch_dims
    return tuple(params[:axis]) + tuple(indices[batch:]) + tuple(params[axis + 1:])


def _lower_gather_v2(b: Any, params: Any, indices: Any, axis: Any, batch_dims: int) -> Any:
    if axis.constant is None:
        return NotImplemented
    at = axis_from(axis.constant.reshape(()), len(params.shape))
    if batch_dims:
        return _lower_pairs(b, params, indices, at, batch_dims % len(indices.shape))
    return lower_slices(b, params, indices, at)


def _lower_pairs(b: Any, params: Any, indices: Any, axis: int, batch: int) -> Any:
    """The same where the first `batch` dimensions go in pairs: rows are those of all pairs, one after the other."""
    lead, count, rest = params.shape[:batch], params.shape[axis], params.shape[axis + 1:]
    if axis != batch or list(indices.shape[:batch]) != list(lead) or any(d == 0 for d in (*lead, count)):
        return NotImplemented
    pairs, each = math.prod(lead), math.prod(indices.shape[batch:])
    number = _counted(b, [b.iota((pairs, each), 0, indices.dtype), b.reshape(indices, (pairs, each))], (pairs, count))
    found = lower_slices(b, b.reshape(params, (pairs * count, *rest)), number, 0)
    return found if found is NotImplemented else b.reshape(found, (*indices.shape, *rest))


def lower_slices(b: Any, params: Any, indices: Any, axis: int) -> Any:
    """The slices of `params` along an axis that `indices` names, in primitives."""
    if any(d == 0 for d in params.shape[axis + 1:]):
        return NotImplemented           # a kernel of no elements would look at no index
    return b.gather(params, indices, axis)


def _constant_gather(op: Any, index: int, value_of: Any) -> Any:
    value, indices = (value_of(t) for t in op.inputs[:2])
    if value is None or not constant_rules.is_known(indices):
        return None
    axis = value_of(op.inputs[2]) if len(op.inputs) > 2 else np.array(0)
    if not constant_rules.is_known(axis) or op.attrs.get("batch_dims", 0):
        return None
    try:
        return np.asarray(np.take(value, indices, int(axis)), value.dtype)
    except (IndexError, ValueError):
        return None


def _gather_v2_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (4, 3), dtype)
    return [[*sample, np.int32(0)] for sample in _gather_samples(rng, dtype)] + [[x, ints(2, 0, 2), np.int32(1)],
                                                                            [x, ints(2), np.int32(-1)]]


@op("GatherV2(params: Tparams, indices: Tindices, axis: Taxis; batch_dims: int = 0) -> output: Tparams",
    Tindices=_INDICES, Taxis=_INDICES,
    shape=lambda c: _gathered(c, shape_rules.scalar_constant(c, 2, "axis"), c.attrs["batch_dims"]),
    lower=_lower_gather_v2, checks=True, constant=_constant_gather, symbolic=True, samples=_gather_v2_samples)
def _gather_v2(params, indices, axis, batch_dims):
    """The slices of `params` along `axis` that `indices` names; the first `batch_dims` dimensions go in pairs."""
    axis = axis_from(axis, params.ndim)
    if not math.prod(params.shape[:axis]) and not batch_dims:       # TensorFlow looks at no index then
        return np.zeros((*params.shape[:axis], *indices.shape, *params.shape[axis + 1:]), params.dtype)
    check_indices(indices, params.shape[axis])
    if not batch_dims:
        return np.take(params, indices, axis)
    batch = batch_dims % indices.ndim if batch_dims < 0 else batch_dims
    lead = params.shape[:batch]
    moved = np.moveaxis(params, axis, batch)
    pairs = zip(moved.reshape(math.prod(lead), *moved.shape[batch:]), indices.reshape(math.prod(lead), *indices.shape[batch:]))
    picked = np.array([m[r] for m, r in pairs], params.dtype)
    middle = params.shape[batch:axis]
    result = picked.reshape(*lead, *indices.shape[batch:], *middle, *params.shape[axis + 1:])
    inner = indices.ndim - batch
    order = [*range(batch), *range(batch + inner, batch + inner + len(middle)), *range(batch, batch + inner),
             *range(batch + inner + len(middle), result.ndim)]
    return result.transpose(order)


@_gather_v2.gradient
def _(op, grad):
    params, indices, axis = op.inputs
    if op.attrs["batch_dims"]:
        return [_batch_gather_gradient(op, grad), None, None]
    known_axis = constant_value(axis)
    if known_axis is not None and int(known_axis) == 0:
        return [_rows_gradient(params, indices, grad), None, None]
    with counted_as(55):
        return [_axis_gradient(params, indices, grad, axis, known_axis), None, None]


def _rows_gradient(params: Any, indices: Any, grad: Any) -> IndexedSlices:
    """The gradient of picking rows: the rows that were read, duplicates kept apart."""
    with params.graph.colocate_with(params.op):
        full = raw.Cast(shape(params, out_type=dtypes.int64), DstT=dtypes.int32)
    count = expand_dims(size(indices), 0)
    values = reshape(grad, concat([count, full[1:]], 0))
    return IndexedSlices(values, reshape(indices, count), full)


def _axis_gradient(params: Any, indices: Any, grad: Any, axis: Any, known_axis: Any) -> Any:
    """The axis is moved to the front, the slices added up by index, and moved back."""
    full = shape(params)
    rank = len(params._shape) if params._shape is not None else None
    if known_axis is None or rank is None or indices._shape is None:
        return _any_axis_gradient(params, indices, grad, axis)
    axis, inner = axis_from(known_axis, rank), len(indices._shape)
    order = [*range(axis, axis + inner), *range(axis), *range(axis + inner, rank - 1 + inner)]
    summed = raw.UnsortedSegmentSum(raw.Transpose(grad, order), indices, full[axis])
    result = raw.Transpose(summed, [*range(1, axis + 1), 0, *range(axis + 1, rank)])
    result.set_shape(value_for_shape(full))     # TensorFlow takes it from there: `params` may be folded constants
    return result


def _any_axis_gradient(params: Any, indices: Any, grad: Any, axis: Any) -> Any:
    """The same for an axis or ranks that only the run knows: the order of the axes is computed."""
    full, count = shape(params), expand_dims(size(indices), 0)
    rank = size(full)
    axis = raw.FloorMod(raw.Cast(axis, DstT=dtypes.int32) + rank, rank)
    values = reshape(grad, concat([full[:axis], count, full[axis + 1:]], 0))
    order = concat([expand_dims(axis, 0), raw.Range(0, axis, 1), raw.Range(axis + 1, rank, 1)], 0)
    summed = raw.UnsortedSegmentSum(raw.Transpose(values, order), reshape(indices, count), full[axis])
    result = raw.Transpose(summed, raw.InvertPermutation(order))
    result.set_shape(params._shape)
    return result


def _batch_gather_gradient(op: Any, grad: Any) -> Any:
    """With batch dimensions: the batch index joins the row index, so that one sum over rows does it."""
    params, indices = op.inputs[:2]
    rank, index_rank = len(params._shape), len(indices._shape)
    batch = op.attrs["batch_dims"] % index_rank
    axis = axis_from(constant_value(op.inputs[2]), rank)
    inner = index_rank - batch
    order = [*range(batch), *range(axis, axis + inner), *range(batch, axis),
             *range(axis + inner, rank - batch - 1 + index_rank)]
    moved = raw.Transpose(grad, order)
    full = shape(params)
    lead, rows = full[:batch], full[axis]
    count = raw.Prod(lead, 0)
    offsets = reshape(raw.Range(0, count, 1), concat([lead, [1] * inner], 0))
    flat = raw.AddV2(indices, raw.Cast(raw.Mul(offsets, rows), DstT=indices.dtype.base_dtype))
    summed = raw.UnsortedSegmentSum(moved, flat, raw.Mul(count, rows))
    rest = [full[i] for i in range(batch, rank) if i != axis]
    result = reshape(summed, raw.Pack([*[full[i] for i in range(batch)], rows, *rest]))
    back = [*range(batch), *range(batch + 1, axis + 1), batch, *range(axis + 1, rank)]
    return raw.Transpose(result, back)


def _gather_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (4, 3), dtype)
    return [[x, ints(0, 3, 0)], [x, np.int32(2)], [x, np.array([[1], [2]], np.int64)], [x, ints()]]


@op("Gather(params: Tparams, indices: Tindices; validate_indices: bool = True) -> output: Tparams", Tindices=_INDICES,
    shape=lambda c: _gathered(c, np.array(0)), lower=lambda b, params, indices: lower_slices(b, params, indices, 0),
    checks=True, constant=_constant_gather, symbolic=True, samples=_gather_samples)
def _gather_v1(params, indices):
    """The rows of `params` that `indices` names; the older form of GatherV2."""
    check_indices(indices, params.shape[0])
    return np.take(params, indices, 0)


@_gather_v1.gradient
def _(op, grad):
    return [_rows_gradient(op.inputs[0], op.inputs[1], grad), None]


def gather(params: Any, indices: Any, validate_indices: Any = None, name: str | None = None, axis: Any = None,
           batch_dims: int = 0) -> Any:
    """The slices of `params` along `axis` (first by default) that the integer tensor `indices` names.

    The result has the shape ``params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis+1:]``.  An index
    out of range raises InvalidArgumentError in a run.
    """
    if axis is None:
        axis = batch_dims
    if not hasattr(axis, "dtype") and int(axis) == 0:
        if hasattr(params, "handle"):
            return params.sparse_read(indices, name=name)       # a resource variable reads only these rows
        batch_dims = 0                                          # as in TensorFlow: there are none before the first dimension
    return _gather_v2(params, indices, axis, batch_dims=batch_dims, name=name)


# -- gather_nd, scatter_nd -----------------------------------------------------------------------------------------

def gather_nd_shape(params: Any, indices: Any) -> Any:
    """The shape of what `indices` of this shape pick from `params`; each may be None."""
    if params is None or indices is None or indices[-1] is None:
        return None
    depth = indices[-1]
    if depth > len(params):
        raise ValueError(f"indices.shape[-1] must be <= params.rank, but saw indices shape: "
                         f"{shape_rules.brackets(indices)} and params shape: {shape_rules.brackets(params)}")
    return tuple(indices[:-1]) + tuple(params[depth:])


def lower_gather_nd(b: Any, params: Any, indices: Any) -> Any:
    """The slices of `params` at `indices`, in primitives."""
    depth = indices.shape[-1]
    if not isinstance(depth, int) or not depth or any(d == 0 for d in params.shape[:depth]):
        return NotImplemented
    rows = b.reshape(params, (math.prod(params.shape[:depth]), *params.shape[depth:]))
    return lower_slices(b, rows, row_numbers(b, indices, params.shape[:depth]), 0)


def row_numbers(b: Any, indices: Any, sizes: Any) -> Any:
    """Which of all rows of the first dimensions, of these `sizes`, each of the `indices` means, counted one after the other; -1
    where a part of it is out of range, which their number alone could hide."""
    lead = indices.shape[:-1]
    parts = [b.reshape(b.slice(indices, (*(0 for _ in lead), k), (*lead, 1)), lead) for k in range(len(sizes))]
    if len(parts) == 1:
        return parts[0]
    return _counted(b, parts, sizes)


def _counted(b: Any, parts: list, sizes: Any) -> Any:
    """The numbers of rows whose index along each dimension is one of `parts`, see `row_numbers`."""
    most = math.prod(sizes)
    kind = dtypes.int32 if isinstance(most, int) and most < 1 << 31 and parts[0].dtype.size <= 4 else dtypes.int64
    number = inside = None
    for part, limit in zip((b.cast(part, kind) for part in parts), (b.const(d, kind) for d in sizes)):
        fits = prim.logical_and(part >= 0, part < limit)
        number, inside = (part, fits) if number is None else (number * limit + part, prim.logical_and(inside, fits))
    return prim.select(inside, number, b.const(-1, kind))


def _gather_nd_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (4, 3), dtype)
    return [[x, ints([0, 1], [3, 2], [0, 1])], [x, ints([2], [2])], [x, np.zeros((2, 0), np.int32)]]


@op("GatherNd(params: Tparams, indices: Tindices) -> output: Tparams", Tindices=_INDICES,
    shape=lambda c: gather_nd_shape(*c.shapes), lower=lower_gather_nd, checks=True, samples=_gather_nd_samples)
def gather_nd(params, indices):
    """The slices of `params` at the multi-dimensional `indices`, whose last axis has one index per dimension."""
    depth = indices.shape[-1]
    if indices.ndim == 2 and depth == params.ndim:
        at = places(indices, params.shape)
        if at is not None:
            return params.reshape(-1)[at]
    _check_positions(indices, params.shape, "param")
    if depth == 0:
        return np.broadcast_to(params, indices.shape[:-1] + params.shape).copy()
    return params[tuple(np.moveaxis(indices, -1, 0))]


def _check_positions(indices: Any, sizes: Any, what: str) -> None:
    """Raises InvalidArgumentError for the first index out of the `sizes` of the first dimensions."""
    bad = (indices < 0) | (indices >= np.asarray(sizes[:indices.shape[-1]], np.int64))
    if bad.any():
        position = np.argwhere(bad.any(-1))[0]
        shown = f"[{','.join(map(str, position))}]" if position.size else ""
        raise invalid(f"indices{shown} = {indices[tuple(position)].tolist()} does not index into {what} shape "
                      f"{shape_rules.brackets(sizes)}")


def check_scattered(indices: Any, updates: Any, sizes: Any) -> None:
    """Raises InvalidArgumentError unless each of the `indices` is inside `sizes`."""
    if 0 in sizes and (indices.size or updates.size):
        raise invalid("Indices and updates specified for empty output shape")
    _check_positions(indices, sizes, "output")


@gather_nd.gradient
def _(op, grad):
    return gather_nd_gradient(op, shape(op.inputs[0], out_type=op.inputs[1].dtype.base_dtype), grad)


def gather_nd_gradient(op: Any, full: Any, grad: Any) -> list:
    """The gradient of a GatherNd, or of its kin, whose params have the shape `full`."""
    indices = op.inputs[1]
    if indices._shape is not None and len(indices._shape) == 2 and indices._shape[-1] == 1:
        return [IndexedSlices(grad, raw.Squeeze(indices, squeeze_dims=[-1]), full), None]
    return [raw.ScatterNd(indices, grad, full), None]


def _scatter_nd_shape(c: Any) -> Any:
    return shape_rules.scattered_nd(shape_rules.shape_from(c, 2), c.shapes[0], c.shapes[1])


def _lower_scatter_nd(b: Any, indices: Any, updates: Any, size: Any) -> Any:
    return NotImplemented if size.constant is None else lower_scattered_sums(b, indices, updates, plain_sizes(size.constant))


def lower_scattered_sums(b: Any, indices: Any, updates: Any, table: Any) -> Any:
    """Zeros of the shape `table` with `updates` added at `indices`, in primitives."""
    depth = indices.shape[-1]
    if not isinstance(depth, int) or not depth or updates.dtype.is_bool:
        return NotImplemented
    if list(updates.shape) != [*indices.shape[:-1], *table[depth:]] or any(d == 0 for d in table):
        return NotImplemented           # the NumPy meaning says what is wrong, also with indices of rows that have no elements
    rows = (math.prod(table[:depth]), *table[depth:])
    return b.reshape(b.scatter("add", rows, row_numbers(b, indices, table[:depth]), updates), table)


def _scatter_nd_samples(rng: Any, dtype: Any) -> list:
    return [[ints([0], [2], [0]), draw(rng, (3, 2), dtype), ints(4, 2)],
            [ints([0, 1], [1, 1]), draw(rng, (2,), dtype), ints(2, 2)]]


@op("ScatterNd(indices: Tindices, updates: T, shape: Tindices) -> output: T", Tindices=_INDICES,
    shape=_scatter_nd_shape, lower=_lower_scatter_nd, checks=True, samples=_scatter_nd_samples)
def scatter_nd(indices, updates, shape):
    """Zeros of `shape` with `updates` added at the multi-dimensional `indices`; duplicates add up."""
    sizes = tuple(stated_sizes(shape))
    depth = indices.shape[-1]
    check_scattered(indices, updates, sizes)
    if updates.shape != indices.shape[:-1] + sizes[depth:]:
        raise invalid(f"Must have updates.shape = indices.shape[:-1] + shape[{depth}:], got updates.shape: "
                      f"{list(updates.shape)}, indices.shape: {list(indices.shape)}, shape: {list(sizes)}")
    result = np.full(sizes, b"" if updates.dtype == object else 0, updates.dtype)
    np.add.at(result.reshape(1, *sizes) if not depth else result,
              tuple(np.moveaxis(indices, -1, 0)) if depth else (np.zeros(indices.shape[:-1], int),), updates)
    return result


@scatter_nd.gradient
def _(op, grad):
    return [None, gather_nd(grad, op.inputs[0]), None]
