"""Tensors whose shapes are checked: ``with_shape``, ``with_same_shape``, ``assert_scalar_int``; and sums of tensors."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor, is_tensor_like
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.losses import ranks
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.shape import rank, reshape, size
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.checks.check_shapes import assert_scalar
from jitgraph.ops.elementwise.compare import equal, logical_and, logical_or
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.reduce.reductions import reduce_all, reduce_sum


def assert_scalar_int(tensor: Any, name: str | None = None) -> Any:
    """`tensor`, which is a scalar of integers.  Raises ValueError for another dtype, and for a rank that is known not to be 0."""
    with name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(f"Expected integer type for {tensor.name}, received type: {tensor.dtype}.")
        return assert_scalar(tensor, name=scope)


def reduce_sum_n(tensors: list, name: str | None = None) -> Any:
    """The sum of all elements of several tensors of one dtype, a scalar.  Raises ValueError without tensors."""
    if not tensors:
        raise ValueError("No tensors provided.")
    with name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [reduce_sum(tensor, name=f"{tensor.op.name}/sum") for tensor in tensors]
        return sums[0] if len(sums) == 1 else add_n(sums, name=scope)


@deprecated(None, "Please switch to remove_squeezable_dimensions from tf.confusion_matrix. Note that the order of the "
                  "inputs and outputs of labels and predictions have also been switched.")
def remove_squeezable_dimensions(predictions: Any, labels: Any, name: str | None = None) -> tuple:
    """(predictions, labels), of which the one of higher rank has lost a last axis of size 1."""
    labels, predictions = ranks.remove_squeezable_dimensions(labels, predictions, name=name)
    return predictions, labels


def with_same_shape(expected_tensor: Any, tensor: Any) -> Any:
    """`tensor`, checked to have the shape of `expected_tensor`: now if both are known, else when it is run."""
    with name_scope(f"{tensor.op.name}/", values=[expected_tensor, tensor]):
        known = expected_tensor.get_shape()
        expected = known.as_list() if known.is_fully_defined() else shape_of(expected_tensor, name="expected_shape")
        return with_shape(expected, tensor)


def with_shape(expected_shape: Any, tensor: Any) -> Any:
    """`tensor`, checked to have `expected_shape`: now if both are known, else when it is run.

    `expected_shape`: a list, an int32 array or vector, or a TensorShape, in which -1 or None fits any size.  A scalar is
    made of a tensor of one element.  Raises ValueError for a shape that is no int32 vector, for a SparseTensor, and where
    the shapes are known not to fit; InvalidArgumentError in a run where they do not.
    """
    if isinstance(tensor, SparseTensor):
        raise ValueError("SparseTensor not supported.")
    expected = _checked_shape(expected_shape, tensor)
    symbolic = is_tensor_like(expected)
    actual = tensor.get_shape()
    if not actual.is_fully_defined() or symbolic:
        with name_scope(f"{tensor.op.name}/", values=[tensor]):
            if not symbolic and len(expected) < 1:
                return reshape(tensor, [])
            with control_dependencies([_assert_shape(expected, tensor)]):
                result = identity(tensor)
            if not symbolic:
                result.set_shape([None if size == -1 else size for size in expected])
            return result
    if actual.is_compatible_with(list(expected)):
        return tensor
    if len(expected) < 1 and actual.is_compatible_with([1]):
        with name_scope(f"{tensor.op.name}/", values=[tensor]):
            return reshape(tensor, [])
    raise ValueError(f"Invalid shape for tensor {tensor.name}, expected {expected}, got {actual}.")


def _checked_shape(expected: Any, tensor: Any) -> Any:
    """`expected` as an int32 array, or as it is if it is a tensor or a TensorShape."""
    if is_tensor_like(expected):
        if expected.dtype.base_dtype is not dtypes.int32:
            raise ValueError(f"Invalid dtype {expected.dtype} for shape {expected} expected of tensor {tensor.name}.")
        return expected
    if isinstance(expected, (list, tuple)):
        found = np.asarray(expected)
        expected = found.astype(np.int32) if found.size == 0 or found.dtype == np.int64 else found
    if isinstance(expected, np.ndarray):
        if expected.ndim > 1:
            raise ValueError(f"Invalid rank {expected.ndim} for shape {expected} expected of tensor {tensor.name}.")
        if expected.dtype != np.int32:
            raise ValueError(f"Invalid dtype {expected.dtype} for shape {expected} expected of tensor {tensor.name}.")
    return expected


def _assert_shape(expected: Any, tensor: Any) -> Any:
    """An operation that fails where `tensor` has not the shape `expected`."""
    with name_scope("assert_shape", values=[tensor]) as scope:
        actual = shape_of(tensor, name="actual")
        if isinstance(expected, TensorShape) and not expected.is_fully_defined():
            expected = [d or -1 for d in expected.as_list()]
        with name_scope("is_shape", values=[tensor]) as inner:
            with name_scope("is_rank", values=[tensor]) as innermost:
                wanted = convert_to_tensor(size(expected), name="expected")
                same_rank = equal(wanted, rank(tensor, name="actual"), name=innermost)
            with name_scope("shape_tensor_equal", values=[expected, actual]) as innermost:
                fits = logical_or(equal(expected, -1), equal(expected, actual, "equal"), name="exclude_partial_shape")
                same_sizes = reduce_all(fits, name=innermost)
            same = logical_and(same_rank, same_sizes, name=inner)
        return Assert(same, [f"Wrong shape for {tensor.name} [expected] [actual].", expected, actual], name=scope)
