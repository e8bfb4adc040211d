"""Distributions of ``loc + scale * z``: ``Normal``, ``Laplace``, ``StudentT``."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.argument_checks import gen_new_seed, positive_if
from jitgraph.distributions.distribution import FULLY_REPARAMETERIZED
from jitgraph.distributions.divergence import RegisterKL
from jitgraph.distributions.normal_functions import log_cdf_laplace, log_ndtr, ndtr, ndtri
from jitgraph.distributions.scalar_events import ByNormalization, nan_of
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import fill, ones, ones_like, zeros_like
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import broadcast_dynamic_shape
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import newaxis
from jitgraph.ops.checks.check_shapes import assert_same_float_dtype
from jitgraph.ops.checks.check_values import assert_less
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.arithmetic import squared_difference
from jitgraph.ops.elementwise.compare import greater, less
from jitgraph.ops.elementwise.composite_values import sign, square
from jitgraph.ops.elementwise.elementary import exp, log, log1p, rsqrt
from jitgraph.ops.elementwise.special import betainc, digamma, lbeta, lgamma
from jitgraph.ops.random.draws import random_normal, random_uniform
from jitgraph.ops.random.random_rejection import random_gamma


class LocationScale(ByNormalization):
    """A distribution with the parameters `loc` and `scale`."""

    _PARAMETERS: tuple[str, ...] = ("loc", "scale")
    _loc: Tensor
    _scale: Tensor

    def _take(self, loc: Any, scale: Any, validate_args: bool, name: str) -> Any:
        """Checks and names the parameters; the scope they are in.  Raises TypeError if their dtypes differ."""
        with name_scope(name, values=[loc, scale]) as scope:
            with positive_if(validate_args, scale):
                self._loc = identity(loc, name="loc")
                self._scale = identity(scale, name="scale")
                assert_same_float_dtype([self._loc, self._scale])
        return scope

    @property
    def loc(self) -> Tensor:
        """The middle."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The width."""
        return self._scale


