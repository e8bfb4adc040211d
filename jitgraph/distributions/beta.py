"""``Beta``: numbers between 0 and 1."""
from __future__ import annotations

from typing import Any

from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.argument_checks import checked_if, gen_new_seed
from jitgraph.distributions.distribution import FULLY_REPARAMETERIZED
from jitgraph.distributions.divergence import RegisterKL
from jitgraph.distributions.scalar_events import ByNormalization, nan_of
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import fill, ones, ones_like
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.checks.check_shapes import assert_same_float_dtype
from jitgraph.ops.checks.check_values import assert_less, assert_positive
from jitgraph.ops.elementwise.compare import logical_and
from jitgraph.ops.elementwise.elementary import exp, log, log1p
from jitgraph.ops.elementwise.special import betainc, digamma, lgamma, xlogy
from jitgraph.ops.random.random_rejection import random_gamma


class Beta(ByNormalization):
    """The beta distribution, of a density proportional to ``x^(concentration1 - 1) (1 - x)^(concentration0 - 1)``."""

    _PARAMETERS = ("concentration1", "concentration0")

    def __init__(self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Beta"):
        """Raises TypeError if the dtypes differ."""
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            self._concentration1 = _positive(concentration1, "concentration1", validate_args)
            self._concentration0 = _positive(concentration0, "concentration0", validate_args)
            assert_same_float_dtype([self._concentration1, self._concentration0])
            self._total_concentration = self._concentration1 + self._concentration0
        super().__init__(dtype=self._total_concentration.dtype, validate_args=validate_args, allow_nan_stats=allow_nan_stats,
                         reparameterization_type=FULLY_REPARAMETERIZED, parameters=parameters,
                         graph_parents=[self._concentration1, self._concentration0, self._total_concentration], name=name)

    @property
    def concentration1(self) -> Tensor:
        """The weight of 1."""
        return self._concentration1

    @property
    def concentration0(self) -> Tensor:
        """The weight of 0."""
        return self._concentration0

    @property
    def total_concentration(self) -> Tensor:
        """The sum of both."""
        return self._total_concentration

    def _broadcast(self) -> list[Tensor]:
        return [self.total_concentration]

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        concentration1 = ones_like(self.total_concentration, dtype=self.dtype) * self.concentration1
        concentration0 = ones_like(self.total_concentration, dtype=self.dtype) * self.concentration0
        one = random_gamma(shape=[n], alpha=concentration1, dtype=self.dtype, seed=seed)
        other = random_gamma(shape=[n], alpha=concentration0, dtype=self.dtype, seed=gen_new_seed(seed, "beta"))
        return one / (one + other)

    def _prob(self, x: Any) -> Any:
        return exp(self._log_prob(x))

    def _log_cdf(self, x: Any) -> Any:
        return log(self._cdf(x))

    def _cdf(self, x: Any) -> Any:
        return betainc(self.concentration1, self.concentration0, x)

    def _log_unnormalized_prob(self, x: Any) -> Any:
        x = checked_if(self.validate_args, lambda: [
            assert_positive(x, message="sample must be positive"),
            assert_less(x, ones([], self.dtype), message="sample must be less than `1`.")], x)
        return xlogy(self.concentration1 - 1.0, x) + (self.concentration0 - 1.0) * log1p(-x)

    def _log_normalization(self) -> Any:
        return lgamma(self.concentration1) + lgamma(self.concentration0) - lgamma(self.total_concentration)

    def _entropy(self) -> Any:
        return (self._log_normalization() - (self.concentration1 - 1.0) * digamma(self.concentration1)
                - (self.concentration0 - 1.0) * digamma(self.concentration0)
                + (self.total_concentration - 2.0) * digamma(self.total_concentration))

    def _mean(self) -> Any:
        return self._concentration1 / self._total_concentration

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self) -> Any:
        """``(concentration1 - 1) / (total - 2)``; NaN or an error where one of the concentrations is at most 1."""
        mode = (self.concentration1 - 1.0) / (self.total_concentration - 2.0)
        if self.allow_nan_stats:
            nan = fill(self.batch_shape_tensor(), nan_of(self), name="nan")
            return where_v2(logical_and(self.concentration1 > 1.0, self.concentration0 > 1.0), mode, nan)
        return with_dependencies([
            assert_less(ones([], dtype=self.dtype), self.concentration1, message="Mode undefined for concentration1 <= 1."),
            assert_less(ones([], dtype=self.dtype), self.concentration0, message="Mode undefined for concentration0 <= 1."),
        ], mode)


def _positive(concentration: Any, name: str, validate_args: bool) -> Tensor:
    concentration = convert_to_tensor(concentration, name=name)
    return checked_if(validate_args, lambda: [
        assert_positive(concentration, message="Concentration parameter must be positive.")], concentration)


@RegisterKL(Beta, Beta)
def _between_betas(a: Beta, b: Beta, name: str | None = None) -> Tensor:
    parameters = [getattr(d, f"{which}concentration{n}") for d in (a, b) for which, n in (("", 1), ("", 0), ("total_", ""))]
    with name_scope(name, "kl_beta_beta", values=parameters):
        normalization = b._log_normalization() - a._log_normalization()
        return (normalization - digamma(a.concentration1) * (b.concentration1 - a.concentration1)
                - digamma(a.concentration0) * (b.concentration0 - a.concentration0)
                + digamma(a.total_concentration) * (b.total_concentration - a.total_concentration))
