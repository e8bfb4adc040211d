"""Pooling and its gradients, and local response normalisation."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw, ints, results
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.counting import gradient_of_nodes
from jitgraph.graph.dtypes import FLOATS, INDEX, INDICES, REALS, TypeSet
from jitgraph.graph.errors import UnimplementedError
from jitgraph.ops.arrays.shape import shape
from jitgraph.ops.nn import lrn_lowering, volume_lowering, window_geometry, window_lowering
from jitgraph.ops.nn.window_geometry import NEAR, Layout, Window

_ATTRS_2D = ('ksize: list(int) >= 4, strides: list(int) >= 4, padding: string {"SAME", "VALID"}, '
             'data_format: string {"NHWC", "NCHW", "NCHW_VECT_C"} = "NHWC"')
_ATTRS_3D = ('ksize: list(int) >= 5, strides: list(int) >= 5, padding: string {"SAME", "VALID"}, '
             'data_format: string {"NDHWC", "NCDHW"} = "NDHWC"')
_NOT_IN_GRADIENTS = ', "NCHW_VECT_C"'
_GEOMETRY = ("ksize", "strides", "padding", "data_format")


def _geometry(op: Any) -> dict[str, Any]:
    return {name: op.attrs[name] for name in _GEOMETRY}


def _windows(size: Any, layout: Layout, ksize: Any, strides: Any, padding: str,
             stated: bool = False) -> list[Window]:
    if min(layout.pick(ksize)) < 1:
        raise ValueError(f"Sliding window ksize must be positive, but is {list(ksize)}")
    return [window_geometry.window(d, n, step, 1, padding, stated=stated)
            for d, n, step in zip(size, layout.pick(ksize), layout.pick(strides))]


def _pool_shape(c: Any) -> Any:
    return _pooled(c.shapes[0], c.attrs, c.attrs["data_format"], not c.running)


def _pooled(value: Any, attrs: Any, data_format: str, stated: bool) -> Any:
    layout = Layout.of(data_format)
    value = shape_rules.with_rank(value, len(data_format), "input")
    ksize, strides, padding = attrs["ksize"], attrs["strides"], attrs["padding"]
    wins = _windows(layout.pick(value), layout, ksize, strides, padding, stated)
    channel = window_geometry.window(value[layout.channel], ksize[layout.channel], strides[layout.channel], 1, padding).output
    return layout.shape(value[layout.batch], [w.output for w in wins], channel)


def _sizes_shape(c: Any) -> Any:
    """The shape that the first input states, of as many dimensions as the data format."""
    wanted = shape_rules.shape_from(c, 0)
    return (None,) * len(c.attrs["data_format"]) if wanted is None else wanted


def _over_channels(ksize: Any, layout: Layout) -> bool:
    return ksize[layout.channel] != 1


def _check_axes(layout: Layout, ksize: Any, strides: Any, channels: int) -> None:
    """Raises UnimplementedError for windows over axes that no pooling goes over, or not in this way."""
    if ksize[layout.batch] != 1 or strides[layout.batch] != 1:
        raise UnimplementedError(None, None, "Pooling is not yet supported on the batch dimension.")
    size, step = ksize[layout.channel], strides[layout.channel]
    if len(layout.spatial) == 3 and (size != 1 or step != 1):
        raise UnimplementedError(None, None, "Pooling is not yet supported on the depth dimension.")
    if size == 1:
        return
    if max(layout.pick(ksize)) > 1:
        raise UnimplementedError(None, None, "MaxPooling supports exactly one of pooling across depth or pooling across "
                                             "width/height.")
    if channels % size:
        raise UnimplementedError(None, None, "Depthwise max pooling requires the depth window to evenly divide the input depth: "
                                             f"{size} and {channels}")
    if size != step:
        raise UnimplementedError(None, None, "Depthwise max pooling requires the depth window to equal the depth stride: "
                                             f"{size} and {step}")


class _Pool:
    """The parts of a pooling of x: padded data with axes [batch, spatial..., channels], and its windows."""

    def __init__(self, x: np.ndarray, ksize: Any, strides: Any, padding: str, data_format: str, fill: Any):
        self.layout = Layout.of(data_format)
        last = self.layout.channels_last(x)
        self.depth = _over_channels(ksize, self.layout)
        _check_axes(self.layout, ksize, strides, last.shape[-1])
        if self.depth:      # pooling over channels: they stand in for a spatial axis
            last = last[..., None]
            size, steps = ksize[self.layout.channel], strides[self.layout.channel]
            self.wins = [Window(1, 1, 1, 0, 0, d) for d in last.shape[1:-2]] + [
                window_geometry.window(last.shape[-2], size, steps, 1, padding)]
            self.taps = (1,) * (last.ndim - 3) + (size,)
        else:
            self.wins = _windows(last.shape[1:-1], self.layout, ksize, strides, padding)
            self.taps = tuple(self.layout.pick(ksize))
        self.sizes = last.shape[1:-1]
        self.data = window_geometry.padded(last, self.wins, fill)

    def each_tap(self) -> Any:
        """(number, index of the padded data under that tap), the taps in row-major order."""
        return enumerate(window_geometry.tap_slices(self.wins, tap) for tap in np.ndindex(*self.taps))

    def inner(self, x: np.ndarray) -> np.ndarray:
        """x, in the layout of the user, as the results of this pooling are inside.  Raises InvalidArgumentError if it has
        not the shape of a result."""
        last = self.layout.channels_last(x)
        last = last[..., None] if self.depth else last
        expected = (self.data.shape[0], *(w.output for w in self.wins), self.data.shape[-1])
        if last.shape != expected:
            raise invalid(f"Expected the shape of a pooled tensor, {self.outer(np.empty(expected)).shape}, but got {x.shape}")
        return last

    def outer(self, x: np.ndarray) -> np.ndarray:
        """A result in the layout of the user."""
        return self.layout.restore(x[..., 0] if self.depth else x)

    def crop(self, x: np.ndarray) -> np.ndarray:
        """Padded data without the padding, in the layout of the user."""
        return self.outer(window_geometry.cropped(x, self.wins, self.sizes))


def lowest(dtype: np.dtype) -> Any:
    """What is below all numbers of a dtype, or no greater than any."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _least(x: np.ndarray, ksize: Any, data_format: str) -> np.ndarray:
    """What the maxima of a pooling begin with: in 2-D the lowest finite number, else -inf, as TensorFlow has it."""
    flat = x.ndim == 4 and not _over_channels(ksize, Layout.of(data_format))
    return np.array(dtypes.as_dtype(x.dtype).min if flat else lowest(x.dtype), x.dtype)


