"""Reductions: sums, means, products, extremes, any and all, over given axes; argmax and argmin."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.op import INDEX, NOT_DIFFERENTIABLE, NUMBERS, REALS, op
from jitgraph.declare.renamed_arguments import renamed
from jitgraph.declare.samples import draw
from jitgraph.graph import constant_rules, dtypes, shape_rules
from jitgraph.graph.constant_value import constant_value, folded_shape
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_taken, gradient_of_nodes, let_gradient_count
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import zeros_like
from jitgraph.ops.arrays.shape import all_axes
from jitgraph.ops.elementwise.arithmetic import equal, square
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.complex_numbers import conj
from jitgraph.ops.reduce.precise_sum import precise_sum
from jitgraph.ops.reduce.reduction_gradients import kept, nodes_of_mean, reduced_count, spread


def _axes(axes: Any, rank: int) -> tuple[int, ...]:
    """The axes counted from the front, each once.  Raises InvalidArgumentError for an axis that is not there."""
    found = []
    for axis in np.ravel(axes):
        if not -rank <= axis < rank:
            from jitgraph.graph.errors import InvalidArgumentError

            raise InvalidArgumentError(None, None, f"Invalid reduction dimension ({axis} for input with {rank} "
                                                   "dimension(s)")
        found.append(int(axis) % rank)
    return tuple(dict.fromkeys(found))


def _lowered(kind: str) -> Any:
    def lower(b, x, axes, keep_dims):
        if axes.constant is None:
            return NotImplemented
        axes = _axes(axes.constant, len(x.shape))
        return b.reduce(kind, x, axes, keep_dims) if axes else x

    return lower


def reduction_samples(rng: Any, dtype: Any) -> list:
    """Inputs of several ranks with one axis, several, a negative one, none, and an empty dimension."""
    x = draw(rng, (2, 3, 4), dtype)
    listed = [(x, [0, 2]), (x, [-1]), (x, 1), (x, []), (x[0, 0], [0]), (x[0, 0, 0], []), (x[:, :1], [1]),
              (x[:, :0], [1])]
    inputs = [[array, np.array(axes, np.int32)] for array, axes in listed]
    return [*inputs, *((one, {"keep_dims": True}) for one in inputs)]


_RENAMED = {"axis": "reduction_indices"}
_REDUCTION = "(input: T, reduction_indices: Tidx; keep_dims: bool = False) -> output: T"


def _wide(x: Any) -> Any:
    """Half floats are accumulated in float32 and rounded once."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x


@op("Sum" + _REDUCTION, T=NUMBERS, Tidx=INDEX, shape=shape_rules.reduced, renamed=_RENAMED, lower=_lowered("add"),
    samples=reduction_samples,
    reference=lambda x, axes, keep_dims: np.add.reduce(x, axis=tuple(np.ravel(axes)), keepdims=keep_dims),
    constant=constant_rules.by_value, symbolic=True)
def _sum(x, reduction_indices, keep_dims):
    """The sum over the axes `reduction_indices`; 0 over nothing."""
    return np.asarray(precise_sum(x, _axes(reduction_indices, x.ndim), keep_dims))


@_sum.gradient
def _(op, grad):
    return [spread(op, grad), None]


def _lower_mean(b: Any, x: Any, axes: Any, keep_dims: bool) -> Any:
    if axes.constant is None:
        return NotImplemented
    if x.dtype.is_floating and x.dtype.size == 2:       # a sum, or a count, may be beyond the largest of these
        return b.cast(_lower_mean(b, b.cast(x, dtypes.float32), axes, keep_dims), x.dtype)
    axes = _axes(axes.constant, len(x.shape))
    if not axes:
        return x
    count = shape_rules.product(x.shape[axis] for axis in axes)
    total = b.reduce("add", x, axes, keep_dims)
    divisor = b.cast(b.const(count, dtypes.int64), x.dtype)
    if not x.dtype.is_integer:
        return total / divisor
    return prim.trunc_div(total, divisor) if count != 0 else total


