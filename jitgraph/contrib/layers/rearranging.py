"""Layers without variables: ``dropout``, ``flatten``, ``one_hot_encoding``, ``maxout`` and what changes the layout."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.framework.arg_scopes import add_arg_scope
from jitgraph.contrib.layers.arguments import check_data_format, last_dimension
from jitgraph.contrib.layers.collected import collect_named_outputs
from jitgraph.contrib.layers.model_variables import variable_getter
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.layers import core
from jitgraph.ops.arrays.batch_gather import gather_nd
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import one_hot
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import strided_slice
from jitgraph.ops.checks.check_shapes import assert_rank_at_least
from jitgraph.ops.elementwise.arithmetic import minimum, multiply
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import not_equal
from jitgraph.ops.elementwise.composite_values import square
from jitgraph.ops.elementwise.elementary import rsqrt
from jitgraph.ops.nn import softmax as softmax_ops
from jitgraph.ops.reduce.reductions import reduce_max, reduce_prod, reduce_sum
from jitgraph.variables.variable_scopes import variable_scope


@add_arg_scope
def dropout(inputs: Any, keep_prob: Any = 0.5, noise_shape: Any = None, is_training: Any = True,
            outputs_collections: Any = None, scope: Any = None, seed: int | None = None) -> Any:
    """`inputs` of which, in training, each element is kept with probability `keep_prob` and divided by it; else 0.

    `is_training`: a bool or a bool scalar.  `noise_shape`: the shape of what is drawn, broadcast over the inputs.
    """
    with variable_scope(scope, "Dropout", [inputs], custom_getter=variable_getter()) as entered:
        inputs = convert_to_tensor(inputs)
        layer = core.Dropout(rate=1 - keep_prob, noise_shape=noise_shape, seed=seed, name=entered.name, _scope=entered)
        outputs = layer.apply(inputs, training=is_training)
        return collect_named_outputs(outputs_collections, entered.name, outputs)


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: Any = None) -> Any:
    """[batch, ...] becomes [batch, n]; [batch] becomes [batch, 1]."""
    with name_scope(scope, "Flatten", [inputs]) as entered:
        inputs = convert_to_tensor(inputs)
        return collect_named_outputs(outputs_collections, entered, core.flatten(inputs))


@add_arg_scope
def inner_flatten(inputs: Any, new_rank: int, output_collections: Any = None, scope: Any = None) -> Any:
    """`inputs`, dense or sparse, with the last axes made one, so that `new_rank` are left.  Raises ValueError for fewer."""
    with name_scope(scope, "InnerFlatten", [inputs, new_rank]) as entered:
        flattened = _sparse_inner(inputs, new_rank) if isinstance(inputs, SparseTensor) else _dense_inner(inputs, new_rank)
    return collect_named_outputs(output_collections, entered, flattened)


def _sparse_inner(inputs: Any, new_rank: int) -> Any:
    from jitgraph.ops.sparse.sparse_functions import sparse_reshape

    rank = inputs.dense_shape.get_shape().as_list()[0]
    if rank < new_rank:
        raise ValueError(f"Inputs has rank less than new_rank. {inputs} must have rank at least {new_rank}. Received rank "
                         f"{rank}, shape {inputs.get_shape()}")
    outer, inner = inputs.dense_shape[:new_rank - 1], inputs.dense_shape[new_rank - 1:]
    return sparse_reshape(inputs, concat((outer, [reduce_prod(inner)]), 0))


def _dense_inner(inputs: Any, new_rank: int) -> Any:
    inputs = convert_to_tensor(inputs)
    with control_dependencies([assert_rank_at_least(inputs, new_rank, message="inputs has rank less than new_rank")]):
        outer = strided_slice(shape_of(inputs), [0], [new_rank - 1])
        flattened = reshape(inputs, concat((outer, [-1]), 0))
    if inputs.get_shape().ndims is not None:
        sizes = inputs.get_shape().as_list()
        inner = inputs.get_shape()[new_rank - 1:].num_elements()
        flattened.set_shape([*sizes[:new_rank - 1], inner])
    return flattened


@add_arg_scope
def one_hot_encoding(labels: Any, num_classes: int, on_value: float = 1.0, off_value: float = 0.0,
                     outputs_collections: Any = None, scope: Any = None) -> Any:
    """Integers [...] as vectors [..., num_classes] with `on_value` at their place and `off_value` elsewhere."""
    with name_scope(scope, "OneHotEncoding", [labels, num_classes]) as entered:
        labels = convert_to_tensor(labels)
        if labels.dtype == dtypes.int32:
            labels = cast(labels, dtypes.int64, name="ToInt64")
        outputs = one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collect_named_outputs(outputs_collections, entered, outputs)


@add_arg_scope
def dense_to_sparse(tensor: Any, eos_token: Any = 0, outputs_collections: Any = None, scope: Any = None) -> Any:
    """A SparseTensor of the elements that are not `eos_token`."""
    with variable_scope(scope, "dense_to_sparse", [tensor]) as entered:
        tensor = convert_to_tensor(tensor)
        indices = where(not_equal(tensor, constant(eos_token, tensor.dtype)))
        values = gather_nd(tensor, indices)
        outputs = SparseTensor(indices, values, shape_of(tensor, out_type=dtypes.int64))
        return collect_named_outputs(outputs_collections, entered.name, outputs)


@add_arg_scope
def images_to_sequence(inputs: Any, data_format: str = "NHWC", outputs_collections: Any = None, scope: Any = None) -> Any:
    """Images [batch, height, width, channels], or "NCHW", as columns in order: [width, batch * height, channels].

    Raises ValueError for other layouts.
    """
    first = check_data_format(data_format, ("NCHW", "NHWC"))
    with name_scope(scope, "ImagesToSequence", [inputs]) as entered:
        inputs = convert_to_tensor(inputs)
        if first:
            inputs = transpose(inputs, [0, 2, 3, 1])
        _, _, width, depth = inputs.get_shape().as_list()
        sizes = shape_of(inputs)
        batch, height = sizes[0], sizes[1]
        outputs = reshape(transpose(inputs, [2, 0, 1, 3]), [width, batch * height, depth])
        return collect_named_outputs(outputs_collections, entered, outputs)


@add_arg_scope
def sequence_to_images(inputs: Any, height: int, output_data_format: str = "channels_last",
                       outputs_collections: Any = None, scope: Any = None) -> Any:
    """The reverse of ``images_to_sequence``: [width, batch * height, channels] gives images of `height`."""
    with name_scope(scope, "SequenceToImages", [inputs]) as entered:
        inputs = convert_to_tensor(inputs)
        width, batches, depth = inputs.get_shape().as_list()
        parted = reshape(inputs, [width, -1 if batches is None else batches // height, height, depth])
        outputs = transpose(parted, [1, 3, 2, 0] if output_data_format == "channels_first" else [1, 2, 0, 3])
        return collect_named_outputs(outputs_collections, entered, outputs)


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> Any:
    """The softmax along the last axis, of known size; rank 2 or more.  Raises ValueError for others."""
    with variable_scope(scope, "softmax", [logits]):
        size = last_dimension(logits.get_shape(), min_rank=2)
        predictions = reshape(softmax_ops.softmax(reshape(logits, [-1, size])), shape_of(logits))
        predictions.set_shape(logits.get_shape())
        return predictions


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Any:
    """The largest of each of `num_units` groups of features along `axis` (Goodfellow and others, 2013).

    Raises ValueError for a number of features that `num_units` does not divide.
    """
    with variable_scope(scope, "MaxOut", [inputs]):
        inputs = convert_to_tensor(inputs)
        sizes: list = inputs.get_shape().as_list()
        features = sizes[axis]
        if features % num_units:
            raise ValueError(f"number of features({features}) is not a multiple of num_units({num_units})")
        sizes[axis] = num_units
        sizes.append(features // num_units)
        sizes = [shape_of(inputs)[k] if size is None else size for k, size in enumerate(sizes)]
        return reduce_max(reshape(inputs, sizes), -1, keepdims=False)


def poincare_normalize(x: Any, axis: int = 1, epsilon: float = 1e-5, name: str | None = None) -> Any:
    """`x` with the vectors along `axis` that are longer than 1 - epsilon shortened to that."""
    with name_scope(name, "poincare_normalize", [x]) as entered:
        x = convert_to_tensor(x, name="x")
        inverse = rsqrt(reduce_sum(square(x), axis, keepdims=True))
        return multiply(x, minimum((1.0 - epsilon) * inverse, 1.0), name=entered)