# -- maximum -------------------------------------------------------------------------------------------------------

def _max_pool(x: np.ndarray, ksize: Any, strides: Any, padding: str, data_format: str) -> np.ndarray:
    pool = _Pool(x, ksize, strides, padding, data_format, lowest(x.dtype))
    result = _least(x, ksize, data_format)
    for _, index in pool.each_tap():
        result = np.fmax(result, pool.data[index])
    return pool.outer(result)


def _max_pool_grad(x: np.ndarray, y: np.ndarray, grad: np.ndarray, ksize: Any, strides: Any, padding: str,
                   data_format: str) -> np.ndarray:
    """Each gradient goes to the first element of its window that is the maximum; in 3-D to all that are near `y`.

    So TensorFlow's kernels have it: the one in 2-D finds the maximum anew, whatever `y` is, and stays with the first element
    where that is NaN, for no other is greater; that in 3-D takes what differs by less than 1e-5, which infinities do not.
    """
    lost = np.isnan(x) if x.ndim == 4 and x.dtype.kind not in "iu" else np.zeros((), bool)
    if x.ndim == 4 and y.shape == (found := _max_pool(x, ksize, strides, padding, data_format)).shape:
        y = found
    if (least := _least(x, ksize, data_format)) > lowest(x.dtype):
        x = np.fmax(x, least)
    pool = _Pool(x, ksize, strides, padding, data_format, lowest(x.dtype) if x.dtype.kind in "iu" else np.nan)
    top, left = pool.inner(y), pool.inner(grad)
    target = np.zeros(pool.data.shape, grad.dtype)
    open_ = np.ones(top.shape, bool)
    if lost.any():
        begun = np.zeros(top.shape, bool)
        inside, lost = (_Pool(mask, ksize, strides, padding, data_format, False).data for mask in (np.ones(x.shape, bool), lost))
        for _, index in pool.each_tap():
            hit = lost[index] & ~begun
            target[index] += np.where(hit, left, 0)
            open_ &= ~hit
            begun |= inside[index]
    for _, index in pool.each_tap():
        if x.ndim == 5:
            hit = _are_near(pool.data[index], top)
        else:
            hit = open_ & (pool.data[index] == top)
            open_ &= ~hit
        target[index] += np.where(hit, left, 0)
    return pool.crop(target)


