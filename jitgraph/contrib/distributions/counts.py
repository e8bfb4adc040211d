"""Distributions of counts: ``Poisson``, ``Binomial``, ``Geometric``, ``NegativeBinomial``."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.argument_checks import (
    assert_integer_form,
    checked_if,
    gen_new_seed,
    get_logits_and_probs,
    nonnegative_integers,
    positive_if,
)
from jitgraph.distributions.distribution import NOT_REPARAMETERIZED
from jitgraph.distributions.logits_probs import ByLogitsOrProbs
from jitgraph.distributions.scalar_events import ByNormalization, OfScalars
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones_like, zeros, zeros_like
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.searching import where, where_v2
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_less, assert_less_equal, assert_non_negative
from jitgraph.ops.elementwise.activation import softplus
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.elementwise.elementary import exp, expm1, floor, log, log1p, log_sigmoid, sigmoid
from jitgraph.ops.elementwise.special import betainc, igammac, lgamma
from jitgraph.ops.random.draws import random_uniform
from jitgraph.ops.random.random_rejection import random_gamma, random_poisson


class Poisson(ByNormalization):
    """The number of events of which `rate` (or exp(`log_rate`)) are expected."""

    _PARAMETERS = ("rate",)

    def __init__(self, rate: Any = None, log_rate: Any = None, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Poisson"):
        """Raises ValueError if both or none are given, TypeError if they are no floats."""
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            if (rate is None) == (log_rate is None):
                raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
            if log_rate is None:
                rate = _floats(rate, "rate")
                with positive_if(validate_args, rate):
                    self._rate = identity(rate, name="rate")
                    self._log_rate = log(rate, name="log_rate")
            else:
                log_rate = _floats(log_rate, "log_rate")
                self._rate = exp(log_rate, name="rate")
                self._log_rate = log_rate
        super().__init__(dtype=self._rate.dtype, reparameterization_type=NOT_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters, graph_parents=[self._rate], name=name)

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict:       # type: ignore[override]
        raise NotImplementedError("_param_shapes not implemented")

    @property
    def rate(self) -> Tensor:
        """The mean."""
        return self._rate

    @property
    def log_rate(self) -> Tensor:
        """The logarithm of the mean."""
        return self._log_rate

    def _checked(self, x: Any) -> Any:
        return nonnegative_integers(x) if self.validate_args else x

    def _log_cdf(self, x: Any) -> Any:
        return log(self.cdf(x))

    def _cdf(self, x: Any) -> Any:
        return igammac(1.0 + self._checked(x), self.rate)

    def _log_normalization(self) -> Any:
        return self.rate

    def _log_unnormalized_prob(self, x: Any) -> Any:
        x = self._checked(x)
        return x * self.log_rate - lgamma(1.0 + x)

    def _mean(self) -> Any:
        return identity(self.rate)

    def _variance(self) -> Any:
        return identity(self.rate)

    def _mode(self) -> Any:
        return floor(self.rate)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return random_poisson(self.rate, [n], dtype=self.dtype, seed=seed)


def _floats(value: Any, name: str) -> Tensor:
    tensor = convert_to_tensor(value, name=name)
    if not tensor.dtype.is_floating:
        raise TypeError(f"{name}.dtype ({tensor.dtype.name}) is a not a float-type.")
    return tensor


class _OfSuccesses(ByLogitsOrProbs, OfScalars):
    """A distribution of counts with the probability of one success."""

    _total_count: Tensor

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict:       # type: ignore[override]
        raise NotImplementedError("_param_shapes not implemented")

    def _integers(self, x: Any) -> Any:
        return nonnegative_integers(x) if self.validate_args else x


class Binomial(_OfSuccesses):
    """The number of successes in `total_count` tries."""

    _PARAMETERS = ("total_count", "probs")

    def __init__(self, total_count: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Binomial"):
        """Raises ValueError if both or none of `logits` and `probs` are given."""
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            tries = convert_to_tensor(total_count, name="total_count")
            self._total_count = checked_if(validate_args, lambda: [
                assert_non_negative(tries, message="total_count must be non-negative."),
                assert_integer_form(tries, message="total_count cannot contain fractional components.")], tries)
            self._logits, self._probs = get_logits_and_probs(logits=logits, probs=probs, validate_args=validate_args, name=name)
        super().__init__(dtype=self._probs.dtype, reparameterization_type=NOT_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters,
                         graph_parents=[self._total_count, self._logits, self._probs], name=name)

    @property
    def total_count(self) -> Tensor:
        """The number of tries."""
        return self._total_count

    def _checked(self, counts: Any) -> Any:
        if not self.validate_args:
            return counts
        counts = nonnegative_integers(counts)
        check = assert_less_equal(counts, self.total_count, message="counts are not less than or equal to n.")
        return with_dependencies([check], counts)

    def _log_prob(self, counts: Any) -> Any:
        return self._log_unnormalized_prob(counts) - self._log_normalization(counts)

    def _prob(self, counts: Any) -> Any:
        return exp(self._log_prob(counts))

    def _cdf(self, counts: Any) -> Any:
        counts, probs = self._checked(counts), self.probs
        known = counts.shape.is_fully_defined() and probs.shape.is_fully_defined()
        if not (known and counts.shape.is_compatible_with(probs.shape)):
            probs += zeros_like(counts)
            counts += zeros_like(self.probs)
        left = self.total_count - counts
        one = ones_like(left)
        is_all = equal(counts, self.total_count)
        # betainc has no value for a = 0
        left = where_v2(is_all, one, self.total_count - counts)
        return where_v2(is_all, one, betainc(a=left, b=counts + 1, x=1 - probs))

    def _log_unnormalized_prob(self, counts: Any) -> Any:
        counts = self._checked(counts)
        return counts * log(self.probs) + (self.total_count - counts) * log1p(-self.probs)

    def _log_normalization(self, counts: Any) -> Any:
        counts = self._checked(counts)
        return lgamma(1.0 + self.total_count - counts) + lgamma(1.0 + counts) - lgamma(1.0 + self.total_count)

    def _mean(self) -> Any:
        return self.total_count * self.probs

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Any:
        return floor((1.0 + self.total_count) * self.probs)


class Geometric(_OfSuccesses):
    """The number of failures before the first success."""

    _PARAMETERS = ("probs",)

    def __init__(self, logits: Any = None, probs: Any = None, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Geometric"):
        """Raises ValueError if both or none of `logits` and `probs` are given."""
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = get_logits_and_probs(logits, probs, validate_args=validate_args, name=name)
            with positive_if(validate_args, self._probs):
                self._probs = identity(self._probs, name="probs")
        super().__init__(dtype=self._probs.dtype, reparameterization_type=NOT_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters, graph_parents=[self._probs, self._logits],
                         name=name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        sampled = random_uniform(concat([[n], shape_of(self._probs)], 0), minval=np.finfo(self.dtype.as_numpy_dtype).tiny,
                                 maxval=1.0, seed=seed, dtype=self.dtype)
        return floor(log(sampled) / log1p(-self.probs))

    def _whole(self, x: Any) -> Any:
        x = nonnegative_integers(x) if self.validate_args else floor(x)
        return x * ones_like(self.probs)

    def _cdf(self, x: Any) -> Any:
        x = self._whole(x)
        return where(x < 0.0, zeros_like(x), -expm1((1.0 + x) * log1p(-self.probs)))

    def _log_prob(self, x: Any) -> Any:
        x = self._whole(x)
        probs = self.probs * ones_like(x)
        safe = where(equal(x, 0.0), zeros_like(probs), probs)
        return x * log1p(-safe) + log(probs)

    def _entropy(self) -> Any:
        probs = checked_if(self.validate_args, lambda: [assert_less(
            self._probs, constant(1.0, self._probs.dtype),
            message="Entropy is undefined when logits = inf or probs = 1.")], self._probs)
        return softplus(self.logits) / probs - self.logits

    def _mean(self) -> Any:
        return exp(-self.logits)

    def _variance(self) -> Any:
        return self._mean() / self.probs

    def _mode(self) -> Any:
        return zeros(self.batch_shape_tensor(), dtype=self.dtype)


class NegativeBinomial(_OfSuccesses):
    """The number of successes before `total_count` failures."""

    _PARAMETERS = ("total_count", "probs")

    def __init__(self, total_count: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "NegativeBinomial"):
        """Raises ValueError if both or none of `logits` and `probs` are given."""
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._logits, self._probs = get_logits_and_probs(logits, probs, validate_args=validate_args, name=name)
            with positive_if(validate_args, total_count):
                self._total_count = identity(total_count)
        super().__init__(dtype=self._probs.dtype, reparameterization_type=NOT_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters,
                         graph_parents=[self._total_count, self._probs, self._logits], name=name)

    @property
    def total_count(self) -> Tensor:
        """The number of failures."""
        return self._total_count

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        rate = random_gamma(shape=[n], alpha=self.total_count, beta=exp(-self.logits), dtype=self.dtype, seed=seed)
        return random_poisson(rate, shape=[], dtype=self.dtype, seed=gen_new_seed(seed, "negative_binom"))

    def _cdf(self, x: Any) -> Any:
        return betainc(self.total_count, 1.0 + self._integers(x), sigmoid(-self.logits))

    def _log_prob(self, x: Any) -> Any:
        checked = self._integers(x)
        unnormalized = self.total_count * log_sigmoid(-self.logits) + checked * log_sigmoid(self.logits)
        checked = self._integers(x)
        return unnormalized - (-lgamma(self.total_count + checked) + lgamma(1.0 + checked) + lgamma(self.total_count))

    def _mean(self) -> Any:
        return self.total_count * exp(self.logits)

    def _mode(self) -> Any:
        least = where_v2(self.total_count > 1.0, self.total_count - 1.0, zeros_like(self.total_count))
        return floor(least * exp(self.logits))

    def _variance(self) -> Any:
        return self._mean() / sigmoid(-self.logits)
