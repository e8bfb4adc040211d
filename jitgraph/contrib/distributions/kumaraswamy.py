"""``Kumaraswamy``: a distribution on [0, 1] like Beta, with a distribution function that is easy to invert."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.distributions.parametric_bijectors import Kumaraswamy as KumaraswamyBijector
from jitgraph.contrib.distributions.transformed import TransformedDistribution
from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.distribution import FULLY_REPARAMETERIZED
from jitgraph.distributions.sample_shapes import get_broadcast_shape
from jitgraph.distributions.scalar_events import nan_of
from jitgraph.distributions.uniform import Uniform
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import fill, ones, ones_like, zeros
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.checks.check_values import assert_less
from jitgraph.ops.elementwise.composite_values import square
from jitgraph.ops.elementwise.elementary import exp, log
from jitgraph.ops.elementwise.special import digamma, lbeta


def _harmonic_number(x: Any) -> Any:
    one = ones([], dtype=x.dtype)
    return digamma(x + one) - digamma(one)


class Kumaraswamy(TransformedDistribution):
    """Kumaraswamy's distribution: the density is ``a b x^(a - 1) (1 - x^a)^(b - 1)``, a `concentration1`, b `concentration0`."""

    def __init__(self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Kumaraswamy"):
        """Raises ValueError if a parameter is None."""
        with name_scope(name, values=[concentration1, concentration0]) as name:
            concentration1 = convert_to_tensor(concentration1, name="concentration1")
            concentration0 = convert_to_tensor(concentration0, name="concentration0")
        dtype = concentration1.dtype
        super().__init__(
            distribution=Uniform(low=zeros([], dtype=dtype), high=ones([], dtype=dtype), allow_nan_stats=allow_nan_stats),
            bijector=KumaraswamyBijector(concentration1=concentration1, concentration0=concentration0, validate_args=validate_args),
            batch_shape=get_broadcast_shape(concentration1, concentration0), name=name)
        self._reparameterization_type = FULLY_REPARAMETERIZED

    @property
    def concentration1(self) -> Tensor:
        """The exponent a of x."""
        return self.bijector.concentration1

    @property
    def concentration0(self) -> Tensor:
        """The exponent b of ``1 - x^a``."""
        return self.bijector.concentration0

    def _entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        return 1 - 1.0 / a + (1 - 1.0 / b) * _harmonic_number(b) + log(a) + log(b)

    def _moment(self, n: int) -> Any:
        total = self.concentration1 + self.concentration0
        a = ones_like(total, dtype=self.dtype) * self.concentration1
        b = ones_like(total, dtype=self.dtype) * self.concentration0
        return exp(log(b) + lbeta(stack([1 + n / a, b], -1)))

    def _mean(self) -> Any:
        return self._moment(1)

    def _variance(self) -> Any:
        return self._moment(2) - square(self._moment(1))

    def _mode(self) -> Any:
        """``((a - 1) / (a b - 1))^(1 / a)``; NaN or an error unless both are above 1."""
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)) ** (1.0 / a)
        if self.allow_nan_stats:
            nan = fill(self.batch_shape_tensor(), nan_of(self), name="nan")
            return where_v2((self.concentration1 > 1.0) & (self.concentration0 > 1.0), mode, nan)
        return with_dependencies([
            assert_less(ones([], dtype=a.dtype), a, message="Mode undefined for concentration1 <= 1."),
            assert_less(ones([], dtype=b.dtype), b, message="Mode undefined for concentration0 <= 1.")], mode)
