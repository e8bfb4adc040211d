"""Layers that convolve: ``conv1d``, ``conv2d``, ``conv3d``, their transposes, and ``conv2d_in_plane``."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from jitgraph.contrib.framework.arg_scopes import add_arg_scope
from jitgraph.contrib.framework.variables import model_variable
from jitgraph.contrib.layers.arguments import check_data_format, last_dimension, layout_of, two_element_tuple
from jitgraph.contrib.layers.collected import get_variable_collections
from jitgraph.contrib.layers.dense import XAVIER, ZEROS
from jitgraph.contrib.layers.finishing import collect_weights, finished, with_biases
from jitgraph.contrib.layers.model_variables import WEIGHTS_AND_BIASES, variable_getter
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.layers.convolutional import Conv1D, Conv2D, Conv3D
from jitgraph.layers.transposed import Conv2DTranspose, Conv3DTranspose
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.nn.convolution_functions import depthwise_conv2d
from jitgraph.variables.variable_scopes import variable_scope

_LAYOUTS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")


def _applied(kind: type, entered: Any, inputs: Any, channels_first: bool, num_outputs: int, kernel_size: Any, stride: Any,
             padding: str, activation_fn: Any, normalizer_fn: Any, normalizer_params: dict | None, weights_initializer: Any,
             weights_regularizer: Any, biases_initializer: Any, biases_regularizer: Any, reuse: Any, variables_collections: Any,
             outputs_collections: Any, trainable: bool, **more: Any) -> Any:
    """What a layer of `kind`, made in the scope `entered`, and what follows it make of the inputs."""
    layer = kind(
        filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding, data_format=layout_of(channels_first),
        use_bias=not normalizer_fn and biases_initializer, kernel_initializer=weights_initializer,
        bias_initializer=biases_initializer, kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer,
        trainable=trainable, name=entered.name, dtype=inputs.dtype.base_dtype, _scope=entered, _reuse=reuse, **more)
    outputs = layer.apply(inputs)
    collect_weights(layer, variables_collections)
    return finished(outputs, entered.name, activation_fn, outputs_collections, normalizer_fn, normalizer_params)


def _convolution(inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
                 data_format: str | None = None, rate: Any = 1, activation_fn: Any = relu, normalizer_fn: Any = None,
                 normalizer_params: dict | None = None, weights_initializer: Any = XAVIER,
                 weights_regularizer: Any = None, biases_initializer: Any = ZEROS, biases_regularizer: Any = None,
                 reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
                 trainable: bool = True, scope: Any = None, conv_dims: int | None = None) -> Any:
    """activation_fn(inputs convolved with weights + biases).

    `inputs` [batch, ..., channels] with one to three spatial axes, or with the channels second if `data_format` begins
    with "NC".  `kernel_size`, `stride`, `rate` (of dilation): a number, or one per spatial axis.  `padding`: "SAME" or
    "VALID".  Model variables: ``weights`` [*kernel_size, channels, num_outputs] and, without a `normalizer_fn`,
    ``biases`` [num_outputs].  The other arguments are those of ``fully_connected``.  Raises ValueError for other
    layouts, for inputs whose spatial axes number otherwise than `conv_dims`, and for `stride` with `rate` above 1.
    """
    if data_format not in _LAYOUTS:
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with variable_scope(scope, "Conv", [inputs], reuse=reuse,
                        custom_getter=variable_getter(WEIGHTS_AND_BIASES)) as entered:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
        kinds: dict = {3: Conv1D, 4: Conv2D, 5: Conv3D}
        if rank not in kinds:
            raise ValueError("Convolution not supported for input with rank", rank)
        return _applied(kinds[rank], entered, inputs, bool(data_format and data_format.startswith("NC")), num_outputs, kernel_size,
                        stride, padding, activation_fn, normalizer_fn, normalizer_params, weights_initializer,
                        weights_regularizer, biases_initializer, biases_regularizer, reuse, variables_collections,
                        outputs_collections, trainable, dilation_rate=rate)


def _of_rank(dims: int, name: str) -> Callable:
    """The convolution over `dims` spatial axes: a function of the same parameters, without ``conv_dims``."""
    parameters = list(inspect.signature(_convolution).parameters.values())[:-1]
    signature = inspect.Signature(parameters)

    @functools.wraps(_convolution)
    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        return _convolution(**given, conv_dims=dims)

    function.__signature__ = signature      # type: ignore[attr-defined]
    function.__name__ = function.__qualname__ = name
    return add_arg_scope(function)


convolution1d = _of_rank(1, "convolution1d")
convolution2d = _of_rank(2, "convolution2d")
convolution3d = _of_rank(3, "convolution3d")
_convolution.__name__ = _convolution.__qualname__ = "convolution"
convolution = add_arg_scope(_convolution)


def _transposed(kind: type, default_name: str, known: tuple[str, str], data_format: str, reuse: Any, scope: Any, inputs: Any,
                *given: Any) -> Any:
    with variable_scope(scope, default_name, [inputs], reuse=reuse,
                        custom_getter=variable_getter(WEIGHTS_AND_BIASES)) as entered:
        first = check_data_format(data_format, known)
        return _applied(kind, entered, convert_to_tensor(inputs), first, *given)


@add_arg_scope
def convolution2d_transpose(inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
                            data_format: str = "NHWC", activation_fn: Any = relu, normalizer_fn: Any = None,
                            normalizer_params: dict | None = None, weights_initializer: Any = XAVIER,
                            weights_regularizer: Any = None, biases_initializer: Any = ZEROS,
                            biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None,
                            outputs_collections: Any = None, trainable: bool = True, scope: Any = None) -> Any:
    """The transpose of ``conv2d``: each pixel gives a window of the result, `stride` apart.

    ``weights`` is [height, width, num_outputs, channels]; arguments and errors are those of ``conv2d``, with
    `data_format` "NHWC" or "NCHW".
    """
    return _transposed(Conv2DTranspose, "Conv2d_transpose", ("NCHW", "NHWC"), data_format, reuse, scope, inputs, num_outputs,
                       kernel_size, stride, padding, activation_fn, normalizer_fn, normalizer_params, weights_initializer,
                       weights_regularizer, biases_initializer, biases_regularizer, reuse, variables_collections,
                       outputs_collections, trainable)


@add_arg_scope
def convolution3d_transpose(inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
                            data_format: str = "NDHWC", activation_fn: Any = relu, normalizer_fn: Any = None,
                            normalizer_params: dict | None = None, weights_initializer: Any = XAVIER,
                            weights_regularizer: Any = None, biases_initializer: Any = ZEROS,
                            biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None,
                            outputs_collections: Any = None, trainable: bool = True, scope: Any = None) -> Any:
    """The transpose of ``conv3d``: as ``conv2d_transpose``, with `data_format` "NDHWC" or "NCDHW"."""
    return _transposed(Conv3DTranspose, "Conv3d_transpose", ("NCDHW", "NDHWC"), data_format, reuse, scope, inputs, num_outputs,
                       kernel_size, stride, padding, activation_fn, normalizer_fn, normalizer_params, weights_initializer,
                       weights_regularizer, biases_initializer, biases_regularizer, reuse, variables_collections,
                       outputs_collections, trainable)


@add_arg_scope
def convolution2d_in_plane(inputs: Any, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
                           activation_fn: Any = relu, normalizer_fn: Any = None, normalizer_params: dict | None = None,
                           weights_initializer: Any = XAVIER, weights_regularizer: Any = None,
                           biases_initializer: Any = ZEROS, biases_regularizer: Any = None, reuse: Any = None,
                           variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
                           scope: Any = None) -> Any:
    """activation_fn(each channel convolved by itself with the same weights + biases): as many channels as before.

    `inputs` [batch, height, width, channels].  Model variables: ``weights`` [height, width, 1, 1] and, without a
    `normalizer_fn`, ``biases`` [channels].  Raises ValueError for inputs of another rank or unknown channels.
    """
    with variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as entered:
        dtype = inputs.dtype.base_dtype
        channels = last_dimension(inputs.get_shape(), min_rank=4)
        weights = model_variable("weights", shape=[*two_element_tuple(kernel_size), 1, 1], dtype=dtype,
                                 initializer=weights_initializer, regularizer=weights_regularizer,
                                 collections=get_variable_collections(variables_collections, "weights"),
                                 trainable=trainable)
        strides = [1, *two_element_tuple(stride), 1]
        outputs = depthwise_conv2d(inputs, tile(weights, [1, 1, channels, 1]), strides, padding)
        if normalizer_fn is None:
            outputs = with_biases(outputs, channels, dtype, biases_initializer, biases_regularizer,
                                  variables_collections, trainable)
        return finished(outputs, entered.name, activation_fn, outputs_collections, normalizer_fn, normalizer_params)
