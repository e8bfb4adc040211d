"""Sequences: ``range`` and ``linspace``; running sums and products along an axis."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import INDEX, NOT_DIFFERENTIABLE, NUMBERS, op
from jitgraph.declare.samples import draw
from jitgraph.graph import constant_rules, dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import FLOATS, TypeSet, as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import brackets
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.complex_numbers import conj

# -- range and linspace ------------------------------------------------------------------------------------------------

_RANGED = TypeSet(dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, default=dtypes.int32)


def _count(start: Any, limit: Any, delta: Any, real: bool) -> Any:
    """The number of elements of a range.  The bounds may be symbolic sizes.  Raises ValueError if there is none.

    Bounds that are `real` are NumPy's numbers of the range's dtype: TensorFlow counts in that dtype, and 4 / 0.01 is 400 in
    float32, where the double nearest to the float32 0.01 would give 401.
    """
    if delta == 0:
        raise ValueError(f"Requires delta != 0: {delta}")
    if delta > 0 and start > limit:
        raise ValueError(f"Requires start <= limit when delta > 0: {start}/{limit}")
    if delta < 0 and start < limit:
        raise ValueError(f"Requires start >= limit when delta < 0: {start}/{limit}")
    if real:
        with np.errstate(all="ignore"):
            return math.ceil(abs((limit - start) / delta))
    return (limit - start + delta - 1) // delta if delta > 0 else (start - limit - delta - 1) // -delta


def _range_shape(c: Any) -> Any:
    for i in range_(3):
        shape_rules.with_rank(c.shapes[i], 0, ("start", "limit", "delta")[i])
    bounds = [c.constant(i) for i in range_(3)]
    if not all(shape_rules.known(bound) for bound in bounds):
        return (None,)
    real = c.attrs["Tidx"].is_floating
    if real and any(np.asarray(bound).dtype == object for bound in bounds):
        return (None,)                  # a size of the run, cast: how many numbers there are is known when it runs
    return (_count(*_scalars(bounds, real), real=real),)


def _scalars(bounds: Any, real: bool) -> list:
    """The bounds as `_count` takes them: real ones in their own dtype, but for 16 bits, which have too few to count in."""
    arrays = [np.asarray(bound) for bound in bounds]
    if not real:
        return [array.item() for array in arrays]
    return [array.astype(np.float32)[()] if array.dtype.itemsize == 2 else array[()] for array in arrays]


range_ = range      # Python's, before tf.range takes the name


def _lower_range(b: Any, start: Any, limit: Any, delta: Any) -> Any:
    constants = [start.constant, limit.constant, delta.constant]
    if any(value is None for value in constants):
        return NotImplemented
    bounds = [value.item() for value in constants]
    dtype = start.dtype
    if dtype.is_floating:
        if any(value.dtype == object for value in constants):
            return NotImplemented               # sizes of the run: floats are counted and added up one by one
        return b.const(_ranged(*constants), dtype)
    count = _count(*bounds, real=False)
    return b.iota((count,), 0, dtype) * b.const(bounds[2], dtype) + b.const(bounds[0], dtype)


def _symbolic_range(start: Any, limit: Any, delta: Any) -> np.ndarray:
    """The numbers, if how many there are does not depend on the run.  Raises TypeError where it does."""
    bounds = [value.item() for value in (start, limit, delta)]
    if any(isinstance(bound, float) and not bound.is_integer() for bound in bounds):
        raise TypeError("a size is counted in steps that are no whole numbers")
    count = _count(*bounds, real=False)
    if not isinstance(count, int):
        raise TypeError("how many numbers there are depends on the run")
    found = np.empty(count, object)
    found[:] = [bounds[0] + k * bounds[2] for k in range_(count)]
    return found


def _ranged(start: Any, limit: Any, delta: Any) -> Any:
    dtype = np.asarray(start).dtype
    real = dtype.kind not in "iu"
    start, limit, delta = _scalars((start, limit, delta), real)
    count = _count(start, limit, delta, real=real)
    if not real:
        return np.asarray(np.asarray(start) + np.arange(count, dtype=dtype) * np.asarray(delta), dtype)
    steps = np.full(count, delta, np.asarray(start).dtype)
    if count:
        steps[0] = start
    return np.cumsum(steps, dtype=steps.dtype).astype(dtype)       # one addition after the other, as TensorFlow adds


@op("Range(start: Tidx, limit: Tidx, delta: Tidx) -> output: Tidx", Tidx=_RANGED, shape=_range_shape,
    lower=_lower_range, grad=NOT_DIFFERENTIABLE, dynamic=True,
    samples=lambda rng, dtype: [[np.asarray(v, dtype) for v in bounds]
                                for bounds in ((0, 5, 1), (2, 9, 3), (5, 0, -2), (3, 3, 1))],
    reference=lambda start, limit, delta: np.arange(start, limit, delta, dtype=start.dtype), constant=constant_rules.by_value,
    static=True, symbolic=_symbolic_range)
def _range(start, limit, delta):
    """The numbers from `start` up to `limit` (not included) in steps of `delta`."""
    for name, given in (("start", start), ("limit", limit), ("delta", delta)):
        if np.ndim(given):
            raise invalid(f"{name} must be a scalar, not shape {brackets(np.shape(given))}")
    try:
        return _ranged(start, limit, delta)
    except ValueError as error:
        raise invalid(str(error)) from None


_LINEAR = TypeSet(dtypes.bfloat16, dtypes.float32, dtypes.float64)


def _linspace_shape(c: Any) -> Any:
    for i, what in enumerate(("start", "stop", "num")):
        shape_rules.with_rank(c.shapes[i], 0, what)
    num = c.constant(2)
    if not shape_rules.known(num):
        return (None,)
    if num.item() <= 0:
        raise ValueError(f"Requires num > 0: {num.item()}")
    return (num.item(),)


def _lower_linspace(b: Any, start: Any, stop: Any, num: Any) -> Any:
    if num.constant is None:
        return NotImplemented
    count = num.constant.item()
    if count <= 0:
        raise ValueError(f"Requires num > 0: {count}")
    if count == 1:
        return b.reshape(start, (1,))
    step = (stop - start) / b.cast(b.const(count - 1, dtypes.int64), start.dtype)
    places = b.iota((count,), 0, dtypes.int64)
    last = b.map("eq", [places, b.const(count - 1, dtypes.int64)])
    return b.map("select", [last, stop, start + step * b.iota((count,), 0, start.dtype)])


@op("LinSpace(start: T, stop: T, num: Tidx) -> output: T", T=_LINEAR, Tidx=INDEX, shape=_linspace_shape,
    lower=_lower_linspace, grad=NOT_DIFFERENTIABLE, dynamic=True,
    samples=lambda rng, dtype: [[np.asarray(1, dtype), np.asarray(4, dtype), np.int32(n)] for n in (1, 2, 7)],
    reference=lambda start, stop, num: np.linspace(start, stop, num))
def linspace(start, stop, num):
    """`num` numbers at equal distances, from `start` to `stop`, both included."""
    for name, given in (("start", start), ("stop", stop), ("num", num)):
        if np.ndim(given):
            raise invalid(f"{name} must be a scalar, not shape {brackets(np.shape(given))}")
    if num <= 0:
        raise invalid(f"Requires num > 0: {num}")
    if num == 1:
        return np.reshape(start, 1)
    step = (stop - start) / np.asarray(num - 1).astype(start.dtype)
    numbers = np.asarray(start + step * np.arange(num).astype(start.dtype), start.dtype)
    numbers[-1] = stop                  # which so many steps may just miss
    return numbers


lin_space = linspace


# dtypes of range's arguments, the weaker first
_HIERARCHY = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Tensor:
    """The numbers from `start` (0 if only one bound is given) up to `limit`, not included, in steps of `delta`.

    The dtype is the widest of the arguments', in the order int32, int64, float32, float64.
    """
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        wanted = None if dtype is None else as_dtype(dtype).base_dtype
        bounds = [convert_to_tensor(value, wanted, what)
                  for value, what in ((start, "start"), (limit, "limit"), (delta, "delta"))]
        if wanted is None:
            found = [bound.dtype.base_dtype for bound in bounds]
            for other in found:
                if other not in _HIERARCHY:
                    raise TypeError(f"tf.range takes int32, int64, float32 or float64, not {other.name}; give dtype=.")
            widest = max(found, key=_HIERARCHY.index)
            bounds = [cast(bound, widest) for bound in bounds]
        return _range(*bounds, name=scope)


# -- running sums and products -----------------------------------------------------------------------------------------

def _scan_samples(rng, dtype):
    x = draw(rng, (2, 3), dtype, 1, 3)
    inputs = [[x, np.int32(0)], [x, np.int32(-1)], [x[0], np.int32(0)], [x[:, :0], np.int32(1)]]
    return [*inputs, *(([x, np.int32(1)], {"exclusive": exclusive, "reverse": reverse})
                       for exclusive, reverse in ((True, False), (False, True), (True, True)))]


def _scan_axis(axis: Any, rank: int) -> int:
    axis = int(axis)
    if not -rank <= axis < rank:
        from jitgraph.graph.errors import InvalidArgumentError

        raise InvalidArgumentError(None, None, f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), "
                                               f"but got {axis}")
    return axis % rank


def _lower_scan(kind: str) -> Any:
    def lower(b, x, axis, exclusive, reverse):
        if axis.constant is None:
            return NotImplemented
        return b.primitive("scan", [x], x.shape, op=kind, axis=_scan_axis(axis.constant, len(x.shape)), exclusive=exclusive,
                           reverse=reverse)

    return lower


def _scanned(accumulate: Any, start: Any, x: Any, axis: Any, exclusive: bool, reverse: bool) -> Any:
    """`accumulate` along `axis`; with `exclusive` each element sees those before it only, beginning with `start`."""
    axis = _scan_axis(axis, x.ndim)
    wide = x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x
    turned = np.flip(wide, axis) if reverse else wide
    if exclusive:
        first = np.full((*x.shape[:axis], 1, *x.shape[axis + 1:]), start, wide.dtype)
        turned = np.concatenate([first, turned], axis).take(range_(x.shape[axis]), axis)
    result = accumulate(turned, axis=axis, dtype=wide.dtype)
    return np.asarray(np.flip(result, axis) if reverse else result, x.dtype)


_SCAN = "(x: T, axis: Tidx; exclusive: bool = False, reverse: bool = False) -> out: T"


@op("Cumsum" + _SCAN, T=NUMBERS, Tidx=INDEX, shape=shape_rules.same_as_input, lower=_lower_scan("add"),
    samples=_scan_samples, constant=constant_rules.by_value, symbolic=True)
def _cumsum(x, axis, exclusive, reverse):
    """Running sums along `axis`."""
    return _scanned(np.add.accumulate, 0, x, axis, exclusive, reverse)


@_cumsum.gradient
def _(op, grad):
    return [_cumsum(grad, op.inputs[1], exclusive=op.attrs["exclusive"], reverse=not op.attrs["reverse"]), None]


@op("Cumprod" + _SCAN, T=NUMBERS, Tidx=INDEX, shape=shape_rules.same_as_input, lower=_lower_scan("mul"),
    samples=_scan_samples)
def _cumprod(x, axis, exclusive, reverse):
    """Running products along `axis`."""
    return _scanned(np.multiply.accumulate, 1, x, axis, exclusive, reverse)


@_cumprod.gradient
def _(op, grad):
    # as in TensorFlow: NaN where x is 0
    x, axis = op.inputs
    exclusive, reverse = op.attrs["exclusive"], op.attrs["reverse"]
    product = _cumprod(x, axis, exclusive=exclusive, reverse=reverse)
    return [_cumsum(conj(product) * grad, axis, exclusive=exclusive, reverse=not reverse) / conj(x), None]


def _log_add(x: Any, axis: int, dtype: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.logaddexp.accumulate(x, axis=axis, dtype=dtype)


@op("CumulativeLogsumexp" + _SCAN, T=FLOATS - dtypes.bfloat16, Tidx=INDEX, shape=shape_rules.same_as_input,
    samples=_scan_samples)
def _cumulative_logsumexp(x, axis, exclusive, reverse):
    """Running ``log(sum(exp(x)))`` along `axis`; the lowest finite value stands for the logarithm of nothing."""
    lowest = np.finfo(x.dtype).min if x.dtype.itemsize > 2 else np.float32(np.finfo(x.dtype).min)
    return _scanned(_log_add, lowest, x, axis, exclusive, reverse)


@_cumulative_logsumexp.gradient
def _(op, grad):
    x, axis = op.inputs
    total = op.outputs[0]
    options = {"exclusive": op.attrs["exclusive"], "reverse": not op.attrs["reverse"]}
    lowest = grad.dtype.base_dtype.min

    def part(chosen, magnitude):
        logarithm = raw.SelectV2(chosen, raw.Log(magnitude), lowest)
        return raw.Exp(_cumulative_logsumexp(logarithm - total, axis, **options) + x)

    return [part(grad > 0, grad) - part(grad < 0, -grad), None]


def _running(builder: Any, default_name: str, function_name: str, text: str) -> Any:
    def function(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False,
                 name: str | None = None) -> Tensor:
        with name_scope(name, default_name, [x]) as scope:
            x = convert_to_tensor(x, name="x")
            return builder(x, axis, exclusive=exclusive, reverse=reverse, name=scope)

    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = (f"{text} along `axis`: ``[a, b, c]`` gives the values of ``[a], [a, b], [a, b, c]``.\n\n"
                        "    `exclusive` leaves each element itself out; `reverse` runs from the end.\n    ")
    return function


cumsum = _running(_cumsum, "Cumsum", "cumsum", "Running sums")
cumprod = _running(_cumprod, "Cumprod", "cumprod", "Running products")
cumulative_logsumexp = _running(_cumulative_logsumexp, "CumulativeLogsumexp", "cumulative_logsumexp",
                                "Running ``log(sum(exp(x)))``")
