"""``tf.nn``'s convolutions: arguments checked and brought into the form of the ops."""
from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.renamed_arguments import renamed
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes, counted_as, let_gradient_count
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.shape import expand_dims, squeeze
from jitgraph.ops.nn.interleaved import with_space_to_batch


def _per_axis(values: Any, count: int, data_format: str | None, name: str) -> list:
    """One number per axis of the tensor from one number, one per spatial axis, or one per axis (1 for the others).

    Raises ValueError for other lengths.
    """
    values = [1] if values is None else [values] if np.isscalar(values) else [int(v) for v in values]
    if len(values) == count + 2:
        return values
    if len(values) not in (1, count):
        raise ValueError(f"{name} should be of length 1, {count} or {count + 2} but was {len(values)}")
    values = values * count if len(values) == 1 else values
    return [1, 1, *values] if (data_format or "").startswith("NC") else [1, *values, 1]


def _padding(padding: Any, data_format: str) -> tuple[str, list]:
    """The padding as a word and a flat list.  Raises ValueError for a list that does not have one pair per axis."""
    if not isinstance(padding, (list, tuple)):
        return padding, []
    if len(padding) != 4:
        raise ValueError(f"When padding is a list, it must be of size 4. Got padding of size: {len(padding)}")
    for i, pair in enumerate(padding):
        has = "is not a list/tuple" if not isinstance(pair, (list, tuple)) else f"has size {len(pair)}" if len(pair) != 2 else None
        if has:
            raise ValueError("When padding is a list, each element of padding must be a list/tuple of size 2. Element with index "
                             f"{i} of padding {has}")
    flat = [int(p) for pair in padding for p in pair]
    if min(flat) < 0:
        raise ValueError(f"All elements of explicit_paddings must be nonnegative, got {padding}")
    outside = (0, 1) if data_format.startswith("NC") else (0, 3)
    if any(flat[2 * i] or flat[2 * i + 1] for i in outside):
        raise ValueError("Nonzero explicit padding in the batch or depth dimensions is not supported: batch and channels are not "
                         f"padded, got {padding}")
    return "EXPLICIT", flat


def nodes_of_dilation(value: Any, rank: int, padding: str, data_format: str | None) -> int:
    """How many nodes TensorFlow makes to convolve `value` along `rank` axes with gaps, without what it makes of the filter.

    It interleaves the input, convolves without gaps, and takes the batch apart again; where it knows no sizes, it computes them.
    """
    first = 2 if (data_format or "").startswith("NC") else 1
    known = value.shape.ndims is not None and value.shape[first:first + rank].is_fully_defined()
    return (16 if rank == 1 else 11) - (padding == "SAME") + (0 if known else 25 + 19 * rank)


def conv2d(input: Any, filter: Any = None, strides: Any = None, padding: Any = None, use_cudnn_on_gpu: bool = True,
           data_format: str | None = "NHWC", dilations: Any = (1, 1, 1, 1), name: str | None = None,
           filters: Any = None) -> Any:
    """2-D convolution (cross-correlation) of `input` [batch, height, width, in] with `filter` [height, width, in, out].

    `strides`, `dilations`: a number, two (height, width) or four (one per axis).  `padding`: "SAME", "VALID" or a list of
    (before, after) per axis.  `data_format`: "NHWC" or "NCHW".
    """
    filter = renamed("filters", filters, "filter", filter)
    data_format = data_format or "NHWC"
    word, explicit = _padding(padding, data_format)
    return raw.Conv2D(input, filter, strides=_per_axis(strides, 2, data_format, "strides"), padding=word,
                      use_cudnn_on_gpu=use_cudnn_on_gpu, explicit_paddings=explicit, data_format=data_format,
                      dilations=_per_axis(dilations, 2, data_format, "dilations"), name=name)


