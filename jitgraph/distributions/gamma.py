"""``Gamma`` and ``Exponential``: waiting times."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.argument_checks import checked_if, positive_if
from jitgraph.distributions.distribution import FULLY_REPARAMETERIZED
from jitgraph.distributions.divergence import RegisterKL
from jitgraph.distributions.scalar_events import ByNormalization, nan_of
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import fill, ones
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_shapes import assert_same_float_dtype
from jitgraph.ops.checks.check_values import assert_less, assert_positive
from jitgraph.ops.elementwise.composite_values import sqrt, square
from jitgraph.ops.elementwise.elementary import log
from jitgraph.ops.elementwise.special import digamma, igamma, lgamma, xlogy
from jitgraph.ops.random.draws import random_uniform
from jitgraph.ops.random.random_rejection import random_gamma


class ConcentrationRate(ByNormalization):
    """A distribution with the parameters `concentration` and `rate`."""

    _PARAMETERS: tuple[str, ...] = ("concentration", "rate")
    _concentration: Tensor
    _rate: Tensor

    def _take(self, concentration: Any, rate: Any, validate_args: bool, name: str) -> Any:
        """Checks and names the parameters; the scope they are in.  Raises TypeError if their dtypes differ."""
        with name_scope(name, values=[concentration, rate]) as scope:
            with positive_if(validate_args, concentration, rate):
                self._concentration = identity(concentration, name="concentration")
                self._rate = identity(rate, name="rate")
                assert_same_float_dtype([self._concentration, self._rate])
        return scope

    @property
    def concentration(self) -> Tensor:
        """The shape parameter."""
        return self._concentration

    @property
    def rate(self) -> Tensor:
        """The inverse of the scale of a gamma variable."""
        return self._rate


class Gamma(ConcentrationRate):
    """The gamma distribution, of the density ``x^(concentration - 1) exp(-rate x) rate^concentration / gamma(concentration)``."""

    def __init__(self, concentration: Any, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Gamma"):
        """Raises TypeError if the dtypes differ."""
        parameters = dict(locals())
        name = self._take(concentration, rate, validate_args, name)
        super().__init__(dtype=self._concentration.dtype, validate_args=validate_args, allow_nan_stats=allow_nan_stats,
                         reparameterization_type=FULLY_REPARAMETERIZED, parameters=parameters,
                         graph_parents=[self._concentration, self._rate], name=name)

    def _broadcast(self) -> list[Tensor]:
        return [self.concentration, self.rate]

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return random_gamma(shape=[n], alpha=self.concentration, beta=self.rate, dtype=self.dtype, seed=seed)

    def _cdf(self, x: Any) -> Any:
        x = self._maybe_assert_valid_sample(x)
        return igamma(self.concentration, self.rate * x)

    def _log_unnormalized_prob(self, x: Any) -> Any:
        x = self._maybe_assert_valid_sample(x)
        return xlogy(self.concentration - 1.0, x) - self.rate * x

    def _log_normalization(self) -> Any:
        return lgamma(self.concentration) - self.concentration * log(self.rate)

    def _entropy(self) -> Any:
        return (self.concentration - log(self.rate) + lgamma(self.concentration)
                + (1.0 - self.concentration) * digamma(self.concentration))

    def _mean(self) -> Any:
        return self.concentration / self.rate

    def _variance(self) -> Any:
        return self.concentration / square(self.rate)

    def _stddev(self) -> Any:
        return sqrt(self.concentration) / self.rate

    def _mode(self) -> Any:
        """``(concentration - 1) / rate``; for a concentration of at most 1 NaN or an error."""
        mode = (self.concentration - 1.0) / self.rate
        if self.allow_nan_stats:
            nan = fill(self.batch_shape_tensor(), nan_of(self), name="nan")
            return where_v2(self.concentration > 1.0, mode, nan)
        return with_dependencies([assert_less(ones([], self.dtype), self.concentration,
                                              message="mode not defined when any concentration <= 1")], mode)

    def _maybe_assert_valid_sample(self, x: Any) -> Any:
        assert_same_float_dtype(tensors=[x], dtype=self.dtype)
        return checked_if(self.validate_args, lambda: [assert_positive(x)], x)


class Exponential(Gamma):
    """The exponential distribution, of the density ``rate exp(-rate x)``."""

    _PARAMETERS = ("rate",)

    def __init__(self, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Exponential"):
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            self._rate = convert_to_tensor(rate, name="rate")
        super().__init__(concentration=ones([], dtype=self._rate.dtype), rate=self._rate, allow_nan_stats=allow_nan_stats,
                         validate_args=validate_args, name=name)
        self._parameters = parameters
        self._graph_parents += [self._rate]

    def _log_survival_function(self, value: Any) -> Any:
        return self._log_prob(value) - log(self._rate)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = concat([[n], shape_of(self._rate)], 0)
        sampled = random_uniform(shape, minval=np.finfo(self.dtype.as_numpy_dtype).tiny, maxval=1.0, seed=seed, dtype=self.dtype)
        return -log(sampled) / self._rate


@RegisterKL(Gamma, Gamma)
def _between_gammas(a: Gamma, b: Gamma, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_gamma_gamma", values=[a.concentration, a.rate, b.concentration, b.rate]):
        return ((a.concentration - b.concentration) * digamma(a.concentration) + lgamma(b.concentration)
                - lgamma(a.concentration) + b.concentration * log(a.rate) - b.concentration * log(b.rate)
                + a.concentration * (b.rate / a.rate - 1.0))
