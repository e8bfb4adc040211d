"""``tf.nn``'s functions that take the number of dimensions from their arguments: pools, transposed and spread convolutions."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from jitgraph.declare.renamed_arguments import renamed
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.nn.convolution_functions import conv1d_transpose, conv2d_transpose, conv3d_transpose
from jitgraph.ops.nn.interleaved import with_space_to_batch
from jitgraph.ops.nn.pooling_functions import avg_pool, avg_pool1d, avg_pool3d, max_pool, max_pool1d, max_pool3d

_TRANSPOSED: dict[int, Any] = {1: conv1d_transpose, 2: conv2d_transpose, 3: conv3d_transpose}


def _pool(functions: tuple, input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None, name: str | None) -> Any:
    given = [len(v) for v in (ksize, strides) if isinstance(v, (list, tuple)) and len(v) > 1]
    rank = len(data_format) if data_format else convert_to_tensor(input).shape.ndims
    count = rank - 2 if rank is not None else given[0] if given else None
    if count not in (1, 2, 3):
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {rank}.")
    formats = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
    return functions[count - 1](input, ksize, strides, padding, data_format or formats[count], name=name)


def max_pool_v2(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = None, name: str | None = None) -> Any:
    """The maximum of each window of `input` [batch, 1 to 3 dimensions of space, channels]."""
    return _pool((max_pool1d, max_pool, max_pool3d), input, ksize, strides, padding, data_format, name)


def avg_pool_v2(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = None, name: str | None = None) -> Any:
    """The mean of each window of `input` [batch, 1 to 3 dimensions of space, channels]; padding cells do not count."""
    return _pool((avg_pool1d, avg_pool, avg_pool3d), input, ksize, strides, padding, data_format, name)


_POOLS: dict[tuple[str, int], Any] = {("MAX", 1): max_pool1d, ("MAX", 2): max_pool, ("MAX", 3): max_pool3d,
                                       ("AVG", 1): avg_pool1d, ("AVG", 2): avg_pool, ("AVG", 3): avg_pool3d}


def pool(input: Any, window_shape: Any, pooling_type: str, padding: str, dilation_rate: Any = None, strides: Any = None,
         name: str | None = None, data_format: str | None = None, dilations: Any = None) -> Any:
    """Pooling ("MAX" or "AVG") over one, two or three dimensions of space.

    `dilation_rate`, one number for each dimension, spreads the elements of a window; then `padding` must be "VALID" and all
    `strides` 1.  Raises ValueError otherwise, for another kind, and for arguments that do not fit the rank.
    """
    count = len(window_shape)
    rates = _positive("dilation_rate", renamed("dilations", dilations, "dilation_rate", dilation_rate), count)
    steps = _positive("strides", strides, count)
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        input = convert_to_tensor(input)
        if not 1 <= count <= 3:
            raise ValueError("It is required that 1 <= num_spatial_dims <= 3.")
        if input._shape is not None and len(input._shape) != count + 2:
            raise ValueError(f"window_shape {window_shape} needs an input of rank {count + 2}, got {input.shape}")
        if max(rates) > 1 and max(steps) > 1:
            raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
        if max(rates) > 1 and padding == "SAME":
            raise ValueError("pooling with SAME padding is not implemented for dilation_rate > 1")
        if any(step > size for step, size in zip(steps, window_shape)):
            raise ValueError(f"strides > window_shape not supported: {steps} and {list(window_shape)}")
        if (pooling_type, count) not in _POOLS:
            raise ValueError(f"{count}-D {pooling_type} pooling is not supported.")
        layout = data_format or {1: "NWC", 2: "NHWC", 3: "NDHWC"}[count]
        pooled = functools.partial(_POOLS[pooling_type, count], ksize=list(window_shape), strides=steps, data_format=layout,
                                   name=scope)
        count_nodes(1 + (max(rates) > 1))       # TensorFlow makes tensors of the rates
        return with_space_to_batch(input, rates, padding, lambda x, _, padding: pooled(x, padding=padding), data_format=layout)


def _positive(name: str, values: Any, count: int) -> list[int]:
    """`values`, one for each of `count` dimensions; ones by default."""
    found = [1] * count if values is None else [int(value) for value in np.ravel(values)]
    if len(found) != count:
        raise ValueError(f"len({name})={len(found)} but should be {count}")
    if min(found) < 1:
        raise ValueError(f"all values of {name} must be positive")
    return found


def conv_transpose(input: Any, filters: Any, output_shape: Any, strides: Any, padding: str = "SAME", data_format: str | None = None,
                   dilations: Any = None, name: str | None = None) -> Any:
    """The transpose of a convolution over 1 to 3 dimensions of space, which the length of `output_shape` says."""
    with name_scope(name, "conv_transpose", [input, filters, output_shape]):
        shape = convert_to_tensor(output_shape) if hasattr(output_shape, "shape") else output_shape
        if not hasattr(shape, "shape") and not hasattr(shape, "__len__"):
            raise ValueError(f"output_shape must be a tensor or sized collection, not {output_shape!r}.")
        count = (shape.shape[0].value if hasattr(shape, "shape") else len(shape)) - 2
        if count not in _TRANSPOSED:
            raise ValueError(f"output_shape must be of length 3, 4 or 5 but was {count + 2}.")
        formats = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
        return _TRANSPOSED[count](input, filters, output_shape=output_shape, strides=strides, padding=padding,
                                  data_format=data_format or formats[count], dilations=dilations)