def conv2d_backprop_input(input_sizes: Any, filter: Any = None, out_backprop: Any = None, strides: Any = None,
                          padding: Any = None, use_cudnn_on_gpu: bool = True, data_format: str = "NHWC",
                          dilations: Any = (1, 1, 1, 1), name: str | None = None, filters: Any = None) -> Any:
    """The gradient of ``conv2d`` with respect to an input of shape `input_sizes`."""
    filter = renamed("filters", filters, "filter", filter)
    word, explicit = _padding(padding, data_format)
    return raw.Conv2DBackpropInput(input_sizes, filter, out_backprop, strides=strides, padding=word,
                                   use_cudnn_on_gpu=use_cudnn_on_gpu, explicit_paddings=explicit,
                                   data_format=data_format, dilations=dilations, name=name)


def conv2d_backprop_filter(input: Any, filter_sizes: Any, out_backprop: Any, strides: Any, padding: Any,
                           use_cudnn_on_gpu: bool = True, data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1),
                           name: str | None = None) -> Any:
    """The gradient of ``conv2d`` with respect to a filter of shape `filter_sizes`."""
    word, explicit = _padding(padding, data_format)
    return raw.Conv2DBackpropFilter(input, filter_sizes, out_backprop, strides=strides, padding=word,
                                    use_cudnn_on_gpu=use_cudnn_on_gpu, explicit_paddings=explicit,
                                    data_format=data_format, dilations=dilations, name=name)


def conv2d_transpose(value: Any = None, filter: Any = None, output_shape: Any = None, strides: Any = None,
                     padding: str = "SAME", data_format: str | None = "NHWC", name: str | None = None, input: Any = None,
                     filters: Any = None, dilations: Any = None) -> Any:
    """The transpose (gradient) of ``conv2d``, sometimes called deconvolution.

    `filter` is [height, width, out, in]; `output_shape` the shape of the result.
    """
    value = renamed("input", input, "value", value)
    filter = renamed("filters", filters, "filter", filter)
    data_format = data_format or "NHWC"
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as scope:
        return raw.Conv2DBackpropInput(
            output_shape, filter, value, strides=_per_axis(strides, 2, data_format, "strides"), padding=padding,
            data_format=data_format, dilations=_per_axis(dilations, 2, data_format, "dilations"), name=scope)


def atrous_conv2d(value: Any, filters: Any, rate: int, padding: str, name: str | None = None) -> Any:
    """``conv2d`` with filter elements `rate` apart and stride 1."""
    return convolution(value, filters, padding, dilation_rate=[rate, rate], name=name)


def atrous_conv2d_transpose(value: Any, filters: Any, output_shape: Any, rate: int, padding: str,
                            name: str | None = None) -> Any:
    """The transpose of ``atrous_conv2d``."""
    value, filters = convert_to_tensor(value, name="value"), convert_to_tensor(filters, name="filters")
    given, inside = (None if t._shape is None else t._shape[3] for t in (value, filters))
    if given is not None and inside is not None and given != inside:
        raise ValueError(f"value's input channels does not match filters' input channels, {given} != {inside}")
    if rate < 1:
        raise ValueError(f"rate {rate} cannot be less than one")
    made = None if filters._shape is None else filters._shape[2]
    if rate > 1 and isinstance(output_shape, (list, tuple, np.ndarray)) and made is not None and output_shape[3] != made:
        raise ValueError(f"output_shape does not match filter's output channels, {output_shape[3]} != {made}")
    found = conv2d_transpose(value, filters, output_shape, 1, padding, dilations=rate, name=name or "atrous_conv2d_transpose")
    if rate > 1:
        count_nodes(7)                  # TensorFlow interleaves it, and takes the batch apart again
        let_gradient_count(found, 1, behind=value)
    return found


