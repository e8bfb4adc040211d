"""``tf.nn``'s poolings: arguments checked and brought into the form of the ops."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.declare.renamed_arguments import renamed
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.shape import expand_dims, squeeze
from jitgraph.ops.nn.convolution_functions import _as_2d, _per_axis


def _pool(op_type: str, scope_name: str, value: Any, ksize: Any, strides: Any, padding: str, data_format: str,
          name: str | None) -> Any:
    count = len(data_format) - 2
    with name_scope(name, scope_name, [value]) as scope:
        ksize = _per_axis(ksize, count, data_format, "ksize")
        if any(k == 0 for k in ksize):
            raise ValueError("ksize cannot be zero.")
        return getattr(raw, op_type)(value, ksize=ksize, strides=_per_axis(strides, count, data_format, "strides"),
                                     padding=padding, data_format=data_format, name=scope)


def max_pool(value: Any = None, ksize: Any = None, strides: Any = None, padding: Any = None,
             data_format: str | None = "NHWC", name: str | None = None, input: Any = None) -> Any:
    """The maximum of each window of `value` [batch, height, width, channels].

    `ksize`, `strides`: a number, two or four.  `padding`: "SAME" or "VALID"; padding cells never win.
    """
    value = renamed("input", input, "value", value)
    return _pool("MaxPool", "MaxPool", value, ksize, strides, padding, data_format or "NHWC", name)


def max_pool2d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = "NHWC",
               name: str | None = None) -> Any:
    """``max_pool`` of `input` [batch, height, width, channels]."""
    return _pool("MaxPool", "MaxPool2d", input, ksize, strides, padding, data_format or "NHWC", name)


def avg_pool(value: Any = None, ksize: Any = None, strides: Any = None, padding: Any = None,
             data_format: str | None = "NHWC", name: str | None = None, input: Any = None) -> Any:
    """The mean of each window of `value` [batch, height, width, channels]; padding cells do not count."""
    value = renamed("input", input, "value", value)
    return _pool("AvgPool", "AvgPool", value, ksize, strides, padding, data_format or "NHWC", name)


def max_pool3d(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = "NDHWC",
               name: str | None = None) -> Any:
    """The maximum of each window of `input` [batch, depth, height, width, channels]."""
    return _pool("MaxPool3D", "MaxPool3D", input, ksize, strides, padding, data_format or "NDHWC", name)


def avg_pool3d(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = "NDHWC",
               name: str | None = None) -> Any:
    """The mean of each window of `input` [batch, depth, height, width, channels]."""
    return _pool("AvgPool3D", "AvgPool3D", input, ksize, strides, padding, data_format or "NDHWC", name)


def _pool1d(op_type: str, input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None,
            name: str | None) -> Any:
    with name_scope(name, {"AvgPool": "AvgPool1D", "MaxPool": "MaxPool1d"}[op_type], [input]) as scope:
        layout, axis, sizes = _as_2d(data_format, ksize, "ksize")
        steps = _as_2d(data_format, strides, "strides")[2]
        result = getattr(raw, op_type)(expand_dims(input, axis), ksize=sizes, strides=steps, padding=padding,
                                       data_format=layout, name=scope)
        return squeeze(result, [axis])


def max_pool1d(input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NWC",
               name: str | None = None) -> Any:
    """The maximum of each window of `input` [batch, width, channels]."""
    return _pool1d("MaxPool", input, ksize, strides, padding, data_format, name)


def avg_pool1d(input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NWC",
               name: str | None = None) -> Any:
    """The mean of each window of `input` [batch, width, channels]."""
    return _pool1d("AvgPool", input, ksize, strides, padding, data_format, name)


def max_pool_with_argmax(input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NHWC",
                         Targmax: Any = None, name: str | None = None, output_dtype: Any = None,
                         include_batch_in_index: bool = False) -> Any:
    """(maximum, argmax): of each window, and where it was: (row * width + column) * channels + channel.

    `include_batch_in_index` counts through the whole batch.  Raises ValueError for another layout than "NHWC".
    """
    if data_format != "NHWC":
        raise ValueError("data_format values other than 'NHWC' are not yet supported")
    kind = renamed("output_dtype", output_dtype, "Targmax", Targmax)
    return raw.MaxPoolWithArgmax(input, ksize=_per_axis(ksize, 2, "NHWC", "ksize"),
                                 strides=_per_axis(strides, 2, "NHWC", "strides"), padding=padding,
                                 Targmax=kind or dtypes.int64, include_batch_in_index=include_batch_in_index, name=name)


def lrn(input: Any, depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5,
        name: str | None = None) -> Any:
    """input / (bias + alpha * sum of the squares of the channels up to `depth_radius` away) ** beta."""
    return raw.LRN(input, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta, name=name)