def _are_near(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):         # of infinities
        return np.abs(x.astype(np.float32) - y.astype(np.float32)) < np.float32(NEAR)


def _max_pool_grad_grad(x: np.ndarray, y: np.ndarray, grad: np.ndarray, ksize: Any, strides: Any, padding: str,
                        data_format: str) -> np.ndarray:
    """The elements of `grad` at the places where the maxima were."""
    if grad.shape != x.shape:
        raise invalid(f"Expected grad to have the shape of orig_input, {x.shape}, but got {grad.shape}")
    pool = _Pool(x, ksize, strides, padding, data_format, lowest(x.dtype))
    top = pool.inner(y)
    values = _Pool(grad, ksize, strides, padding, data_format, 0)
    result, open_ = np.zeros(top.shape, grad.dtype), np.ones(top.shape, bool)
    for _, index in pool.each_tap():
        hit = open_ & (pool.data[index] == top)
        np.copyto(result, values.data[index], where=hit)
        open_ &= ~hit
    return pool.outer(result)


# the images of samples, and the windows over them
_IMAGES: dict[str, tuple] = {"": (2, 5, 4, 3), "3D": (1, 3, 4, 3, 2)}
_WINDOWS = {"": tuple({"ksize": [1, 2, 2, 1], "strides": strides, "padding": padding} for strides, padding in (
                ([1, 1, 1, 1], "SAME"), ([1, 2, 2, 1], "VALID"), ([1, 2, 1, 1], "SAME"))),
            "3D": tuple({"ksize": [1, 2, 2, 2, 1], "strides": [1, step, 1, step, 1], "padding": padding}
                        for step, padding in ((1, "SAME"), (2, "VALID")))}
_GRADIENT_WINDOWS = {"": _WINDOWS[""][2:], "3D": _WINDOWS["3D"]}


def _samples(suffix: str) -> Callable:
    return lambda rng, dtype: [([draw(rng, _IMAGES[suffix], dtype)], attrs) for attrs in _WINDOWS[suffix]]


def _pooled_samples(suffix: str, pool: Any, rng: Any, dtype: Any) -> Iterator:
    """Images, what `pool` gives for them, and the windows."""
    for attrs in _GRADIENT_WINDOWS[suffix]:
        x = draw(rng, _IMAGES[suffix], dtype)
        yield x, results(pool, [x], attrs)[0], attrs


