"""``QuantizedDistribution``: the distribution of ``ceil(x)``, kept between two bounds."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.distributions.argument_checks import assert_integer_form, checked_if
from jitgraph.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import ones_like, zeros_like
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.checks.check_shapes import assert_same_float_dtype
from jitgraph.ops.checks.check_values import assert_less
from jitgraph.ops.elementwise.elementary import ceil, exp, floor, log


def _log_difference(big: Any, small: Any) -> Any:
    """``log(exp(big) - exp(small))``"""
    with name_scope("logsum_expbig_minus_expsmall", values=[small, big]):
        return log(1.0 - exp(small - big)) + big


def _minus_infinity_like(x: Any) -> Any:
    return -np.inf * ones_like(x)


class QuantizedDistribution(Distribution):
    """The distribution of ``ceil(x)``, x having the scalar `distribution`; below `low` it is `low`, above `high` it is `high`."""

    def __init__(self, distribution: Distribution, low: Any = None, high: Any = None, validate_args: bool = False,
                 name: str = "QuantizedDistribution"):
        """Raises ValueError if dtypes differ."""
        parameters = dict(locals())
        with name_scope(name, values=[*distribution.parameters.values(), low, high]) as name:
            self._dist = distribution
            low = None if low is None else convert_to_tensor(low, name="low")
            high = None if high is None else convert_to_tensor(high, name="high")
            assert_same_float_dtype(tensors=[one for one in (distribution, low, high) if one is not None])
            parents = distribution._graph_parents
            checks = []
            if validate_args and low is not None and high is not None:
                checks.append(assert_less(low, high, message="low must be strictly less than high."))
            self._validate_args = validate_args
            with control_dependencies(checks):
                self._low = None if low is None else self._whole(low)
                self._high = None if high is None else self._whole(high)
            parents += [bound for bound in (self._low, self._high) if bound is not None]
        super().__init__(dtype=distribution.dtype, reparameterization_type=NOT_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=distribution.allow_nan_stats, parameters=parameters, graph_parents=parents, name=name)

    @property
    def distribution(self) -> Distribution:
        """The distribution before it is rounded."""
        return self._dist

    @property
    def low(self) -> Tensor | None:
        """The lowest value."""
        return self._low

    @property
    def high(self) -> Tensor | None:
        """The highest value."""
        return self._high

    def _batch_shape_tensor(self) -> Any:
        return self.distribution.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self.distribution.batch_shape

    def _event_shape_tensor(self) -> Any:
        return self.distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        with name_scope("transform"):
            x = self.distribution.sample(convert_to_tensor(n, name="n"), seed=seed)
            one = ones_like(x)
            found = ceil(x)
            if self._low is not None:
                found = where(found < self._low, self._low * one, found)
            if self._high is not None:
                found = where(found > self._high, self._high * one, found)
            return found

    def _log_prob(self, y: Any) -> Any:
        y = self._whole(y)
        try:
            above, above_before = self.log_survival_function(y), self.log_survival_function(y - 1)
            below, below_before = self.log_cdf(y), self.log_cdf(y - 1)
        except NotImplementedError:
            return _log_difference(self.log_cdf(y), self.log_cdf(y - 1))
        # the smaller of the two tails loses less when the difference is taken
        big = where(above < below, above_before, below)
        small = where(above < below, above, below_before)
        return _log_difference(big, small)

    def _prob(self, y: Any) -> Any:
        y = self._whole(y)
        try:
            above, above_before = self.survival_function(y), self.survival_function(y - 1)
            below, below_before = self.cdf(y), self.cdf(y - 1)
        except NotImplementedError:
            return self.cdf(y) - self.cdf(y - 1)
        return where(above < below, above_before - above, below - below_before)

    def _bounded(self, method: str, rounded: Tensor, below: Any, from_high: Any) -> Any:
        """What the base gives; `below` where that is below `low`, `from_high` from `high` on."""
        found = getattr(self.distribution, method)(rounded)
        rounded += zeros_like(found)
        if self._low is not None:
            replacement = below(found)
            found = where(rounded < self._low, replacement, found)
        if self._high is not None:
            replacement = from_high(found)
            found = where(rounded >= self._high, replacement, found)
        return found

    def _log_cdf(self, y: Any) -> Any:
        return self._bounded("log_cdf", floor(y), _minus_infinity_like, zeros_like)

    def _cdf(self, y: Any) -> Any:
        return self._bounded("cdf", floor(y), zeros_like, ones_like)

    def _log_survival_function(self, y: Any) -> Any:
        return self._bounded("log_survival_function", ceil(y), zeros_like, _minus_infinity_like)

    def _survival_function(self, y: Any) -> Any:
        return self._bounded("survival_function", ceil(y), ones_like, zeros_like)

    def _whole(self, value: Any) -> Any:
        with name_scope("check_integer", values=[value]):
            value = convert_to_tensor(value, name="value")
            return checked_if(self.validate_args, lambda: [assert_integer_form(
                value, message="value has non-integer components.")], value)
