"""Layers that take the largest or the mean element of each window."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph.shapes import TensorShape
from jitgraph.layers.arguments import (
    conv_output_length,
    convert_data_format,
    normalize_data_format,
    normalize_padding,
    normalize_tuple,
    spatial_axes,
)
from jitgraph.layers.base import Layer
from jitgraph.layers.functional import functional
from jitgraph.layers.input_spec import InputSpec
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.shape import expand_dims, squeeze
from jitgraph.ops.nn import pooling_functions


class _Pooling(Layer):
    """One number for each window of `pool_size`, `strides` apart.

    `pool_size`, `strides`: a number, or one per spatial axis.  `padding`: "valid" (windows inside alone) or "same".
    `data_format`: "channels_last", [batch, ..., channels], or "channels_first".  Raises ValueError for other arguments, and for
    inputs of another rank.
    """

    rank: int
    pool_function: Callable
    _config_fields: tuple[str, ...] = ("pool_size", "padding", "strides", "data_format")

    def __init__(self, pool_size: Any, strides: Any, padding: str = "valid", data_format: str | None = "channels_last",
                 name: str | None = None, **kwargs: Any):
        super().__init__(name=name, **kwargs)
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        self.pool_size = normalize_tuple(pool_size, self.rank, "pool_size")
        self.strides = normalize_tuple(strides, self.rank, "strides")
        self.padding = normalize_padding(padding)
        self.data_format = normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _pooled(self, inputs: Any, size: tuple, strides: tuple, data_format: str) -> Any:
        """The windows of the tensor `inputs`, sizes given per spatial axis."""
        outer = lambda inner: (1, *inner, 1) if data_format == "channels_last" else (1, 1, *inner)
        return type(self).pool_function(inputs, ksize=outer(size), strides=outer(strides), padding=self.padding.upper(),
                                        data_format=convert_data_format(data_format, len(size) + 2))

    def call(self, inputs: Any) -> Any:
        """One number for each window of `inputs`."""
        return self._pooled(inputs, self.pool_size, self.strides, self.data_format)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the inputs, with the number of windows along each spatial axis."""
        sizes = TensorShape(input_shape).as_list()
        for axis, size, stride in zip(spatial_axes(self.data_format, self.rank), self.pool_size, self.strides):
            sizes[axis] = conv_output_length(sizes[axis], size, self.padding, stride)
        return TensorShape(sizes)


class _Pooling1D(_Pooling):
    rank = 1

    def call(self, inputs: Any) -> Any:
        """One number for each window of `inputs`."""
        axis = 2 if self.data_format == "channels_last" else 3
        outputs = self._pooled(expand_dims(inputs, axis), (*self.pool_size, 1), (*self.strides, 1), self.data_format)
        return squeeze(outputs, axis)


class _Pooling3D(_Pooling):
    rank = 3

    def call(self, inputs: Any) -> Any:
        """One number for each window of `inputs`."""
        first = self.data_format == "channels_first"
        outputs = self._pooled(transpose(inputs, (0, 2, 3, 4, 1)) if first else inputs, self.pool_size, self.strides,
                               "channels_last")
        return transpose(outputs, (0, 4, 1, 2, 3)) if first else outputs


class MaxPooling1D(_Pooling1D):
    __doc__ = f"The largest element of each window along one axis: [batch, steps, channels].\n\n    {_Pooling.__doc__}"
    pool_function = staticmethod(pooling_functions.max_pool)


class AveragePooling1D(_Pooling1D):
    __doc__ = f"The mean of each window along one axis: [batch, steps, channels].\n\n    {_Pooling.__doc__}"
    pool_function = staticmethod(pooling_functions.avg_pool)


class MaxPooling2D(_Pooling):
    __doc__ = f"The largest element of each window: [batch, height, width, channels].\n\n    {_Pooling.__doc__}"
    rank = 2
    pool_function = staticmethod(pooling_functions.max_pool)


class AveragePooling2D(_Pooling):
    __doc__ = f"The mean of each window: [batch, height, width, channels].\n\n    {_Pooling.__doc__}"
    rank = 2
    pool_function = staticmethod(pooling_functions.avg_pool)


class MaxPooling3D(_Pooling3D):
    __doc__ = f"The largest element of each window: [batch, depth, height, width, channels].\n\n    {_Pooling.__doc__}"
    pool_function = staticmethod(pooling_functions.max_pool3d)


class AveragePooling3D(_Pooling3D):
    __doc__ = f"The mean of each window: [batch, depth, height, width, channels].\n\n    {_Pooling.__doc__}"
    pool_function = staticmethod(pooling_functions.avg_pool3d)


max_pooling1d = functional(MaxPooling1D, "max_pooling1d", reuse=False)
max_pooling2d = functional(MaxPooling2D, "max_pooling2d", reuse=False)
max_pooling3d = functional(MaxPooling3D, "max_pooling3d", reuse=False)
average_pooling1d = functional(AveragePooling1D, "average_pooling1d", reuse=False)
average_pooling2d = functional(AveragePooling2D, "average_pooling2d", reuse=False)
average_pooling3d = functional(AveragePooling3D, "average_pooling3d", reuse=False)
