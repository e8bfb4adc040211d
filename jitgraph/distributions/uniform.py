"""``Uniform``: equally likely numbers between two bounds."""
from __future__ import annotations

import math
from typing import Any

from jitgraph.distributions.distribution import FULLY_REPARAMETERIZED
from jitgraph.distributions.scalar_events import OfScalars
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import ones, ones_like, zeros, zeros_like
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.layout import broadcast_dynamic_shape
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_shapes import assert_same_float_dtype
from jitgraph.ops.checks.check_values import assert_less
from jitgraph.ops.elementwise.compare import logical_or
from jitgraph.ops.elementwise.composite_values import square
from jitgraph.ops.elementwise.elementary import is_nan, log
from jitgraph.ops.random.draws import random_uniform


class Uniform(OfScalars):
    """Numbers from `low` to below `high`, floats that are broadcast."""

    _PARAMETERS = ("low", "high")

    def __init__(self, low: Any = 0.0, high: Any = 1.0, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Uniform"):
        """Raises TypeError if the dtypes differ."""
        parameters = dict(locals())
        with name_scope(name, values=[low, high]) as name:
            with control_dependencies([assert_less(low, high, message="uniform not defined when low >= high.")]
                                      if validate_args else []):
                self._low = identity(low, name="low")
                self._high = identity(high, name="high")
                assert_same_float_dtype([self._low, self._high])
        super().__init__(dtype=self._low.dtype, reparameterization_type=FULLY_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters, graph_parents=[self._low, self._high], name=name)

    @property
    def low(self) -> Tensor:
        """The lower bound."""
        return self._low

    @property
    def high(self) -> Tensor:
        """The upper bound."""
        return self._high

    def range(self, name: str = "range") -> Tensor:
        """`high - low`."""
        with self._name_scope(name):
            return self.high - self.low

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        samples = random_uniform(shape=self._shape_of_samples(n), dtype=self.dtype, seed=seed)
        return self.low + self.range() * samples

    def _prob(self, x: Any) -> Any:
        x = x * ones(self.batch_shape_tensor(), dtype=x.dtype)
        return where_v2(is_nan(x), x, where_v2(logical_or(x < self.low, x >= self.high), zeros_like(x),
                                               ones_like(x) / self.range()))

    def _cdf(self, x: Any) -> Any:
        shape = broadcast_dynamic_shape(shape_of(x), self.batch_shape_tensor())
        zero, one = zeros(shape, dtype=self.dtype), ones(shape, dtype=self.dtype)
        below_high = where_v2(x < self.low, zero, (x * one - self.low) / self.range())
        return where_v2(x >= self.high, one, below_high)

    def _entropy(self) -> Any:
        return log(self.range())

    def _mean(self) -> Any:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Any:
        return square(self.range()) / 12.0

    def _stddev(self) -> Any:
        return self.range() / math.sqrt(12.0)
