"""``Dirichlet``: probabilities of classes, and ``DirichletMultinomial``: counts of draws with such probabilities."""
from __future__ import annotations

from typing import Any

from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.argument_checks import (
    checked_if,
    classes_that_fit,
    gen_new_seed,
    log_combinations,
    nonnegative_integers,
)
from jitgraph.distributions.classes import OfCounts
from jitgraph.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution
from jitgraph.distributions.divergence import RegisterKL
from jitgraph.distributions.scalar_events import nan_of
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import fill, one_hot, ones
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.matrix_parts import matrix_set_diag
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import newaxis
from jitgraph.ops.checks.check_shapes import assert_rank_at_least
from jitgraph.ops.checks.check_values import assert_less, assert_near, assert_positive
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.composite_values import sqrt
from jitgraph.ops.elementwise.elementary import exp, log, rsqrt
from jitgraph.ops.elementwise.special import digamma, lbeta, xlogy
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.random.draws import multinomial
from jitgraph.ops.random.random_rejection import random_gamma
from jitgraph.ops.reduce.reductions import reduce_all, reduce_sum


class _OfConcentration(Distribution):
    """A distribution over K classes with the parameter ``concentration[..., K]``."""

    _concentration: Tensor
    _total_concentration: Tensor

    @property
    def concentration(self) -> Tensor:
        """The weights of the classes."""
        return self._concentration

    @property
    def total_concentration(self) -> Tensor:
        """The sum of the weights."""
        return self._total_concentration

    def _batch_shape_tensor(self) -> Any:
        return shape_of(self.total_concentration)

    def _batch_shape(self) -> Any:
        return self.total_concentration.get_shape()

    def _event_shape_tensor(self) -> Any:
        return shape_of(self.concentration)[-1:]

    def _event_shape(self) -> Any:
        return self.concentration.get_shape().with_rank_at_least(1)[-1:]

    def _variance_scale_term(self) -> Any:
        raise NotImplementedError

    def _prob(self, value: Any) -> Any:
        return exp(self._log_prob(value))

    def _covariance(self) -> Any:
        x = self._variance_scale_term() * self._mean()
        return matrix_set_diag(-matmul(x[..., newaxis], x[..., newaxis, :]), self._variance())


