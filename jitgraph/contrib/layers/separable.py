"""``separable_conv2d``: each channel convolved by itself, and then, if it is asked for, the channels mixed."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.framework.arg_scopes import add_arg_scope
from jitgraph.contrib.framework.variables import model_variable
from jitgraph.contrib.layers.arguments import channel_dimension, check_data_format, layout_of, two_element_tuple
from jitgraph.contrib.layers.collected import get_variable_collections
from jitgraph.contrib.layers.dense import XAVIER, ZEROS
from jitgraph.contrib.layers.finishing import collect_weights, finished, with_biases
from jitgraph.contrib.layers.model_variables import variable_getter
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.layers.separable import SeparableConv2D
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.nn.convolution_functions import depthwise_conv2d
from jitgraph.variables.variable_scopes import variable_scope

_RENAMED = {"bias": "biases", "depthwise_kernel": "depthwise_weights", "pointwise_kernel": "pointwise_weights"}


@add_arg_scope
def separable_convolution2d(inputs: Any, num_outputs: int | None, kernel_size: Any, depth_multiplier: int = 1,
                            stride: Any = 1, padding: str = "SAME", data_format: str = "NHWC", rate: Any = 1,
                            activation_fn: Any = relu, normalizer_fn: Any = None, normalizer_params: dict | None = None,
                            weights_initializer: Any = XAVIER, pointwise_initializer: Any = None,
                            weights_regularizer: Any = None, biases_initializer: Any = ZEROS,
                            biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None,
                            outputs_collections: Any = None, trainable: bool = True, scope: Any = None) -> Any:
    """activation_fn(each channel convolved with `depth_multiplier` filters of its own, mixed to `num_outputs`, + biases).

    With `num_outputs` None the channels are not mixed.  Model variables: ``depthwise_weights`` [height, width, channels,
    depth_multiplier], ``pointwise_weights`` [1, 1, channels * depth_multiplier, num_outputs] (begun with
    `pointwise_initializer`, by default `weights_initializer`) and, without a `normalizer_fn`, ``biases``.  The other
    arguments are those of ``conv2d``.  Raises ValueError for other layouts and an unknown number of channels.
    """
    first = check_data_format(data_format, ("NCHW", "NHWC"))
    with variable_scope(scope, "SeparableConv2d", [inputs], reuse=reuse, custom_getter=variable_getter(_RENAMED)) as entered:
        inputs = convert_to_tensor(inputs)
        if num_outputs is None:
            outputs = _depthwise(inputs, kernel_size, depth_multiplier, stride, padding, data_format, rate,
                                 weights_initializer, weights_regularizer, variables_collections, trainable)
            if normalizer_fn is None:
                outputs = with_biases(
                    outputs, depth_multiplier * channel_dimension(inputs.get_shape(), layout_of(first), min_rank=4),
                    inputs.dtype.base_dtype, biases_initializer, biases_regularizer, variables_collections, trainable,
                    data_format)
        else:
            layer = SeparableConv2D(
                filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding,
                data_format=layout_of(first), dilation_rate=two_element_tuple(rate), depth_multiplier=depth_multiplier,
                use_bias=not normalizer_fn and biases_initializer, depthwise_initializer=weights_initializer,
                pointwise_initializer=weights_initializer if pointwise_initializer is None else pointwise_initializer,
                bias_initializer=biases_initializer, depthwise_regularizer=weights_regularizer,
                pointwise_regularizer=weights_regularizer, bias_regularizer=biases_regularizer, trainable=trainable,
                name=entered.name, dtype=inputs.dtype.base_dtype, _scope=entered, _reuse=reuse)
            outputs = layer.apply(inputs)
            collect_weights(layer, variables_collections, ("depthwise_kernel", "pointwise_kernel"))
        return finished(outputs, entered.name, activation_fn, outputs_collections, normalizer_fn, normalizer_params)


def _depthwise(inputs: Any, kernel_size: Any, depth_multiplier: int, stride: Any, padding: str, data_format: str,
               rate: Any, initializer: Any, regularizer: Any, variables_collections: Any, trainable: bool) -> Any:
    """Each channel convolved with its own filters, the model variable ``depthwise_weights``."""
    first = data_format.startswith("NC")
    channels = channel_dimension(inputs.get_shape(), layout_of(first), min_rank=4)
    weights = model_variable("depthwise_weights", shape=[*two_element_tuple(kernel_size), channels, depth_multiplier],
                             dtype=inputs.dtype.base_dtype, initializer=initializer, regularizer=regularizer,
                             trainable=trainable,
                             collections=get_variable_collections(variables_collections, "weights"))
    step = two_element_tuple(stride)
    strides = [1, 1, *step] if first else [1, *step, 1]
    return depthwise_conv2d(inputs, weights, strides, padding, rate=two_element_tuple(rate), data_format=data_format)