def _declare_max(suffix: str, attrs: str, types: Any, grad_types: Any, second_types: Any, lower: Any = None,
                 lower_gradient: Any = None) -> None:
    """MaxPool and its first and second gradient, 2-D or 3-D."""
    kept = {"TInput": grad_types} if suffix else {}         # in 3-D, what was pooled has a dtype attribute of its own
    kind = "TInput" if suffix else "T"
    grad_attrs = attrs.replace(_NOT_IN_GRADIENTS, "")

    def of_rank(c):
        return shape_rules.with_rank(c.shapes[0], len(c.attrs["data_format"]), "orig_input")

    @op(f"MaxPool{suffix}(input: T; {attrs}) -> output: T", T=types, shape=_pool_shape, lower=lower,
        samples=_samples(suffix))
    def max_pool(input, ksize, strides, padding, data_format):
        """The maximum of each window."""
        return _max_pool(input, ksize, strides, padding, data_format)

    @max_pool.gradient
    def _(op, grad):
        return getattr(raw, f"MaxPool{suffix}Grad")(op.inputs[0], op.outputs[0], grad, **_geometry(op))

    @op(f"MaxPool{suffix}Grad(orig_input: {kind}, orig_output: {kind}, grad: T; {grad_attrs}) -> output: T",
        T=grad_types, shape=of_rank, lower=lower_gradient, **kept,
        samples=lambda rng, dtype: [([x, y, draw(rng, y.shape, dtype)], attrs)
                                    for x, y, attrs in _pooled_samples(suffix, max_pool, rng, dtype)])
    def max_pool_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format):
        """The gradient of the maximum: to the first element of each window that is the maximum; in 3-D to all that are near it."""
        return _max_pool_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format)

    @max_pool_grad.gradient
    @gradient_of_nodes(7)
    def _(op, grad):
        second = getattr(raw, f"MaxPool{suffix}GradGrad")(op.inputs[0], op.inputs[1], grad, **_geometry(op))
        return [raw.ZerosLike(op.inputs[0]), raw.ZerosLike(op.inputs[1]), second]

    @op(f"MaxPool{suffix}GradGrad(orig_input: T, orig_output: T, grad: T; {grad_attrs}) -> output: T", T=second_types,
        shape=shape_rules.same_as(1),
        samples=lambda rng, dtype: [([x, y, draw(rng, x.shape, dtype)], attrs)
                                    for x, y, attrs in _pooled_samples(suffix, max_pool, rng, dtype)])
    def max_pool_grad_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format):
        """The second gradient of the maximum."""
        return _max_pool_grad_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format)

    @max_pool_grad_grad.gradient
    @gradient_of_nodes(7)
    def _(op, grad):
        first = getattr(raw, f"MaxPool{suffix}Grad")(op.inputs[0], op.inputs[1], grad, **_geometry(op))
        return [raw.ZerosLike(op.inputs[0]), raw.ZerosLike(op.inputs[1]), first]


_POOLED = (REALS - TypeSet(dtypes.uint32, dtypes.uint64) + dtypes.qint8).with_default(dtypes.float32)
_POOLED_3D = FLOATS - dtypes.float64
_declare_max("", _ATTRS_2D, _POOLED, REALS.with_default(dtypes.float32), REALS, window_lowering.max_pool,
             window_lowering.max_pool_gradient)
_declare_max("3D", _ATTRS_3D, _POOLED_3D, _POOLED_3D.with_default(dtypes.float32), REALS, volume_lowering.max_pool,
             volume_lowering.max_pool_gradient)

_WITH_ARGMAX = ('ksize: list(int) >= 4, strides: list(int) >= 4, Targmax: type = int64, '
                'padding: string {"SAME", "VALID"}, include_batch_in_index: bool = false')


_ARGMAX = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}


def _argmax_samples(rng: Any, dtype: Any) -> list:
    return [([draw(rng, (2, 5, 4, 3), dtype)], {**_ARGMAX, "include_batch_in_index": batch}) for batch in (False, True)]


@op(f"MaxPoolWithArgmax(input: T; {_WITH_ARGMAX}) -> output: T, argmax: Targmax", T=REALS,
    Targmax=INDEX.with_default(dtypes.int64), shape=lambda c: [_pooled(c.shapes[0], c.attrs, "NHWC", not c.running)] * 2,
    samples=_argmax_samples)
def _max_pool_with_argmax(input, ksize, strides, padding, include_batch_in_index, Targmax):
    """The maximum of each window, and its position in the flattened image (or batch)."""
    pool = _Pool(input, ksize, strides, padding, "NHWC", lowest(input.dtype))
    places = np.full(pool.data.shape[1:], -1, np.int64)
    inner = np.arange(int(np.prod(input.shape[1:]))).reshape(input.shape[1:])
    window_geometry.cropped(places[None], pool.wins, pool.sizes)[0][...] = inner
    best = arg = None
    for _, index in pool.each_tap():
        part, place = pool.data[index], np.broadcast_to(places[index[1:]], pool.data[index].shape)
        if best is None:
            best, arg = part.copy(), place.copy()
            continue
        better = (part > best) | (arg < 0)
        np.copyto(best, part, where=better)
        np.copyto(arg, place, where=better)
    if include_batch_in_index:
        arg = arg + (np.arange(len(input)) * inner.size).reshape(-1, 1, 1, 1)
    return best, arg.astype(Targmax.as_numpy_dtype)