@op("Mean" + _REDUCTION, T=NUMBERS, Tidx=INDEX, shape=shape_rules.reduced, renamed=_RENAMED, lower=_lower_mean,
    samples=reduction_samples)
def _mean(x, reduction_indices, keep_dims):
    """The mean over the axes `reduction_indices`; NaN over nothing.

    Integers are rounded towards zero.  Their sum and their number wrap around, as TensorFlow's do.
    """
    axes = _axes(reduction_indices, x.ndim)
    wide = _wide(x)
    total = precise_sum(wide, axes, keep_dims)
    count = np.asarray(shape_rules.product(x.shape[axis] for axis in axes))
    with np.errstate(all="ignore"):
        if x.dtype.kind in "iu":
            return np.asarray(prim.trunc_div(total, count.astype(x.dtype)) if count else total)
        return np.asarray(total / count.astype(wide.dtype), x.dtype)


@_mean.gradient
@gradient_of_nodes(nodes_of_mean)
def _(op, grad):
    total = spread(op, grad)
    count = reduced_count(op)
    if isinstance(count, int):
        return [total / constant(count, total.dtype.base_dtype), None]
    return [total / cast(count, total.dtype.base_dtype), None]


@op("Prod" + _REDUCTION, T=NUMBERS, Tidx=INDEX, shape=shape_rules.reduced, renamed=_RENAMED, lower=_lowered("mul"),
    samples=reduction_samples,
    reference=lambda x, axes, keep_dims: np.multiply.reduce(x, axis=tuple(np.ravel(axes)), keepdims=keep_dims),
    constant=constant_rules.by_value, symbolic=True)
def _prod(x, reduction_indices, keep_dims):
    """The product over the axes `reduction_indices`; 1 over nothing."""
    wide = _wide(x)
    total = np.prod(wide, axis=_axes(reduction_indices, x.ndim), keepdims=keep_dims, dtype=wide.dtype)
    return np.asarray(total, x.dtype)


@_prod.gradient
@gradient_of_nodes(49)
def _(op, grad):
    from jitgraph.ops.reduce.reduction_gradients import others_product

    found = spread(op, grad) * others_product(op)
    found.set_shape(folded_shape(op.inputs[0]))
    return [found, None]


def extreme(dtype: Any, largest: bool) -> Any:
    """The value that any other exceeds (or falls below): the maximum (minimum) over nothing."""
    found = dtypes.as_dtype(dtype)
    if found.is_floating:
        return -np.inf if largest else np.inf
    return found.min if largest else found.max


def counted(x: np.ndarray, largest: bool) -> np.ndarray:
    """x without what does not count among the largest (smallest) elements: NaN."""
    unordered = x != x
    return np.where(unordered, np.asarray(extreme(x.dtype, largest), x.dtype), x) if unordered.any() else x


def _extreme_value(function: Any, largest: bool) -> Any:
    def value(x, reduction_indices, keep_dims):
        axes = _axes(reduction_indices, x.ndim)
        if x.size == 0:
            shape = np.sum(np.zeros(x.shape, bool), axis=axes, keepdims=keep_dims).shape
            return np.full(shape, extreme(x.dtype, largest), x.dtype)
        if all(x.shape[axis] == 1 for axis in axes):
            return (x if keep_dims else np.squeeze(x, axes)).copy()
        return np.asarray(function.reduce(counted(x, largest), axis=axes, keepdims=keep_dims), x.dtype)

    return value


def _lowered_extreme(kind: str) -> Any:
    """NaN is left out, but of one element alone there is nothing to choose: it is the extreme, NaN or not."""
    def lower(b, x, axes, keep_dims):
        if axes.constant is None:
            return NotImplemented
        found = _axes(axes.constant, len(x.shape))
        if x.dtype.is_floating and all(x.shape[axis] == 1 for axis in found):
            return b.reshape(x, [d for axis, d in enumerate(x.shape) if keep_dims or axis not in found])
        return b.reduce(kind, x, found, keep_dims)

    return lower


