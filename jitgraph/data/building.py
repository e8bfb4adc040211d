"""How arguments of transformations become tensors and functions."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.data import structure
from jitgraph.data.leaves import form
from jitgraph.data.mapped_function import MappedFunction
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import constant_value, constant_value_as_shape
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.seeds import get_seed
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.type_specs import SparseTensorSpec
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.elementwise.compare import equal, logical_and


def number(value: Any, name: str) -> Tensor:
    """An int64 tensor."""
    return convert_to_tensor(value, dtypes.int64, name)


def optional(value: Any, name: str, default: Any = 0, dtype: Any = dtypes.int64) -> Tensor:
    """A tensor of `value`, or of `default` where it is None."""
    return convert_to_tensor(default if value is None else value, dtype, name)


def seeds(seed: Any) -> tuple[Tensor, Tensor]:
    """The two seeds of an op of a dataset, int64 tensors; (0, 0) asks for random ones.

    The nodes are those that TensorFlow makes: how many they are decides the default seeds of what comes after.
    """
    first, second = (get_seed(0)[0], seed % (2 ** 31 - 1)) if isinstance(seed, Tensor) else get_seed(seed)
    one = convert_to_tensor(0 if first is None else first, dtypes.int64, "seed")
    if second is None:
        return one, convert_to_tensor(0, dtypes.int64, "seed2")
    with name_scope("seed2", None, []) as scope:
        two = convert_to_tensor(second, dtypes.int64)
        both = logical_and(equal(one, 0), equal(two, 0))
        other = convert_to_tensor(2 ** 31 - 1, dtypes.int64)
        return one, where(both, other, two, name=scope)


def rows_of(batch_size: Tensor, drop_remainder: Tensor) -> int | None:
    """The number of rows that all batches have, None if it is not known."""
    size, drop = constant_value(batch_size), constant_value(drop_remainder)
    return int(size) if size is not None and drop is not None and bool(drop) else None


def dataset_function(dataset: Any, function: Callable, name: str) -> tuple[MappedFunction, Any]:
    """A function of elements that gives datasets, and the structure of their elements.  Raises TypeError otherwise."""
    made = MappedFunction(function, name, dataset.element_spec)
    if not getattr(made.spec, "is_dataset", False):
        raise TypeError(f"`map_func` must return a `Dataset` object. Got {made.spec!r}")
    return made, made.spec.element_spec


def parallel_interleave(dataset: Any, function: Callable, cycle_length: Any, block_length: Any, sloppy: Any = False,
                        buffer_output_elements: Any = None, prefetch_input_elements: Any = None) -> Any:
    """See ``tf.data.experimental.parallel_interleave``."""
    made, spec = dataset_function(dataset, function, "tf.data.experimental.parallel_interleave()")
    given = [number(cycle_length, "cycle_length"), number(block_length, "block_length"),
             convert_to_tensor(sloppy, dtypes.bool_, "sloppy"),
             optional(buffer_output_elements, "buffer_output_elements", 2 * block_length),
             optional(prefetch_input_elements, "prefetch_input_elements", 2 * cycle_length)]
    tensor = raw.ParallelInterleaveDataset(dataset._variant_tensor, made.captured, *given, f=made.graph,
                                           **structure.flat_attributes(spec))
    return dataset._made(tensor, spec, made)


def state_function(dataset: Any, state: Any, function: Callable, name: str) -> tuple[MappedFunction, Any]:
    """A function of a state and an element that gives the next state, and what covers the states.

    Raises TypeError if the next state is of other types.
    """
    spec = structure.spec_of(state)
    while True:
        made = MappedFunction(function, name, (spec, dataset.element_spec))
        check_state(spec, made.spec)
        common = structure.common(spec, made.spec)
        if structure.flat(common) == structure.flat(spec):
            return made, spec
        spec = common


def check_state(spec: Any, found: Any) -> None:
    """Raises TypeError if a new state is not of the types of the one before."""
    for what in ("output_class", "output_type"):
        own, other = (structure.flatten(structure.shown(one, what)) for one in (spec, found))
        if own != other:
            kind = "classes" if what.endswith("class") else "types"
            raise TypeError(f"The element {kind} for the new state must match the initial state. Expected "
                            f"{own}; got {other}.")


class ShapeVector(NamedTuple):
    """A shape as an int64 vector, -1 for sizes that vary, and its sizes, None for these."""

    tensor: Tensor
    sizes: list


def shape_vector(shape: Any) -> ShapeVector:
    """The vector of a shape: sizes (None and -1 vary), a TensorShape, or an int64 tensor."""
    if isinstance(shape, Tensor):
        return ShapeVector(shape, constant_value_as_shape(shape).as_list())
    sizes = [getattr(d, "value", d) for d in (shape.dims or [] if isinstance(shape, TensorShape) else shape)]
    stated = [-1 if d is None else int(d) for d in sizes]      # below -1 they are for the run to refuse
    return ShapeVector(convert_to_tensor(np.array(stated, np.int64), dtypes.int64), [None if d < 0 else d for d in stated])


# -- padding -----------------------------------------------------------------------------------------------------------

def padded_batch(dataset: Any, batch_size: Any, padded_shapes: Any, padding_values: Any, drop_remainder: Any) -> Any:
    """See ``Dataset.padded_batch``."""
    spec = dataset.element_spec
    leaves = structure.flatten(spec)
    if any(isinstance(leaf, SparseTensorSpec) for leaf in leaves):
        raise TypeError("Batching of padded sparse tensors is not currently supported")
    size = number(batch_size, "batch_size")
    given = structure.flatten_up_to(spec, padded_shapes)
    shapes = [_padded_shape(shape, leaf.shape) for shape, leaf in zip(given, leaves)]
    values = [None] * len(leaves) if padding_values is None else structure.flatten_up_to(spec, padding_values)
    padding = [_padding(value, leaf.dtype) for value, leaf in zip(values, leaves)]
    drop = convert_to_tensor(drop_remainder, dtypes.bool_, "drop_remainder")
    rows = rows_of(size, drop)
    made = structure.pack(spec, [form(leaf).of_shape(leaf, TensorShape([rows]).concatenate(constant_value_as_shape(shape)))
                                 for leaf, shape in zip(leaves, shapes)])
    flat = {"output_shapes": structure.flat_attributes(made)["output_shapes"]}
    tensor = raw.PaddedBatchDatasetV2(dataset._variant_tensor, size, shapes, padding, drop, **flat)
    return dataset._made(tensor, made)


def _padded_shape(shape: Any, of_component: TensorShape) -> Tensor:
    """A padded shape as an int64 vector, -1 for sizes that vary.  Raises ValueError if it does not fit the component."""
    if isinstance(shape, Tensor):
        if shape.dtype.base_dtype is not dtypes.int64:
            raise TypeError(f"Padded shape {shape} must be a 1-D tensor of tf.int64 values, but its element type was "
                            f"{shape.dtype.name}.")
        if not shape.shape.is_compatible_with([None]):
            raise ValueError(f"Padded shape {shape} must be a 1-D tensor of tf.int64 values, but its shape was {shape.shape}.")
        tensor, stated = shape, constant_value_as_shape(shape)
    else:
        tensor, sizes = _mixed_vector(shape)
        stated = TensorShape(sizes)
    if of_component.ndims is not None and stated.ndims is not None and stated.ndims != of_component.ndims:
        raise ValueError(f"The padded shape {stated} is not compatible with the corresponding input component shape "
                         f"{of_component}.")
    for padded, size in zip(stated.as_list() if stated.ndims else [], of_component.as_list() if of_component.ndims else []):
        if padded is not None and size is not None and padded < size:
            raise ValueError(f"The padded shape {stated} is not compatible with the corresponding input component shape "
                             f"{of_component}.")
    return tensor


def _mixed_vector(shape: Any) -> tuple[Tensor, list]:
    """The vector of a shape some of whose sizes may be tensors."""
    parts = list(shape) if isinstance(shape, (list, tuple)) else None
    if any(isinstance(part, (list, tuple)) for part in parts or ()):
        raise ValueError(f"Padded shape {shape} must be a 1-D tensor of tf.int64 values.")
    if parts is None or not any(isinstance(part, Tensor) for part in parts):
        return shape_vector(TensorShape(shape) if parts is None else parts)
    sizes = [None if isinstance(d, Tensor) or getattr(d, "value", d) is None else int(d) for d in parts]
    tensors = [d if isinstance(d, Tensor) else number(-1 if size is None else size, "size") for d, size in zip(parts, sizes)]
    return raw.Pack(tensors), sizes


def _padding(value: Any, dtype: Any) -> Tensor:
    """What is filled in for a component.  Raises TypeError for another dtype, ValueError for what is no scalar."""
    if value is None:
        value = "" if dtype is dtypes.string else np.zeros((), dtype.as_numpy_dtype)
    tensor = convert_to_tensor(value, name="padding_value")
    if not tensor.shape.is_compatible_with([]):
        raise ValueError(f"Padding value should be a scalar, but is not: {tensor}")
    if tensor.dtype.base_dtype is not dtype:
        raise TypeError(f"Padding value tensor ({tensor}) does not match output type: {dtype!r}")
    return tensor
