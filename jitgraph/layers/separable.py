"""Layers that convolve each channel by itself and then mix the channels: ``SeparableConv1D`` and ``SeparableConv2D``."""
from __future__ import annotations

from typing import Any

from jitgraph.layers.arguments import convert_data_format
from jitgraph.layers.by_name import ZEROS, initializer_of, regularizer_of
from jitgraph.layers.convolutional import _Conv
from jitgraph.layers.functional import functional
from jitgraph.ops.arrays.shape import expand_dims, squeeze
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.nn.convolution_functions import separable_conv2d as separable


class _SeparableConv(_Conv):
    """activation(each channel convolved with its own filters, the results mixed, + ``bias``).

    Variables: ``depthwise_kernel`` [*kernel_size, channels, depth_multiplier], ``pointwise_kernel``
    [1, ..., channels * depth_multiplier, filters], ``bias`` [filters] with `use_bias`.  The other arguments are those of the
    convolution of the same rank, and so are the errors.
    """

    _config_fields: tuple[str, ...] = (
        "depth_multiplier", "depthwise_initializer", "pointwise_initializer", "depthwise_regularizer", "pointwise_regularizer",
        "depthwise_constraint", "pointwise_constraint")

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str | None = "channels_last", dilation_rate: Any = 1, depth_multiplier: int = 1,
                 activation: Any = None, use_bias: bool = True, depthwise_initializer: Any = None,
                 pointwise_initializer: Any = None, bias_initializer: Any = ZEROS,
                 depthwise_regularizer: Any = None, pointwise_regularizer: Any = None, bias_regularizer: Any = None,
                 activity_regularizer: Any = None, depthwise_constraint: Any = None, pointwise_constraint: Any = None,
                 bias_constraint: Any = None, trainable: bool = True, name: str | None = None, **kwargs: Any):
        kwargs.setdefault("kernel_initializer", "glorot_uniform")       # no variable has it, but TensorFlow writes it
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                         bias_initializer=bias_initializer, bias_regularizer=bias_regularizer,
                         activity_regularizer=activity_regularizer, bias_constraint=bias_constraint, trainable=trainable,
                         name=name, **kwargs)
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = initializer_of(depthwise_initializer)
        self.pointwise_initializer = initializer_of(pointwise_initializer)
        self.depthwise_regularizer = regularizer_of(depthwise_regularizer)
        self.pointwise_regularizer = regularizer_of(pointwise_regularizer)
        self.depthwise_constraint = depthwise_constraint
        self.pointwise_constraint = pointwise_constraint

    def build(self, input_shape: Any) -> None:
        """Makes ``depthwise_kernel``, ``pointwise_kernel`` and ``bias``."""
        channels = self._take_channels(input_shape)
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel", (*self.kernel_size, channels, self.depth_multiplier), self.dtype, self.depthwise_initializer,
            self.depthwise_regularizer, constraint=self.depthwise_constraint, trainable=True)
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel", (1,) * self.rank + (self.depth_multiplier * channels, self.filters), self.dtype,
            self.pointwise_initializer, self.pointwise_regularizer, constraint=self.pointwise_constraint, trainable=True)
        self._make_bias()
        self.built = True

    def _separable(self, inputs: Any, depthwise: Any, pointwise: Any, strides: tuple, rate: tuple, padding: str) -> Any:
        layout = convert_data_format(self.data_format, 4)
        outputs = separable(inputs, depthwise, pointwise,
                            strides=(1, *strides, 1) if self.data_format == "channels_last" else (1, 1, *strides),
                            padding=padding.upper(), rate=rate, data_format=layout)
        return bias_add(outputs, self.bias, data_format=layout) if self.use_bias else outputs


class SeparableConv1D(_SeparableConv):
    __doc__ = f"Separable convolution along one axis: [batch, steps, channels].\n\n    {_SeparableConv.__doc__}"
    rank = 1

    def call(self, inputs: Any) -> Any:
        """The convolution of `inputs`, with the bias, activated."""
        padding = "valid" if self.padding == "causal" else self.padding
        if self.padding == "causal":
            inputs = self._causal(inputs)
        axis = 1 if self.data_format == "channels_last" else 2
        inputs = expand_dims(inputs, axis)
        outputs = self._separable(inputs, expand_dims(self.depthwise_kernel, 0), expand_dims(self.pointwise_kernel, 0),
                                  self.strides * 2, (1, *self.dilation_rate), padding)
        return self._activated(squeeze(outputs, [axis]))


class SeparableConv2D(_SeparableConv):
    __doc__ = f"Separable convolution over two axes: [batch, height, width, channels].\n\n    {_SeparableConv.__doc__}"
    rank = 2

    def call(self, inputs: Any) -> Any:
        """The convolution of `inputs`, with the bias, activated."""
        return self._activated(self._separable(inputs, self.depthwise_kernel, self.pointwise_kernel, self.strides,
                                               self.dilation_rate, self.padding))


separable_conv1d = functional(SeparableConv1D, "separable_conv1d")
separable_conv2d = functional(SeparableConv2D, "separable_conv2d")
