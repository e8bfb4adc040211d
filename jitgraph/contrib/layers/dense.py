"""Layers that multiply by a matrix: ``fully_connected``, its forms with an activation, and the legacy ones."""
from __future__ import annotations

import functools
import numbers
from typing import Any

from jitgraph.contrib.framework.arg_scopes import add_arg_scope
from jitgraph.contrib.framework.variables import model_variable
from jitgraph.contrib.layers.arguments import check_data_format, last_dimension
from jitgraph.contrib.layers.collected import collect_named_outputs, get_variable_collections
from jitgraph.contrib.layers.finishing import collect_weights, finished
from jitgraph.contrib.layers.model_variables import WEIGHTS_AND_BIASES, variable_getter
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import add_to_collections
from jitgraph.layers.core import Dense
from jitgraph.ops.arrays.join import stack, unstack
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise import activation
from jitgraph.ops.elementwise.bias import bias_add as add_bias
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.variables.variable_initializers import xavier_initializer, zeros_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope

XAVIER, ZEROS = xavier_initializer(), zeros_initializer()
"""What weights, and what biases begin with unless a layer is told otherwise."""


@add_arg_scope
def fully_connected(inputs: Any, num_outputs: int, activation_fn: Any = activation.relu, normalizer_fn: Any = None,
                    normalizer_params: dict | None = None, weights_initializer: Any = XAVIER,
                    weights_regularizer: Any = None, biases_initializer: Any = ZEROS, biases_regularizer: Any = None,
                    reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
                    trainable: bool = True, scope: Any = None) -> Any:
    """activation_fn(inputs . weights + biases), along the last axis: [..., n] gives [..., num_outputs].

    Model variables: ``weights`` [n, num_outputs] and, without a `normalizer_fn`, ``biases`` [num_outputs].
    `normalizer_fn`: a function such as ``batch_norm`` that takes the place of the biases, called with
    `normalizer_params`.  `reuse`: whether to share the variables of an earlier layer of the same `scope`.
    `variables_collections`: a list of collections for all variables, or a dict of lists for "weights" and "biases";
    `outputs_collections`: those that the outputs join.  Raises ValueError for a `num_outputs` that is no integer, for
    inputs of rank below 2, and for a last axis of unknown size.
    """
    if not isinstance(num_outputs, numbers.Integral):
        raise ValueError(f"num_outputs type should be an int, got {num_outputs!r} of {type(num_outputs)}.")
    with variable_scope(scope, "fully_connected", [inputs], reuse=reuse,
                        custom_getter=variable_getter(WEIGHTS_AND_BIASES)) as entered:
        inputs = convert_to_tensor(inputs)
        layer = Dense(units=int(num_outputs), use_bias=not normalizer_fn and biases_initializer,
                      kernel_initializer=weights_initializer, bias_initializer=biases_initializer,
                      kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer, trainable=trainable,
                      name=entered.name, dtype=inputs.dtype.base_dtype, _scope=entered, _reuse=reuse)
        outputs = layer.apply(inputs)
        collect_weights(layer, variables_collections)
        return finished(outputs, entered.name, activation_fn, outputs_collections, normalizer_fn, normalizer_params)


relu = functools.partial(fully_connected, activation_fn=activation.relu)
relu6 = functools.partial(fully_connected, activation_fn=activation.relu6)
elu = functools.partial(fully_connected, activation_fn=activation.elu)
linear = functools.partial(fully_connected, activation_fn=None)


@add_arg_scope
def bias_add(inputs: Any, activation_fn: Any = None, initializer: Any = ZEROS, regularizer: Any = None,
             reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
             trainable: bool = True, data_format: str = "NHWC", scope: Any = None) -> Any:
    """activation_fn(inputs + biases): one number for each channel, the model variable ``biases``.

    The channels are the last axis, with `data_format` "NCHW" the second of four.  Raises ValueError for other layouts,
    for inputs of unknown rank, and for an unknown number of channels.
    """
    first = check_data_format(data_format, ("NCHW", "NHWC"))
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as entered:
        inputs = convert_to_tensor(inputs)
        shape = inputs.get_shape()
        if shape.ndims is None:
            raise ValueError("Dims of shape must be known but is None")
        if shape.ndims != 4 and first:
            raise ValueError("Data format NCHW only supports 4D Tensor")
        channels = shape[1 if first else -1].value
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        biases = model_variable("biases", shape=[channels], dtype=inputs.dtype.base_dtype, initializer=initializer,
                                regularizer=regularizer, trainable=trainable,
                                collections=get_variable_collections(variables_collections, "biases"))
        outputs = add_bias(inputs, biases, data_format=data_format)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return collect_named_outputs(outputs_collections, entered.name, outputs)


def legacy_fully_connected(x: Any, num_output_units: int, activation_fn: Any = None, weight_init: Any = XAVIER,
                           bias_init: Any = ZEROS, name: Any = None, weight_collections: Any = (GraphKeys.WEIGHTS,),
                           bias_collections: Any = (GraphKeys.BIASES,),
                           output_collections: Any = (GraphKeys.ACTIVATIONS,), trainable: bool = True,
                           weight_regularizer: Any = None, bias_regularizer: Any = None) -> Any:
    """activation_fn(x . weights + bias), along the last axis, with variables that are no model variables.

    Variables: ``weights`` [n, num_output_units], ``bias`` [num_output_units] unless `bias_init` is None.  They and the
    outputs join the collections given.  Raises ValueError for a rank that is unknown or below 2, and for an unknown n.
    """
    with variable_scope(name, "fully_connected", [x]):
        x = convert_to_tensor(x)
        size, rank, dtype = last_dimension(x.get_shape(), min_rank=2), x.get_shape().ndims, x.dtype.base_dtype
        weights = get_variable("weights", shape=[size, num_output_units], dtype=dtype, initializer=weight_init,
                               collections={*(weight_collections or ()), GraphKeys.GLOBAL_VARIABLES},
                               regularizer=weight_regularizer, trainable=trainable)
        y = matmul(x if rank <= 2 else reshape(x, [-1, size]), weights)
        if bias_init is not None:
            bias = get_variable("bias", shape=[num_output_units], dtype=dtype, initializer=bias_init,
                                collections={*(bias_collections or ()), GraphKeys.GLOBAL_VARIABLES},
                                regularizer=bias_regularizer, trainable=trainable)
            y = add_bias(y, bias)
        if rank > 2:
            sizes = unstack(shape_of(x))
            sizes[-1] = num_output_units
            y = reshape(y, stack(sizes))
            y.set_shape([*x.get_shape().as_list()[:-1], num_output_units])
        if activation_fn is not None:
            y = activation_fn(y)
        add_to_collections([*(output_collections or ()), GraphKeys.ACTIVATIONS], y)
        return y


legacy_relu = functools.partial(legacy_fully_connected, activation_fn=activation.relu)
legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)
