"""Layers that convolve their inputs with filters that are trained."""
from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes, counted_as, let_gradient_count
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
from jitgraph.layers.by_name import ZEROS, activation_of, initializer_of, regularizer_of
from jitgraph.layers.functional import functional
from jitgraph.layers.input_spec import InputSpec
from jitgraph.ops.arrays.pad import pad
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.nn import convolution_functions


class _Conv(Layer):
    """activation(convolution of the inputs with ``kernel``, + ``bias``): a number of `filters`, each over all channels.

    `kernel_size`, `strides`, `dilation_rate`: a number, or one per spatial axis.  `padding`: "valid" or "same".  `data_format`:
    "channels_last", [batch, ..., channels], or "channels_first".  Variables: ``kernel`` [*kernel_size, channels, filters],
    ``bias`` [filters] with `use_bias`.  Initializers, regularizers (functions of the variable that give a loss) and constraints
    (functions that give the value to keep after a training step) are for the variable they name; `activity_regularizer` gives a
    loss for each output.  Raises ValueError for other arguments, for inputs of another rank, and if the number of channels is
    unknown.
    """

    rank: int
    _config_fields: tuple[str, ...] = (
        "filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate", "activation", "use_bias",
        "kernel_initializer", "bias_initializer", "kernel_regularizer", "bias_regularizer", "activity_regularizer",
        "kernel_constraint", "bias_constraint")

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str | None = "channels_last", dilation_rate: Any = 1, activation: Any = None,
                 use_bias: bool = True, kernel_initializer: Any = None, bias_initializer: Any = ZEROS,
                 kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True,
                 name: str | None = None, **kwargs: Any):
        super().__init__(trainable=trainable, name=name, activity_regularizer=regularizer_of(activity_regularizer), **kwargs)
        self.filters = filters
        self.kernel_size = normalize_tuple(kernel_size, self.rank, "kernel_size")
        self.strides = normalize_tuple(strides, self.rank, "strides")
        self.padding = normalize_padding(padding)
        if self.padding == "causal" and self.rank != 1:
            raise ValueError(f"Causal padding is only supported for `Conv1D` and `SeparableConv1D`, not for layer {self.name}.")
        self.data_format = normalize_data_format(data_format)
        self.dilation_rate = normalize_tuple(dilation_rate, self.rank, "dilation_rate")
        self.activation = activation_of(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializer_of(kernel_initializer)
        self.bias_initializer = initializer_of(bias_initializer)
        self.kernel_regularizer = regularizer_of(kernel_regularizer)
        self.bias_regularizer = regularizer_of(bias_regularizer)
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.input_spec = InputSpec(ndim=self.rank + 2)
        self.bias: Any = None

    # -- variables ----------------------------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel`` and ``bias``."""
        channels = self._take_channels(input_shape)
        self._make_kernel(channels)
        self._make_bias()
        convert_to_tensor(self.dilation_rate, name="dilation_rate")     # no node uses it, but TensorFlow makes it
        if any(rate > 1 for rate in self.dilation_rate):
            if any(stride > 1 for stride in self.strides):
                raise ValueError(f"strides > 1 not supported in conjunction with dilation_rate > 1 (layer {self.name})")
            count_nodes(2 if self.padding == "same" else 0)
        self.built = True

    def _take_channels(self, input_shape: Any) -> int:
        """The number of channels, which the inputs of later calls must have too."""
        axis = 1 if self.data_format == "channels_first" else -1
        channels = TensorShape(input_shape)[axis].value
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`. (Layer "
                             f"{self.name} got inputs of shape {input_shape}: tell it with set_shape.)")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        return int(channels)

    def _make_kernel(self, channels: int) -> None:
        self.kernel = self.add_weight("kernel", (*self.kernel_size, channels, self.filters), self.dtype,
                                      self.kernel_initializer, self.kernel_regularizer,
                                      constraint=self.kernel_constraint, trainable=True)

    def _make_bias(self) -> None:
        if self.use_bias:
            self.bias = self.add_weight("bias", (self.filters,), self.dtype, self.bias_initializer, self.bias_regularizer,
                                        constraint=self.bias_constraint, trainable=True)

    # -- calls --------------------------------------------------------------------------------------------------------

    def call(self, inputs: Any) -> Any:
        """The convolution of `inputs`, with the bias, activated."""
        layout = convert_data_format(self.data_format, self.rank + 2)
        if self.padding == "causal":
            inputs = self._causal(inputs)
        convolution = getattr(convolution_functions, f"conv{self.rank}d")
        padding = "VALID" if self.padding == "causal" else self.padding.upper()
        dilated = any(rate > 1 for rate in self.dilation_rate)
        nodes = convolution_functions.nodes_of_dilation(inputs, self.rank, padding, layout)
        with counted_as(nodes) if dilated else nullcontext():
            outputs = convolution(inputs, self.kernel, self.strides, padding, data_format=layout,
                                  dilations=self.dilation_rate)
        if dilated:
            let_gradient_count(outputs, 1, behind=inputs)
        return self._activated(self._biased(outputs))

    def _biased(self, outputs: Any) -> Any:
        if not self.use_bias:
            return outputs
        first = self.data_format == "channels_first"
        if self.rank == 1 and first:
            return outputs + reshape(self.bias, (1, self.filters, 1))
        return bias_add(outputs, self.bias, data_format="NCHW" if first else "NHWC")

    def _activated(self, outputs: Any) -> Any:
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """[batch, the number of windows along each spatial axis, filters], channels where `data_format` says."""
        sizes = TensorShape(input_shape).as_list()
        for k, axis in enumerate(spatial_axes(self.data_format, self.rank)):
            sizes[axis] = conv_output_length(sizes[axis], self.kernel_size[k], self.padding, self.strides[k],
                                             self.dilation_rate[k])
        sizes[1 if self.data_format == "channels_first" else -1] = self.filters
        return TensorShape(sizes)

    def _causal(self, inputs: Any) -> Any:
        """`inputs` with zeros before the first step, so that no output depends on later ones."""
        before = [self.dilation_rate[0] * (self.kernel_size[0] - 1), 0]
        return pad(inputs, [[0, 0], before, [0, 0]] if self.data_format == "channels_last" else [[0, 0], [0, 0], before])


class Conv1D(_Conv):
    __doc__ = f"Convolution along one axis: [batch, steps, channels]; `padding` may be 'causal'.\n\n    {_Conv.__doc__}"
    rank = 1


class Conv2D(_Conv):
    __doc__ = f"Convolution over two axes: [batch, height, width, channels].\n\n    {_Conv.__doc__}"
    rank = 2


class Conv3D(_Conv):
    __doc__ = f"Convolution over three axes: [batch, depth, height, width, channels].\n\n    {_Conv.__doc__}"
    rank = 3


conv1d = functional(Conv1D, "conv1d")
conv2d = functional(Conv2D, "conv2d")
conv3d = functional(Conv3D, "conv3d")