class Dirichlet(_OfConcentration):
    """Dirichlet's distribution of K probabilities, of a density proportional to ``prod(x^(concentration - 1))``."""

    def __init__(self, concentration: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Dirichlet"):
        parameters = dict(locals())
        with name_scope(name, values=[concentration]) as name:
            weights = convert_to_tensor(concentration, name="concentration")
            self._concentration = checked_if(validate_args, lambda: [
                assert_positive(weights, message="Concentration parameter must be positive."),
                assert_rank_at_least(weights, 1, message="Concentration parameter must have >=1 dimensions."),
                assert_less(1, shape_of(weights)[-1], message="Concentration parameter must have event_size >= 2.")], weights)
            self._total_concentration = reduce_sum(self._concentration, -1)
        super().__init__(dtype=self._concentration.dtype, validate_args=validate_args, allow_nan_stats=allow_nan_stats,
                         reparameterization_type=FULLY_REPARAMETERIZED, parameters=parameters,
                         graph_parents=[self._concentration, self._total_concentration], name=name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        weights = random_gamma(shape=[n], alpha=self.concentration, dtype=self.dtype, seed=seed)
        return weights / reduce_sum(weights, -1, keepdims=True)

    def _log_prob(self, x: Any) -> Any:
        x = checked_if(self.validate_args, lambda: [
            assert_positive(x, message="samples must be positive"),
            assert_near(ones([], dtype=self.dtype), reduce_sum(x, -1), message="sample last-dimension must sum to `1`")], x)
        return reduce_sum(xlogy(self.concentration - 1.0, x), -1) - lbeta(self.concentration)

    def _entropy(self) -> Any:
        k = cast(self.event_shape_tensor()[0], self.dtype)
        return (lbeta(self.concentration) + (self.total_concentration - k) * digamma(self.total_concentration)
                - reduce_sum((self.concentration - 1.0) * digamma(self.concentration), axis=-1))

    def _mean(self) -> Any:
        return self.concentration / self.total_concentration[..., newaxis]

    def _variance(self) -> Any:
        scale = self._variance_scale_term()
        x = scale * self._mean()
        return x * (scale - x)

    def _variance_scale_term(self) -> Any:
        return rsqrt(1.0 + self.total_concentration[..., newaxis])

    def _mode(self) -> Any:
        """``(concentration - 1) / (total - K)``; NaN or an error where a weight is at most 1."""
        k = cast(self.event_shape_tensor()[0], self.dtype)
        mode = (self.concentration - 1.0) / (self.total_concentration[..., newaxis] - k)
        if self.allow_nan_stats:
            nan = fill(shape_of(mode), nan_of(self), name="nan")
            return where_v2(reduce_all(self.concentration > 1.0, axis=-1), mode, nan)
        return with_dependencies([assert_less(ones([], self.dtype), self.concentration,
                                              message="Mode undefined when any concentration <= 1")], mode)


class DirichletMultinomial(_OfConcentration, OfCounts):
    """How often each of K classes is drawn in `total_count` draws, if the probabilities have Dirichlet's distribution."""

    def __init__(self, total_count: Any, concentration: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "DirichletMultinomial"):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, concentration]) as name:
            self._total_count = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = nonnegative_integers(self._total_count)
            weights = convert_to_tensor(concentration, name="concentration")
            if validate_args:
                weights = classes_that_fit(weights)
            self._concentration = checked_if(validate_args, lambda: [
                assert_positive(weights, message="Concentration parameter must be positive.")], weights)
            self._total_concentration = reduce_sum(self._concentration, -1)
        super().__init__(dtype=self._concentration.dtype, validate_args=validate_args, allow_nan_stats=allow_nan_stats,
                         reparameterization_type=NOT_REPARAMETERIZED, parameters=parameters,
                         graph_parents=[self._total_count, self._concentration], name=name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        draws = cast(self.total_count, dtype=dtypes.int32)
        k = self.event_shape_tensor()[0]
        weights = random_gamma(shape=[n], alpha=self.concentration, dtype=self.dtype, seed=seed)
        logits = reshape(log(weights), shape=[-1, k])
        drawn = multinomial(logits=logits, num_samples=draws, seed=gen_new_seed(seed, salt="dirichlet_multinomial"))
        counts = reduce_sum(one_hot(drawn, depth=k), -2)
        return cast(reshape(counts, concat([[n], self.batch_shape_tensor(), [k]], 0)), self.dtype)

    def _log_prob(self, counts: Any) -> Any:
        counts = self._checked_counts(counts, "counts last-dimension must sum to `self.total_count`")
        in_order = lbeta(self.concentration + counts) - lbeta(self.concentration)
        return in_order + log_combinations(self.total_count, counts)

    def _mean(self) -> Any:
        return self.total_count * (self.concentration / self.total_concentration[..., newaxis])

    def _variance(self) -> Any:
        scale = self._variance_scale_term()
        x = scale * self._mean()
        return x * (self.total_count * scale - x)

    def _variance_scale_term(self) -> Any:
        total = self.total_concentration[..., newaxis]
        return sqrt((1.0 + total / self.total_count) / (1.0 + total))


@RegisterKL(Dirichlet, Dirichlet)
def _between_dirichlets(a: Dirichlet, b: Dirichlet, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_dirichlet_dirichlet", values=[a.concentration, b.concentration]):
        of_total = digamma(reduce_sum(a.concentration, axis=-1, keepdims=True))
        digammas = digamma(a.concentration) - of_total
        difference = a.concentration - b.concentration
        return reduce_sum(difference * digammas, axis=-1) - lbeta(a.concentration) + lbeta(b.concentration)
