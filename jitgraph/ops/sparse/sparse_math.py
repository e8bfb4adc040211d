"""Arithmetic with sparse tensors: sums, products with dense tensors, reductions, softmax."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import FLOATS, NOT_DIFFERENTIABLE, NUMBERS, REALS, TypeSet, op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.ops.arrays.shape import plain_sizes
from jitgraph.ops.elementwise.complex_numbers import conj
from jitgraph.ops.sparse.structure_ops import count_of, example, linear, rank_of

i64 = np.int64
_INDICES = TypeSet(dtypes.int32, dtypes.int64)


def _merged(a_indices: np.ndarray, b_indices: np.ndarray, shape: Any) -> tuple:
    """The union of two sets of indices in row-major order, and where the rows of each are in it."""
    places = np.concatenate([linear(a_indices, shape), linear(b_indices, shape)])
    _, first, inverse = np.unique(places, return_index=True, return_inverse=True)
    inverse = np.ravel(inverse)
    union = np.concatenate([a_indices, b_indices])[first]
    return union, inverse[:len(a_indices)], inverse[len(a_indices):]


def _check_equal_shapes(a_shape: np.ndarray, b_shape: np.ndarray) -> None:
    if len(a_shape) != len(b_shape):
        raise invalid(f"Ranks of input tensors must match, but saw ranks: {len(a_shape)} and {len(b_shape)}")
    if (a_shape != b_shape).any():
        i = int(np.argmax(a_shape != b_shape))
        raise invalid(f"Input shapes must match: got {int(a_shape[i])} and {int(b_shape[i])} for dimension {i}")


def _pair_samples(rng, dtype):
    return [[*example(rng, dtype), *example(rng, dtype)]]


# -- sparse and sparse -------------------------------------------------------------------------------------------------

def _sum_shapes(c: Any) -> list:
    rank = shape_rules.merge_sizes(rank_of(c, 2, 0), rank_of(c, 5, 3))
    return [(None, rank), (None,), (rank,)]


@op("SparseAdd(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64, thresh: "
    "Treal) -> sum_indices: int64, sum_values: T, sum_shape: int64", T=NUMBERS, Treal=REALS, shape=_sum_shapes, host=True,
    dynamic=True, samples=lambda rng, dtype: [[*pair, np.abs(np.zeros((), dtype))] for pair in _pair_samples(rng, dtype)])
def _sparse_add(a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh):
    """The sum of two sparse tensors; where both have an element, it is left out if its absolute value is below `thresh`."""
    _check_equal_shapes(a_shape, b_shape)
    union, of_a, of_b = _merged(a_indices, b_indices, a_shape)
    total = np.zeros(len(union), a_values.dtype)
    np.add.at(total, of_a, a_values)
    np.add.at(total, of_b, b_values)
    shared = np.bincount(np.concatenate([of_a, of_b]), minlength=len(union)) > 1
    kept = ~shared | (np.abs(total) >= thresh)
    return union[kept], total[kept], a_shape


@op("SparseAddGrad(backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64) -> a_val_grad: T, "
    "b_val_grad: T", T=NUMBERS, host=True, grad=NOT_DIFFERENTIABLE,
    shape=lambda c: [(shape_rules.with_rank(c.shapes[i], 2)[0],) for i in (1, 2)],
    samples=lambda rng, dtype: [[draw(rng, (3,), dtype), *(np.array(at, np.int64) for at in ([[0, 1], [2, 0]], [[0, 1], [1, 1]],
                                                                                             [[0, 1], [1, 1], [2, 0]]))]])
def _sparse_add_grad(backprop_val_grad, a_indices, b_indices, sum_indices):
    """The gradients of SparseAdd: that of the sum at the same index, 0 where the sum has no element."""
    places = {tuple(row): i for i, row in enumerate(sum_indices.tolist())}

    def taken(indices: np.ndarray) -> np.ndarray:
        found = np.zeros(len(indices), backprop_val_grad.dtype)
        for i, row in enumerate(indices.tolist()):
            if tuple(row) in places:
                found[i] = backprop_val_grad[places[tuple(row)]]
        return found

    return taken(a_indices), taken(b_indices)


@_sparse_add.gradient
def _(op, _, grad, __):
    of_a, of_b = raw.SparseAddGrad(grad, op.inputs[0], op.inputs[3], op.outputs[0])
    return [None, of_a, None, None, of_b, None, None]


def _extreme_samples(rng: Any, dtype: Any) -> list:
    a, b = (np.array(rows, np.int64) for rows in ([[0, 1], [2, 0]], [[0, 1], [1, 1]]))
    shape = np.array([3, 2], np.int64)
    return [[a, draw(rng, (2,), dtype), shape, b, draw(rng, (2,), dtype), shape]]


def _extreme(name: str, function: Any, types: Any) -> Any:
    def value(a_indices, a_values, a_shape, b_indices, b_values, b_shape):
        _check_equal_shapes(a_shape, b_shape)
        union, of_a, of_b = _merged(a_indices, b_indices, a_shape)
        first, second = np.zeros((2, len(union)), a_values.dtype)
        first[of_a], second[of_b] = a_values, b_values
        return union, function(first, second)

    def gradient(op, *grads):
        raise NotImplementedError(f"Gradient for {name} is currently not implemented yet.")

    value.__name__ = "_" + name
    value.__doc__ = f"The {function.__name__} of two sparse tensors, element by element, missing ones being 0."
    return op(f"{name}(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64) -> "
              "output_indices: int64, output_values: T", T=types, shape=lambda c: _sum_shapes(c)[:2], host=True,
              dynamic=True, grad=gradient, gradient_differs="refused, as in TensorFlow", samples=_extreme_samples)(value)


_maximum = _extreme("SparseSparseMaximum", np.maximum, REALS)
_minimum = _extreme("SparseSparseMinimum", np.minimum, NUMBERS)


# -- sparse and dense --------------------------------------------------------------------------------------------------

@op("SparseTensorDenseAdd(a_indices: Tindices, a_values: T, a_shape: Tindices, b: T) -> output: T", T=NUMBERS,
    Tindices=_INDICES, host=True, shape=lambda c: c.shapes[3],
    samples=lambda rng, dtype: [[*example(rng, dtype), draw(rng, (3, 4), dtype)]])
def _sparse_tensor_dense_add(a_indices, a_values, a_shape, b):
    """The sum of a sparse and a dense tensor, dense."""
    if len(a_shape) != b.ndim:
        raise invalid("Two operands have different dimensions; received: "
                      f"{len(a_shape)} and {b.ndim}")
    if list(a_shape) != list(b.shape):
        raise invalid(f"Dimensions do not equal (is it a broadcast?): {list(map(int, a_shape))} and {list(b.shape)}")
    found = b.copy()
    np.add.at(found, tuple(a_indices.T), a_values)
    return found


@_sparse_tensor_dense_add.gradient
def _(op, grad):
    return [None, raw.GatherNd(grad, op.inputs[0]), None, grad]


def _product_shape(c: Any) -> Any:
    adjoint_a, adjoint_b = c.attrs["adjoint_a"], c.attrs["adjoint_b"]
    count_of(c, 0, 1)
    shape_rules.merge_sizes(shape_rules.with_rank(c.shapes[0], 2, "a_indices")[1], 2)
    a: Any = shape_rules.shape_from(c, 2)
    a = shape_rules.with_rank(a, 2, "a_shape")
    b = shape_rules.with_rank(c.shapes[3], 2, "b")
    inner, outer = (a[0], a[1]) if adjoint_a else (a[1], a[0])
    rows, columns = (b[1], b[0]) if adjoint_b else b
    shape_rules.merge_sizes(inner, rows)
    return (outer, columns)


def _lower_product(b: Any, indices: Any, values: Any, shape: Any, dense: Any, adjoint_a: bool, adjoint_b: bool) -> Any:
    if shape.constant is None or indices.shape[0] is None:
        return NotImplemented
    count, conj_of = indices.shape[0], prim.conj if values.dtype.is_complex else lambda v: v
    rows, columns = (b.reshape(b.slice(indices, [0, i], [count, 1], [1, 1]), (count,)) for i in (0, 1))
    outer = plain_sizes(shape.constant)[1 if adjoint_a else 0]
    if adjoint_a:
        rows, columns, values = columns, rows, conj_of(values)
    if adjoint_b:
        dense = conj_of(b.transpose(dense, [1, 0]))
    parts = b.reshape(values, (count, 1)) * b.gather(dense, columns, 0)
    return b.scatter("add", (outer, dense.shape[1]), rows, parts)


def _product_samples(rng, dtype):
    found = []
    for adjoint_a in (False, True):
        for adjoint_b in (False, True):
            dense = draw(rng, (3 if adjoint_a else 4, 2), dtype)
            found.append(([*example(rng, dtype), dense.T.copy() if adjoint_b else dense],
                          {"adjoint_a": adjoint_a, "adjoint_b": adjoint_b}))
    return found


@op("SparseTensorDenseMatMul(a_indices: Tindices, a_values: T, a_shape: int64, b: T; adjoint_a: bool = False, adjoint_b: "
    "bool = False) -> product: T", Tindices=TypeSet(dtypes.int64, dtypes.int32, default=dtypes.int64), checks=True,
    T=TypeSet(dtypes.float32, dtypes.float64, dtypes.bfloat16, dtypes.int32, dtypes.complex64, dtypes.complex128),
    shape=_product_shape, lower=_lower_product, samples=_product_samples)
def _sparse_tensor_dense_mat_mul(a_indices, a_values, a_shape, b, adjoint_a, adjoint_b):
    """The product of a sparse and a dense matrix, either of them transposed and conjugated first if asked for."""
    if len(a_shape) != 2 or b.ndim != 2:
        raise invalid(f"Tensor 'a_shape' must have 2 elements and 'b' be a matrix, got {len(a_shape)} and rank {b.ndim}")
    dense = np.conj(b.T) if adjoint_b else b
    rows, columns = a_indices[:, 0], a_indices[:, 1]
    values = np.conj(a_values) if adjoint_a else a_values
    sizes = (int(a_shape[0]), int(a_shape[1]))
    if adjoint_a:
        rows, columns, sizes = columns, rows, sizes[::-1]
    if sizes[1] != dense.shape[0]:
        raise invalid(f"Cannot multiply A and B because inner dimension does not match: {sizes[1]} vs. "
                      f"{dense.shape[0]}.  Did you forget a transpose?  Dimensions of A: [{int(a_shape[0])}, "
                      f"{int(a_shape[1])}).  Dimensions of B: {list(b.shape)}")
    for which, place, size in (("m", rows, sizes[0]), ("k", columns, sizes[1])):
        outside = np.flatnonzero((place < 0) | (place >= size))
        if len(outside):
            raise invalid(f"{which} ({int(place[outside[0]])}) from index[{outside[0]},{0 if which == 'm' else 1}] out of "
                          f"bounds (>={size})")
    found = np.zeros((sizes[0], dense.shape[1]), b.dtype if b.dtype.itemsize > 2 else np.float32)
    np.add.at(found, rows, values[:, None] * dense[columns])
    return found.astype(b.dtype, copy=False)


@_sparse_tensor_dense_mat_mul.gradient
def _(op, grad):
    indices, values, shape, b = op.inputs
    adjoint_a, adjoint_b = op.get_attr("adjoint_a"), op.get_attr("adjoint_b")
    of_b = raw.SparseTensorDenseMatMul(indices, values, shape, grad, adjoint_a=not adjoint_a)
    rows, columns = indices[:, 0], indices[:, 1]
    if adjoint_a:
        rows, columns = columns, rows
    turned = raw.Transpose(b, [1, 0]) if adjoint_b else conj(b)
    of_values = raw.Sum(raw.GatherV2(grad, rows, 0) * raw.GatherV2(turned, columns, 0), [1])
    if adjoint_b:
        of_b = conj(raw.Transpose(of_b, [1, 0]))
    return [None, conj(of_values) if adjoint_a else of_values, None, of_b]


def _dense_at(indices: np.ndarray, shape: np.ndarray, dense: np.ndarray) -> np.ndarray:
    """The elements of a dense tensor, broadcast to a sparse one, at the indices of that."""
    rank, lead = len(shape), len(shape) - dense.ndim
    fits = lead >= 0 and all(d in (1, int(s)) for d, s in zip(dense.shape, shape[max(lead, 0):]))
    if not fits:
        raise invalid("SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: "
                      f"{list(map(int, shape))} vs. {list(dense.shape)}")
    columns = tuple(indices[:, i] if dense.shape[i - lead] > 1 else np.zeros(len(indices), i64)
                    for i in range(lead, rank))
    return dense[columns] if columns else np.full(len(indices), dense[()], dense.dtype)


def _cwise(name: str, function: Callable, word: str) -> Any:
    def value(sp_indices, sp_values, sp_shape, dense):
        with np.errstate(all="ignore"):
            return function(sp_values, _dense_at(sp_indices, sp_shape, dense)).astype(sp_values.dtype, copy=False)

    value.__name__ = "_" + name
    value.__doc__ = f"The elements of a sparse tensor {word} those of a dense one, which broadcasts to it."
    return op(f"{name}(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> output: T", T=NUMBERS, host=True,
              host_because="one element for each that there is: 10,000 of 1000 x 1000 take 0.31 of TensorFlow's time",
              shape=lambda c: c.shapes[1],
              samples=lambda rng, dtype: [[*example(rng, dtype), draw(rng, shape, dtype, 1, 3)]
                                          for shape in ((3, 4), (4,), (3, 1), ())])(value)


def _quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind not in "iu":
        return x / y
    if (y == 0).any():
        raise invalid("Integer division by zero")

    return prim.trunc_div(x, y)


_cwise_add = _cwise("SparseDenseCwiseAdd", np.add, "plus")
_cwise_mul = _cwise("SparseDenseCwiseMul", np.multiply, "times")
_cwise_div = _cwise("SparseDenseCwiseDiv", _quotient, "over")


def _at(op: Any) -> tuple:
    """The elements of the dense tensor at the sparse indices, and those indices in its own shape."""
    indices, _, shape, dense = op.inputs
    own = raw.Cast(raw.Shape(dense), DstT=dtypes.int64)
    lead = raw.ExpandDims(raw.Size(shape) - raw.Size(own), 0)
    sizes = raw.ConcatV2([raw.Cast(raw.Fill(lead, 1), DstT=dtypes.int64), own], 0)
    scaled = raw.FloorDiv(indices, raw.FloorDiv(shape, sizes))
    scaled = raw.Slice(scaled, raw.ConcatV2([[0], lead], 0), [-1, -1])
    return raw.GatherNd(dense, scaled), scaled, own


@_cwise_add.gradient
def _(op, grad):
    _, scaled, own = _at(op)
    return [None, grad, None, raw.ScatterNd(scaled, grad, own)]


@_cwise_mul.gradient
def _(op, grad):
    dense, scaled, own = _at(op)
    return [None, grad * conj(dense), None, raw.ScatterNd(scaled, grad * conj(op.inputs[1]), own)]


@_cwise_div.gradient
def _(op, grad):
    dense, scaled, own = _at(op)
    of_dense = grad * conj(-op.inputs[1] / raw.Square(dense))
    return [None, grad / conj(dense), None, raw.ScatterNd(scaled, of_dense, own)]


# -- reductions --------------------------------------------------------------------------------------------------------

def _kept_axes(shape: np.ndarray, axes: np.ndarray) -> list[int]:
    rank = len(shape)
    gone = set()
    for axis in np.ravel(axes):
        if not -rank <= axis < rank:
            raise invalid(f"Invalid reduction dimension {int(axis)}, for input with {rank} dimensions.")
        gone.add(int(axis) % rank)
    return [i for i in range(rank) if i not in gone]


def _reduced(indices: np.ndarray, values: np.ndarray, shape: np.ndarray, axes: np.ndarray, combine: Any) -> tuple:
    """The kept axes, the indices along them of each group in order, and the reduced value of each group."""
    kept = _kept_axes(shape, axes)
    groups, inverse = np.unique(linear(indices[:, kept], np.asarray(shape)[kept]), return_inverse=True)
    inverse = np.ravel(inverse)
    first = np.full(len(groups), len(values))
    np.minimum.at(first, inverse, np.arange(len(values)))
    found = values[first].copy()
    others = np.ones(len(values), bool)
    others[first] = False
    combine.at(found, inverse[others], values[others])
    return kept, indices[first][:, kept], found


def _reduced_shape(c: Any) -> Any:
    shape, axes = shape_rules.shape_from(c, 2), c.constant(3)
    if shape is None or not shape_rules.known(axes):
        return None
    if any(not -len(shape) <= axis < len(shape) for axis in np.ravel(axes)):
        return None                 # refused when it runs, as TensorFlow does
    return shape_rules.reduce_shape(shape, axes, c.attrs["keep_dims"])


def _sizes(shape: np.ndarray, kept: list[int], keep_dims: bool) -> list[int]:
    if keep_dims:
        return [int(n) if i in kept else 1 for i, n in enumerate(shape)]
    return [int(shape[i]) for i in kept]


def _reduction_samples(rng, dtype):
    return [([*example(rng, dtype), np.array(axes, np.int32)], {"keep_dims": keep})
            for axes in ([0], [1], [-1], [0, 1], []) for keep in (False, True)]


_REDUCTION = "(input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32; keep_dims: bool = False)"


def _reduction(name: str, word: str, combine: Any, types: Any) -> tuple[Any, Any]:
    def dense(input_indices, input_values, input_shape, reduction_axes, keep_dims):
        kept, groups, found = _reduced(input_indices, input_values, input_shape, reduction_axes, combine)
        result = np.zeros([int(input_shape[i]) for i in kept], input_values.dtype)
        result[tuple(groups.T)] = found if kept else (found[0] if len(found) else 0)
        return result.reshape(_sizes(input_shape, kept, keep_dims))

    def sparse(input_indices, input_values, input_shape, reduction_axes, keep_dims):
        kept, groups, found = _reduced(input_indices, input_values, input_shape, reduction_axes, combine)
        if keep_dims:
            full = np.zeros((len(groups), len(input_shape)), i64)
            full[:, kept] = groups
            groups = full
        return groups.astype(i64), found, np.array(_sizes(input_shape, kept, keep_dims), i64)

    dense.__name__, sparse.__name__ = "_" + name, f"_{name}_sparse"
    dense.__doc__ = f"The {word} of the elements over some axes, dense, 0 for none."
    sparse.__doc__ = f"The {word} of the elements over some axes, sparse."
    return (op(f"{name}{_REDUCTION} -> output: T", T=types, shape=_reduced_shape, host=True,
               samples=_reduction_samples)(dense),
            op(f"{name}Sparse{_REDUCTION} -> output_indices: int64, output_values: T, output_shape: int64", T=types,
               shape=lambda c: [(None, None), (None,), (None,)], host=True, dynamic=True,
               samples=_reduction_samples)(sparse))


_reduce_sum, _reduce_sum_sparse = _reduction("SparseReduceSum", "sum", np.add, NUMBERS)
_reduce_max, _reduce_max_sparse = _reduction("SparseReduceMax", "maximum", np.fmax, REALS)


@_reduce_sum.gradient
def _(op, grad):
    """Each element gets the gradient of the sum that it went into."""
    indices, _, shape, axes = op.inputs
    sizes = raw.Cast(shape, DstT=dtypes.int32)
    rank = raw.Size(sizes)
    axes = raw.FloorMod(axes + rank, rank)
    numbers = raw.Range(0, rank, 1)
    gone = raw.Sum(raw.OneHot(axes, rank, 1, 0), [0])
    kept = raw.Select(raw.Greater(gone, 0), raw.OnesLike(numbers), sizes)
    places = indices * raw.Cast(raw.Equal(gone, 0), DstT=dtypes.int64)
    return [None, raw.GatherNd(raw.Reshape(grad, kept), places), None, None]


# -- softmax -----------------------------------------------------------------------------------------------------------

@op("SparseSoftmax(sp_indices: int64, sp_values: T, sp_shape: int64) -> output: T", host=True,
    T=FLOATS - dtypes.bfloat16 - dtypes.float16, shape=lambda c: c.shapes[1],
    samples=lambda rng, dtype: [[*example(rng, dtype)], [*example(rng, dtype, (2, 2, 3), 7)]])
def _sparse_softmax(sp_indices, sp_values, sp_shape):
    """The softmax over the elements of each row (the last axis), as if missing ones were minus infinity."""
    if sp_indices.shape[1] < 2:
        raise invalid(f"Input should have rank >= 2, but got rank {sp_indices.shape[1]}")
    _, rows = np.unique(linear(sp_indices[:, :-1], sp_shape[:-1]), return_inverse=True)
    rows = np.ravel(rows)
    count = int(rows.max()) + 1 if len(rows) else 0
    largest = np.full(count, -np.inf, sp_values.dtype)
    np.maximum.at(largest, rows, sp_values)
    powers = np.exp(sp_values - largest[rows])
    total = np.zeros(count, sp_values.dtype)
    np.add.at(total, rows, powers)
    return powers / total[rows]


@_sparse_softmax.gradient
def _(op, grad):
    indices, _, shape = op.inputs
    found = op.outputs[0]
    sums = raw.SparseReduceSum(indices, found * grad, shape, [-1], keep_dims=True)
    return [None, raw.SparseDenseCwiseAdd(indices, grad, shape, -sums) * found, None]
