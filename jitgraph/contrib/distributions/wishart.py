"""``WishartCholesky`` and ``WishartFull``: Wishart's distribution of positive definite matrices."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.argument_checks import checked_if, gen_new_seed
from jitgraph.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape, dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.linear_operators.matrices import LinearOperatorLowerTriangular
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.matrix_parts import matrix_band_part, matrix_diag_part, matrix_set_diag, matrix_transpose
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.sequences import linspace
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import strided_slice
from jitgraph.ops.checks.check_shapes import assert_same_float_dtype
from jitgraph.ops.checks.check_values import assert_equal, assert_less_equal, assert_positive
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import less
from jitgraph.ops.elementwise.composite_values import sqrt, square
from jitgraph.ops.elementwise.elementary import exp, log
from jitgraph.ops.elementwise.special import digamma, lgamma
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.matrix_ops import cholesky
from jitgraph.ops.random.draws import random_normal
from jitgraph.ops.random.random_rejection import random_gamma
from jitgraph.ops.reduce.reductions import reduce_sum


class _Wishart(Distribution):
    """The distribution of X X^T, X being K x `df` numbers, normal with the covariance S S^T of a linear operator S by columns.

    Values are Cholesky factors of such matrices with `cholesky_input_output_matrices`.
    """

    def __init__(self, df: Any, scale_operator: LinearOperator, cholesky_input_output_matrices: bool = False,
                 validate_args: bool = False, allow_nan_stats: bool = True, name: str | None = None):
        """Raises TypeError if the operator is not made of floats, ValueError if it is not square, or `df` below its size."""
        parameters = dict(locals())
        self._cholesky_input_output_matrices = cholesky_input_output_matrices
        with name_scope(name) as name:
            with name_scope("init", values=[df, scale_operator]):
                if not scale_operator.dtype.is_floating:
                    raise TypeError(f"scale_operator.dtype={scale_operator.dtype} is not a floating-point type")
                if not scale_operator.is_square:
                    raise ValueError("scale_operator must be square.")
                self._scale_operator = scale_operator
                dtype = scale_operator.dtype
                self._df = convert_to_tensor(df, dtype=dtype, name="df")
                assert_same_float_dtype((self._df, scale_operator))
                static = scale_operator.shape
                known = None if static.ndims is None else dimension_value(static[-1])
                if known is None:
                    self._dimension = cast(scale_operator.domain_dimension_tensor(), dtype=dtype, name="dimension")
                else:
                    self._dimension = convert_to_tensor(known, dtype=dtype, name="dimension")
                self._check_df(validate_args)
        super().__init__(dtype=dtype, validate_args=validate_args, allow_nan_stats=allow_nan_stats,
                         reparameterization_type=FULLY_REPARAMETERIZED, parameters=parameters,
                         graph_parents=[self._df, self._dimension, *scale_operator.graph_parents], name=name)

    def _check_df(self, validate_args: bool) -> None:
        df, size = static_value(self._df), static_value(self._dimension)
        message = "Degrees of freedom (df = {}) cannot be less than dimension of scale matrix (scale.dimension = {})"
        if df is not None and size is not None:
            if np.any(df < size):
                raise ValueError(message.format(df if df.shape else [df], size))
        elif validate_args:
            check = assert_less_equal(self._dimension, self._df, message=message.format(self._dimension, self._df))
            self._df = with_dependencies([check], self._df)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df

    @property
    def scale_operator(self) -> LinearOperator:
        """The operator S."""
        return self._scale_operator

    @property
    def cholesky_input_output_matrices(self) -> bool:
        """Whether values are Cholesky factors."""
        return self._cholesky_input_output_matrices

    @property
    def dimension(self) -> Tensor:
        """The size K of matrices, a float."""
        return self._dimension

    def _squared_scale(self) -> Any:
        return self.scale_operator.matmul(self.scale_operator.to_dense(), adjoint_arg=True)

    def scale(self) -> Any:
        """S S^T, or S if values are Cholesky factors."""
        return self.scale_operator.to_dense() if self.cholesky_input_output_matrices else self._squared_scale()

    def _event_shape_tensor(self) -> Any:
        size = self.scale_operator.domain_dimension_tensor()
        return stack([size, size])

    def _event_shape(self) -> Any:
        size = self.scale_operator.domain_dimension
        return TensorShape([size, size])

    def _batch_shape_tensor(self) -> Any:
        return self.scale_operator.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self.scale_operator.batch_shape

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        """Bartlett's decomposition: S times a triangle of normal numbers, its diagonal of the roots of chi-squared ones."""
        batch_shape, event_shape = self.batch_shape_tensor(), self.event_shape_tensor()
        rank = shape_of(batch_shape)[0] + 3
        x = random_normal(shape=concat([[n], batch_shape, event_shape], 0), mean=0.0, stddev=1.0, dtype=self.dtype, seed=seed)
        df = self.df * ones(self.scale_operator.batch_shape_tensor(), dtype=self.df.dtype.base_dtype)
        chi = random_gamma(shape=[n], alpha=self._gamma_arguments(0.5 * df, self.dimension), beta=0.5, dtype=self.dtype,
                           seed=gen_new_seed(seed, "wishart"))
        x = matrix_set_diag(matrix_band_part(x, -1, 0), sqrt(chi))
        x = transpose(x, concat([range_of(1, rank), [0]], 0))                       # the samples last, as columns
        x = self.scale_operator.matmul(reshape(x, concat([batch_shape, [event_shape[0]], [-1]], 0)))
        x = reshape(x, concat([batch_shape, event_shape, [n]], 0))
        x = transpose(x, concat([[rank - 1], range_of(0, rank - 1)], 0))
        return x if self.cholesky_input_output_matrices else matmul(x, x, adjoint_b=True)

    def _log_prob(self, x: Any) -> Any:
        root = x if self.cholesky_input_output_matrices else cholesky(x)
        batch_shape, event_shape = self.batch_shape_tensor(), self.event_shape_tensor()
        rank = rank_of(root)
        of_samples = rank - shape_of(batch_shape)[0] - 2
        sample_shape = strided_slice(shape_of(root), [0], [of_samples])
        turned = transpose(root, concat([range_of(of_samples, rank), range_of(0, of_samples)], 0))
        turned = reshape(turned, concat((batch_shape, (cast(self.dimension, dtype=dtypes.int32), -1)), 0))
        turned = reshape(self.scale_operator.solve(turned), concat([batch_shape, event_shape, sample_shape], 0))
        solved = transpose(turned, concat([range_of(rank - of_samples, rank), range_of(0, rank - of_samples)], 0))
        trace = reduce_sum(square(solved), axis=[-2, -1])
        half_log_det = reduce_sum(log(matrix_diag_part(root)), axis=[-1])
        found = (self.df - self.dimension - 1.0) * half_log_det - 0.5 * trace - self.log_normalization()
        if x.get_shape().ndims is not None:
            found.set_shape(x.get_shape()[:-2])
        if found.get_shape().ndims is not None and self.batch_shape.ndims:
            found.get_shape()[-self.batch_shape.ndims:].merge_with(self.batch_shape)
        return found

    def _prob(self, x: Any) -> Any:
        return exp(self._log_prob(x))

    def _entropy(self) -> Any:
        half_dp1, half_df = 0.5 * self.dimension + 0.5, 0.5 * self.df
        return (self.dimension * (half_df + half_dp1 * math.log(2.0)) + 2 * half_dp1 * self.scale_operator.log_abs_determinant()
                + self._multi_lgamma(half_df, self.dimension) + (half_dp1 - half_df) * self._multi_digamma(half_df, self.dimension))

    def _mean(self) -> Any:
        if self.cholesky_input_output_matrices:
            return sqrt(self.df) * self.scale_operator.to_dense()
        return self.df * self._squared_scale()

    def _variance(self) -> Any:
        x = sqrt(self.df) * self._squared_scale()
        diagonal = expand_dims(matrix_diag_part(x), -1)
        found = square(x) + matmul(diagonal, diagonal, adjoint_b=True)
        return cholesky(found) if self.cholesky_input_output_matrices else found

    def _stddev(self) -> Any:
        if self.cholesky_input_output_matrices:
            raise ValueError("Computing std. dev. when is cholesky_input_output_matrices=True does not make sense.")
        return cholesky(self.variance())

    def _mode(self) -> Any:
        factor = self.df - self.dimension - 1.0
        factor = where_v2(less(factor, 0.0), constant(float("NaN"), dtype=self.dtype, name="nan"), factor)
        if self.cholesky_input_output_matrices:
            return sqrt(factor) * self.scale_operator.to_dense()
        return factor * self._squared_scale()

    def mean_log_det(self, name: str = "mean_log_det") -> Tensor:
        """The mean of the logarithm of the determinant, of the shape of the batch."""
        with self._name_scope(name):
            return (self._multi_digamma(0.5 * self.df, self.dimension) + self.dimension * math.log(2.0)
                    + 2 * self.scale_operator.log_abs_determinant())

    def log_normalization(self, name: str = "log_normalization") -> Tensor:
        """The logarithm of the constant by which the density is divided, of the shape of the batch."""
        with self._name_scope(name):
            return (self.df * self.scale_operator.log_abs_determinant() + 0.5 * self.df * self.dimension * math.log(2.0)
                    + self._multi_lgamma(0.5 * self.df, self.dimension))

    def _gamma_arguments(self, a: Any, p: Any, name: str = "multi_gamma_sequence") -> Any:
        """a, a - 1/2, ..., a - (p - 1)/2 along a further dimension."""
        with self._name_scope(name, values=[a, p]):
            steps = linspace(constant(0.0, dtype=self.dtype), 0.5 - 0.5 * p, cast(p, dtypes.int32))
            return steps + expand_dims(a, [-1])

    def _multi_lgamma(self, a: Any, p: Any, name: str = "multi_lgamma") -> Any:
        with self._name_scope(name, values=[a, p]):
            arguments = self._gamma_arguments(a, p)
            return 0.25 * p * (p - 1.0) * math.log(math.pi) + reduce_sum(lgamma(arguments), axis=[-1])

    def _multi_digamma(self, a: Any, p: Any, name: str = "multi_digamma") -> Any:
        with self._name_scope(name, values=[a, p]):
            return reduce_sum(digamma(self._gamma_arguments(a, p)), axis=[-1])


