"""Names of ``tensorflow.python.ops.nn_ops`` that are not public."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.facade.names import resolve
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import dimension_at_index
from jitgraph.ops.linalg.matmul import matmul


class Convolution:
    """``tf.nn.convolution`` for inputs and filters of shapes that are known before, as own layers keep it.

    `input_shape` and `filter_shape` are TensorShapes; the other arguments are those of ``tf.nn.convolution``.  Raises ValueError
    if no rank is known, if one of them has another rank, and for numbers of channels that differ.
    """

    def __init__(self, input_shape: Any, filter_shape: Any, padding: Any, strides: Any = None, dilation_rate: Any = None,
                 name: str | None = None, data_format: str | None = None):
        rank = input_shape.ndims if filter_shape.ndims is None else filter_shape.ndims
        if rank is None:
            raise ValueError("rank of input or filter must be known")
        for what, shape in (("input", input_shape), ("filter", filter_shape)):
            if shape.ndims not in (None, rank):
                raise ValueError(f"{what} tensor must have rank {rank}")
        first = data_format is not None and data_format.startswith("NC")
        channels = dimension_at_index(input_shape, 1 if first else rank - 1)
        if not channels.is_compatible_with(filter_shape[rank - 2]):
            raise ValueError(f"number of input channels does not match corresponding dimension of filter, {channels} != "
                             f"{filter_shape[rank - 2]}")
        self.input_shape, self.filter_shape, self.data_format = input_shape, filter_shape, data_format
        self.padding, self.strides, self.dilation_rate, self.name = padding, strides, dilation_rate, name

    def __call__(self, inp: Any, filter: Any) -> Any:
        """The convolution of `inp` with `filter`."""
        return resolve("nn.convolution")(inp, filter, self.padding, strides=self.strides, dilation_rate=self.dilation_rate,
                                         name=self.name, data_format=self.data_format)


def xw_plus_b_v1(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """``matmul(x, weights) + biases``, by the older BiasAddV1."""
    with name_scope(name, "xw_plus_b_v1", [x, weights, biases]) as scope:
        x, weights, biases = (convert_to_tensor(one) for one in (x, weights, biases))
        return raw.BiasAddV1(matmul(x, weights), biases, name=scope)
