"""Layers that take the largest or the mean element of each window; `stride` is 2 unless it is given."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.framework.arg_scopes import add_arg_scope
from jitgraph.contrib.layers.arguments import check_data_format, layout_of, n_positive_integers
from jitgraph.contrib.layers.collected import collect_named_outputs
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.layers.pooling import AveragePooling2D, AveragePooling3D, MaxPooling2D, MaxPooling3D
from jitgraph.ops.nn import dimension_free

_PLANE, _SPACE = ("NCHW", "NHWC"), ("NCDHW", "NDHWC")


def _pooled(kind: type, default_name: str, known: tuple[str, str], inputs: Any, kernel_size: Any, stride: Any,
            padding: str, data_format: str, outputs_collections: Any, scope: Any) -> Any:
    first = check_data_format(data_format, known)
    with name_scope(scope, default_name, [inputs]) as entered:
        inputs = convert_to_tensor(inputs)
        layer = kind(pool_size=kernel_size, strides=stride, padding=padding, data_format=layout_of(first), _scope=entered)
        return collect_named_outputs(outputs_collections, entered, layer.apply(inputs))


@add_arg_scope
def avg_pool2d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID", data_format: str = "NHWC",
               outputs_collections: Any = None, scope: Any = None) -> Any:
    """The mean of each window of `kernel_size`, `stride` apart, of [batch, height, width, channels] or "NCHW".

    Raises ValueError for other layouts, and for inputs of another rank.
    """
    return _pooled(AveragePooling2D, "AvgPool2D", _PLANE, inputs, kernel_size, stride, padding, data_format,
                   outputs_collections, scope)


@add_arg_scope
def max_pool2d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID", data_format: str = "NHWC",
               outputs_collections: Any = None, scope: Any = None) -> Any:
    """The largest element of each window of `kernel_size`, `stride` apart, of [batch, height, width, channels] or "NCHW".

    Raises ValueError for other layouts, and for inputs of another rank.
    """
    return _pooled(MaxPooling2D, "MaxPool2D", _PLANE, inputs, kernel_size, stride, padding, data_format,
                   outputs_collections, scope)


@add_arg_scope
def avg_pool3d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID", data_format: str = "NDHWC",
               outputs_collections: Any = None, scope: Any = None) -> Any:
    """As ``avg_pool2d``, of [batch, depth, height, width, channels] or "NCDHW"."""
    return _pooled(AveragePooling3D, "AvgPool3D", _SPACE, inputs, kernel_size, stride, padding, data_format,
                   outputs_collections, scope)


@add_arg_scope
def max_pool3d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID", data_format: str = "NDHWC",
               outputs_collections: Any = None, scope: Any = None) -> Any:
    """As ``max_pool2d``, of [batch, depth, height, width, channels] or "NCDHW"."""
    return _pooled(MaxPooling3D, "MaxPool3D", _SPACE, inputs, kernel_size, stride, padding, data_format,
                   outputs_collections, scope)


@add_arg_scope
def pool(inputs: Any, kernel_size: Any, pooling_type: str, padding: str = "VALID", data_format: str | None = None,
         dilation_rate: Any = 1, stride: Any = 1, outputs_collections: Any = None, scope: Any = None) -> Any:
    """``tf.nn.pool``: "MAX" or "AVG" over one to three spatial axes.  Raises ValueError for inputs of rank below 3."""
    with name_scope(scope, f"{pooling_type.lower()}_pool", [inputs]) as entered:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank is None:
            raise ValueError("Rank of inputs must be known")
        if rank < 3:
            raise ValueError("Rank of inputs must be >= 3")
        axes = rank - 2
        outputs = dimension_free.pool(
            input=inputs, window_shape=n_positive_integers(axes, kernel_size), pooling_type=pooling_type, padding=padding,
            data_format=data_format, dilation_rate=n_positive_integers(axes, dilation_rate),
            strides=n_positive_integers(axes, stride), name=entered)
        return collect_named_outputs(outputs_collections, entered, outputs)
