"""Many elements of a TensorArray at a time, for those whose flow is the value and those that are changed in place: rows of
one tensor (gather and scatter) and pieces of one (concat and split), with TensorFlow's checks."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph.errors import InvalidArgumentError, UnimplementedError
from jitgraph.graph.shapes import brackets
from jitgraph.tensor_arrays.host_values import Column, copied
from jitgraph.tensor_arrays.tensor_array_values import Handle


def gathered(handle: Handle, indices: Any, elements: Column, element_shape: Any) -> np.ndarray:
    """The elements that were read at `indices`, one behind the other along a new first axis.

    Raises UnimplementedError for none of unknown shape, InvalidArgumentError for elements of different shapes.
    """
    if not len(elements):
        shape = handle.element_shape if element_shape is None else element_shape
        if shape is None or None in shape:
            shown = "<unknown>" if shape is None else brackets(shape)
            raise UnimplementedError(None, None, f"TensorArray has size zero, but element shape {shown} is not fully "
                                                 "defined. Currently only static shapes are supported when packing "
                                                 "zero-size TensorArrays.")
        return np.zeros((0, *shape), handle.dtype.as_numpy_dtype)
    first = np.shape(elements[0])
    for k, element in () if isinstance(elements, np.ndarray) else zip(indices, elements):
        if np.shape(element) != first:
            raise InvalidArgumentError(None, None, "TensorArray has inconsistent shapes.  Index 0 has shape: "
                                                   f"{list(first)} but index {k} has shape: {list(np.shape(element))}")
    return stacked(elements, handle.dtype.as_numpy_dtype)


def stacked(elements: Column, dtype: Any) -> Any:
    """Arrays of one shape, of the host or of a device, along a new first axis, in memory of its own."""
    if isinstance(elements, np.ndarray):
        return np.array(elements, dtype, order="C")
    on_host = all(isinstance(element, np.ndarray) for element in elements)
    return np.array(elements, dtype) if on_host and elements[0].ndim else np.stack(elements)


def scattered(handle: Handle, indices: Any, value: np.ndarray, size: int) -> Any:
    """A copy of `value`, whose rows are for `indices` of an array of `size`.  Raises InvalidArgumentError if they do not fit."""
    if len(indices) != len(value):
        raise InvalidArgumentError(None, None, f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. "
                                               f"{len(value)}")
    top = max(indices[0], indices[-1]) if isinstance(indices, range) else int(np.max(indices, initial=-1))
    if not handle.dynamic and top >= size:
        raise InvalidArgumentError(None, None, f"Max scatter index must be < array size ({top} vs. {size})")
    return copied(value)


def joined(handle: Handle, parts: Column, element_shape: Any) -> tuple[np.ndarray, np.ndarray]:
    """All elements one behind the other along their first axis, and their lengths along it.

    Raises UnimplementedError for none of unknown shape, InvalidArgumentError for scalars and for shapes that differ.
    """
    lengths = np.array([len(part) if part.ndim else 0 for part in parts], np.int64)
    if not len(parts):
        if element_shape is None or None in element_shape:
            raise UnimplementedError(None, None, "TensorArray has size zero, but element shape is not fully defined. "
                                                 "Currently only static shapes are supported when concatenating "
                                                 "zero-size TensorArrays.")
        return np.zeros((0, *element_shape), handle.dtype.as_numpy_dtype), lengths
    for k, part in enumerate(parts):
        if not part.ndim:
            raise InvalidArgumentError(None, None, f"Concat saw a scalar shape at index {k} but requires at least "
                                                   "vectors.  Did you mean to call pack?")
        if part.shape[1:] != parts[0].shape[1:]:
            raise InvalidArgumentError(None, None, "TensorArray has inconsistent shapes.  Index 0 has (excepting "
                                                   f"dimension 0) shape: {list(parts[0].shape[1:])} but index {k} has "
                                                   f"(excepting dimension 0) shape: {list(part.shape[1:])}")
    return np.concatenate(parts), lengths


def pieces(value: np.ndarray, lengths: Any) -> list[np.ndarray]:
    """Consecutive pieces of these lengths along the first axis."""
    ends = np.cumsum(lengths)
    return [value[end - length:end] for end, length in zip(ends, lengths)]


def split(handle: Handle, value: np.ndarray, lengths: np.ndarray, size: int) -> list[np.ndarray]:
    """The pieces of a copy of `value`, for an array of `size`.  Raises InvalidArgumentError if they do not fit."""
    if not value.ndim:
        raise InvalidArgumentError(None, None, "Expected value to be at least a vector, but received shape: []")
    if int(lengths.sum()) != len(value):
        raise InvalidArgumentError(None, None, "Expected sum of lengths to be equal to values.shape[0], but sum of "
                                               f"lengths is {int(lengths.sum())} and value's shape is: "
                                               f"{list(value.shape)}")
    if size != len(lengths) and not handle.dynamic:
        raise InvalidArgumentError(None, None, f"TensorArray's size is not equal to the size of lengths ({size} vs. "
                                               f"{len(lengths)}), and the TensorArray is not marked as dynamically "
                                               "resizeable")
    return pieces(np.array(value), lengths)
