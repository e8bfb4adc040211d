"""Layers that centre and scale each example by itself: ``layer_norm``, ``instance_norm``, ``group_norm``, ``unit_norm``."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.framework.arg_scopes import add_arg_scope
from jitgraph.contrib.framework.variables import model_variable
from jitgraph.contrib.layers.arguments import check_data_format
from jitgraph.contrib.layers.collected import collect_named_outputs, get_variable_collections
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import strided_slice
from jitgraph.ops.elementwise.arithmetic import div
from jitgraph.ops.elementwise.composite_values import sqrt, square
from jitgraph.ops.elementwise.elementary import rsqrt
from jitgraph.ops.nn import functions
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.variables.variable_initializers import ones_initializer, zeros_initializer
from jitgraph.variables.variable_scopes import variable_scope


def _parameter(name: str, shape: Any, dtype: Any, collections: Any, trainable: bool,
               initializers: dict | None = None) -> Any:
    """The model variable ``beta`` or ``gamma``."""
    initializer = zeros_initializer() if name == "beta" else ones_initializer()
    return model_variable(name, shape=shape, dtype=dtype, initializer=(initializers or {}).get(name, initializer),
                          collections=get_variable_collections(collections, name), trainable=trainable)


def _finished(outputs: Any, scope: str, activation_fn: Any, outputs_collections: Any) -> Any:
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(outputs_collections, scope, outputs)


@add_arg_scope
def layer_norm(inputs: Any, center: bool = True, scale: bool = True, activation_fn: Any = None, reuse: Any = None,
               variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
               begin_norm_axis: int = 1, begin_params_axis: int = -1, scope: Any = None) -> Any:
    """(inputs - mean) / sqrt(variance) * gamma + beta, by the statistics of each example (Ba and others, 2016).

    They are taken over the axes from `begin_norm_axis` on; ``gamma`` and ``beta`` have the sizes of those from
    `begin_params_axis` on, which must be known.  Raises ValueError if they are not, or if the axes are none of the inputs.
    """
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as entered:
        inputs = convert_to_tensor(inputs)
        shape = inputs.shape
        rank = shape.ndims
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        begin = begin_norm_axis + rank if begin_norm_axis < 0 else begin_norm_axis
        if begin_params_axis >= rank or begin >= rank:
            raise ValueError(f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin}) must be < rank(inputs) "
                             f"({rank})")
        sizes = shape[begin_params_axis:]
        if not sizes.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: {shape}")
        dtype = inputs.dtype.base_dtype
        beta = _parameter("beta", sizes, dtype, variables_collections, trainable) if center else None
        gamma = _parameter("gamma", sizes, dtype, variables_collections, trainable) if scale else None
        mean, variance = functions.moments(inputs, list(range(begin, rank)), keep_dims=True)
        # 1e-12 is 0 in float16, which would divide by 0
        epsilon = 1e-3 if dtype is dtypes.float16 else 1e-12
        outputs = functions.batch_normalization(inputs, mean, variance, offset=beta, scale=gamma, variance_epsilon=epsilon)
        outputs.set_shape(shape)
        return _finished(outputs, entered.name, activation_fn, outputs_collections)


@add_arg_scope
def instance_norm(inputs: Any, center: bool = True, scale: bool = True, epsilon: float = 1e-6, activation_fn: Any = None,
                  param_initializers: dict | None = None, reuse: Any = None, variables_collections: Any = None,
                  outputs_collections: Any = None, trainable: bool = True, data_format: str = "NHWC",
                  scope: Any = None) -> Any:
    """(inputs - mean) / sqrt(variance + epsilon) * gamma + beta, by the statistics of each channel of each example.

    Raises ValueError for other layouts than "NHWC" and "NCHW", and for inputs of unknown rank or number of channels.
    """
    inputs = convert_to_tensor(inputs)
    shape = inputs.shape
    rank = shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    first = check_data_format(data_format, ("NCHW", "NHWC"))
    with variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as entered:
        channels = 1 if first else rank - 1
        sizes = shape[channels:channels + 1]
        if not sizes.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {sizes}.")
        broadcast = [1, shape[1].value] + [1] * (rank - 2)

        def parameter(name: str) -> Any:
            made = _parameter(name, sizes, inputs.dtype.base_dtype, variables_collections, trainable, param_initializers)
            return reshape(made, broadcast) if first else made

        beta = parameter("beta") if center else None
        gamma = parameter("gamma") if scale else None
        axes = [axis for axis in range(1, rank) if axis != channels]
        mean, variance = functions.moments(inputs, axes, keep_dims=True)
        outputs = functions.batch_normalization(inputs, mean, variance, beta, gamma, epsilon, name="instancenorm")
        return _finished(outputs, entered.name, activation_fn, outputs_collections)


@add_arg_scope
def group_norm(inputs: Any, groups: int = 32, channels_axis: int = -1, reduction_axes: Any = (-3, -2),
               center: bool = True, scale: bool = True, epsilon: float = 1e-6, activation_fn: Any = None,
               param_initializers: dict | None = None, reuse: Any = None, variables_collections: Any = None,
               outputs_collections: Any = None, trainable: bool = True, scope: Any = None,
               mean_close_to_zero: bool = False) -> Any:
    """(inputs - mean) / sqrt(variance + epsilon) * gamma + beta, by the statistics of each group of channels of each
    example, over `reduction_axes` (Wu and He, 2018).

    `mean_close_to_zero` computes the variance from the sum of squares, which is faster and exact only then.  Raises
    ValueError for axes that are none or coincide, for unknown sizes of them, and for channels that `groups` does not divide.
    """
    inputs = convert_to_tensor(inputs)
    rank = inputs.shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    if channels_axis > rank - 1:
        raise ValueError("Axis is out of bounds.")
    dynamic = shape_of(inputs)
    sizes = [dynamic[axis] if size is None else size for axis, size in enumerate(inputs.shape.as_list())]
    channels_axis = channels_axis + rank if channels_axis < 0 else channels_axis
    channels = inputs.shape[channels_axis].value
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channel dimension: {channels_axis}.")
    reduced = _reduction_axes(inputs, reduction_axes, channels_axis)
    if groups > channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups != 0:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")
    before, after = sizes[:channels_axis], sizes[channels_axis + 1:]
    parted = [groups, channels // groups]
    broadcast = [1] * len(before) + parted + [1] * len(after)
    inputs = reshape(inputs, before + parted + after)
    axes = [channels_axis + 1, *(axis + 1 if axis > channels_axis else axis for axis in reduced)]
    with variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as entered:
        def parameter(name: str) -> Any:
            return reshape(_parameter(name, [channels], inputs.dtype.base_dtype, variables_collections, trainable,
                                      param_initializers), broadcast)

        beta = parameter("beta") if center else None
        gamma = parameter("gamma") if scale else None
        if mean_close_to_zero:
            counts, means, squares, _ = functions.sufficient_statistics(inputs, axes, keep_dims=True)
            mean, variance = functions.normalize_moments(counts, means, squares, shift=None)
        else:
            mean, variance = functions.moments(inputs, axes, keep_dims=True)
        gain = rsqrt(variance + epsilon)
        offset = -mean * gain
        if gamma is not None:
            gain, offset = gain * gamma, offset * gamma
        if beta is not None:
            offset = offset + beta
        outputs = reshape(inputs * gain + offset, sizes)
        return _finished(outputs, entered.name, activation_fn, outputs_collections)


def _reduction_axes(inputs: Any, axes: Any, channels_axis: int) -> list[int]:
    rank = inputs.shape.ndims
    found = [axis + rank if axis < 0 else axis for axis in axes]
    for axis in found:
        if axis > rank:
            raise ValueError("Axis is out of bounds.")
        if inputs.shape[axis].value is None:
            raise ValueError(f"Inputs {inputs.name} has undefined dimensions {axis}.")
        if axis == channels_axis:
            raise ValueError("reduction_axis must be mutually exclusive with channels_axis")
    return found


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Any:
    """`inputs` divided by their Euclidean norm along the axis `dim`, of at least sqrt(epsilon).

    Raises ValueError for inputs of unknown rank, and for a `dim` that is no axis counted from the first.
    """
    with variable_scope(scope, "UnitNorm", [inputs]):
        if not inputs.get_shape():
            raise ValueError("The input rank must be known.")
        rank = inputs.get_shape().ndims
        if dim < 0 or dim >= rank:
            raise ValueError("dim must be positive but smaller than the input rank.")
        lengths = sqrt(epsilon + reduce_sum(square(inputs), dim, True))
        multiples = [ones([dim], dtypes.int32)] if dim > 0 else []
        multiples.append(strided_slice(shape_of(inputs), [dim], [dim + 1]))
        if dim < rank - 1:
            multiples.append(ones([rank - 1 - dim], dtypes.int32))
        return div(inputs, tile(lengths, concat(multiples, 0)))