@gradient_of_nodes(19)
def _extreme_gradient(op: Any, grad: Any) -> list:
    """The gradient is shared equally among the elements that attain the extreme."""
    x, axes = op.inputs
    if not x.shape.is_fully_defined() and constant_value(axes) is not None:
        count_taken(x, shapes=True)
    y, grad = kept(op, op.outputs[0]), kept(op, grad)
    attained = cast(equal(y, x), grad.dtype.base_dtype)
    number = kept(op, raw.Sum(attained, axes, keep_dims=op.attrs["keep_dims"]))
    found = attained / number * grad
    if op.attrs["keep_dims"]:
        let_gradient_count(found, 2)        # TensorFlow reshapes the gradient then, too
    return [found, None]


@op("Max" + _REDUCTION, T=REALS, Tidx=INDEX, shape=shape_rules.reduced, renamed=_RENAMED, lower=_lowered_extreme("max"),
    grad=_extreme_gradient, samples=reduction_samples, constant=constant_rules.by_value, symbolic=True)
def _max(x, reduction_indices, keep_dims):
    """The largest element along the axes `reduction_indices`, NaN left out among several; over nothing the dtype's lowest."""
    return _extreme_value(np.maximum, True)(x, reduction_indices, keep_dims)


@op("Min" + _REDUCTION, T=REALS, Tidx=INDEX, shape=shape_rules.reduced, renamed=_RENAMED, lower=_lowered_extreme("min"),
    grad=_extreme_gradient, samples=reduction_samples, constant=constant_rules.by_value, symbolic=True)
def _min(x, reduction_indices, keep_dims):
    """The smallest element along the axes `reduction_indices`, NaN left out among several; over nothing the dtype's highest."""
    return _extreme_value(np.minimum, False)(x, reduction_indices, keep_dims)


_LOGICAL = "(input: bool, reduction_indices: Tidx; keep_dims: bool = False) -> output: bool"


@op("All" + _LOGICAL, Tidx=INDEX, shape=shape_rules.reduced, renamed=_RENAMED, lower=_lowered("and"),
    samples=lambda rng, dtype: reduction_samples(rng, bool), constant=constant_rules.by_value)
def _all(x, reduction_indices, keep_dims):
    """Whether all elements along the axes are true; true over nothing."""
    return np.asarray(np.all(x, axis=_axes(reduction_indices, x.ndim), keepdims=keep_dims))


@op("Any" + _LOGICAL, Tidx=INDEX, shape=shape_rules.reduced, renamed=_RENAMED, lower=_lowered("or"),
    samples=lambda rng, dtype: reduction_samples(rng, bool), constant=constant_rules.by_value)
def _any(x, reduction_indices, keep_dims):
    """Whether some element along the axes is true; false over nothing."""
    return np.asarray(np.any(x, axis=_axes(reduction_indices, x.ndim), keepdims=keep_dims))


@op("EuclideanNorm" + _REDUCTION, T=NUMBERS, Tidx=INDEX, shape=shape_rules.reduced, renamed=_RENAMED, samples=reduction_samples,
    grad=NOT_DIFFERENTIABLE, lower=lambda b, x, axes, keep_dims: _lower_norm(b, x, axes, keep_dims))
def _euclidean_norm(x, reduction_indices, keep_dims):
    """The square root of the sum of squares over the axes `reduction_indices`; one element alone keeps its sign."""
    axes = _axes(reduction_indices, x.ndim)
    if all(x.shape[axis] == 1 for axis in axes):
        return np.array(x if keep_dims else np.squeeze(x, axes))
    wide = _wide(x)
    squares = np.abs(wide) ** 2 if wide.dtype.kind == "c" else wide * wide
    total = precise_sum(squares, axes, keep_dims)
    return np.asarray(np.sqrt(total), x.dtype)


def _lower_norm(b: Any, x: Any, axes: Any, keep_dims: bool) -> Any:
    if x.dtype.is_integer or axes.constant is None:
        return NotImplemented
    if not any(isinstance(x.shape[axis], int) and x.shape[axis] > 1 for axis in _axes(axes.constant, len(x.shape))):
        return NotImplemented           # one element alone is left as it is, which only the run may tell
    total = _lowered("add")(b, x * (prim.conj(x) if x.dtype.is_complex else x), axes, keep_dims)
    return total if total is NotImplemented else prim.sqrt(total)


