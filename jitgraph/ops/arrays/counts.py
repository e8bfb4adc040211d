"""Counting: bincount, histograms, buckets, confusion matrices."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.host_code import HostCode, contiguous
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import INDEX, NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes
from jitgraph.graph.dtypes import TypeSet, as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.elementwise.arithmetic import equal, maximum, minimum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.reduce.reductions import reduce_max

_COUNTED = TypeSet(dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


def _sized(c: Any, index: int) -> Any:
    size = c.constant(index)
    return (size.item(),) if shape_rules.known(size) else (None,)


@op("Bincount(arr: int32, size: int32, weights: T) -> bins: T", T=_COUNTED, shape=lambda c: _sized(c, 1), host=True, dynamic=True,
    samples=lambda rng, dtype: [[np.array([1, 3, 1], np.int32), np.int32(4), np.array([], dtype)],
                                [np.array([[1, 3, 9]], np.int32), np.int32(4), np.array([[2, 3, 4]], dtype)]])
def _bincount(arr, size, weights):
    """How often each number below `size` occurs in `arr`, or the sum of their `weights` if there are any."""
    if np.any(arr < 0):
        raise invalid("Input arr must be non-negative!")
    if weights.size and weights.shape != arr.shape:
        raise invalid(f"Weights and arr must have the same shape: {list(weights.shape)} vs. {list(arr.shape)}")
    inside = arr < size
    if not weights.size:
        return np.bincount(arr[inside], minlength=int(size)).astype(weights.dtype)
    bins = np.zeros(int(size), weights.dtype)
    np.add.at(bins, arr[inside], weights[inside])
    return bins


def _dense_sizes(c: Any) -> Any:
    shape = c.shapes[0]
    return None if shape is None else (*shape[:-1], *_sized(c, 1))


@op("DenseBincount(input: Tidx, size: Tidx, weights: T; binary_output: bool = False) -> output: T", T=_COUNTED, host=True,
    Tidx=INDEX, shape=_dense_sizes, grad=NOT_DIFFERENTIABLE, dynamic=True,
    samples=lambda rng, dtype: [[np.array([1, 3, 1], np.int32), np.int32(4), np.array([], dtype)],
                                ([np.array([[1, 3], [2, 2]], np.int32), np.int32(4), np.array([], dtype)],
                                 {"binary_output": True})], origin="TensorFlow 2")
def _dense_bincount(input, size, weights, binary_output):
    """For a vector, or each row of a matrix, how often each number below `size` occurs (or the sum of its weights)."""
    if np.any(input < 0):
        raise invalid("Input arr must be non-negative!")
    if weights.size and weights.shape != input.shape:
        raise invalid(f"Weights and arr must have the same shape: {list(weights.shape)} vs. {list(input.shape)}")
    bins = np.zeros((*input.shape[:-1], int(size)), weights.dtype)
    places = np.nonzero(input < size)
    where = (*places[:-1], input[places])
    if binary_output:
        bins[where] = 1
    else:
        np.add.at(bins, where, weights[places] if weights.size else 1)
    return bins


def bincount(arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None,
             dtype: Any = dtypes.int32) -> Tensor:
    """How often each number occurs in the non-negative integers `arr`, or the sums of `weights` (of the same shape).

    The length is the largest number plus 1, at least `minlength`, at most `maxlength`.
    """
    return bincount_v2(arr, weights, minlength, maxlength, dtype)


def bincount_v2(arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = dtypes.int32,
                name: str | None = None) -> Tensor:
    """As ``bincount``, in a scope that can be named."""
    with name_scope("bincount" if name is None else name):
        arr = convert_to_tensor(arr, dtypes.int32, "arr")
        nonempty = raw.Prod(raw.Shape(arr), _all_of(1)) > 0
        size = cast(nonempty, dtypes.int32) * (reduce_max(arr) + 1)
        if minlength is not None:
            size = maximum(convert_to_tensor(minlength, dtypes.int32, "minlength"), size)
        if maxlength is not None:
            size = minimum(convert_to_tensor(maxlength, dtypes.int32, "maxlength"), size)
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            return raw.UnsortedSegmentSum(weights, arr, size) if maxlength is None else _bincount(arr, size, weights)
        return _bincount(arr, size, constant([], as_dtype(dtype)))


def _all_of(rank: int) -> Tensor:
    return constant(np.arange(rank, dtype=np.int32), dtypes.int32)


# x0 numbers, x1 where the first bin begins and how wide all are, y0 the counts of four tables, of zeros, y1 the places of some
# numbers; not 0: one is NaN.  Neighbours are counted in different tables: those of one table wait for one another
_HISTOGRAM = """def histogram(x0, x1, y0, y1, sizes, begin, end):
    low, step, bins = x1[0], x1[1], sizes[0]
    last = f64(bins - 1)
    for first in range(begin, end, 512):
        behind = smaller(first + 512, end)
        wrong = 0
        for i in range(first, behind):
            place = floor((f64(x0[i]) - low) / step)
            wrong = wrong | i64(place != place)
            place = select(place > last, last, place)
            y1[i - first] = i32(select(place > 0.0, place, 0.0))
        if wrong != 0:
            return 1
        count = behind - first
        for k in range(0, count & -4, 4):
            y0[i64(y1[k])] += 1
            y0[i64(y1[k + 1]) + bins] += 1
            y0[i64(y1[k + 2]) + 2 * bins] += 1
            y0[i64(y1[k + 3]) + 3 * bins] += 1
        for k in range(count & -4, count):
            y0[i64(y1[k])] += 1
    return 0
