"""Fused batch normalisation (Ioffe and Szegedy, 2015) and its gradient."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.op import op
from jitgraph.declare.renamed_arguments import renamed
from jitgraph.declare.samples import draw, results
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import TypeSet
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.reduce.precise_sum import precise_sum

_HALVES = TypeSet(dtypes.float16, dtypes.bfloat16, dtypes.float32)
_ATTRS = 'epsilon: float = 0.0001, data_format: string {"NHWC", "NCHW"} = "NHWC", is_training: bool = true'
_SMALLEST_EPSILON = 1.001e-5


def _axes(data_format: str, rank: int) -> tuple[tuple[int, ...], int]:
    """The axes that are averaged over, and that of the channels."""
    channel = rank - 1 if data_format == "NHWC" else 1
    return tuple(i for i in range(rank) if i != channel), channel


def _outputs_shape(count: int) -> Any:
    def rule(c: Any) -> Any:
        value = list(shape_rules.with_rank(c.shapes[0], 4, "x"))
        channel = _axes(c.attrs["data_format"], 4)[1]
        channels = value[channel]
        for other in c.shapes[1:3 if c.attrs["is_training"] else 5]:
            channels = shape_rules.merge_sizes(channels, shape_rules.with_rank(other, 1)[0])
        value[channel] = channels
        spare = () if c.running else None          # TensorFlow leaves it open, for cuDNN; only runs may know that it is a scalar
        return [tuple(value), *[(channels,)] * 4, *[spare] * (count - 5)]

    return rule


def _column(values: Any, channel: int, rank: int) -> tuple:
    return tuple(values.shape[0] if i == channel else 1 for i in range(rank))


def _forward(x: np.ndarray, scale: Any, offset: Any, mean: Any, variance: Any, epsilon: float, data_format: str,
             is_training: bool) -> tuple:
    axes, channel = _axes(data_format, x.ndim)
    wide = x.astype(scale.dtype)
    column = _column(scale, channel, x.ndim)
    if is_training:
        count = wide.size // max(scale.size, 1)
        number = scale.dtype.type(count)
        mean = precise_sum(wide, axes) / number if count else np.full(scale.shape, np.nan, scale.dtype)
        variance = precise_sum(np.square(wide - mean.reshape(column)), axes) / number if count else mean
        unbiased = variance * np.asarray(count / max(count - 1, 1), scale.dtype)
    else:
        unbiased = variance
    factor = scale / np.sqrt(variance + np.asarray(epsilon, scale.dtype))
    y = (wide - mean.reshape(column)) * factor.reshape(column) + offset.reshape(column)
    return y.astype(x.dtype), mean, unbiased, mean, variance


def _lower(b: Any, x: Any, scale: Any, offset: Any, mean: Any, variance: Any, epsilon: float, data_format: str,
           is_training: bool) -> Any:
    rank = len(x.shape)
    axes, channel = _axes(data_format, rank)
    wide = b.cast(x, scale.dtype)

    def spread(v: Any) -> Any:
        return b.reshape(v, _column(v, channel, rank))

    unbiased = variance
    if is_training:
        count = shape_rules.product(x.shape[axis] for axis in axes)
        number = b.cast(b.const(count, dtypes.int64), scale.dtype)
        mean = b.reduce("add", wide, axes) / number
        distance = wide - spread(mean)
        variance = b.reduce("add", distance * distance, axes) / number
        unbiased = variance * (number / prim.max(number - 1, 1))
    factor = scale * prim.rsqrt(variance + epsilon)
    y = (wide - spread(mean)) * spread(factor) + spread(offset)
    return [b.cast(y, x.dtype), mean, unbiased, mean, variance]


def _gradient(grad: Any, x: Any, scale: Any, mean: Any, variance: Any, epsilon: float, data_format: str,
              is_training: bool) -> tuple:
    """The gradients for x, scale and offset."""
    axes, channel = _axes(data_format, x.ndim)
    wide, dy = x.astype(scale.dtype), grad.astype(scale.dtype)
    column = _column(scale, channel, x.ndim)
    inverse = 1 / np.sqrt(variance + np.asarray(epsilon, scale.dtype))
    unit = (wide - mean.reshape(column)) * inverse.reshape(column)
    d_offset = precise_sum(dy, axes)
    d_scale = precise_sum(dy * unit, axes)
    factor = (scale * inverse).reshape(column)
    if is_training:
        count = np.asarray(max(wide.size // max(scale.size, 1), 1), scale.dtype)
        dx = factor * (dy - d_offset.reshape(column) / count - unit * d_scale.reshape(column) / count)
    else:
        dx = factor * dy
    return dx.astype(x.dtype), d_scale.astype(scale.dtype), d_offset.astype(scale.dtype)


def _lower_gradient(b: Any, grad: Any, x: Any, scale: Any, mean: Any, variance: Any, epsilon: float, data_format: str,
                    is_training: bool) -> list:
    rank = len(x.shape)
    axes, channel = _axes(data_format, rank)
    wide, dy = b.cast(x, scale.dtype), b.cast(grad, scale.dtype)

    def spread(v: Any) -> Any:
        return b.reshape(v, _column(v, channel, rank))

    inverse = prim.rsqrt(variance + epsilon)
    unit = (wide - spread(mean)) * spread(inverse)
    d_offset = b.reduce("add", dy, axes)
    d_scale = b.reduce("add", dy * unit, axes)
    dx = dy
    if is_training:
        count = shape_rules.product(x.shape[axis] for axis in axes)
        number = b.cast(b.const(count, dtypes.int64), scale.dtype)
        dx = dy - spread(d_offset / number) - unit * spread(d_scale / number)
    return [b.cast(dx * spread(scale * inverse), x.dtype), d_scale, d_offset]


def _composed_gradient(op: Any, dy: Any, x: Any, scale: Any) -> list:
    """The gradients for x, scale and offset that a FusedBatchNormGrad gives, written in ops that can be differentiated."""
    from jitgraph.ops.reduce.reductions import reduce_mean, reduce_sum

    rank = 4                # of images; while the graph is built it may be unknown
    axes, channel = _axes(op.attrs["data_format"], rank)
    column = [-1 if axis == channel else 1 for axis in range(rank)]

    def spread(v: Any) -> Any:
        return raw.Reshape(v, column)

    dtype = scale.dtype.base_dtype
    wide, dy = cast(x, dtype), cast(dy, dtype)
    if op.attrs["is_training"]:
        distance = wide - reduce_mean(wide, axes, keepdims=True)
        variance = reduce_mean(distance * distance, axes, keepdims=True)
    else:
        distance = wide - spread(op.inputs[3])
        variance = spread(op.inputs[4])
    inverse = raw.Rsqrt(variance + op.attrs["epsilon"])
    unit = distance * inverse
    dx = dy
    if op.attrs["is_training"]:
        dx = dy - reduce_mean(dy, axes, keepdims=True) - unit * reduce_mean(dy * unit, axes, keepdims=True)
    return [cast(dx * spread(scale) * inverse, x.dtype.base_dtype), reduce_sum(dy * unit, axes), reduce_sum(dy, axes)]


def _second_gradient(op: Any, *grads: Any, gradients: Callable) -> list:
    inputs = [raw.Identity(t) for t in op.inputs[:3]]       # not those of op, on whose paths are other nodes
    found = gradients(_composed_gradient(op, *inputs), inputs, list(grads[:3]))
    return [*found, *[None] * (len(op.inputs) - 3)]


vars(_second_gradient)["takes_gradients"] = True


def _samples(rng: Any, dtype: Any) -> list:
    found = []
    for layout, shape in (("NHWC", (3, 2, 2, 4)), ("NCHW", (3, 4, 2, 2))):
        for training in (True, False):
            moments = [np.zeros(0, np.float32)] * 2
            if not training:
                moments = [draw(rng, (4,), np.float32), draw(rng, (4,), np.float32, 0.5, 2)]
            found.append(([draw(rng, shape, dtype), draw(rng, (4,), np.float32), draw(rng, (4,), np.float32), *moments],
                          {"data_format": layout, "is_training": training, "epsilon": 0.1}))
    return found


def _declare(version: str, types: Any, spare: bool) -> None:
    """FusedBatchNorm and its gradient in one of three forms; `spare`: with a third reserved output."""
    kind = "T" if version == "" else "U"
    type_sets = {"T": types} if kind == "T" else {"T": types, "U": TypeSet(dtypes.float32)}
    third = f", reserve_space_3: {kind}" if spare else ""

    def forward(x, scale, offset, mean, variance, epsilon, data_format, is_training):
        """x normalised over batch and space: (x - mean) / sqrt(variance + epsilon) * scale + offset; the moments."""
        found = _forward(x, scale, offset, mean, variance, epsilon, data_format, is_training)
        return (*found, np.zeros((), scale.dtype)) if spare else found

    def lower(b, x, scale, offset, mean, variance, epsilon, data_format, is_training):
        found = _lower(b, x, scale, offset, mean, variance, epsilon, data_format, is_training)
        return [*found, b.const(0, scale.dtype)] if spare else found

    builder = op(f"FusedBatchNorm{version}(x: T, scale: {kind}, offset: {kind}, mean: {kind}, variance: {kind}; "
                 f"{_ATTRS}) -> y: T, batch_mean: {kind}, batch_variance: {kind}, reserve_space_1: {kind}, "
                 f"reserve_space_2: {kind}{third}", shape=_outputs_shape(6 if spare else 5), lower=lower, samples=_samples,
                 gradient_of=(0,), **type_sets)(forward)

    def gradient(op, grad, *others):
        training = op.attrs["is_training"]
        saved = list(op.outputs[3:]) if training else [op.inputs[3], op.inputs[4], *op.outputs[5:]]
        found = getattr(raw, f"FusedBatchNormGrad{version}")(
            grad, op.inputs[0], op.inputs[1], *saved, epsilon=op.attrs["epsilon"], data_format=op.attrs["data_format"],
            is_training=training)
        return list(found) if training else [*found[:3], None, None]        # as TensorFlow: in training five, which gates count

    builder.gradient(gradient)

    def gradient_samples(rng, dtype):
        found = []
        for inputs, attrs in _samples(rng, dtype):
            y, _, _, *saved = results(builder, inputs, attrs)
            saved = saved[:2] if attrs["is_training"] else inputs[3:5]
            reserved = [np.zeros((), np.float32)] if spare else []
            found.append(([draw(rng, y.shape, dtype), inputs[0], inputs[1], *saved, *reserved], attrs))
        return found

    def backward(y_backprop, x, scale, reserve_space_1, reserve_space_2, *reserve, epsilon, data_format, is_training):
        """The gradients of FusedBatchNorm for x, scale and offset."""
        empty = np.zeros(0, scale.dtype)
        return (*_gradient(y_backprop, x, scale, reserve_space_1, reserve_space_2, epsilon, data_format, is_training),
                empty, empty)

    def lower_backward(b, grad, x, scale, mean, variance, *reserve, epsilon, data_format, is_training):
        empty = b.const(np.zeros(0), scale.dtype)
        return [*_lower_gradient(b, grad, x, scale, mean, variance, epsilon, data_format, is_training), empty, empty]

    def grad_shape(c: Any) -> list:
        images = list(shape_rules.with_rank(shape_rules.merge(*c.shapes[:2]), 4, "x"))
        channel = _axes(c.attrs["data_format"], 4)[1]
        for other in c.shapes[2:5]:
            images[channel] = shape_rules.merge_sizes(images[channel], shape_rules.with_rank(other, 1)[0])
        return [tuple(images), *[(images[channel],)] * 2, (0,), (0,)]

    scales = "float32" if version else kind         # of the gradient's inputs, as in TensorFlow
    spaces = ("reserve_space_4", "reserve_space_5") if spare else ("reserve_space_3", "reserve_space_4")
    backward_builder = op(
       f"FusedBatchNormGrad{version}(y_backprop: T, x: T, scale: {scales}, reserve_space_1: {kind}, reserve_space_2: {kind}"
       f"{third}; {_ATTRS}) -> x_backprop: T, scale_backprop: {kind}, offset_backprop: {kind}, {spaces[0]}: {kind}, "
       f"{spaces[1]}: {kind}", shape=grad_shape, lower=lower_backward, samples=gradient_samples,
       gradient_differs="counts the moments as functions of x, which they are in programs; see tests/ops/recorded",
       **type_sets)(backward)
    backward_builder.gradient(_second_gradient)


_declare("", TypeSet(dtypes.float32), False)
_declare("V2", _HALVES, False)
_declare("V3", _HALVES, True)


def fused_batch_norm(x: Any, scale: Any, offset: Any, mean: Any = None, variance: Any = None, epsilon: float = 0.001,
                     data_format: str = "NHWC", is_training: bool = True, name: str | None = None) -> tuple:
    """(y, mean, variance): `x` [batch, height, width, channels] normalised over everything but the channels.

    In training the moments of the batch are taken (the variance that is returned is corrected for bias); else `mean`
    and `variance` must be given.  Raises ValueError if they are given in training.
    """
    x = convert_to_tensor(x, name="input")
    scale = convert_to_tensor(scale, name="scale")
    offset = convert_to_tensor(offset, name="offset")
    if is_training:
        if mean is not None or variance is not None:
            raise ValueError("Both 'mean' and 'variance' must be None if is_training is True.")
    if mean is None:
        mean = constant([])
    if variance is None:
        variance = constant([])
    found = raw.FusedBatchNormV3(x, scale, offset, mean, variance, epsilon=max(epsilon, _SMALLEST_EPSILON),
                                 data_format=data_format, is_training=is_training, name=name)
    return found[0], found[1], found[2]


def batch_norm_with_global_normalization(t: Any = None, m: Any = None, v: Any = None, beta: Any = None,
                                         gamma: Any = None, variance_epsilon: Any = None,
                                         scale_after_normalization: bool | None = None, name: str | None = None,
                                         input: Any = None, mean: Any = None, variance: Any = None) -> Any:
    """The older form of ``batch_normalization``: gamma counts only if `scale_after_normalization`."""
    from jitgraph.ops.nn.functions import batch_normalization

    t = renamed("input", input, "t", t)
    m = renamed("mean", mean, "m", m)
    v = renamed("variance", variance, "v", v)
    return batch_normalization(t, m, v, beta, gamma if scale_after_normalization else None, variance_epsilon, name)