class WishartCholesky(_Wishart):
    """Wishart's distribution of `df` degrees of freedom, `scale` [..., K, K] being a Cholesky factor."""

    def __init__(self, df: Any, scale: Any, cholesky_input_output_matrices: bool = False, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "WishartCholesky"):
        """Raises ValueError if `df` is below K."""
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            with name_scope("init", values=[scale]):
                scale = convert_to_tensor(scale)
                factor = checked_if(validate_args, lambda: [
                    assert_positive(matrix_diag_part(scale), message="scale must be positive definite"),
                    assert_equal(shape_of(scale)[-1], shape_of(scale)[-2], message="scale must be square")], scale)
            super().__init__(df=df, scale_operator=_triangular(factor), validate_args=validate_args,
                             cholesky_input_output_matrices=cholesky_input_output_matrices, allow_nan_stats=allow_nan_stats,
                             name=name)
        self._parameters = parameters


class WishartFull(_Wishart):
    """Wishart's distribution of `df` degrees of freedom, `scale` [..., K, K] being symmetric and positive definite."""

    def __init__(self, df: Any, scale: Any, cholesky_input_output_matrices: bool = False, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "WishartFull"):
        """Raises ValueError if `df` is below K."""
        parameters = dict(locals())
        with name_scope(name) as name:
            with name_scope("init", values=[scale]):
                matrix = convert_to_tensor(scale)
                if validate_args:
                    matrix = with_dependencies([assert_equal(matrix, matrix_transpose(matrix))], matrix)
                factor = cholesky(matrix)
                factor = with_dependencies([assert_positive(matrix_diag_part(factor))] if validate_args else [], factor)
        super().__init__(df=df, scale_operator=_triangular(factor), validate_args=validate_args,
                         cholesky_input_output_matrices=cholesky_input_output_matrices, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


def _triangular(factor: Tensor) -> LinearOperator:
    return LinearOperatorLowerTriangular(tril=factor, is_non_singular=True, is_positive_definite=True, is_square=True)
