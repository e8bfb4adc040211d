"""Bijectors of matrices: triangular ones, their inverses and products."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.contrib.distributions.bijector import Bijector
from jitgraph.contrib.distributions.composed_bijectors import Chain
from jitgraph.contrib.distributions.elementwise_bijectors import AffineScalar, Softplus
from jitgraph.contrib.distributions.sample_values import fill_triangular, fill_triangular_inverse
from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.argument_checks import checked_if
from jitgraph.distributions.sample_shapes import pick_vector
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import zeros, zeros_like
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.matrix_parts import eye, matrix_band_part, matrix_diag_part, matrix_set_diag
from jitgraph.ops.arrays.sequences import linspace
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import reshape, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import newaxis
from jitgraph.ops.checks.check_shapes import assert_rank_at_least
from jitgraph.ops.checks.check_values import assert_equal, assert_none_equal, assert_positive
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.elementwise.composite_values import sqrt
from jitgraph.ops.elementwise.elementary import log
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.matrix_ops import cholesky, matrix_triangular_solve
from jitgraph.ops.reduce.reductions import reduce_sum


class CholeskyOuterProduct(Bijector):
    """Y = X X^T, X being lower triangular with a positive diagonal."""

    def __init__(self, validate_args: bool = False, name: str = "cholesky_outer_product"):
        self._graph_parents = []
        self._name = name
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        if self.validate_args:
            is_matrix = assert_rank_at_least(x, 2)
            shape = shape_of(x)
            x = with_dependencies([is_matrix, assert_equal(shape[-2], shape[-1])], x)
        x = matrix_band_part(x, -1, 0)
        return matmul(x, x, adjoint_b=True)

    def _inverse(self, y: Any) -> Any:
        return cholesky(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        """The partial derivatives have the determinant 2^p x_11^p x_22^(p - 1) ... x_pp."""
        diagonal = self._as_row(matrix_diag_part(x))
        if self.validate_args:
            is_matrix = assert_rank_at_least(x, 2, message="Input must be a (batch of) matrix.")
            shape = shape_of(x)
            is_square = assert_equal(shape[-2], shape[-1], message="Input must be a (batch of) square matrix.")
            is_positive = assert_positive(diagonal, message="Input must be positive definite.")
            x = with_dependencies([is_matrix, is_square, is_positive], x)
        known = None if x.get_shape().ndims is None else dimension_value(x.get_shape()[-1])
        size: Any = shape_of(x)[-1] if known is None else known
        number: Any = cast(size, dtype=x.dtype) if known is None else np.array(known, dtype=x.dtype.as_numpy_dtype)
        exponents = linspace(number, 1.0, size)
        weighted = squeeze(matmul(log(diagonal), exponents[..., newaxis]), axis=-1)
        found = number * np.log(2.0) + weighted
        if x.get_shape().ndims is not None:
            return squeeze(found, axis=-1) if x.get_shape().ndims == 2 else found
        shape = shape_of(found)
        return reshape(found, concat([shape[:-1], pick_vector(equal(rank_of(x), 2), np.array([], dtype=np.int32), shape[-1:])], 0))

    def _as_row(self, x: Any) -> Tensor:
        """A vector as a matrix of one row; what has more dimensions as it is."""
        if x.get_shape().ndims is not None:
            return x[newaxis, :] if x.get_shape().ndims == 1 else x
        shape = shape_of(x)
        one = pick_vector(equal(rank_of(x), 1), [1], np.array([], dtype=np.int32))
        return reshape(x, concat([shape[:-1], one, shape[-1:]], 0))


class MatrixInverseTriL(Bijector):
    """Y = X^-1, X being lower triangular with no 0 in its diagonal."""

    def __init__(self, validate_args: bool = False, name: str = "matrix_inverse_tril"):
        self._graph_parents = []
        self._name = name
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        with control_dependencies(self._checks(x)):
            shape = shape_of(x)
            return matrix_triangular_solve(x, eye(shape[-1], batch_shape=shape[:-2]), lower=True)

    def _inverse(self, y: Any) -> Any:
        return self._forward(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        with control_dependencies(self._checks(x)):
            size = cast(shape_of(x)[-1], x.dtype.base_dtype)
            return -2.0 * size * reduce_sum(log(absolute(matrix_diag_part(x))), axis=-1)

    def _checks(self, x: Any) -> list:
        if not self.validate_args:
            return []
        shape = shape_of(x)
        is_matrix = assert_rank_at_least(x, 2, message="Input must have rank at least 2.")
        is_square = assert_equal(shape[-2], shape[-1], message="Input must be a square matrix.")
        above = matrix_band_part(matrix_set_diag(x, zeros(shape[:-1], dtype=dtypes.float32)), 0, -1)
        is_lower = assert_equal(above, zeros_like(above), message="Input must be lower triangular.")
        diagonal = matrix_diag_part(x)
        is_regular = assert_none_equal(diagonal, zeros_like(diagonal), message="Input must have all diagonal entries nonzero.")
        return [is_matrix, is_square, is_lower, is_regular]


def _size_of_triangle(count: Any, validate_args: bool) -> Any:
    """The n whose triangular matrix has ``count = n (n + 1) / 2`` numbers.  Raises ValueError if there is none."""
    if isinstance(count, (float, int, np.generic, np.ndarray)):
        known = (-1 + np.sqrt(1 + 8 * np.asarray(count))) / 2.0
        if float(int(known)) != known:
            raise ValueError("Vector length is not a triangular number.")
        return int(known)
    with name_scope(None, "vector_size_to_square_matrix_size", [count]):
        size = (-1.0 + sqrt(1 + 8.0 * cast(count, dtypes.float32))) / 2.0
        size = checked_if(validate_args, lambda: [assert_equal(
            cast(cast(size, dtypes.int32), dtypes.float32), size, message="Vector length is not a triangular number")], size)
        return cast(size, count.dtype)


class FillTriangular(Bijector):
    """A triangular matrix [..., n, n] of a vector [..., n (n + 1) / 2], see ``fill_triangular``."""

    def __init__(self, upper: bool = False, validate_args: bool = False, name: str = "fill_triangular"):
        self._upper = upper
        super().__init__(forward_min_event_ndims=1, inverse_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return fill_triangular(x, upper=self._upper)

    def _inverse(self, y: Any) -> Any:
        return fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape: Any) -> Any:
        count = dimension_value(input_shape[-1])
        size = None if count is None else _size_of_triangle(count, self.validate_args)
        return input_shape[:-1].concatenate([size, size])

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        rows, columns = dimension_value(output_shape[-2]), dimension_value(output_shape[-1])
        if rows is None or columns is None:
            return output_shape[:-2].concatenate([None])
        if rows != columns:
            raise ValueError(f"Matrix must be square. (saw [{rows}, {columns}])")
        return output_shape[:-2].concatenate([rows * (rows + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        batch, count = input_shape[:-1], input_shape[-1]
        size = _size_of_triangle(count, self.validate_args)
        return concat([batch, [size, size]], axis=0)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        batch, size = output_shape[:-2], output_shape[-1]
        size = checked_if(self.validate_args, lambda: [assert_equal(
            size, output_shape[-2], message="Matrix must be square.")], size)
        return concat([batch, [cast(size * (size + 1) / 2, output_shape.dtype)]], axis=0)


class TransformDiagonal(Bijector):
    """A matrix whose diagonal, as a vector, went through `diag_bijector`."""

    def __init__(self, diag_bijector: Bijector, validate_args: bool = False, name: str = "transform_diagonal"):
        self._diag_bijector = diag_bijector
        super().__init__(forward_min_event_ndims=2, inverse_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return matrix_set_diag(x, self._diag_bijector.forward(matrix_diag_part(x)))

    def _inverse(self, y: Any) -> Any:
        return matrix_set_diag(y, self._diag_bijector.inverse(matrix_diag_part(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._diag_bijector.forward_log_det_jacobian(matrix_diag_part(x), event_ndims=1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._diag_bijector.inverse_log_det_jacobian(matrix_diag_part(y), event_ndims=1)


class ScaleTriL(Chain):
    """A lower triangular matrix with a positive diagonal of a vector: ``fill_triangular``, its diagonal by `diag_bijector`, plus
    `diag_shift`.
    """

    def __init__(self, diag_bijector: Bijector | None = None, diag_shift: Any = 1e-5, validate_args: bool = False,
                 name: str = "scale_tril"):
        """`diag_bijector`: Softplus if it is None; `diag_shift`: nothing is added if it is None."""
        if diag_bijector is None:
            diag_bijector = Softplus(validate_args=validate_args)
        if diag_shift is not None:
            diag_bijector = Chain([AffineScalar(shift=diag_shift), diag_bijector])
        super().__init__([TransformDiagonal(diag_bijector=diag_bijector), FillTriangular()], validate_args=validate_args,
                         name=name)
