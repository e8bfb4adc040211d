"""What operators share that are given their sizes: the checks of these, and batches of their own."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.control.order_ops import with_dependencies
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.shapes import TensorShape, dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators.arguments import assert_same_dimension, shape_as_tensor
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.identity import is_tensor
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import broadcast_static_shape
from jitgraph.ops.checks.check_shapes import assert_rank
from jitgraph.ops.checks.check_values import assert_non_negative
from jitgraph.ops.reduce.reductions import reduce_min


class OfSize(LinearOperator):
    """A square or rectangular operator without elements of its own."""

    _assert_proper_shapes: bool
    _batch_shape_arg: Any = None
    _batch_shape_static: Any = None

    def _checked_size(self, given: Any, name: str) -> tuple[Tensor, Any]:
        """(a size as a tensor, its value if it is known).  Raises TypeError, ValueError if it cannot be a size."""
        size = given if is_tensor(given) else shape_as_tensor(given, name=name)
        known = static_value(size)
        if self._assert_proper_shapes:
            size = with_dependencies([assert_rank(size, 0, message=f"Argument {name} must be a 0-D Tensor."),
                                      assert_non_negative(size, message=f"Argument {name} must be non-negative.")], size)
        if not size.dtype.is_integer:
            raise TypeError(f"Argument {name} must be integer type.  Found: {size}")
        if known is not None:
            if known.ndim != 0:
                raise ValueError(f"Argument {name} must be a 0-D Tensor.  Found: {known}")
            if known < 0:
                raise ValueError(f"Argument {name} must be non-negative.  Found: {known}")
        return size, known

    def _take_batch_shape(self, given: Any) -> None:
        if given is None:
            return
        shape = shape_as_tensor(given, name="batch_shape_arg")
        known = static_value(shape)
        if self._assert_proper_shapes:
            shape = with_dependencies([
                assert_rank(shape, 1, message="Argument batch_shape must be a 1-D Tensor."),
                assert_non_negative(shape, message="Argument batch_shape must be non-negative.")], shape)
        if not shape.dtype.is_integer:
            raise TypeError(f"Argument batch_shape must be integer type.  Found: {shape}")
        if known is not None:
            if known.ndim != 1:
                raise ValueError(f"Argument batch_shape must be a 1-D Tensor.  Found: {known}")
            if np.any(known < 0):
                raise ValueError(f"Argument batch_shape must be non-negative.  Found:{known}")
        self._batch_shape_arg, self._batch_shape_static = shape, known

    def _with_batch(self, matrix_shape: TensorShape) -> TensorShape:
        if self._batch_shape_arg is None:
            return matrix_shape
        return TensorShape(self._batch_shape_static).concatenate(matrix_shape)

    def _with_batch_tensor(self, matrix_shape: Tensor) -> Tensor:
        return matrix_shape if self._batch_shape_arg is None else concat((self._batch_shape_arg, matrix_shape), 0)

    def _broadcast_to_batch(self, x: Tensor) -> Tensor:
        """`x`, with the batch dimensions of the operator."""
        if self._batch_shape_arg is None:
            return x
        shape: Any = self.batch_shape.concatenate([1, 1])
        if shape.is_fully_defined():
            if broadcast_static_shape(x.shape, shape) == x.shape:
                return x
        else:
            shape = concat((self.batch_shape_tensor(), [1, 1]), 0)
        return x + zeros(shape=shape, dtype=self.dtype)

    def _asserted(self, x: Any) -> Any:
        return with_dependencies([assert_same_dimension(self, x)], x) if self._assert_proper_shapes else x

    def _smaller_size(self) -> int | None:
        sizes = dimension_value(self.domain_dimension), dimension_value(self.range_dimension)
        return None if sizes[0] is None or sizes[1] is None else min(sizes[0], sizes[1])

    def _filled_diagonal(self, filled: Callable) -> Tensor:
        shape: Any
        if self.shape.is_fully_defined():
            shape = self.batch_shape.concatenate([self._smaller_size()])
        else:
            shape = concat([self.batch_shape_tensor(), [reduce_min(self.shape_tensor()[-2:])]], axis=0)
        return filled(shape=shape, dtype=self.dtype)

    def _of_batch(self, filled: Callable) -> Tensor:
        shape = self.batch_shape if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()
        return filled(shape=shape, dtype=self.dtype)