# -- the place of the extreme ------------------------------------------------------------------------------------------

def _place_samples(rng, dtype):
    x = draw(rng, (3, 4), dtype, 0, 2)
    return [[x, np.int32(0)], [x, np.int32(-1)], [x[0], np.int32(0)], [x[:0], np.int32(1)]]


def _lower_place(kind: str) -> Any:
    def lower(b, x, dimension, output_type):
        if dimension.constant is None:
            return NotImplemented
        axis, = _axes(dimension.constant, len(x.shape))
        if x.shape[axis] == 0:
            return NotImplemented       # the NumPy meaning says so
        place = b.reduce(kind, x, (axis,), False)
        return place if output_type is dtypes.int64 else b.cast(place, output_type)

    return lower


def _place(function: Any, x: Any, dimension: Any, output_type: Any) -> Any:
    from jitgraph.graph.errors import InvalidArgumentError

    if not -x.ndim <= dimension < x.ndim:
        raise InvalidArgumentError(None, None, f"Expected dimension in the range [{-x.ndim}, {x.ndim}), but got "
                                               f"{int(dimension)}")
    if x.shape[int(dimension)] == 0:
        raise InvalidArgumentError(None, None, f"Reduction axis {int(dimension)} is empty in shape {shape_rules.brackets(x.shape)}")
    if x.dtype.kind != "c":
        x = counted(x, function is np.argmax)
    return np.asarray(function(x, axis=int(dimension)), output_type.as_numpy_dtype)


_PLACE = "(input: T, dimension: Tidx; output_type: type = int64) -> output: output_type"


@op("ArgMax" + _PLACE, T=NUMBERS, Tidx=INDEX, output_type=INDEX.with_default(dtypes.int64),
    shape=shape_rules.one_axis_removed, lower=_lower_place("argmax"), grad=NOT_DIFFERENTIABLE, samples=_place_samples,
    checks=True, constant=constant_rules.by_value)
def _argmax(x, dimension, output_type):
    """The index of the largest element along `dimension`, the first if there are several."""
    return _place(np.argmax, x, dimension, output_type)


@op("ArgMin" + _PLACE, T=NUMBERS, Tidx=INDEX, output_type=INDEX.with_default(dtypes.int64),
    shape=shape_rules.one_axis_removed, lower=_lower_place("argmin"), grad=NOT_DIFFERENTIABLE, samples=_place_samples,
    checks=True, constant=constant_rules.by_value)
def _argmin(x, dimension, output_type):
    """The index of the smallest element along `dimension`, the first if there are several."""
    return _place(np.argmin, x, dimension, output_type)


def argmax(input: Any, axis: Any = None, name: str | None = None, dimension: Any = None,
           output_type: Any = dtypes.int64) -> Tensor:
    """The index of the largest element along `axis` (0 if not given), the first if there are several."""
    axis = renamed("axis", axis, "dimension", dimension)
    return _argmax(input, 0 if axis is None else axis, output_type=output_type, name=name)


def argmin(input: Any, axis: Any = None, name: str | None = None, dimension: Any = None,
           output_type: Any = dtypes.int64) -> Tensor:
    """The index of the smallest element along `axis` (0 if not given), the first if there are several."""
    axis = renamed("axis", axis, "dimension", dimension)
    return _argmin(input, 0 if axis is None else axis, output_type=output_type, name=name)


arg_max, arg_min = _argmax, _argmin


# -- public reductions -------------------------------------------------------------------------------------------------

def reduce_with(builder: Any, input_tensor: Any, axis: Any, keepdims: Any, name: str | None) -> Tensor:
    """Applies a reduction op over `axis`, which is None (all axes), a number, a list or a tensor."""
    whole = axis is None
    if axis is None:
        axis = all_axes(input_tensor)
    result = builder(input_tensor, axis, keep_dims=bool(keepdims), name=name)
    if whole and not keepdims and result._shape is None:
        result.set_shape(())
    return result


