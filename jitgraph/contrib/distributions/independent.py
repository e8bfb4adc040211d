"""``Independent``: dimensions of a batch become dimensions of the event."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.distributions.distribution import Distribution
from jitgraph.distributions.divergence import RegisterKL, kl_divergence
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import TensorShape, dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_equal, assert_less_equal
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.reduce.reductions import reduce_sum


class Independent(Distribution):
    """`distribution`, of which the last `reinterpreted_batch_ndims` dimensions of the batch (all but the first if None) belong to
    the event: they are drawn independently, and probabilities are those of all together.
    """

    def __init__(self, distribution: Distribution, reinterpreted_batch_ndims: Any = None, validate_args: bool = False,
                 name: str | None = None):
        """Raises ValueError if the batch has fewer dimensions."""
        parameters = dict(locals())
        name = name or "Independent" + distribution.name
        self._distribution = distribution
        with name_scope(name) as name:
            if reinterpreted_batch_ndims is None:
                rank = distribution.batch_shape.ndims
                reinterpreted_batch_ndims = (maximum(0, shape_of(distribution.batch_shape_tensor())[0] - 1) if rank is None
                                             else max(0, rank - 1))
            ndims = convert_to_tensor(reinterpreted_batch_ndims, dtype=dtypes.int32, name="reinterpreted_batch_ndims")
            self._known = static_value(ndims)
            self._reinterpreted_batch_ndims = ndims if self._known is None else self._known
            super().__init__(dtype=distribution.dtype, reparameterization_type=distribution.reparameterization_type,
                             validate_args=validate_args, allow_nan_stats=distribution.allow_nan_stats, parameters=parameters,
                             graph_parents=[ndims, *distribution._graph_parents], name=name)
            self._runtime_assertions = self._rank_checks(ndims)

    def _rank_checks(self, ndims: Tensor) -> list:
        rank = self.distribution.batch_shape.ndims
        if rank is not None and self._known is not None:
            if self._known > rank:
                raise ValueError(f"reinterpreted_batch_ndims({self._known}) cannot exceed distribution.batch_ndims({rank})")
        elif self.validate_args:
            return [assert_less_equal(ndims, self._batch_rank(self.distribution.batch_shape_tensor()),
                                      message="reinterpreted_batch_ndims cannot exceed distribution.batch_ndims")]
        return []

    @property
    def distribution(self) -> Distribution:
        """The distribution whose batch is taken."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self) -> Any:
        """How many dimensions of its batch belong to the event."""
        return self._reinterpreted_batch_ndims

    def _batch_rank(self, batch_shape: Tensor) -> Any:
        known = dimension_value(batch_shape.shape.with_rank_at_least(1)[0])
        return shape_of(batch_shape)[0] if known is None else known

    def _batch_shape_tensor(self) -> Any:
        with control_dependencies(self._runtime_assertions):
            shape = self.distribution.batch_shape_tensor()
            return shape[:self._batch_rank(shape) - self.reinterpreted_batch_ndims]

    def _event_shape_tensor(self) -> Any:
        with control_dependencies(self._runtime_assertions):
            shape = self.distribution.batch_shape_tensor()
            return concat([shape[self._batch_rank(shape) - self.reinterpreted_batch_ndims:],
                           self.distribution.event_shape_tensor()], axis=0)

    def _split(self) -> int | None:
        rank = self.distribution.batch_shape.ndims
        return None if self._known is None or rank is None else rank - int(self._known)

    def _batch_shape(self) -> Any:
        split = self._split()
        return TensorShape(None) if split is None else self.distribution.batch_shape[:split]

    def _event_shape(self) -> Any:
        split = self._split()
        return TensorShape(None) if split is None else self.distribution.batch_shape[split:].concatenate(
            self.distribution.event_shape)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        with control_dependencies(self._runtime_assertions):
            return self.distribution.sample(sample_shape=n, seed=seed)

    def _summed(self, values: Any) -> Any:
        dimensions = np.arange(self._known) if self._known is not None else range_of(self._reinterpreted_batch_ndims)
        return reduce_sum(values, axis=-1 - dimensions)

    def _log_prob(self, x: Any) -> Any:
        with control_dependencies(self._runtime_assertions):
            return self._summed(self.distribution.log_prob(x))

    def _entropy(self) -> Any:
        with control_dependencies(self._runtime_assertions):
            return self._summed(self.distribution.entropy())

    def _statistic(self, name: str) -> Any:
        with control_dependencies(self._runtime_assertions):
            return getattr(self.distribution, name)()

    def _mean(self) -> Any:
        return self._statistic("mean")

    def _variance(self) -> Any:
        return self._statistic("variance")

    def _stddev(self) -> Any:
        return self._statistic("stddev")

    def _mode(self) -> Any:
        return self._statistic("mode")


@RegisterKL(Independent, Independent)
def _between_independents(a: Independent, b: Independent, name: str = "kl_independent") -> Tensor:
    p, q = a.distribution, b.distribution
    if not (a.event_shape.is_fully_defined() and b.event_shape.is_fully_defined()):
        with control_dependencies([assert_equal(a.event_shape_tensor(), b.event_shape_tensor()),
                                   assert_equal(p.event_shape_tensor(), q.event_shape_tensor())]):
            summed: Any = shape_of(a.event_shape_tensor())[0] - shape_of(p.event_shape_tensor())[0]
            return reduce_sum(kl_divergence(p, q, name=name), axis=range_of(-summed, 0, 1))
    if a.event_shape != b.event_shape:
        raise ValueError("Event shapes do not match.")
    if p.event_shape != q.event_shape:
        raise NotImplementedError("KL between Independents with different event shapes not supported.")
    summed = (a.event_shape.ndims or 0) - (p.event_shape.ndims or 0)
    return reduce_sum(kl_divergence(p, q, name=name), axis=[-i - 1 for i in range(summed)])
