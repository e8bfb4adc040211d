"""``batch_norm``: inputs centred and scaled by the statistics of their batch, or by moving averages of them.

It is a layer of ``tf.layers`` where that can do it.  Other collections of updates, updates forced at once, weights of
the examples and averages without bias have their own ways here.
"""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.framework.arg_scopes import add_arg_scope
from jitgraph.contrib.framework.variables import model_variable
from jitgraph.contrib.layers.arguments import check_data_format, constant_value, smart_cond
from jitgraph.contrib.layers.collected import (
    add_variable_to_collections,
    collect_named_outputs,
    get_variable_collections,
)
from jitgraph.contrib.layers.model_variables import variable_getter
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import add_to_collections, control_dependencies
from jitgraph.layers.normalization import BatchNormalization
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.nn import functions
from jitgraph.ops.nn.batch_norm import fused_batch_norm
from jitgraph.train.moving_averages import assign_moving_average
from jitgraph.variables.variable_initializers import ones_initializer, zeros_initializer
from jitgraph.variables.variable_scopes import get_variable_scope, variable_scope

_INITIALIZERS = {"beta": zeros_initializer, "gamma": ones_initializer, "moving_mean": zeros_initializer,
                 "moving_variance": ones_initializer}


@add_arg_scope
def batch_norm(inputs: Any, decay: float = 0.999, center: bool = True, scale: bool = False, epsilon: float = 0.001,
               activation_fn: Any = None, param_initializers: dict | None = None,
               param_regularizers: dict | None = None, updates_collections: Any = GraphKeys.UPDATE_OPS,
               is_training: Any = True, reuse: Any = None, variables_collections: Any = None,
               outputs_collections: Any = None, trainable: bool = True, batch_weights: Any = None,
               fused: bool | None = None, data_format: str = "NHWC", zero_debias_moving_mean: bool = False,
               scope: Any = None, renorm: bool = False, renorm_clipping: dict | None = None,
               renorm_decay: float = 0.99, adjustment: Any = None) -> Any:
    """(inputs - mean) / sqrt(variance + epsilon) * gamma + beta, for each channel (Ioffe and Szegedy, 2015).

    In training, mean and variance are those of the batch, and updates move the averages ``moving_mean`` and
    ``moving_variance`` a part (1 - `decay`) of the way to them: the updates join `updates_collections`, or with None
    the outputs wait for them.  Else, they are the averages.  `is_training`: a bool or a bool scalar.

    `center`, `scale`: whether there are ``beta`` and ``gamma``; a layer with a linear one after it needs no ``gamma``.
    `param_initializers`, `param_regularizers`: dicts for "beta", "gamma", "moving_mean", "moving_variance".
    `batch_weights` [batch]: what each example counts.  `fused` False keeps from computing in one node.
    `zero_debias_moving_mean`: whether to correct the mean for its start at 0.  `renorm`, `adjustment`: as in
    ``tf.layers.batch_normalization``.  Raises ValueError for other layouts than "NHWC" and "NCHW", for inputs of unknown
    rank or number of channels, and for arguments that exclude each other.
    """
    inputs = convert_to_tensor(inputs)
    rank = inputs.get_shape().ndims
    by_default = updates_collections is GraphKeys.UPDATE_OPS or updates_collections == GraphKeys.UPDATE_OPS
    can_fuse = batch_weights is None and not renorm and rank in (2, 4) and adjustment is None
    first = check_data_format(data_format, ("NCHW", "NHWC"))
    parameters = _Parameters(param_initializers, param_regularizers, variables_collections, trainable)
    moving = _Moving(updates_collections, is_training, decay, zero_debias_moving_mean)
    if (fused is None or fused) and can_fuse and (zero_debias_moving_mean or rank == 2 or not by_default):
        with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as entered:
            outputs = _fused(convert_to_tensor(inputs), parameters, moving, center, scale, epsilon, data_format)
            return _finished(outputs, entered, activation_fn, outputs_collections)
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=variable_getter()) as entered:
        inputs = convert_to_tensor(inputs)
        if batch_weights is None and by_default and not zero_debias_moving_mean:
            layer = BatchNormalization(
                axis=1 if first else -1, momentum=decay, epsilon=epsilon, center=center, scale=scale, trainable=trainable,
                renorm=renorm, renorm_clipping=renorm_clipping, renorm_momentum=renorm_decay, adjustment=adjustment,
                name=entered.name, _scope=entered, _reuse=reuse, fused=True if fused is None else fused,
                **parameters.of_layer())
            outputs = layer.apply(inputs, training=is_training)
            for name in ("moving_mean", "moving_variance", "beta", "gamma"):
                if getattr(layer, name) is not None:
                    add_variable_to_collections(getattr(layer, name), variables_collections, name)
        else:
            if renorm:
                raise ValueError("renorm is not supported with batch_weights, updates_collections or "
                                 "zero_debias_moving_mean")
            outputs = _weighted(inputs, parameters, moving, center, scale, epsilon, first, batch_weights)
        return _finished(outputs, entered, activation_fn, outputs_collections)