"""
_HISTOGRAMS = {np.dtype(f"{kind}{size}"): HostCode("histogram", (f"{kind}{8 * size}", "f64", "i64", "i32"), _HISTOGRAM)
               for kind in "if" for size in (4, 8)}


def _histogram_shape(c: Any) -> Any:
    shape_rules.merge(shape_rules.with_rank(c.shapes[1], 1, "value_range"), (2,))
    nbins = shape_rules.scalar_constant(c, 2, "nbins")
    if not shape_rules.known(nbins):
        return (None,)
    if not c.running and nbins <= 0:
        raise ValueError(f"Requires nbins > 0: {nbins}")
    return (nbins.item(),)


@op("HistogramFixedWidth(values: T, value_range: T, nbins: int32; dtype: type = int32) -> out: dtype", T=_COUNTED,
    dtype=INDEX, shape=_histogram_shape, host=True, dynamic=True,
    samples=lambda rng, dtype: [[np.array([-1, 0, 2, 3, 7], dtype), np.array([0, 5], dtype), np.int32(5)]])
def _histogram_fixed_width(values, value_range, nbins, dtype):
    """How many `values` fall into each of `nbins` equal parts of `value_range`; the first and last part are open."""
    if nbins <= 0:
        raise invalid(f"nbins should be a positive number, but got '{nbins}'")
    low, high = value_range
    if low >= high:
        raise invalid(f"value_range should satisfy value_range[0] < value_range[1], but got '[{low}, {high}]'")
    step = (float(high) - float(low)) / float(nbins)
    counts, loop = np.zeros((4, int(nbins)), np.int64), _HISTOGRAMS.get(values.dtype)
    given = contiguous(values), np.array([low, step]), counts, np.empty(512, np.int32)
    if loop is not None and loop(*given, sizes=(int(nbins),), end=values.size) == 0:
        return counts.sum(0).astype(dtype.as_numpy_dtype)
    wide = np.clip(np.floor((values.astype(np.float64) - low) / step), 0, nbins - 1).astype(np.int64)
    return np.bincount(wide.ravel(), minlength=int(nbins)).astype(dtype.as_numpy_dtype)


def histogram_fixed_width(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32,
                          name: str | None = None) -> Tensor:
    """How many `values` fall into each of `nbins` equal parts of `value_range`; the first and last part are open."""
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as scope:
        return _histogram_fixed_width(values, value_range, nbins, dtype=as_dtype(dtype), name=scope)


def histogram_fixed_width_bins(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32,
                               name: str | None = None) -> Tensor:
    """For each of `values` the part of ``histogram_fixed_width`` that it falls into, as int32 whatever `dtype` says."""
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        shape = raw.Shape(values)
        values = raw.Reshape(values, [-1])
        value_range = convert_to_tensor(value_range, name="value_range")
        nbins = convert_to_tensor(nbins, dtypes.int32, "nbins")
        real = cast(nbins, values.dtype.base_dtype)
        scaled = (values - value_range[0]) / (value_range[1] - value_range[0])
        places = cast(raw.Floor(real * scaled), dtypes.int32)
        return raw.Reshape(maximum(minimum(places, nbins - 1), 0), shape)


@op("Bucketize(input: T; boundaries: list(float)) -> output: int32", T=_COUNTED, shape=shape_rules.same_as_input, host=True,
    samples=lambda rng, dtype: [([draw(rng, (2, 3), dtype)], {"boundaries": [-1.0, 0.0, 2.0]})])
def _bucketize(input, boundaries):
    """For each element how many of the sorted `boundaries` are not larger than it."""
    if any(a > b for a, b in zip(boundaries, boundaries[1:])):
        raise invalid("Expected sorted boundaries")
    return np.searchsorted(np.asarray(boundaries, np.float32), input, "right").astype(np.int32)


def _matching(labels: Tensor, predictions: Tensor) -> tuple[Tensor, Tensor]:
    """Labels and predictions with equal ranks: a last dimension of size 1 is removed from the one of higher rank."""
    ranks = [None if t._shape is None else len(t._shape) for t in (labels, predictions)]
    if None not in ranks:
        if ranks[0] == ranks[1] + 1:        # type: ignore[operator]
            return raw.Squeeze(labels, squeeze_dims=[-1]), predictions
        if ranks[1] == ranks[0] + 1:        # type: ignore[operator]
            return labels, raw.Squeeze(predictions, squeeze_dims=[-1])
    return labels, predictions


def _checked_labels(values: Tensor, num_classes: Any, what: str) -> Tensor:
    from jitgraph.control.order_ops import with_dependencies
    from jitgraph.ops.checks.check_values import assert_less, assert_non_negative

    if num_classes is None:
        check = assert_non_negative(values, message=f"`{what}` contains negative values")
    else:
        check = assert_less(values, num_classes, message=f"`{what}` out of bound")
    return with_dependencies([check], values)


def confusion_matrix(labels: Any, predictions: Any, num_classes: Any = None, dtype: Any = dtypes.int32,
                     name: str | None = None, weights: Any = None) -> Tensor:
    """How often class i (row, from `labels`) was predicted as class j (column): [num_classes, num_classes].

    `weights` count instead of ones.  Labels that are negative, or not below `num_classes`, raise InvalidArgumentError.
    """
    with name_scope(name, "confusion_matrix", [labels, predictions, num_classes, weights]):
        labels, predictions = _matching(convert_to_tensor(labels, name="labels"),
                                        convert_to_tensor(predictions, name="predictions"))
        predictions, labels = cast(predictions, dtypes.int64), cast(labels, dtypes.int64)
        labels = _checked_labels(labels, None, "labels")
        predictions = _checked_labels(predictions, None, "predictions")
        if num_classes is None:
            count = maximum(reduce_max(predictions), reduce_max(labels)) + 1
        else:
            count = cast(convert_to_tensor(num_classes), dtypes.int64)
            labels = _checked_labels(labels, count, "labels")
            predictions = _checked_labels(predictions, count, "predictions")
        dtype = as_dtype(dtype)
        count_nodes(4 if weights is None else 3)        # TensorFlow adds a sparse matrix to zeros, and its result is named so
        ones = raw.Cast(equal(labels, labels), DstT=dtype) if weights is None else cast(weights, dtype)
        pairs = raw.Pack([labels, predictions], axis=1)
        return raw.ScatterNd(pairs, ones, raw.Pack([count, count]), name="SparseTensorDenseAdd")
