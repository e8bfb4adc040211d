"""Layers with masked weights: ``masked_convolution``, ``masked_fully_connected``, and the classes behind them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.framework.arg_scopes import add_arg_scope
from jitgraph.contrib.layers.dense import XAVIER, ZEROS
from jitgraph.contrib.layers.finishing import collect_weights, finished
from jitgraph.contrib.layers.model_variables import WEIGHTS_AND_BIASES, variable_getter
from jitgraph.contrib.model_pruning import masks
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.graph.shapes import TensorShape
from jitgraph.layers.arguments import convert_data_format
from jitgraph.layers.convolutional import Conv2D
from jitgraph.layers.core import Dense
from jitgraph.layers.input_spec import InputSpec
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.elementwise.arithmetic import multiply
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.products import tensordot
from jitgraph.ops.nn.convolution_functions import convolution
from jitgraph.variables.variable_initializers import ones_initializer, zeros_initializer
from jitgraph.variables.variable_scopes import variable_scope


class _Masked:
    """Adds ``mask`` and ``threshold`` to a layer with a ``kernel``; its `masked_kernel` is their product."""

    kernel: Any
    add_variable: Callable
    dtype: Any

    def _make_mask(self, shape: Any) -> None:
        self.mask = self.add_variable(name="mask", shape=shape, initializer=ones_initializer(), trainable=False, dtype=self.dtype)

    def _make_product(self) -> None:
        self.threshold = self.add_variable(name="threshold", shape=[], initializer=zeros_initializer(), trainable=False,
                                           dtype=self.dtype)
        self.masked_kernel = multiply(self.mask, self.kernel, masks.MASKED_WEIGHT_NAME)
        masks.collect(self.mask, self.threshold, self.masked_kernel, self.kernel)


class MaskedConv2D(_Masked, Conv2D):
    """``tf.layers.Conv2D`` with a masked kernel."""

    def build(self, input_shape: Any) -> None:
        """Makes ``mask``, ``kernel``, ``threshold`` and ``bias``."""
        channels = self._take_channels(input_shape)
        self._make_mask((*self.kernel_size, channels, self.filters))
        self._make_kernel(channels)
        self._make_product()
        self._make_bias()
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The convolution by the masked kernel, with the bias, activated."""
        outputs = convolution(input=inputs, filter=self.masked_kernel, dilation_rate=self.dilation_rate, strides=self.strides,
                              padding=self.padding.upper(), data_format=convert_data_format(self.data_format, 4))
        return self._activated(self._biased(outputs))


class MaskedFullyConnected(_Masked, Dense):
    """``tf.layers.Dense`` with a masked kernel."""

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel``, ``mask``, ``threshold`` and ``bias``."""
        size = TensorShape(input_shape)[-1].value
        if size is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: size})
        self.kernel = self.add_variable("kernel", shape=[size, self.units], initializer=self.kernel_initializer,
                                        regularizer=self.kernel_regularizer, dtype=self.dtype, trainable=True)
        self._make_mask([size, self.units])
        self._make_product()
        self.bias = None
        if self.use_bias:
            self.bias = self.add_variable("bias", shape=[self.units], initializer=self.bias_initializer,
                                          regularizer=self.bias_regularizer, dtype=self.dtype, trainable=True)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The outputs [..., units] for `inputs` [..., n]."""
        inputs = convert_to_tensor(inputs, dtype=self.dtype)
        shape = inputs.get_shape().as_list()
        if len(shape) > 2:
            outputs = tensordot(inputs, self.masked_kernel, [[len(shape) - 1], [0]])
            outputs.set_shape([*shape[:-1], self.units])
        else:
            outputs = matmul(inputs, self.masked_kernel)
        if self.use_bias:
            outputs = bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)


def _applied(layer: Any, inputs: Any, entered: Any, activation_fn: Any, normalizer_fn: Any, normalizer_params: Any,
             variables_collections: Any, outputs_collections: Any) -> Any:
    outputs = layer.apply(inputs)
    collect_weights(layer, variables_collections)
    return finished(outputs, entered.original_name_scope, activation_fn, outputs_collections, normalizer_fn, normalizer_params)


@add_arg_scope
def masked_convolution(inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
                       data_format: str | None = None, rate: Any = 1, activation_fn: Any = relu, normalizer_fn: Any = None,
                       normalizer_params: dict | None = None, weights_initializer: Any = XAVIER, weights_regularizer: Any = None,
                       biases_initializer: Any = ZEROS, biases_regularizer: Any = None, reuse: Any = None,
                       variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
                       scope: Any = None) -> Any:
    """``tf.contrib.layers.conv2d`` with masked weights, over inputs of rank 4.

    More model variables are ``mask``, of the shape of ``weights``, and ``threshold``.  Raises ValueError for inputs of another rank
    and for another `data_format` than "NHWC" and "NCHW".
    """
    if data_format not in (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW"):
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with variable_scope(scope, "Conv", [inputs], reuse=reuse, custom_getter=variable_getter(WEIGHTS_AND_BIASES)) as entered:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank != 4:
            raise ValueError("Sparse Convolution not supported for input with rank", rank)
        if data_format not in (None, "NHWC", "NCHW"):
            raise ValueError("Unsupported data format", data_format)
        layer = MaskedConv2D(
            filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding,
            data_format="channels_first" if data_format == "NCHW" else "channels_last", dilation_rate=rate,
            use_bias=not normalizer_fn and biases_initializer, kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer, kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer,
            trainable=trainable, name=entered.name, dtype=inputs.dtype.base_dtype, _scope=entered, _reuse=reuse)
        return _applied(layer, inputs, entered, activation_fn, normalizer_fn, normalizer_params, variables_collections,
                        outputs_collections)


masked_conv2d = masked_convolution


@add_arg_scope
def masked_fully_connected(inputs: Any, num_outputs: int, activation_fn: Any = relu, normalizer_fn: Any = None,
                           normalizer_params: dict | None = None, weights_initializer: Any = XAVIER,
                           weights_regularizer: Any = None, biases_initializer: Any = ZEROS, biases_regularizer: Any = None,
                           reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
                           trainable: bool = True, scope: Any = None) -> Any:
    """``tf.contrib.layers.fully_connected`` with masked weights.

    More model variables are ``mask``, of the shape of ``weights``, and ``threshold``.  Raises ValueError for a `num_outputs` that
    is no integer.
    """
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs should be int or long, got {num_outputs}.")
    with variable_scope(scope, "fully_connected", [inputs], reuse=reuse,
                        custom_getter=variable_getter(WEIGHTS_AND_BIASES)) as entered:
        inputs = convert_to_tensor(inputs)
        layer = MaskedFullyConnected(
            units=num_outputs, use_bias=not normalizer_fn and biases_initializer, kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer, kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer,
            trainable=trainable, name=entered.name, dtype=inputs.dtype.base_dtype, _scope=entered, _reuse=reuse)
        return _applied(layer, inputs, entered, activation_fn, normalizer_fn, normalizer_params, variables_collections,
                        outputs_collections)
