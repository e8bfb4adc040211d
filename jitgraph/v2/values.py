"""Tensors made of Python's values."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph.graph import literals
from jitgraph.graph.convert import is_tensor_like
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.shapes import raw_shape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays import constant as constants
from jitgraph.v2.calls import from_v1


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Tensor:
    """A constant tensor, as ``tf.constant``; with `shape`, a single number fills it.

    Raises TypeError for a value of another number of elements than `shape` has: it is not continued with its last one.
    """
    if shape is not None and not is_tensor_like(value):
        wanted = tuple(int(size) for size in raw_shape(shape))
        found = literals.constant_array(value, None if dtype is None else as_dtype(dtype).base_dtype, None, False).shape
        count = math.prod(wanted)
        if found not in ((), (1,)) and count and np.prod(found) != count:
            raise TypeError(f"Expected Tensor's shape: {wanted}, got {found}.")
    return constants.constant(value, dtype, shape, name)


@from_v1("convert_to_tensor")
def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    """`value` (number, string, list, array, tensor, variable) as a Tensor; of `dtype_hint` if it can take that."""
