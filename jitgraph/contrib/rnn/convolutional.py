"""LSTMs whose gates are convolutions (Shi and others, 2015)."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.join import concat, split
from jitgraph.ops.elementwise.composite_values import tanh
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.nn.convolution_functions import conv1d, conv2d, conv3d
from jitgraph.rnn.cells import RNNCell
from jitgraph.rnn.sizes import LSTMStateTuple
from jitgraph.variables.variable_initializers import constant_initializer
from jitgraph.variables.variable_scopes import get_variable


def _convolved(args: list, filter_size: list, channels: int, bias: bool) -> Any:
    """The convolution of `args` side by side with ``kernel``, plus ``biases``.  Raises ValueError for other ranks."""
    shapes = [one.shape.as_list() for one in args]
    rank = len(shapes[0])
    for shape in shapes:
        if len(shape) not in (3, 4, 5):
            raise ValueError(f"Conv Linear expects 3D, 4D or 5D arguments: {shapes}")
        if len(shape) != rank:
            raise ValueError(f"Conv Linear expects all args to be of same Dimension: {shapes}")
    dtype = args[0].dtype
    depth = sum(shape[-1] for shape in shapes)
    kernel = get_variable("kernel", filter_size + [depth, channels], dtype=dtype)
    strides: Any = 1 if rank == 3 else rank * [1]
    joined = concat(axis=rank - 1, values=args)
    convolve: Any = {3: conv1d, 4: conv2d, 5: conv3d}[rank]
    result = convolve(joined, kernel, strides, padding="SAME")
    if not bias:
        return result
    return result + get_variable("biases", [channels], dtype=dtype, initializer=constant_initializer(0.0, dtype=dtype))


class ConvLSTMCell(RNNCell):
    """An LSTM of images: inputs [batch, *input_shape], states and outputs with `output_channels` in the place of the channels.

    `conv_ndims`: 1, 2 or 3; `kernel_shape`: as many sizes; `skip_connection`: whether the outputs are followed by the inputs.
    Raises ValueError if `input_shape` is not of `conv_ndims` sizes and channels.
    """

    def __init__(self, conv_ndims: int, input_shape: list, output_channels: int, kernel_shape: Any, use_bias: bool = True,
                 skip_connection: bool = False, forget_bias: float = 1.0, initializers: Any = None, name: str = "conv_lstm_cell"):
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._conv_ndims = conv_ndims
        self._output_channels = output_channels
        self._kernel_shape = list(kernel_shape)
        self._use_bias = use_bias
        self._forget_bias = forget_bias
        self._skip_connection = skip_connection
        size = list(input_shape[:-1])
        state = TensorShape(size + [output_channels])
        self._state_size = LSTMStateTuple(state, state)
        self._output_size = TensorShape(size + [output_channels + (input_shape[-1] if skip_connection else 0)])

    @property
    def state_size(self) -> Any:
        """An LSTMStateTuple of shapes."""
        return self._state_size

    @property
    def output_size(self) -> Any:
        """The shape of the outputs."""
        return self._output_size

    def call(self, inputs: Any, state: Any, scope: Any = None) -> tuple:
        """(outputs, next LSTMStateTuple)"""
        memory, hidden = state
        product = _convolved([inputs, hidden], self._kernel_shape, 4 * self._output_channels, self._use_bias)
        i, j, f, o = split(value=product, num_or_size_splits=4, axis=self._conv_ndims + 1)
        memory = sigmoid(f + self._forget_bias) * memory
        memory += sigmoid(i) * tanh(j)
        output = tanh(memory) * sigmoid(o)
        if self._skip_connection:
            output = concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(memory, output)


class Conv1DLSTMCell(ConvLSTMCell):
    """A ``ConvLSTMCell`` over one axis."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """A ``ConvLSTMCell`` over two axes."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """A ``ConvLSTMCell`` over three axes."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=3, name=name, **kwargs)