class Normal(LocationScale):
    """The normal distribution of mean `loc` and standard deviation `scale`, floats that are broadcast."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Normal"):
        """Raises TypeError if the dtypes differ."""
        parameters = dict(locals())
        name = self._take(loc, scale, validate_args, name)
        super().__init__(dtype=self._scale.dtype, reparameterization_type=FULLY_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters, graph_parents=[self._loc, self._scale],
                         name=name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        sampled = random_normal(shape=self._shape_of_samples(n), mean=0.0, stddev=1.0, dtype=self.loc.dtype, seed=seed)
        return sampled * self.scale + self.loc

    def _log_cdf(self, x: Any) -> Any:
        return log_ndtr(self._z(x))

    def _cdf(self, x: Any) -> Any:
        return ndtr(self._z(x))

    def _log_survival_function(self, x: Any) -> Any:
        return log_ndtr(-self._z(x))

    def _survival_function(self, x: Any) -> Any:
        return ndtr(-self._z(x))

    def _log_unnormalized_prob(self, x: Any) -> Any:
        return -0.5 * square(self._z(x))

    def _log_normalization(self) -> Any:
        return 0.5 * math.log(2.0 * math.pi) + log(self.scale)

    def _entropy(self) -> Any:
        scale = self.scale * ones_like(self.loc)
        return 0.5 * math.log(2.0 * math.pi * math.e) + log(scale)

    def _mean(self) -> Any:
        return self.loc * ones_like(self.scale)

    def _quantile(self, p: Any) -> Any:
        return self._inv_z(ndtri(p))

    def _stddev(self) -> Any:
        return self.scale * ones_like(self.loc)

    def _mode(self) -> Any:
        return self._mean()

    def _z(self, x: Any) -> Any:
        """`x` in standard deviations from the mean."""
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale

    def _inv_z(self, z: Any) -> Any:
        """The value that is `z` standard deviations from the mean."""
        with name_scope("reconstruct", values=[z]):
            return z * self.scale + self.loc


class Laplace(LocationScale):
    """Laplace's distribution, of the density ``exp(-|x - loc| / scale) / (2 scale)``."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Laplace"):
        """Raises TypeError if the dtypes differ."""
        parameters = dict(locals())
        name = self._take(loc, scale, validate_args, name)
        super().__init__(dtype=self._loc.dtype, reparameterization_type=FULLY_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters, graph_parents=[self._loc, self._scale],
                         name=name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = self._shape_of_samples(n)
        number = self.dtype.as_numpy_dtype
        uniform = random_uniform(shape=shape, minval=np.nextafter(number(-1.0), number(0.0)), maxval=1.0, dtype=self.dtype,
                                 seed=seed)
        return self.loc - self.scale * sign(uniform) * log1p(-absolute(uniform))

    def _prob(self, x: Any) -> Any:
        return exp(self._log_prob(x))

    def _log_cdf(self, x: Any) -> Any:
        return log_cdf_laplace(self._z(x))

    def _log_survival_function(self, x: Any) -> Any:
        return log_cdf_laplace(-self._z(x))

    def _cdf(self, x: Any) -> Any:
        z = self._z(x)
        return 0.5 + 0.5 * sign(z) * (1.0 - exp(-absolute(z)))

    def _log_unnormalized_prob(self, x: Any) -> Any:
        return -absolute(self._z(x))

    def _log_normalization(self) -> Any:
        return math.log(2.0) + log(self.scale)

    def _entropy(self) -> Any:
        scale = self.scale + zeros_like(self.loc)
        return math.log(2.0) + 1.0 + log(scale)

    def _mean(self) -> Any:
        return self.loc + zeros_like(self.scale)

    def _stddev(self) -> Any:
        return math.sqrt(2.0) * self.scale + zeros_like(self.loc)

    def _mode(self) -> Any:
        return self._mean()

    def _z(self, x: Any) -> Any:
        return (x - self.loc) / self.scale


class StudentT(LocationScale):
    """Student's distribution of `df` degrees of freedom, shifted by `loc` and stretched by `scale`."""

    _PARAMETERS = ("df", "loc", "scale")

    def __init__(self, df: Any, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "StudentT"):
        """Raises TypeError if the dtypes differ."""
        parameters = dict(locals())
        with name_scope(name, values=[df, loc, scale]) as name:
            with positive_if(validate_args, df):
                self._df = identity(df, name="df")
                self._loc = identity(loc, name="loc")
                self._scale = identity(scale, name="scale")
                assert_same_float_dtype((self._df, self._loc, self._scale))
        super().__init__(dtype=self._scale.dtype, reparameterization_type=FULLY_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters,
                         graph_parents=[self._df, self._loc, self._scale], name=name)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df

    def _batch_shape_tensor(self) -> Any:
        return broadcast_dynamic_shape(shape_of(self.df), broadcast_dynamic_shape(shape_of(self.loc), shape_of(self.scale)))

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        normal = random_normal(self._shape_of_samples(n), dtype=self.dtype, seed=seed)
        df = self.df * ones(self.batch_shape_tensor(), dtype=self.dtype)
        gamma = random_gamma([n], 0.5 * df, beta=0.5, dtype=self.dtype, seed=gen_new_seed(seed, salt="student_t"))
        return normal * rsqrt(gamma / df) * self.scale + self.loc

    def _log_unnormalized_prob(self, x: Any) -> Any:
        y = (x - self.loc) / self.scale
        return -0.5 * (self.df + 1.0) * log1p(y**2.0 / self.df)

    def _log_normalization(self) -> Any:
        return (log(absolute(self.scale)) + 0.5 * log(self.df) + 0.5 * np.log(np.pi) + lgamma(0.5 * self.df)
                - lgamma(0.5 * (self.df + 1.0)))

    def _cdf(self, x: Any) -> Any:
        y = (x - self.loc) / absolute(self.scale)
        x_t = self.df / (y**2.0 + self.df)
        lower = 0.5 * betainc(0.5 * self.df, 0.5, x_t)
        return where_v2(less(y, 0.0), lower, 1.0 - lower)

    def _entropy(self) -> Any:
        v = ones(self.batch_shape_tensor(), dtype=self.dtype)[..., newaxis]
        u = v * self.df[..., newaxis]
        beta = concat([u, v], -1) / 2.0
        return (log(absolute(self.scale)) + 0.5 * log(self.df) + lbeta(beta)
                + 0.5 * (self.df + 1.0) * (digamma(0.5 * (self.df + 1.0)) - digamma(0.5 * self.df)))

    def _where_df_above_1(self, value: Any, what: str) -> Any:
        """`value`, for at most one degree of freedom NaN or an error."""
        if self.allow_nan_stats:
            return where_v2(greater(self.df, ones(self.batch_shape_tensor(), dtype=self.dtype)), value,
                            fill(self.batch_shape_tensor(), nan_of(self), name="nan"))
        return with_dependencies([assert_less(ones([], dtype=self.dtype), self.df,
                                              message=f"{what} not defined for components of df <= 1")], value)

    def _mean(self) -> Any:
        """`loc`, for at most one degree of freedom NaN or an error."""
        return self._where_df_above_1(self.loc * ones(self.batch_shape_tensor(), dtype=self.dtype), "mean")

    def _variance(self) -> Any:
        """``scale^2 df / (df - 2)``; infinite up to two degrees of freedom, up to one NaN or an error."""
        above_2 = where_v2(greater(self.df, 2.0), self.df - 2.0, ones_like(self.df))
        variance = ones(self.batch_shape_tensor(), dtype=self.dtype) * square(self.scale) * self.df / above_2
        infinity = np.array(np.inf, dtype=self.dtype.as_numpy_dtype)
        variance = where_v2(self.df > fill(self.batch_shape_tensor(), 2.0), variance,
                            fill(self.batch_shape_tensor(), infinity, name="inf"))
        return self._where_df_above_1(variance, "variance")

    def _mode(self) -> Any:
        return identity(self.loc)


@RegisterKL(Normal, Normal)
def _between_normals(a: Normal, b: Normal, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_normal_normal", [a.loc, b.loc]):
        one = constant(1, dtype=a.dtype)
        two = constant(2, dtype=a.dtype)
        half = constant(0.5, dtype=a.dtype)
        a_squared = square(a.scale)
        b_squared = square(b.scale)
        ratio = a_squared / b_squared
        return squared_difference(a.loc, b.loc) / (two * b_squared) + half * (ratio - one - log(ratio))
