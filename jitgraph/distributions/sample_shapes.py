"""The shapes of samples, batches and events."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape, dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import broadcast_dynamic_shape, broadcast_static_shape
from jitgraph.ops.arrays.searching import where, where_v2
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.reduce.reductions import reduce_prod


def as_vector(shape: Tensor) -> tuple[Tensor, Any]:
    """(the shape of samples as a vector, how many samples that are).  Raises ValueError for ranks above 1."""
    known = static_value(shape)
    count = reduce_prod(shape) if known is None else np.prod(known, dtype=np.int32)
    rank = shape.get_shape().ndims
    if rank is None:
        as_it_is = shape_of(shape)
        return reshape(shape, pick_vector(equal(rank_of(shape), 0), np.array([1], np.int32), as_it_is)), count
    if rank == 0:
        if known is None:
            return reshape(shape, [1]), count
        return convert_to_tensor(np.array([known], np.int32), name="sample_shape"), count
    if rank != 1:
        raise ValueError("Input is neither scalar nor vector.")
    return shape, count


def set_sample_static_shape(samples: Tensor, sample_shape: Tensor, batch_shape: TensorShape, event_shape: TensorShape) -> Tensor:
    """`samples`, whose static shape has what is known of its three parts."""
    known = TensorShape(static_value(sample_shape))
    rank, of_sample, of_batch, of_event = (s.ndims for s in (samples.get_shape(), known, batch_shape, event_shape))
    if rank is None and of_sample is not None and of_batch is not None and of_event is not None:
        rank = of_sample + of_batch + of_event
        samples.set_shape([None] * rank)
    if rank is not None and of_sample is not None:
        samples.set_shape(known.concatenate([None] * (rank - of_sample)))
    if rank is not None and of_event is not None:
        samples.set_shape(TensorShape([None] * (rank - of_event)).concatenate(event_shape))
    if rank is not None and of_batch is not None:
        if of_sample is None and of_event is not None:
            of_sample = rank - of_batch - of_event
        elif of_event is None and of_sample is not None:
            of_event = rank - of_batch - of_sample
    if of_sample is not None and of_batch is not None and of_event is not None:
        samples.set_shape(TensorShape([None] * of_sample).concatenate(batch_shape).concatenate([None] * of_event))
    return samples


def is_scalar(shape: TensorShape, shape_tensor: Callable[[], Tensor]) -> Any:
    """Whether a shape has no dimensions: a bool if that is known, else a tensor."""
    if shape.ndims is not None:
        return shape.ndims == 0
    tensor = shape_tensor()
    if tensor.get_shape().ndims is not None and dimension_value(tensor.get_shape()[0]) is not None:
        return tensor.get_shape().as_list() == [0]
    return equal(shape_of(tensor)[0], 0)


def pick_vector(cond: Any, true_vector: Any, false_vector: Any, name: str = "pick_vector") -> Any:
    """One of two vectors, perhaps of different lengths.  Raises TypeError if `cond` is no bool, or the dtypes differ."""
    with name_scope(name, values=(cond, true_vector, false_vector)):
        cond = convert_to_tensor(cond, name="cond")
        if cond.dtype != dtypes.bool_:
            raise TypeError(f"{cond}.dtype={cond.dtype} which is not {dtypes.bool_}")
        known = static_value(cond)
        if known is not None:
            return true_vector if known else false_vector
        true_vector = convert_to_tensor(true_vector, name="true_vector")
        false_vector = convert_to_tensor(false_vector, name="false_vector")
        if true_vector.dtype != false_vector.dtype:
            raise TypeError(f"{true_vector}.dtype={true_vector.dtype} does not match {false_vector}.dtype={false_vector.dtype}")
        length = shape_of(true_vector)[0]
        return slice_of(concat([true_vector, false_vector], 0), [where_v2(cond, 0, length)], [where(cond, length, -1)])


def broadcast_shape(*parameters: Tensor) -> TensorShape:
    """The static shape to which parameters are broadcast."""
    return functools.reduce(broadcast_static_shape, [parameter.get_shape() for parameter in parameters])


def get_broadcast_shape(*tensors: Tensor) -> Any:
    """The shape to which tensors are broadcast: a list if it is known, else a tensor."""
    known = broadcast_shape(*tensors)
    if known.is_fully_defined():
        return known.as_list()
    return functools.reduce(broadcast_dynamic_shape, [shape_of(tensor) for tensor in tensors])


def joined_shapes(*shapes: Any) -> Any:
    """Vectors one behind the other: a list of numbers if all are known, else a tensor."""
    known = [static_value(convert_to_tensor(shape)) for shape in shapes]
    if any(value is None for value in known):
        return concat(shapes, 0)
    return [size for value in known for size in value]


def shapes_of_parameters(names: tuple[str, ...], sample_shape: Any) -> dict[str, Tensor]:
    """What ``param_shapes`` answers where each parameter has the shape of the samples."""
    return dict.fromkeys(names, convert_to_tensor(sample_shape, dtype=dtypes.int32))