def conv1d(value: Any = None, filters: Any = None, stride: Any = None, padding: Any = None, use_cudnn_on_gpu: Any = None,
           data_format: str | None = None, name: str | None = None, input: Any = None, dilations: Any = None) -> Any:
    """1-D convolution of `value` [batch, width, in] with `filters` [width, in, out].

    `data_format`: "NWC" (default) or "NCW".  Raises ValueError for others.
    """
    value = renamed("input", input, "value", value)
    with name_scope(name, "conv1d", [value, filters]) as scope:
        layout, axis, steps = _as_2d(data_format, stride, "stride")
        gaps = _as_2d(data_format, dilations, "dilations")[2]
        value = expand_dims(value, axis)
        filters = expand_dims(filters, 0)
        result = raw.Conv2D(value, filters, strides=steps, padding=padding,
                            use_cudnn_on_gpu=use_cudnn_on_gpu is not False, data_format=layout, dilations=gaps, name=scope)
        return squeeze(result, [axis])


def _as_2d(data_format: str | None, values: Any, name: str) -> tuple[str, int, list]:
    """For data with one spatial axis: the 2-D layout, where the new axis goes, and the values per axis."""
    if data_format in (None, "NHWC", "NWC"):
        return "NHWC", 1, [1, *_per_axis(values, 1, "NWC", name)]
    if data_format in ("NCHW", "NCW"):
        return "NCHW", 2, [1, *_per_axis(values, 1, "NCW", name)]
    raise ValueError('data_format must be "NWC" or "NCW".')


def conv1d_transpose(input: Any, filters: Any, output_shape: Any, strides: Any, padding: str = "SAME",
                     data_format: str = "NWC", dilations: Any = None, name: str | None = None) -> Any:
    """The transpose of ``conv1d``; `filters` is [width, out, in]."""
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]):
        layout, axis, steps = _as_2d(data_format, strides, "strides")
        gaps = _as_2d(data_format, dilations, "dilations")[2]
        sizes = convert_to_tensor(output_shape, dtypes.int32)
        sizes = raw.ConcatV2([sizes[:axis], [1], sizes[axis:]], 0)
        result = raw.Conv2DBackpropInput(sizes, expand_dims(filters, 0), expand_dims(input, axis), strides=steps,
                                         padding=padding, data_format=layout, dilations=gaps)
        return squeeze(result, [axis])


def conv3d(input: Any, filter: Any = None, strides: Any = None, padding: Any = None, data_format: str | None = "NDHWC",
           dilations: Any = (1, 1, 1, 1, 1), name: str | None = None, filters: Any = None) -> Any:
    """3-D convolution of `input` [batch, depth, height, width, in] with `filter` [depth, height, width, in, out]."""
    filter = renamed("filters", filters, "filter", filter)
    data_format = data_format or "NDHWC"
    return raw.Conv3D(input, filter, strides=_per_axis(strides, 3, data_format, "strides"), padding=padding,
                      data_format=data_format, dilations=_per_axis(dilations, 3, data_format, "dilations"), name=name)


def conv3d_transpose(value: Any = None, filter: Any = None, output_shape: Any = None, strides: Any = None,
                     padding: str = "SAME", data_format: str | None = "NDHWC", name: str | None = None, input: Any = None,
                     filters: Any = None, dilations: Any = None) -> Any:
    """The transpose of ``conv3d``; `filter` is [depth, height, width, out, in]."""
    value = renamed("input", input, "value", value)
    filter = renamed("filters", filters, "filter", filter)
    data_format = data_format or "NDHWC"
    with name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as scope:
        return raw.Conv3DBackpropInputV2(
            output_shape, filter, value, strides=_per_axis(strides, 3, data_format, "strides"), padding=padding,
            data_format=data_format, dilations=_per_axis(dilations, 3, data_format, "dilations"), name=scope)


