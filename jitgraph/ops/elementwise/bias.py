"""Bias vectors: one number per channel, added to every position."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw
from jitgraph.graph import shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import NUMBERS
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.fill import ones_like
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import reshape, shape
from jitgraph.ops.reduce.precise_sum import precise_sum

_LAYOUT = 'data_format: string {"NHWC", "NCHW"} = "NHWC"'


def channel_axis(rank: int, data_format: str) -> int:
    """The axis of the channels: the last, or the second for NCHW, however many axes follow."""
    return rank - 1 if data_format == "NHWC" else 1


def _with_channels(shape: Any, data_format: str, name: str) -> Any:
    """A shape, known to have channels and, for NCHW, positions.  Raises ValueError if it has too few axes."""
    return shape_rules.with_rank_at_least(shape, 3 if data_format == "NCHW" else 2, name)


def _column(shape: Any, data_format: str) -> list:
    """A shape for the bias so that it broadcasts along the channels of a value of `shape`."""
    axis = channel_axis(len(shape), data_format)
    return [d if i == axis else 1 for i, d in enumerate(shape)]


def _bias_add_shape(c: Any) -> Any:
    value = _with_channels(c.shapes[0], c.attrs["data_format"], "value")
    bias = shape_rules.with_rank(c.shapes[1], 1, "bias")
    if value is None:
        return None
    axis = channel_axis(len(value), c.attrs["data_format"])
    merged = shape_rules.merge_sizes(value[axis], bias[0])
    return tuple(merged if i == axis else d for i, d in enumerate(value))


def _bias_add_samples(rng: Any, dtype: Any) -> list:
    return [[draw(rng, (2, 3), dtype), draw(rng, (3,), dtype)],
            [draw(rng, (2, 2, 2, 3), dtype), draw(rng, (3,), dtype)],
            *(([draw(rng, (2, 3, *positions), dtype), draw(rng, (3,), dtype)], {"data_format": "NCHW"})
              for positions in ((4,), (2, 2), (2, 4, 2)))]


@op(f"BiasAdd(value: T, bias: T; {_LAYOUT}) -> output: T", T=NUMBERS, shape=_bias_add_shape,
    lower=lambda b, value, bias, data_format: value + b.reshape(bias, _column(value.shape, data_format)),
    samples=_bias_add_samples)
def _bias_add(value, bias, data_format):
    """`value` plus the vector `bias` along its channels."""
    if bias.shape != (value.shape[channel_axis(value.ndim, data_format)],):
        from jitgraph.graph.errors import InvalidArgumentError

        raise InvalidArgumentError(None, None, "Must provide as many biases as the last dimension of the input tensor: "
                                               f"{list(bias.shape)} vs. {list(value.shape)}")
    return value + bias.reshape(_column(value.shape, data_format))


@_bias_add.gradient
def _(op, grad):
    return [grad, raw.BiasAddGrad(grad, data_format=op.attrs["data_format"])]


def _bias_add_grad_shape(c: Any) -> Any:
    value = _with_channels(c.shapes[0], c.attrs["data_format"], "out_backprop")
    return (None,) if value is None else (value[channel_axis(len(value), c.attrs["data_format"])],)


def _all_but_channel(rank: int, data_format: str) -> tuple:
    axis = channel_axis(rank, data_format)
    return tuple(i for i in range(rank) if i != axis)


@op(f"BiasAddGrad(out_backprop: T; {_LAYOUT}) -> output: T", T=NUMBERS, shape=_bias_add_grad_shape,
    lower=lambda b, grad, data_format: b.reduce("add", grad, _all_but_channel(len(grad.shape), data_format)),
    samples=lambda rng, dtype: [[draw(rng, (2, 3), dtype)],
                                *(([draw(rng, (2, 3, *positions), dtype)], {"data_format": "NCHW"})
                                  for positions in ((4,), (2, 2), (2, 4, 2)))])
def bias_add_grad(out_backprop, data_format):
    """The gradient of BiasAdd with respect to the bias: the sum over everything but the channels."""
    return precise_sum(out_backprop, _all_but_channel(out_backprop.ndim, data_format))


@bias_add_grad.gradient
def _(op, grad):
    """The gradient for each channel, repeated at every position."""
    full = shape(op.inputs[0])
    if op.attrs["data_format"] == "NCHW":
        column = concat([ones_like(full[:1]), shape(grad), ones_like(full[2:])], 0)
        repeats = concat([full[:1], [1], full[2:]], 0)
    else:
        column = concat([ones_like(full[:-1]), shape(grad)], 0)
        repeats = concat([full[:-1], [1]], 0)
    return raw.Tile(reshape(grad, column), repeats)


def _bias_add_v1_shape(c: Any) -> Any:
    value = shape_rules.with_rank_at_least(c.shapes[0], 2, "value")
    size, = shape_rules.with_rank(c.shapes[1], 1, "bias")
    return None if value is None else (*value[:-1], shape_rules.merge_sizes(value[-1], size))


@op("BiasAddV1(value: T, bias: T) -> output: T", T=NUMBERS,
    shape=_bias_add_v1_shape, lower=lambda b, value, bias: value + bias,
    samples=lambda rng, dtype: [[draw(rng, (2, 3), dtype), draw(rng, (3,), dtype)]])
def _bias_add_v1(value, bias):
    """`value` plus the vector `bias` along the last axis; the older form of BiasAdd."""
    return value + bias


@_bias_add_v1.gradient
def _(op, grad):
    rank = raw.Rank(grad)
    return [grad, raw.Sum(grad, raw.Range(0, raw.Sub(rank, 1), 1))]


def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Any:
    """`value` plus the vector `bias` along its channels: the last axis, or the second for `data_format` "NC...".

    Raises ValueError for other formats and if the sizes differ.
    """
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        if data_format is not None:
            if data_format.startswith("NC"):
                data_format = "NCHW"
            elif data_format.startswith("N") and data_format.endswith("C"):
                data_format = "NHWC"
            else:
                raise ValueError("data_format must be of the form `N...C` or `NC...`")
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, value.dtype.base_dtype, name="bias")
        return _bias_add(value, bias, data_format=data_format or "NHWC", name=scope)


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """``matmul(x, weights) + biases`` for `x` [batch, in], `weights` [in, out], `biases` [out]."""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return bias_add(raw.MatMul(x, weights), biases, name=scope)


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """``relu(matmul(x, weights) + biases)``."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return raw.Relu(bias_add(raw.MatMul(x, weights), biases), name=scope)
