"""Convolutions and pooling: filters and dilations in the plural, layouts known by their defaults."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.nn import patches, pooling_functions
from jitgraph.v2.calls import from_v1


@from_v1("nn.conv1d")
def conv1d(input, filters, stride, padding, data_format="NWC", dilations=None, name=None):
    """1-D convolution of `input` [batch, width, in] with `filters` [width, in, out]."""


@from_v1("nn.conv2d")
def conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):
    """2-D convolution of `input` [batch, height, width, in] with `filters` [height, width, in, out].

    `strides`, `dilations`: a number, two (height, width) or four (one per axis).  `padding`: "SAME", "VALID" or a list of
    (before, after) per axis.
    """


@from_v1("nn.conv2d_transpose")
def conv2d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NHWC", dilations=None, name=None):
    """The transpose of ``conv2d``; `filters` is [height, width, out, in], `output_shape` the shape of the result."""


@from_v1("nn.conv3d")
def conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None):
    """3-D convolution of `input` [batch, depth, height, width, in] with `filters` [depth, height, width, in, out]."""


@from_v1("nn.conv3d_transpose")
def conv3d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NDHWC", dilations=None, name=None):
    """The transpose of ``conv3d``; `filters` is [depth, height, width, out, in]."""


@from_v1("nn.convolution")
def convolution(input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None):
    """1-D, 2-D or 3-D convolution, by the rank of `input`.  Raises ValueError if no rank is known."""


@from_v1("nn.depthwise_conv2d")
def depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=None, name=None):
    """Each channel of `input` convolved by itself with `filter` [height, width, in, multiplier]."""


@from_v1("nn.separable_conv2d")
def separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None, name=None):
    """``depthwise_conv2d``, then a 1x1 convolution with `pointwise_filter` [1, 1, in * multiplier, out]."""


def dilation2d(input: Any, filters: Any, strides: Any, padding: str, data_format: str, dilations: Any,
               name: str | None = None) -> Any:
    """The largest of `input` plus `filters` [height, width, depth] in each window: grayscale dilation.

    Raises ValueError for a layout other than NHWC.
    """
    _check_channels_last(data_format)
    return patches.dilation2d(input, filters, strides, dilations, padding, name)


def erosion2d(value: Any, filters: Any, strides: Any, padding: str, data_format: str, dilations: Any,
              name: str | None = None) -> Any:
    """The smallest of `value` minus `filters` in each window: grayscale erosion.

    Raises ValueError for a layout other than NHWC.
    """
    _check_channels_last(data_format)
    return patches.erosion2d(value, filters, strides, dilations, padding, name)


def _check_channels_last(data_format: str) -> None:
    if data_format != "NHWC":
        raise ValueError("Data formats other than NHWC are not yet supported")


def avg_pool2d(input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NHWC", name: str | None = None) -> Any:
    """The mean of each window of `ksize` in `input` [batch, height, width, channels]."""
    with name_scope(name, "AvgPool2D", [input]) as scope:
        return pooling_functions.avg_pool(input, ksize, strides, padding, data_format, scope)


@from_v1("nn.max_pool_with_argmax")
def max_pool_with_argmax(input, ksize, strides, padding, data_format="NHWC", output_dtype=dtypes.int64,
                         include_batch_in_index=False, name=None):
    """The largest of each window, and its flat index in its image, or in the batch."""


@from_v1("nn.pool")
def pool(input, window_shape, pooling_type, strides=None, padding="VALID", data_format=None, dilations=None, name=None):
    """The mean ("AVG") or the largest ("MAX") of each window along one, two or three axes."""
