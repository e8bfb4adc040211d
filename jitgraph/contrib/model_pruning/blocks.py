"""Masks of blocks of a matrix, and values given to variables in parts."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.control.order_ops import group
from jitgraph.graph import dtypes
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.gather import scatter_nd
from jitgraph.ops.arrays.join import split
from jitgraph.ops.arrays.layout import tile, transpose
from jitgraph.ops.arrays.shape import reshape, squeeze
from jitgraph.ops.nn.dimension_free import pool
from jitgraph.variables.assignments import assign


def kronecker_product(mat1: Any, mat2: Any) -> Any:
    """The Kronecker product [m1 m2, n1 n2] of matrices [m1, n1] and [m2, n2] of known shape."""
    m1, n1 = mat1.get_shape().as_list()
    left = reshape(mat1, [m1, 1, n1, 1])
    m2, n2 = mat2.get_shape().as_list()
    right = reshape(mat2, [1, m2, 1, n2])
    return reshape(left * right, [m1 * m2, n1 * n2])


def _rows_repeated(tensor: Any, times: int) -> Any:
    rows, columns = tensor.shape.as_list()
    indices = (np.arange(times)[:, None] + times * np.arange(rows)).reshape(-1, 1)
    return scatter_nd(constant(indices.astype(np.int32)), tile(tensor, [times, 1]), [rows * times, columns])


def expand_tensor(tensor: Any, block_dims: Any) -> Any:
    """A matrix of which each element became a block of height and width `block_dims`.  Raises ValueError for other ranks."""
    if tensor.get_shape().ndims != 2:
        raise ValueError("Input tensor must be rank 2")
    if len(block_dims) != 2:
        raise ValueError("block_dims must have 2 elements")
    height, width = block_dims
    expanded = _rows_repeated(tensor, height) if height > 1 else tensor
    return transpose(_rows_repeated(transpose(expanded), width)) if width > 1 else expanded


def factorized_pool(input_tensor: Any, window_shape: Any, pooling_type: str, strides: Any, padding: str,
                    name: str | None = None) -> Any:
    """``tf.nn.pool`` over a matrix, along one axis after the other.  Raises ValueError for another rank."""
    if input_tensor.get_shape().ndims != 2:
        raise ValueError("factorized_pool() accepts tensors of rank 2 only")
    height, width = input_tensor.get_shape()
    with name_scope(name, "factorized_pool"):
        aligned = reshape(input_tensor, [1, 1, height, width], name=f"{input_tensor.op.name}_aligned")
        rows = pool(aligned, window_shape=[1, window_shape[0]], pooling_type=pooling_type, strides=[1, strides[0]], padding=padding)
        rows = transpose(rows, perm=[0, 1, 3, 2])
        both = pool(rows, window_shape=[1, window_shape[1]], pooling_type=pooling_type, strides=[1, strides[1]], padding=padding)
    return squeeze(transpose(both, perm=[0, 1, 3, 2]), axis=[0, 1])


def determine_partitioned_axis(partitioned_variable: Any) -> int:
    """The axis along which a variable is in parts.  Raises ValueError if there is not exactly one."""
    whole = partitioned_variable.get_shape().as_list()
    axis = 0
    for part in partitioned_variable:
        smaller = np.less(part.get_shape().as_list(), whole)
        if np.count_nonzero(smaller) != 1:
            raise ValueError(f"Number of partitioned axes {np.count_nonzero(smaller)} not equal to 1")
        axis = int(np.flatnonzero(smaller)[0])
    return axis


def variable_assign(var: Any, new_value: Any) -> Any:
    """Gives a variable a value, by an operation named after it."""
    return assign(var, new_value, name=f"{var.op.name}_assign")


def partitioned_variable_assign(partitioned_var: Any, new_value: Any) -> Any:
    """Gives the parts of a variable their parts of a value."""
    axis = 0 if len(partitioned_var) == 1 else determine_partitioned_axis(partitioned_var)
    sizes = np.array([part.get_shape()[axis].value for part in partitioned_var])
    values = split(new_value, convert_to_tensor(sizes, dtype=dtypes.int32), axis=axis)
    return group(*(variable_assign(part, value) for part, value in zip(partitioned_var, values)),
                 name=f"{partitioned_var.name}_group_assign")
