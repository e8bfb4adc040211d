"""``spatial_softmax``: where in an image each channel is high."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.framework.arg_scopes import add_arg_scope
from jitgraph.contrib.framework.variables import model_variable
from jitgraph.contrib.layers.arguments import check_data_format
from jitgraph.contrib.layers.collected import get_variable_collections
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.grids import meshgrid
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.sequences import lin_space
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.nn.softmax import softmax
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.variables.variable_initializers import constant_initializer, ones_initializer
from jitgraph.variables.variable_scopes import variable_scope


@add_arg_scope
def spatial_softmax(features: Any, temperature: float | None = None, name: Any = None, variables_collections: Any = None,
                    trainable: bool = True, data_format: str = "NHWC") -> Any:
    """The expected place, from -1 to 1 along both axes, of the softmax of each channel of an image (Levine, 2016).

    `features` [batch, height, width, channels], or "NCHW", give [batch, 2 * channels].  Model variable: ``temperature``,
    which begins as 1 or as what is given.  Raises ValueError for other layouts and an unknown number of channels.
    """
    with variable_scope(name, "spatial_softmax"):
        sizes = shape_of(features)
        if check_data_format(data_format, ("NCHW", "NHWC")):
            channels, height, width = features.shape[1].value, sizes[2], sizes[3]
        else:
            height, width, channels = sizes[1], sizes[2], features.shape[3].value
        if channels is None:
            raise ValueError("The num_channels dimension of the inputs to `spatial_softmax` should be defined. Found `None`.")
        with name_scope("spatial_softmax_op", "spatial_softmax_op", [features]):
            down, right = meshgrid(lin_space(-1.0, 1.0, num=height), lin_space(-1.0, 1.0, num=width), indexing="ij")
            down, right = reshape(down, [height * width]), reshape(right, [height * width])
            initializer = ones_initializer() if temperature is None else constant_initializer(temperature)
            collections = get_variable_collections(variables_collections, "temperature") if trainable else None
            warmth = model_variable("temperature", shape=(), dtype=dtypes.float32, initializer=initializer,
                                    collections=collections, trainable=trainable)
            rows = features if data_format == "NCHW" else transpose(features, [0, 3, 1, 2])
            attention = softmax(reshape(rows, [-1, height * width]) / warmth)
            expected = [reduce_sum(place * attention, [1], keepdims=True) for place in (down, right)]
            keypoints = reshape(concat(expected, 1), [-1, channels * 2])
            keypoints.set_shape([None, channels * 2])
    return keypoints
