"""Layers that undo the shape of a convolution: ``Conv2DTranspose`` and ``Conv3DTranspose``."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.counting import count_nodes
from jitgraph.graph.shapes import TensorShape
from jitgraph.layers.arguments import convert_data_format, deconv_output_length, normalize_tuple, spatial_axes
from jitgraph.layers.by_name import ZEROS
from jitgraph.layers.convolutional import _Conv
from jitgraph.layers.functional import functional
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.nn import convolution_functions


class _ConvTranspose(_Conv):
    """activation(transpose of a convolution of the inputs with ``kernel``, + ``bias``): "deconvolution".

    Variables: ``kernel`` [*kernel_size, filters, channels], ``bias`` [filters] with `use_bias`.  A spatial axis becomes `strides`
    times as long, with `padding` "valid" longer by what the window exceeds its stride.  The arguments are those of the
    convolution of the same rank, without dilation, and so are the errors.  The keyword `output_padding`, one number or one per
    axis, each less than the stride, says how much longer the outputs are than the least that have these windows.
    """

    _config_fields: tuple[str, ...] = ("output_padding",)

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str | None = "channels_last", activation: Any = None, use_bias: bool = True,
                 kernel_initializer: Any = None, bias_initializer: Any = ZEROS, kernel_regularizer: Any = None,
                 bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
                 bias_constraint: Any = None, trainable: bool = True, name: str | None = None, **kwargs: Any):
        output_padding = kwargs.pop("output_padding", None)
        dilation = kwargs.pop("dilation_rate", 1)
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation, activation, use_bias, kernel_initializer,
                         bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
                         bias_constraint, trainable, name, **kwargs)
        if any(rate != 1 for rate in self.dilation_rate):
            raise ValueError(f"Layer {self.name} has no dilation_rate but 1: tf.nn.atrous_conv2d_transpose dilates.")
        self.output_padding = output_padding
        if output_padding is not None:
            self.output_padding = normalize_tuple(output_padding, self.rank, "output_padding")
            if any(stride <= more for stride, more in zip(self.strides, self.output_padding)):
                raise ValueError(f"Stride {self.strides} must be greater than output padding {self.output_padding}")

    def _longer(self, size: Any, k: int) -> Any:
        """The size of spatial axis `k` of the outputs, from that of the inputs."""
        return deconv_output_length(size, self.kernel_size[k], self.padding, self.strides[k],
                                    None if self.output_padding is None else self.output_padding[k])

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel`` and ``bias``."""
        if TensorShape(input_shape).ndims != self.rank + 2:
            raise ValueError(f"Inputs should have rank {self.rank + 2}. Received input shape: {input_shape} (layer {self.name})")
        channels = self._take_channels(input_shape)
        self.kernel = self.add_weight("kernel", (*self.kernel_size, self.filters, channels), self.dtype,
                                      self.kernel_initializer, self.kernel_regularizer,
                                      constraint=self.kernel_constraint, trainable=True)
        self._make_bias()
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The transposed convolution of `inputs`, with the bias, activated."""
        sizes = shape_of(inputs)
        axes = spatial_axes(self.data_format, self.rank)
        batch, *spatial = [sizes[axis] for axis in [0, *axes]]
        longer = [self._longer(size, k) for k, size in enumerate(spatial)]
        last = self.data_format == "channels_last"
        count_nodes(4 if self.rank == 2 else 0)         # TensorFlow reads the batch size once more
        transposed = getattr(convolution_functions, f"conv{self.rank}d_transpose")
        outputs = transposed(inputs, self.kernel, stack([batch, *longer, self.filters] if last else [batch, self.filters, *longer]),
                             (1, *self.strides, 1) if last else (1, 1, *self.strides), padding=self.padding.upper(),
                             data_format=convert_data_format(self.data_format, self.rank + 2))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        if self.use_bias:
            outputs = bias_add(outputs, self.bias, data_format=convert_data_format(self.data_format, 4))
        return self._activated(outputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """[batch, the longer spatial axes, filters], channels where `data_format` says."""
        sizes = TensorShape(input_shape).as_list()
        for k, axis in enumerate(spatial_axes(self.data_format, self.rank)):
            sizes[axis] = self._longer(sizes[axis], k)
        sizes[-1 if self.data_format == "channels_last" else 1] = self.filters
        return TensorShape(sizes)


class Conv2DTranspose(_ConvTranspose):
    __doc__ = f"Transposed convolution over two axes: [batch, height, width, channels].\n\n    {_ConvTranspose.__doc__}"
    rank = 2


class Conv3DTranspose(_ConvTranspose):
    __doc__ = f"Transposed convolution over three axes: [batch, depth, height, width, channels].\n\n    {_ConvTranspose.__doc__}"
    rank = 3

    def get_config(self) -> dict[str, Any]:
        """The arguments it was made with, as plain data."""
        return {key: value for key, value in super().get_config().items() if key != "dilation_rate"}


conv2d_transpose = functional(Conv2DTranspose, "conv2d_transpose")
conv3d_transpose = functional(Conv3DTranspose, "conv3d_transpose")