@_max_pool_with_argmax.gradient
def _(op, grad, _):
    return raw.MaxPoolGradWithArgmax(op.inputs[0], grad, op.outputs[1], ksize=op.attrs["ksize"],
                                     strides=op.attrs["strides"], padding=op.attrs["padding"],
                                     include_batch_in_index=op.attrs["include_batch_in_index"])


def _argmax_gradient_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (2, 5, 4, 3), dtype)
    y, places = results(_max_pool_with_argmax, [x], _ARGMAX)
    return [([x, draw(rng, y.shape, dtype), places], _ARGMAX)]


@op("MaxPoolGradWithArgmax(input: T, grad: T, argmax: Targmax; ksize: list(int) >= 4, strides: list(int) >= 4, "
    'padding: string {"SAME", "VALID"}, include_batch_in_index: bool = false) -> output: T', T=REALS, Targmax=INDICES,
    shape=shape_rules.same_as_input, samples=_argmax_gradient_samples)
def max_pool_grad_with_argmax(input, grad, argmax, include_batch_in_index):
    """The gradient of MaxPoolWithArgmax: added up at the positions `argmax`."""
    result = np.zeros(input.size, grad.dtype)
    offset = 0 if include_batch_in_index else (np.arange(len(input)) * (input.size // max(len(input), 1))).reshape(
        -1, 1, 1, 1)
    np.add.at(result, (argmax + offset).reshape(-1), grad.reshape(-1))
    return result.reshape(input.shape)


@op("MaxPoolGradGradWithArgmax(input: T, grad: T, argmax: Targmax; ksize: list(int) >= 4, strides: list(int) >= 4, "
    'padding: string {"SAME", "VALID"}, include_batch_in_index: bool = false) -> output: T', T=REALS, Targmax=INDICES,
    shape=shape_rules.same_as(2),
    samples=lambda rng, dtype: [([x, draw(rng, x.shape, dtype), places], how) for (x, _, places), how in
                                _argmax_gradient_samples(rng, dtype)])
def max_pool_grad_grad_with_argmax(input, grad, argmax, include_batch_in_index):
    """The gradient of MaxPoolGradWithArgmax: what `grad`, of the input's shape, has at the positions `argmax`."""
    rows = grad.reshape(1 if include_batch_in_index else len(input), -1)
    found = np.take_along_axis(rows, argmax.reshape(len(rows), -1), 1)
    return found.reshape(argmax.shape)


# -- average -------------------------------------------------------------------------------------------------------

def _counts(pool: _Pool) -> np.ndarray:
    """How many elements of each window lie inside the input, in a shape that broadcasts: [1, outputs..., 1]."""
    ones = window_geometry.padded(np.ones((1, *pool.sizes, 1)), pool.wins)
    return sum(ones[index] for _, index in pool.each_tap())


def _avg_pool(x: np.ndarray, ksize: Any, strides: Any, padding: str, data_format: str) -> np.ndarray:
    pool = _Pool(x, ksize, strides, padding, data_format, 0)
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    total: Any = 0
    for _, index in pool.each_tap():
        total = total + pool.data[index].astype(wide)
    return pool.outer((total / _counts(pool).astype(wide)).astype(x.dtype))


def _avg_pool_grad(size: Any, grad: np.ndarray, ksize: Any, strides: Any, padding: str, data_format: str) -> np.ndarray:
    pool = _Pool(np.zeros([int(d) for d in size], grad.dtype), ksize, strides, padding, data_format, 0)
    share = (pool.inner(grad) / _counts(pool).astype(np.float64 if grad.dtype == np.float64 else np.float32)).astype(
        grad.dtype)
    target = pool.data.copy()
    for _, index in pool.each_tap():
        target[index] += share
    return pool.crop(target)


def _declare_avg(suffix: str, attrs: str, lower: Any = None, lower_gradient: Any = None) -> None:
    """AvgPool and its gradient, 2-D or 3-D."""
    value_name = "value" if not suffix else "input"

    @op(f"AvgPool{suffix}({value_name}: T; {attrs.replace(_NOT_IN_GRADIENTS, '')}) -> output: T", T=FLOATS,
        shape=_pool_shape, lower=lower, samples=_samples(suffix))
    def avg_pool(value, ksize, strides, padding, data_format):
        """The mean of each window; padding does not count."""
        return _avg_pool(value, ksize, strides, padding, data_format)

    @avg_pool.gradient
    def _(op, grad):
        return getattr(raw, f"AvgPool{suffix}Grad")(shape(op.inputs[0]), grad, **_geometry(op))

    @op(f"AvgPool{suffix}Grad(orig_input_shape: int32, grad: T; {attrs.replace(_NOT_IN_GRADIENTS, '')}) -> output: T", T=FLOATS,
        shape=_sizes_shape, lower=lower_gradient,
        samples=lambda rng, dtype: [([ints(*x.shape), draw(rng, y.shape, dtype)], attrs)
                                    for x, y, attrs in _pooled_samples(suffix, avg_pool, rng, dtype)])
    def avg_pool_grad(orig_input_shape, grad, ksize, strides, padding, data_format):
        """The gradient of the mean: shared equally among the elements of each window."""
        return _avg_pool_grad(orig_input_shape, grad, ksize, strides, padding, data_format)

    @avg_pool_grad.gradient
    @gradient_of_nodes(2)
    def _(op, grad):
        return [None, getattr(raw, f"AvgPool{suffix}")(grad, **_geometry(op))]


_declare_avg("", _ATTRS_2D, window_lowering.mean_pool, window_lowering.mean_pool_gradient)
_declare_avg("3D", _ATTRS_3D, volume_lowering.mean_pool, volume_lowering.mean_pool_gradient)


# -- local response normalisation ----------------------------------------------------------------------------------

def _around(x: np.ndarray, radius: int) -> np.ndarray:
    """For each channel the sum over the channels up to `radius` away."""
    running = np.cumsum(np.pad(x, [(0, 0)] * (x.ndim - 1) + [(1, 0)]), -1, dtype=np.float64)
    channels = np.arange(x.shape[-1])
    high, low = np.minimum(channels + radius + 1, x.shape[-1]), np.maximum(channels - radius, 0)
    return running[..., high] - running[..., low]


_LRN_TYPES = (FLOATS - dtypes.float64).with_default(dtypes.float32)
_LRN = "depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5"


def _images(c: Any) -> Any:
    return shape_rules.with_rank(c.shapes[0], 4, "input")


def _lrn_samples(rng: Any, dtype: Any) -> list:
    return [[draw(rng, (2, 3, 2, 4), dtype)], ([draw(rng, (1, 2, 2, 6), dtype)], {"depth_radius": 2, "beta": 0.75})]


@op(f"LRN(input: T; {_LRN}) -> output: T", T=_LRN_TYPES, shape=_images, lower=lrn_lowering.forward, samples=_lrn_samples)
def _lrn(input, depth_radius, bias, alpha, beta):
    """input / (bias + alpha * sum of the squares of neighbouring channels) ** beta (Krizhevsky et al., 2012)."""
    wide = input.astype(np.float64)
    return (wide * (bias + alpha * _around(wide * wide, depth_radius)) ** -beta).astype(input.dtype)


@_lrn.gradient
def _(op, grad):
    return raw.LRNGrad(grad, op.inputs[0], op.outputs[0],
                       **{name: op.attrs[name] for name in ("depth_radius", "bias", "alpha", "beta")})


def _lrn_gradient_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (2, 3, 2, 4), dtype)
    return [[draw(rng, x.shape, dtype), x, results(_lrn, [x], {})[0]]]


@op(f"LRNGrad(input_grads: T, input_image: T, output_image: T; {_LRN}) -> output: T", T=_LRN_TYPES,
    shape=_images, lower=lrn_lowering.gradient, samples=_lrn_gradient_samples)
def lrn_grad(input_grads, input_image, output_image, depth_radius, bias, alpha, beta):
    """The gradient of LRN."""
    x, y, grad = (a.astype(np.float64) for a in (input_image, output_image, input_grads))
    norm = bias + alpha * _around(x * x, depth_radius)
    direct = grad * norm ** -beta
    through = _around(grad * y / norm, depth_radius)
    return (direct - 2 * alpha * beta * x * through).astype(input_grads.dtype)