def _finished(outputs: Any, entered: Any, activation_fn: Any, outputs_collections: Any) -> Any:
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(outputs_collections, entered.name, outputs)


class _Parameters:
    """How the variables of a layer begin, which are regularized, and which collections they join."""

    def __init__(self, initializers: dict | None, regularizers: dict | None, collections: Any, trainable: bool):
        self._initializers = initializers or {}
        self._regularizers = regularizers or {}
        self._collections = collections
        self._trainable = trainable

    def _initializer(self, name: str) -> Any:
        return self._initializers.get(name, _INITIALIZERS[name]())

    def of_layer(self) -> dict[str, Any]:
        """The arguments of ``BatchNormalization``."""
        return {f"{name}_initializer": self._initializer(name) for name in _INITIALIZERS} | {
            f"{name}_regularizer": self._regularizers.get(name) for name in ("beta", "gamma")}

    def made(self, name: str, shape: Any, dtype: Any, regularized: bool = False) -> Any:
        """The model variable ``beta`` or ``gamma``."""
        return model_variable(name, shape=shape, dtype=dtype, initializer=self._initializer(name),
                              regularizer=self._regularizers.get(name) if regularized else None,
                              collections=get_variable_collections(self._collections, name), trainable=self._trainable)

    def averages(self, shape: Any, dtype: Any) -> tuple:
        """The model variables ``moving_mean`` and ``moving_variance``, which are not partitioned."""
        with variable_scope(get_variable_scope()) as local:
            local.set_partitioner(None)
            mean, variance = (
                model_variable(name, shape=shape, dtype=dtype, initializer=self._initializer(name), trainable=False,
                               collections=get_variable_collections(self._collections, name))
                for name in ("moving_mean", "moving_variance"))
        return mean, variance


class _Moving:
    """When and how far the averages move."""

    def __init__(self, collections: Any, is_training: Any, decay: float, zero_debias: bool):
        self.collections = collections
        self.is_training = is_training
        self._decay = decay
        self._zero_debias = zero_debias

    @property
    def moves(self) -> bool:
        """Whether a run may be one of training."""
        known = constant_value(self.is_training)
        return known is None or bool(known)

    def moved(self, averages: tuple, mean: Any, variance: Any) -> tuple:
        """The nodes that move the averages."""
        return (assign_moving_average(averages[0], mean, self._decay, zero_debias=self._zero_debias),
                assign_moving_average(averages[1], variance, self._decay, zero_debias=False))

    def delay(self, averages: tuple, mean: Any, variance: Any) -> None:
        """Puts the updates into their collections."""
        updates = smart_cond(self.is_training, lambda: self.moved(averages, mean, variance), lambda: averages)
        for update in updates:
            add_to_collections(self.collections, update)


