"""Distributions of real numbers: ``Logistic``, ``Cauchy``, ``HalfNormal``, ``Chi2``, ``InverseGamma``."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.argument_checks import checked_if, positive_if
from jitgraph.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED
from jitgraph.distributions.gamma import ConcentrationRate, Gamma
from jitgraph.distributions.location_scale import LocationScale
from jitgraph.distributions.normal_functions import erfinv
from jitgraph.distributions.scalar_events import OfScalars, nan_of
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import fill, ones, ones_like, zeros
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.checks.check_shapes import assert_same_float_dtype
from jitgraph.ops.checks.check_values import assert_less, assert_positive
from jitgraph.ops.elementwise.activation import relu, softplus
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.arithmetic import squared_difference
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.composite_values import erf, square
from jitgraph.ops.elementwise.elementary import atan, exp, log, log1p, sigmoid, tan
from jitgraph.ops.elementwise.special import digamma, igammac, lgamma
from jitgraph.ops.random.draws import random_normal, random_uniform
from jitgraph.ops.random.random_rejection import random_gamma


class _Standardized(LocationScale):
    """A distribution of ``loc + scale * z``."""

    def _z(self, x: Any) -> Any:
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale


class Logistic(_Standardized):
    """The logistic distribution, whose ``cdf`` is ``sigmoid((x - loc) / scale)``."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Logistic"):
        """Raises TypeError if the dtypes differ."""
        parameters = dict(locals())
        name = self._take(loc, scale, validate_args, name)
        super().__init__(dtype=self._scale.dtype, reparameterization_type=FULLY_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters, graph_parents=[self._loc, self._scale], name=name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        # above the smallest number: the logarithm of 0 is infinite
        uniform = random_uniform(shape=self._shape_of_samples(n), minval=np.finfo(self.dtype.as_numpy_dtype).tiny, maxval=1.0,
                                 dtype=self.dtype, seed=seed)
        return (log(uniform) - log1p(-1.0 * uniform)) * self.scale + self.loc

    def _log_cdf(self, x: Any) -> Any:
        return -softplus(-self._z(x))

    def _cdf(self, x: Any) -> Any:
        return sigmoid(self._z(x))

    def _log_survival_function(self, x: Any) -> Any:
        return -softplus(self._z(x))

    def _survival_function(self, x: Any) -> Any:
        return sigmoid(-self._z(x))

    def _log_unnormalized_prob(self, x: Any) -> Any:
        z = self._z(x)
        return -z - 2.0 * softplus(-z)

    def _log_normalization(self) -> Any:
        return log(self.scale)

    def _entropy(self) -> Any:
        scale = self.scale * ones_like(self.loc)
        return 2 + log(scale)

    def _mean(self) -> Any:
        return self.loc * ones_like(self.scale)

    def _stddev(self) -> Any:
        return self.scale * ones_like(self.loc) * math.pi / math.sqrt(3)

    def _mode(self) -> Any:
        return self._mean()


class Cauchy(_Standardized):
    """Cauchy's distribution, which has neither mean nor variance."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Cauchy"):
        """Raises TypeError if the dtypes differ."""
        parameters = dict(locals())
        name = self._take(loc, scale, validate_args, name)
        super().__init__(dtype=self._scale.dtype, reparameterization_type=FULLY_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters, graph_parents=[self._loc, self._scale], name=name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return self._quantile(random_uniform(shape=self._shape_of_samples(n), minval=0.0, maxval=1.0, dtype=self.dtype, seed=seed))

    def _cdf(self, x: Any) -> Any:
        return atan(self._z(x)) / np.pi + 0.5

    def _log_cdf(self, x: Any) -> Any:
        return log1p(2 / np.pi * atan(self._z(x))) - np.log(2)

    def _log_unnormalized_prob(self, x: Any) -> Any:
        return -log1p(square(self._z(x)))

    def _log_normalization(self) -> Any:
        return np.log(np.pi) + log(self.scale)

    def _entropy(self) -> Any:
        return (np.log(4 * np.pi) + log(self.scale)) * ones_like(self.loc)

    def _quantile(self, p: Any) -> Any:
        return self.loc + self.scale * tan(np.pi * (p - 0.5))

    def _mode(self) -> Any:
        return self.loc * ones_like(self.scale)

    def _undefined(self, what: str) -> Any:
        if not self.allow_nan_stats:
            raise ValueError(f"`{what}` is undefined for Cauchy distribution.")
        return fill(self.batch_shape_tensor(), self.dtype.as_numpy_dtype(np.nan))

    def _mean(self) -> Any:
        return self._undefined("mean")

    def _stddev(self) -> Any:
        return self._undefined("stddev")


class HalfNormal(OfScalars):
    """The absolute value of a normal variable of mean 0 and standard deviation `scale`."""

    _PARAMETERS = ("scale",)

    def __init__(self, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "HalfNormal"):
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            with positive_if(validate_args, scale):
                self._scale = identity(scale, name="scale")
        super().__init__(dtype=self._scale.dtype, reparameterization_type=FULLY_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters, graph_parents=[self._scale], name=name)

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the normal variable."""
        return self._scale

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        normal = random_normal(shape=self._shape_of_samples(n), mean=0.0, stddev=1.0, dtype=self.dtype, seed=seed)
        return absolute(normal * self.scale)

    def _prob(self, x: Any) -> Any:
        density = np.sqrt(2) / self.scale / np.sqrt(np.pi) * exp(-0.5 * (x / self.scale) ** 2)
        return density * cast(x >= 0, self.dtype)

    def _cdf(self, x: Any) -> Any:
        return erf(relu(x) / self.scale / np.sqrt(2.0))

    def _entropy(self) -> Any:
        return 0.5 * log(np.pi * self.scale**2.0 / 2.0) + 0.5

    def _mean(self) -> Any:
        return self.scale * np.sqrt(2.0) / np.sqrt(np.pi)

    def _quantile(self, p: Any) -> Any:
        return np.sqrt(2.0) * self.scale * erfinv(p)

    def _mode(self) -> Any:
        return zeros(self.batch_shape_tensor())

    def _variance(self) -> Any:
        return self.scale**2.0 * (1.0 - 2.0 / np.pi)


class Chi2(Gamma):
    """The sum of the squares of `df` standard normal variables."""

    _PARAMETERS = ("df",)

    def __init__(self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2"):
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            with positive_if(validate_args, df):
                self._df = identity(df, name="df")
            super().__init__(concentration=0.5 * self._df, rate=constant(0.5, dtype=self._df.dtype), validate_args=validate_args,
                             allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df


class InverseGamma(ConcentrationRate):
    """One over a gamma variable."""

    def __init__(self, concentration: Any, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "InverseGamma"):
        """Raises TypeError if the dtypes differ."""
        parameters = dict(locals())
        name = self._take(concentration, rate, validate_args, name)
        super().__init__(dtype=self._concentration.dtype, validate_args=validate_args, allow_nan_stats=allow_nan_stats,
                         reparameterization_type=NOT_REPARAMETERIZED, parameters=parameters,
                         graph_parents=[self._concentration, self._rate], name=name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return 1.0 / random_gamma(shape=[n], alpha=self.concentration, beta=self.rate, dtype=self.dtype, seed=seed)

    def _cdf(self, x: Any) -> Any:
        return igammac(self.concentration, self.rate / self._checked(x))

    def _log_unnormalized_prob(self, x: Any) -> Any:
        x = self._checked(x)
        return -(1.0 + self.concentration) * log(x) - self.rate / x

    def _log_normalization(self) -> Any:
        return lgamma(self.concentration) - self.concentration * log(self.rate)

    def _entropy(self) -> Any:
        return (self.concentration + log(self.rate) + lgamma(self.concentration)
                - (1.0 + self.concentration) * digamma(self.concentration))

    def _mean(self) -> Any:
        """``rate / (concentration - 1)``; for a concentration of at most 1 NaN or an error."""
        mean = self.rate / (self.concentration - 1.0)
        if self.allow_nan_stats:
            nan = fill(self.batch_shape_tensor(), nan_of(self), name="nan")
            return where_v2(self.concentration > 1.0, mean, nan)
        return with_dependencies([assert_less(ones([], self.dtype), self.concentration,
                                              message="mean undefined when any concentration <= 1")], mean)

    def _variance(self) -> Any:
        """``rate^2 / (concentration - 1)^2 / (concentration - 2)``; for a concentration of at most 2 NaN or an error."""
        variance = square(self.rate) / squared_difference(self.concentration, 1.0) / (self.concentration - 2.0)
        if self.allow_nan_stats:
            nan = fill(self.batch_shape_tensor(), nan_of(self), name="nan")
            return where_v2(self.concentration > 2.0, variance, nan)
        return with_dependencies([assert_less(constant(2.0, dtype=self.dtype), self.concentration,
                                              message="variance undefined when any concentration <= 2")], variance)

    def _mode(self) -> Any:
        return self.rate / (1.0 + self.concentration)

    def _checked(self, x: Any) -> Any:
        assert_same_float_dtype(tensors=[x], dtype=self.dtype)
        return checked_if(self.validate_args, lambda: [assert_positive(x)], x)
