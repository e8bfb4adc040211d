"""Ops on the structure of sparse tensors: to dense, order, shape, parts.

A sparse tensor is three inputs: indices [n, rank], values [n] and the dense shape [rank].  Most ops expect the indices
in row-major order.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, NUMBERS, TypeSet, op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.ops.arrays.place_loop import places
from jitgraph.ops.arrays.shape import plain_sizes, stated_sizes
from jitgraph.ops.sparse.index_loops import reshaped, with_rows_filled

i64 = np.int64
_INDICES = TypeSet(dtypes.int32, dtypes.int64)


# -- indices -----------------------------------------------------------------------------------------------------------

def linear(indices: np.ndarray, shape: Any) -> np.ndarray:
    """The row-major position of each row of `indices` in a dense tensor of `shape`."""
    if not indices.shape[1]:
        return np.zeros(len(indices), i64)
    strides = np.cumprod([1, *(int(n) for n in shape[:0:-1])])[::-1]
    return indices.astype(i64) @ strides.astype(i64)


def order_of(indices: np.ndarray) -> np.ndarray:
    """The positions that bring rows of indices into row-major order; equal rows keep theirs."""
    return np.lexsort(indices.T[::-1]) if indices.shape[1] else np.arange(len(indices))


def _brackets(values: Any) -> str:
    return "[" + ",".join(str(int(v)) for v in np.ravel(values)) + "]"


def check_order(indices: np.ndarray, shape: Any, validate: bool = True) -> None:
    """Refuses indices outside of `shape`, and, if asked for, those that are out of order or repeated."""
    shape = np.asarray(shape, i64)
    if indices.ndim != 2 or indices.shape[1] != len(shape):
        raise invalid(f"indices must be a matrix with {len(shape)} columns, got shape {list(indices.shape)}")
    if places(indices, shape.tolist(), validate) is not None:
        return                          # what nearly all are, for a fraction of the price
    if validate and len(indices) and len(shape) and (indices.min(0) >= 0).all() and (indices.max(0) < shape).all():
        place = indices[:, 0] if len(shape) == 1 else linear(indices, shape)
        if (place[1:] > place[:-1]).all() and math.prod(shape.tolist()) < 1 << 62:
            return
    outside = ((indices < 0) | (indices >= shape)).any(1)
    steps = np.zeros(len(indices), bool)
    same = np.zeros(len(indices), bool)
    if validate and len(indices) > 1:
        differences = np.diff(indices, axis=0)
        first = np.argmax(differences != 0, axis=1) if indices.shape[1] else np.zeros(len(differences), i64)
        leading = differences[np.arange(len(differences)), first] if indices.shape[1] else first
        steps[1:], same[1:] = leading < 0, leading == 0
    bad = np.flatnonzero(outside | steps | same)
    if not len(bad):
        return
    i = bad[0]
    if outside[i]:
        raise invalid(f"indices[{i}] = {_brackets(indices[i])} is out of bounds: need 0 <= index < {_brackets(shape)}")
    what = "is out of order. Many sparse ops require sorted indices.\n    Use `tf.sparse.reorder` to create a " \
           "correctly ordered copy." if steps[i] else "is repeated"
    raise invalid(f"indices[{i}] = {_brackets(indices[i])} {what}")


def rank_of(c: Any, shape_index: int, indices_index: int) -> Any:
    """The rank of a sparse input as far as it is known."""
    lengths = shape_rules.with_rank(c.shapes[shape_index], 1, "the dense shape")
    columns = shape_rules.with_rank(c.shapes[indices_index], 2, "indices")
    return shape_rules.merge_sizes(lengths[0], columns[1])


def count_of(c: Any, indices_index: int, values_index: int) -> Any:
    """The number of elements of a sparse input as far as it is known."""
    rows = shape_rules.with_rank(c.shapes[indices_index], 2, "indices")
    values = shape_rules.with_rank(c.shapes[values_index], 1, "values")
    return shape_rules.merge_sizes(rows[0], values[0])


def example(rng: Any, dtype: Any, shape: tuple = (3, 4), count: int = 5) -> list:
    """Indices, values and dense shape of a random sparse tensor, for samples."""
    from jitgraph.declare.samples import draw

    places = np.sort(rng.choice(int(np.prod(shape)), count, replace=False))
    indices = np.stack(np.unravel_index(places, shape), 1).astype(i64)
    return [indices, draw(rng, (count,), dtype), np.array(shape, i64)]


# -- dense -------------------------------------------------------------------------------------------------------------

def _to_dense_shape(c: Any) -> Any:
    return shape_rules.shape_from(c, 1)


def _to_dense_samples(rng, dtype):
    indices, values, shape = example(rng, dtype)
    some = np.asarray(values[:1].reshape(()) if len(values) else values)
    return [[indices, shape, values, some], [np.array([0, 2], i64), np.array([4], i64), values[:2], some],
            [i64(1), np.array([3], i64), values[0], some], [indices, shape, values[0], some]]


@op("SparseToDense(sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T; "
    "validate_indices: bool = True) -> dense: T", Tindices=_INDICES, shape=_to_dense_shape, host=True,
    samples=_to_dense_samples,
    host_because="the size comes with the run: 10,000 of 1000 x 1000 take 1.25 of TensorFlow's time")
def _sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value, validate_indices):
    """A dense tensor of `output_shape` with values at some indices and `default_value` elsewhere."""
    if np.ndim(sparse_indices) > 2:
        raise invalid("sparse_indices should be a scalar, vector, or matrix, got shape "
                      f"{list(np.shape(sparse_indices))}")
    if np.ndim(default_value):
        raise invalid("default_value should be a scalar.")
    count = np.shape(sparse_indices)[0] if np.ndim(sparse_indices) else 1
    columns = np.shape(sparse_indices)[1] if np.ndim(sparse_indices) == 2 else 1
    indices = np.reshape(sparse_indices, (count, columns))
    if len(output_shape) != indices.shape[1]:
        raise invalid(f"output_shape has incorrect number of elements: {len(output_shape)} should be: "
                      f"{indices.shape[1]}")
    if np.ndim(sparse_values) > 1 or np.ndim(sparse_values) == 1 and len(sparse_values) != len(indices):
        raise invalid(f"sparse_values has incorrect shape {list(np.shape(sparse_values))}, should be [] or "
                      f"[{len(indices)}]")
    sizes = stated_sizes(output_shape)
    at = places(indices, sizes, validate_indices)
    if at is None:
        check_order(indices, output_shape, validate_indices)
    dtype, default = np.asarray(sparse_values).dtype, np.asarray(default_value)
    if dtype != object and not any(default.tobytes()):
        found = np.zeros(sizes, dtype)          # which the machine hands out as they are
    else:
        found = np.empty(sizes, dtype)
        found[...] = default[()] if dtype != object else np.asarray(default_value, object)
    if at is not None:
        found.reshape(-1)[at] = sparse_values
    else:
        found[indices[:, 0] if indices.shape[1] == 1 else tuple(indices.T)] = sparse_values
    return found


@_sparse_to_dense.gradient
def _(op, grad):
    indices = op.inputs[0]
    known = indices._shape
    if known is not None and len(known) < 2:        # one index, or a vector of them, into a vector
        indices = raw.Reshape(indices, [-1, 1])
    of_values = raw.GatherNd(grad, indices)
    if op.inputs[2]._shape == ():
        of_values = raw.Sum(of_values, [0])
    from jitgraph.ops.reduce.reductions import reduce_sum

    return [None, None, of_values, reduce_sum(grad) - reduce_sum(of_values)]


# -- order and shape ---------------------------------------------------------------------------------------------------

@op("SparseReorder(input_indices: int64, input_values: T, input_shape: int64) -> output_indices: int64, output_values: T",
    shape=lambda c: [c.shapes[0], c.shapes[1]], host=True,
    samples=lambda rng, dtype: [[a[::-1] if i < 2 else a for i, a in enumerate(example(rng, dtype))]])
def _sparse_reorder(input_indices, input_values, input_shape):
    """The elements in row-major order of their indices."""
    order = order_of(input_indices)
    return input_indices[order], input_values[order]


@_sparse_reorder.gradient
def _(op, _, grad):
    indices, _, shape = op.inputs
    numbers = raw.Range(0, raw.Shape(indices)[0], 1)
    ordered = raw.SparseReorder(indices, numbers, shape).output_values
    return [None, raw.GatherV2(grad, raw.InvertPermutation(ordered), 0), None]


def _reshaped_shapes(c: Any) -> list:
    rows = shape_rules.with_rank(c.shapes[0], 2, "input_indices")[0]
    rank = shape_rules.with_rank(c.shapes[2], 1, "new_shape")[0]
    return [(rows, rank), (rank,)]


@op("SparseReshape(input_indices: int64, input_shape: int64, new_shape: int64) -> output_indices: int64, "
    "output_shape: int64", shape=_reshaped_shapes, host=True,
    samples=lambda rng, dtype: [[*example(rng, np.float32)[::2], np.array(s, i64)] for s in ((4, 3), (-1, 2), (12,))])
def _sparse_reshape(input_indices, input_shape, new_shape):
    """Indices as they are in another shape with as many elements; one size may be -1."""
    shape, sizes = input_shape.tolist(), new_shape.tolist()
    total = math.prod(shape)
    if -1 in sizes:
        sizes[sizes.index(-1)] = _missing_size(total, shape, sizes)
    if min(sizes, default=0) < 0:
        raise invalid(f"size {next(i for i, n in enumerate(sizes) if n < 0)} must be non-negative, not {min(sizes)}")
    if math.prod(sizes) != total:
        raise invalid(f"Input to reshape is a tensor with {total} dense values, but the requested shape has "
                      f"{math.prod(sizes)}. input_shape={_brackets(shape)} output_shape={_brackets(sizes)}")
    if sizes == shape:                  # whose indices nobody looks at
        return input_indices, np.array(sizes, i64)
    found = reshaped(input_indices, shape, sizes)
    return _reshaped_slowly(input_indices, shape, sizes) if found is None else found, np.array(sizes, i64)


def _missing_size(total: int, shape: list[int], sizes: list[int]) -> int:
    """What -1 among `sizes` stands for, in a tensor of `total` elements."""
    if sizes.count(-1) > 1:
        raise invalid("only one output dimension may be -1, not both "
                      f"{sizes.index(-1)} and {sizes.index(-1, sizes.index(-1) + 1)}")
    others = math.prod([n for n in sizes if n != -1])
    if others <= 0:
        raise invalid("reshape cannot infer the missing input size for an empty tensor unless all specified input "
                      "sizes are non-zero")
    if total % others:
        raise invalid(f"Input to reshape is a SparseTensor with {total} dense values, but the requested shape "
                      f"requires a multiple of {others}. input_shape={_brackets(shape)} output_shape= {_brackets(sizes)}")
    return total // others


def _reshaped_slowly(indices: np.ndarray, shape: list[int], sizes: list[int]) -> np.ndarray:
    """The same without a compiled loop; what lies outside of the shape comes to lie outside of the new one."""
    rest, found = linear(indices, shape), np.zeros((len(indices), len(sizes)), i64)
    for d in range(len(sizes)):
        stride = max(math.prod(sizes[d + 1:]), 1)
        found[:, d] = np.sign(rest) * (np.abs(rest) // stride)
        rest = rest - found[:, d] * stride
    return found


# -- parts -------------------------------------------------------------------------------------------------------------

def _concat_shapes(c: Any) -> list:
    n = len(c.shapes) // 3
    counts = [count_of(c, i, n + i) for i in range(n)]
    rank = None
    for i in range(n):
        rank = shape_rules.merge_sizes(rank, rank_of(c, 2 * n + i, i))
    total: Any = 0
    for count in counts:
        total = None if total is None or count is None else total + count
    return [(total, rank), (total,), (rank,)]


def _concat_samples(rng, dtype):
    first, second = example(rng, dtype), example(rng, dtype)
    return [([[first[i], second[i]] for i in range(3)], {"concat_dim": axis}) for axis in (0, 1, -1)]


@op("SparseConcat(indices: N*int64, values: N*T, shapes: N*int64; concat_dim: int, N: int >= 2) -> output_indices: "
    "int64, output_values: T, output_shape: int64", shape=_concat_shapes, host=True, samples=_concat_samples,
    grad=NOT_DIFFERENTIABLE)
def _sparse_concat(indices, values, shapes, concat_dim):
    """Sparse tensors one after the other along a dimension; their other sizes are equal."""
    rank = len(shapes[0])
    axis = concat_dim + rank if concat_dim < 0 else concat_dim
    if not 0 <= axis < rank:
        raise invalid(f"Concat dimension must be in range [{-rank}, {rank}), got {concat_dim}")
    offset, moved = 0, []
    total = np.array(shapes[0], i64)
    for i, (part, shape) in enumerate(zip(indices, shapes)):
        if len(shape) != rank:
            raise invalid(f"Ranks of all input tensors must match: expected {rank} but got {len(shape)} at position {i}")
        for j in range(rank):
            if j != axis and shape[j] != total[j]:
                raise invalid(f"Input shapes must match: expected {int(total[j])} for dimension {j} but got "
                              f"{int(shape[j])} at position {i}")
        shifted = part.copy()
        shifted[:, axis] += offset
        offset += int(shape[axis])
        moved.append(shifted)
    total[axis] = offset
    joined = np.concatenate(moved)
    order = order_of(joined)
    return joined[order], np.concatenate(values)[order], total


def _split_shapes(c: Any) -> list:
    n, rank = c.attrs["num_split"], rank_of(c, 3, 1)
    return [*[(None, rank)] * n, *[(None,)] * n, *[(rank,)] * n]


@op("SparseSplit(split_dim: int64, indices: int64, values: T, shape: int64; num_split: int >= 1) -> output_indices: "
    "num_split*int64, output_values: num_split*T, output_shape: num_split*int64", shape=_split_shapes, host=True,
    dynamic=True, samples=lambda rng, dtype: [([i64(d), *example(rng, dtype)], {"num_split": 2}) for d in (0, 1)])
def _sparse_split(split_dim, indices, values, shape, num_split):
    """Parts of a sparse tensor along a dimension; if the size is no multiple, the first ones are one larger."""
    axis = int(split_dim)
    axis = axis + len(shape) if axis < 0 else axis
    if not 0 <= axis < len(shape):
        raise invalid(f"Input split_dim should be between 0 and rank ({len(shape)}), got {int(split_dim)}")
    size = int(shape[axis])
    if not 1 <= num_split <= size:
        raise invalid(f"Input num_split should be between 1 and the splitting dimension size ({size}), got {num_split}")
    least, larger = divmod(size, num_split)
    found: tuple[list, list, list] = ([], [], [])
    begin = 0
    for i in range(num_split):
        end = begin + least + (i < larger)
        inside = (indices[:, axis] >= begin) & (indices[:, axis] < end)
        part, part_shape = indices[inside].copy(), np.array(shape, i64)
        part[:, axis] -= begin
        part_shape[axis] = end - begin
        for kept, array in zip(found, (part, values[inside], part_shape)):
            kept.append(array)
        begin = end
    return found


@op("SparseSlice(indices: int64, values: T, shape: int64, start: int64, size: int64) -> output_indices: int64, "
    "output_values: T, output_shape: int64", host=True, dynamic=True,
    shape=lambda c: [(None, rank_of(c, 2, 0)), (None,), (rank_of(c, 2, 0),)],
    samples=lambda rng, dtype: [[*example(rng, dtype), np.array([0, 1], i64), np.array([2, 9], i64)]])
def _sparse_slice(indices, values, shape, start, size):
    """The elements of a box of a sparse tensor, which may reach beyond it."""
    end = np.minimum(start + size, shape)
    inside = ((indices >= start) & (indices < end)).all(1)
    return indices[inside] - start, values[inside], np.maximum(end - start, 0).astype(i64)


def _slice_grad_samples(rng, dtype):
    from jitgraph.declare.samples import draw

    inside = np.array([[0, 1], [1, 2], [2, 0]], i64)
    return [[draw(rng, (1,), dtype), inside, np.array([1, 1], i64), np.array([[0, 1]], i64)]]


@op("SparseSliceGrad(backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64) -> "
    "val_grad: T", T=NUMBERS, shape=lambda c: (shape_rules.with_rank(c.shapes[1], 2)[0],), host=True, samples=_slice_grad_samples)
def _sparse_slice_grad(backprop_val_grad, input_indices, input_start, output_indices):
    """The gradient of SparseSlice: that of each element which is in the slice, else 0."""
    places = {tuple(row): i for i, row in enumerate((output_indices + input_start).tolist())}
    found = np.zeros(len(input_indices), backprop_val_grad.dtype)
    for i, row in enumerate(input_indices.tolist()):
        if tuple(row) in places:
            found[i] = backprop_val_grad[places[tuple(row)]]
    return found


@_sparse_slice.gradient
def _(op, _, grad, __):
    return [None, raw.SparseSliceGrad(grad, op.inputs[0], op.inputs[3], op.outputs[0]), None, None, None]


def _filled_shapes(c: Any) -> list:
    rank, count = rank_of(c, 2, 0), count_of(c, 0, 1)
    known = c.constant(2)
    rows = plain_sizes(known)[0] if shape_rules.known(known) and len(known) else None
    return [(None, rank), (None,), (rows,), (count,)]


@op("SparseFillEmptyRows(indices: int64, values: T, dense_shape: int64, default_value: T) -> output_indices: int64, "
    "output_values: T, empty_row_indicator: bool, reverse_index_map: int64", shape=_filled_shapes, host=True,
    dynamic=True,
    samples=lambda rng, dtype: [[*example(rng, dtype, (6, 4)), np.asarray(example(rng, dtype)[1][:1].reshape(()))]])
def _sparse_fill_empty_rows(indices, values, dense_shape, default_value):
    """The sparse tensor with `default_value` in column 0 of each empty row; where elements went."""
    rows = int(dense_shape[0])
    if not rows and len(indices):
        raise invalid(f"Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {len(indices)}")
    filled = with_rows_filled(indices, rows) if rows else None
    if filled is not None:
        found, position, empty = filled
        every = np.empty(len(found), values.dtype)
        every[:] = np.asarray(default_value)[()]
        every[position] = values
        return found, every, empty, position
    outside = np.flatnonzero((indices[:, 0] < 0) | (indices[:, 0] >= rows))
    if len(outside):
        raise invalid(f"indices({outside[0]}, 0) is invalid: {indices[outside[0], 0]} >= {rows}")
    empty = np.bincount(indices[:, 0], minlength=rows) == 0 if rows else np.zeros(0, bool)
    missing = np.flatnonzero(empty)
    added = np.zeros((len(missing), indices.shape[1]), i64)
    added[:, 0] = missing
    filler = np.empty(len(missing), values.dtype)
    filler[:] = np.asarray(default_value)[()]
    joined = np.concatenate([indices, added])
    order = np.argsort(joined[:, 0], kind="stable")
    position = np.empty(len(order), i64)
    position[order] = np.arange(len(order))
    return joined[order], np.concatenate([values, filler])[order], empty, position[:len(indices)]


@op("SparseFillEmptyRowsGrad(reverse_index_map: int64, grad_values: T) -> d_values: T, d_default_value: T", T=NUMBERS,
    shape=lambda c: [c.shapes[0], ()], host=True,
    samples=lambda rng, dtype: [[np.array([2, 0, 3], np.int64), draw(rng, (5,), dtype)]])
def _sparse_fill_empty_rows_grad(reverse_index_map, grad_values):
    """The gradients of the elements, and the sum of those of the added ones."""
    added = np.ones(len(grad_values), bool)
    added[reverse_index_map] = False
    return grad_values[reverse_index_map], np.sum(grad_values[added], dtype=grad_values.dtype)


@_sparse_fill_empty_rows.gradient
def _(op, _, grad, __, ___):
    of_values, of_default = raw.SparseFillEmptyRowsGrad(op.outputs[3], grad)
    return [None, of_values, None, of_default]