def _fused(inputs: Any, parameters: _Parameters, moving: _Moving, center: bool, scale: bool, epsilon: float,
           data_format: str) -> Any:
    """The normalisation in one node; inputs of rank 2 get two axes for it."""
    given, rank = inputs, inputs.get_shape().ndims
    first = data_format == "NCHW"
    if rank == 2:
        channels = inputs.get_shape()[-1].value
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        inputs = reshape(inputs, [-1, channels, 1, 1] if first else [-1, 1, 1, channels])
    shape = inputs.get_shape()
    sizes = shape[1:2] if first else shape[-1:]
    if not sizes.is_fully_defined():
        raise ValueError(f"Inputs {inputs.name} has undefined `C` dimension {sizes}.")
    dtype = dtypes.float32
    beta = parameters.made("beta", sizes, dtype, True) if center else constant(0.0, dtype=dtype, shape=sizes)
    gamma = parameters.made("gamma", sizes, dtype, True) if scale else constant(1.0, dtype=dtype, shape=sizes)
    averages = parameters.averages(sizes, dtype)
    options: dict[str, Any] = {"epsilon": epsilon, "data_format": data_format}
    outputs, mean, variance = smart_cond(
        moving.is_training, lambda: fused_batch_norm(inputs, gamma, beta, **options),
        lambda: fused_batch_norm(inputs, gamma, beta, mean=averages[0], variance=averages[1], is_training=False, **options))
    if moving.moves:
        if moving.collections is None:
            def forced() -> Any:
                with control_dependencies(list(moving.moved(averages, mean, variance))):
                    return identity(outputs)

            outputs = smart_cond(moving.is_training, forced, lambda before=outputs: before)
        else:
            moving.delay(averages, mean, variance)
    outputs.set_shape(shape)
    return reshape(outputs, shape_of(given)) if rank == 2 else outputs


def _weighted(inputs: Any, parameters: _Parameters, moving: _Moving, center: bool, scale: bool, epsilon: float,
              first: bool, batch_weights: Any) -> Any:
    """The normalisation in several nodes, by statistics of examples that may count differently."""
    shape = inputs.get_shape()
    rank = shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    dtype = inputs.dtype.base_dtype
    if batch_weights is not None:
        batch_weights = convert_to_tensor(batch_weights)
        shape[0:1].assert_is_compatible_with(batch_weights.get_shape())
        batch_weights = reshape(batch_weights, [-1] + [1] * (rank - 1))
    axes = [0, *range(2, rank)] if first else list(range(rank - 1))
    sizes = shape[1:2] if first else shape[-1:]
    if not sizes.is_fully_defined():
        raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {sizes}.")
    beta = parameters.made("beta", sizes, dtype) if center else None
    gamma = parameters.made("gamma", sizes, dtype) if scale else None
    averages = parameters.averages(sizes, dtype)
    mean, variance = averages
    if moving.moves:
        mean, variance = _statistics(inputs, axes, first, batch_weights)
        batch = mean, variance
        if moving.collections is None:
            def forced() -> tuple:
                with control_dependencies(list(moving.moved(averages, *batch))):
                    return identity(batch[0]), identity(batch[1])

            mean, variance = smart_cond(moving.is_training, forced, lambda: averages)
        else:
            moving.delay(averages, mean, variance)
            mean, variance = smart_cond(moving.is_training, lambda: batch, lambda: averages)
    if first:
        broadcast = [1, shape[1].value] + [1] * (rank - 2)
        mean, variance = reshape(mean, broadcast), reshape(variance, broadcast)
        beta = None if beta is None else reshape(beta, broadcast)
        gamma = None if gamma is None else reshape(gamma, broadcast)
    outputs = functions.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
    outputs.set_shape(shape)
    return outputs


def _statistics(inputs: Any, axes: list[int], first: bool, batch_weights: Any) -> tuple:
    """(mean, variance) of each channel, [channels]."""
    if batch_weights is None:
        mean, variance = functions.moments(inputs, axes, keep_dims=first)
    else:
        mean, variance = functions.weighted_moments(inputs, axes, batch_weights, keepdims=first)
    return (reshape(mean, [-1]), reshape(variance, [-1])) if first else (mean, variance)
