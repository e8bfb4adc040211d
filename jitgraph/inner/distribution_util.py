"""Names of ``tensorflow.python.ops.distributions.util`` that ``tf.contrib.distributions`` does not have."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.argument_checks import classes_that_fit as embed_check_categorical_event_shape
from jitgraph.distributions.argument_checks import integers_that_fit as embed_check_integer_casting_closed
from jitgraph.distributions.argument_checks import nonnegative_integers as embed_check_nonnegative_integer_form
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape, dimension_value
from jitgraph.linear_operators.circulant import rotate_transpose
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import broadcast_dynamic_shape, broadcast_static_shape
from jitgraph.ops.arrays.matrix_parts import matrix_transpose
from jitgraph.ops.arrays.shape import rank, shape
from jitgraph.ops.checks.check_values import assert_equal
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.reduce.reductions import reduce_all

__all__ = ["assert_symmetric", "dimension_size", "embed_check_categorical_event_shape", "embed_check_integer_casting_closed",
           "embed_check_nonnegative_integer_form", "maybe_get_static_value", "prefer_static_broadcast_shape", "prefer_static_rank",
           "prefer_static_shape", "prefer_static_value", "rotate_transpose", "same_dynamic_shape"]


def assert_symmetric(matrix: Any) -> Any:
    """A matrix [..., n, n] whose users wait for a check that it is its own transpose."""
    return with_dependencies([assert_equal(matrix, matrix_transpose(matrix))], matrix)


def same_dynamic_shape(a: Any, b: Any) -> Any:
    """Whether two tensors have one shape when the graph runs: a bool scalar."""
    a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
    return cond(equal(rank(a), rank(b)),
                lambda: reduce_all(equal(concat([shape(a), shape(b)], 0), concat([shape(b), shape(a)], 0))),
                lambda: constant(False))


def maybe_get_static_value(x: Any, dtype: Any = None) -> Any:
    """The value of a tensor as far as it is known while the graph is built, of a NumPy dtype if one is given; None if it is not."""
    if x is None:
        return x
    try:
        found = constant_value(x)
    except TypeError:
        found = x
    return found if found is None or dtype is None else np.array(found, dtype)


def prefer_static_value(x: Any) -> Any:
    """The value of a tensor, an ndarray, if it is known while the graph is built; else the tensor."""
    found = constant_value(x)
    return x if found is None else found


def prefer_static_rank(x: Any) -> Any:
    """The number of dimensions of a tensor, an ndarray if it is known while the graph is built."""
    return prefer_static_value(rank(x))


def prefer_static_shape(x: Any) -> Any:
    """The shape of a tensor, an ndarray if it is known while the graph is built."""
    return prefer_static_value(shape(x))


def prefer_static_broadcast_shape(shape1: Any, shape2: Any, name: str = "prefer_static_broadcast_shape") -> Any:
    """The shape of what is made of tensors of two shapes: a TensorShape if both are known, else an int32 tensor.

    Raises ValueError for a TensorShape that is not fully defined beside one that is not known.
    """
    with name_scope(name, values=[shape1, shape2]):
        known = [_known_shape(one) for one in (shape1, shape2)]
        if None not in known:
            return broadcast_static_shape(*known)
        return broadcast_dynamic_shape(*[_shape_tensor(one) for one in (shape1, shape2)])


def _known_shape(given: Any) -> TensorShape | None:
    if isinstance(given, TensorShape):
        return given
    found = constant_value(convert_to_tensor(given, dtypes.int32, name="shape"))
    return None if found is None else TensorShape(found)


def _shape_tensor(given: Any) -> Any:
    if isinstance(given, TensorShape):
        if not given.is_fully_defined():
            raise ValueError("Cannot broadcast from partially defined `TensorShape`.")
        given = given.as_list()
    return convert_to_tensor(given, dtypes.int32, name="shape")


def dimension_size(x: Any, axis: int) -> Any:
    """The size of a dimension: an int if it is known while the graph is built, else an int32 scalar."""
    known = dimension_value(x.shape.with_rank_at_least(abs(axis))[axis])
    return shape(x)[axis] if known is None else known