def _reduction(builder: Any, function_name: str, text: str) -> Any:
    def function(input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None,
                 reduction_indices: Any = None, keep_dims: Any = None) -> Tensor:
        axis = renamed("axis", axis, "reduction_indices", reduction_indices)
        keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
        return reduce_with(builder, input_tensor, axis, keepdims, name)

    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = (f"{text} over `axis`: a number, a list, or None for all axes.\n\n"
                        "    With `keepdims` the reduced axes stay with size 1.  (`reduction_indices` and `keep_dims` "
                        "are older\n    names.)  Raises ValueError if an axis is not there.\n    ")
    return function


reduce_sum = _reduction(_sum, "reduce_sum", "The sum")
reduce_mean = _reduction(_mean, "reduce_mean", "The mean (of integers: rounded towards zero)")
reduce_prod = _reduction(_prod, "reduce_prod", "The product")
reduce_max = _reduction(_max, "reduce_max", "The largest element")
reduce_min = _reduction(_min, "reduce_min", "The smallest element")
reduce_all = _reduction(_all, "reduce_all", "Whether all elements are true")
reduce_any = _reduction(_any, "reduce_any", "Whether some element is true")


def reduce_logsumexp(input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None,
                     reduction_indices: Any = None, keep_dims: Any = None) -> Tensor:
    """``log(sum(exp(x)))`` over `axis`, without overflow."""
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "ReduceLogSumExp", [input_tensor]):
        x = convert_to_tensor(input_tensor, name="input_tensor")
        largest = reduce_max(x, axis, keepdims=True)
        # where the largest is infinite, subtracting it would give NaN
        shift = raw.StopGradient(raw.Select(raw.IsFinite(largest), largest, zeros_like(largest)))
        total = raw.Log(reduce_sum(raw.Exp(raw.Sub(x, shift)), axis, keepdims=keepdims))
        if not keepdims:
            shift = raw.Reshape(shift, _shape_of(total))
        return raw.Add(total, shift)


def _shape_of(x: Tensor) -> Any:
    if x._shape is not None and None not in x._shape:
        return constant(np.array(x._shape, np.int32), dtypes.int32, name="Shape")
    return raw.Shape(x)


def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The mean squared distance from the mean, over `axis`; of int32 and int64 all in integers, others raise TypeError."""
    with name_scope(name or "reduce_variance"):
        means = reduce_mean(input_tensor, axis=axis, keepdims=True)
        difference = input_tensor - means
        squared = raw.Mul(difference, conj(difference)) if difference.dtype.is_complex else square(difference)
        return reduce_mean(squared, axis=axis, keepdims=keepdims)


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The standard deviation over `axis`.  Raises TypeError for integers."""
    with name_scope(name or "reduce_std"):
        return raw.Sqrt(reduce_variance(input_tensor, axis=axis, keepdims=keepdims))


def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False,
                          name: str | None = None) -> Tensor:
    """The square root of the sum of squares over `axis`."""
    return reduce_with(_euclidean_norm, input_tensor, axis, keepdims, name)


def count_nonzero(input_tensor: Any = None, axis: Any = None, keepdims: Any = None, dtype: Any = dtypes.int64,
                  name: str | None = None, reduction_indices: Any = None, keep_dims: Any = None,
                  input: Any = None) -> Tensor:
    """The number of elements that are not 0 (not "" for strings), over `axis`, as `dtype`."""
    keepdims = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    input_tensor = renamed("input_tensor", input_tensor, "input", input)
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    with name_scope(name, "count_nonzero", [input_tensor]):
        x = convert_to_tensor(input_tensor, name="input")
        zero = "" if x.dtype.base_dtype is dtypes.string else np.zeros((), x.dtype.as_numpy_dtype)
        differs = raw.NotEqual(x, constant(zero, x.dtype.base_dtype, name="zeros"))
        return cast(reduce_sum(cast(differs, dtypes.int64), axis=axis, keepdims=keepdims), dtype)