def convolution(input: Any, filter: Any = None, padding: Any = None, strides: Any = None, dilation_rate: Any = None,
                name: str | None = None, data_format: str | None = None, filters: Any = None,
                dilations: Any = None) -> Any:
    """1-D, 2-D or 3-D convolution, by the rank of `input`.  Raises ValueError if no rank is known."""
    filter = renamed("filters", filters, "filter", filter)
    gaps = renamed("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, "convolution", [input, filter]) as scope:
        input = convert_to_tensor(input, name="input")
        filter = convert_to_tensor(filter, name="filter")
        known = input._shape if input._shape is not None else filter._shape
        if known is None:
            raise ValueError("rank of input or filter must be known")
        rank = len(known) - 2
        if rank not in (1, 2, 3):
            raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {len(known)}.")
        convolved: Any = {1: conv1d, 2: conv2d, 3: conv3d}[rank]
        dilated = gaps is not None and bool(np.max(gaps) > 1)
        count_nodes(dilated * (1 + 2 * (padding == "SAME")))       # the gaps, the filter's shape and paddings for it
        with counted_as(nodes_of_dilation(input, rank, padding, data_format)) if dilated else nullcontext():
            found = convolved(input, filter, strides, padding, data_format=data_format, dilations=gaps, name=scope)
        if dilated:
            let_gradient_count(found, 1, behind=input)
        return found


def depthwise_conv2d(input: Any, filter: Any, strides: Any, padding: str, rate: Any = None, name: str | None = None,
                     data_format: str | None = None, dilations: Any = None) -> Any:
    """Each channel of `input` convolved by itself with `filter` [height, width, in, multiplier].

    The result has in * multiplier channels.  `rate`: dilation.
    """
    rate = renamed("dilations", dilations, "rate", rate)
    with name_scope(name, "depthwise", [input, filter]) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        filter = convert_to_tensor(filter, name="filter_in")
        return _depthwise(input, filter, strides, padding, rate, data_format, scope)


def _depthwise(input: Any, filter: Any, strides: Any, padding: str, rate: Any, data_format: str | None,
               name: str | None) -> Any:
    data_format = data_format or "NHWC"
    gaps = _per_axis(rate, 2, data_format, "rate")
    if max(gaps) > 1 and max(strides) > 1:      # strides then count within each part of the input, so the result has other sizes
        return with_space_to_batch(input, gaps[2:] if data_format == "NCHW" else gaps[1:3], padding,
                                   lambda part, _, padding: raw.DepthwiseConv2dNative(
                                       part, filter, strides=strides, padding=padding, data_format=data_format, name=name),
                                   filter.shape.as_list(), data_format=data_format)
    # TensorFlow keeps the filter's shape and the dilation; for a dilation, it takes the input apart
    count_nodes(2 if max(gaps) == 1 else nodes_of_dilation(input, 2, padding, data_format) + (2 if padding == "SAME" else 1))
    result = raw.DepthwiseConv2dNative(input, filter, strides=strides, padding=padding, data_format=data_format,
                                       dilations=gaps, name=name)
    if max(gaps) > 1:
        let_gradient_count(result, 1, behind=input)
    return result


def depthwise_conv2d_native(input: Any, filter: Any, strides: Any, padding: str, data_format: str = "NHWC",
                            dilations: Any = (1, 1, 1, 1), name: str | None = None) -> Any:
    """As ``depthwise_conv2d``, with one dilation per axis."""
    return raw.DepthwiseConv2dNative(input, filter, strides=strides, padding=padding, data_format=data_format,
                                     dilations=dilations, name=name)


def separable_conv2d(input: Any, depthwise_filter: Any, pointwise_filter: Any, strides: Any, padding: str,
                     rate: Any = None, name: str | None = None, data_format: str | None = None,
                     dilations: Any = None) -> Any:
    """``depthwise_conv2d``, then a 1x1 convolution with `pointwise_filter` [1, 1, in * multiplier, out]."""
    rate = renamed("dilations", dilations, "rate", rate)
    with name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        depthwise_filter = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        pointwise_filter.shape.with_rank(4)[:2].assert_is_compatible_with([1, 1])
        each = _depthwise(input, depthwise_filter, strides, padding, rate, data_format, "depthwise")
        return conv2d(each, pointwise_filter, 1, "VALID", data_format=data_format, name=scope)
