"""``PoissonLogNormalQuadratureCompound``: Poisson's distribution of a log-normal rate, by quadrature."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.contrib.distributions.counts import Poisson
from jitgraph.contrib.distributions.quadrature import quadrature_scheme_lognormal_quantiles
from jitgraph.distributions.argument_checks import gen_new_seed
from jitgraph.distributions.classes import Categorical
from jitgraph.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from jitgraph.distributions.sample_shapes import joined_shapes, pick_vector
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.layout import broadcast_dynamic_shape, broadcast_static_shape
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import newaxis
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.elementary import exp, log
from jitgraph.ops.random.random_rejection import random_poisson
from jitgraph.ops.reduce.reductions import reduce_logsumexp, reduce_prod


class PoissonLogNormalQuadratureCompound(Distribution):
    """Counts of Poisson's distribution whose logarithm of the rate is one of `quadrature_size` points of a grid.

    ``quadrature_fn(loc, scale, size, validate_args)`` gives the grid [..., N] and its probabilities [N].
    """

    def __init__(self, loc: Any, scale: Any, quadrature_size: int = 8,
                 quadrature_fn: Callable = quadrature_scheme_lognormal_quantiles, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "PoissonLogNormalQuadratureCompound"):
        """Raises TypeError if the dtypes of the grid and its probabilities differ."""
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            if loc is not None:
                loc = convert_to_tensor(loc, name="loc")
            if scale is not None:
                scale = convert_to_tensor(scale, dtype=None if loc is None else loc.dtype, name="scale")
            grid, probs = quadrature_fn(loc, scale, quadrature_size, validate_args)
            dtype = grid.dtype
            if dtype.base_dtype != probs.dtype.base_dtype:
                raise TypeError(f"Quadrature grid dtype ({dtype.name}) does not match quadrature probs dtype ({probs.dtype.name}).")
            self._distribution = Poisson(log_rate=grid, validate_args=validate_args, allow_nan_stats=allow_nan_stats)
            self._mixture_distribution = Categorical(logits=log(probs), validate_args=validate_args,
                                                     allow_nan_stats=allow_nan_stats)
            self._loc, self._scale, self._quadrature_size = loc, scale, quadrature_size
            super().__init__(dtype=dtype, reparameterization_type=NOT_REPARAMETERIZED, validate_args=validate_args,
                             allow_nan_stats=allow_nan_stats, parameters=parameters, graph_parents=[loc, scale], name=name)

    @property
    def mixture_distribution(self) -> Categorical:
        """Which point of the grid is drawn."""
        return self._mixture_distribution

    @property
    def distribution(self) -> Poisson:
        """Poisson's distributions of the points of the grid."""
        return self._distribution

    @property
    def loc(self) -> Any:
        """The mean of the logarithm of the rate."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The standard deviation of the logarithm of the rate."""
        return self._scale

    @property
    def quadrature_size(self) -> int:
        """How many points the grid has."""
        return self._quadrature_size

    def _batch_shape_tensor(self) -> Any:
        return broadcast_dynamic_shape(self.distribution.batch_shape_tensor(), shape_of(self.mixture_distribution.logits))[:-1]

    def _batch_shape(self) -> Any:
        return broadcast_static_shape(self.distribution.batch_shape, self.mixture_distribution.logits.shape)[:-1]

    def _event_shape(self) -> Any:
        return TensorShape([])

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        batch_size: Any = self.batch_shape.num_elements()
        if batch_size is None:
            batch_size = reduce_prod(self.batch_shape_tensor())
        mixture = self._mixture_distribution
        ids = mixture.sample(
            sample_shape=joined_shapes([n], pick_vector(mixture.is_scalar_batch(), [batch_size], np.array([], np.int32))),
            seed=gen_new_seed(seed, "poisson_lognormal_quadrature_compound"))
        ids = reshape(ids, shape=joined_shapes([n], pick_vector(self.is_scalar_batch(), np.array([], np.int32),
                                                                np.array([-1], np.int32))))
        ids += range_of(0, batch_size * self._quadrature_size, self._quadrature_size, dtype=ids.dtype)
        rate = gather(reshape(self.distribution.rate, shape=[-1]), ids)
        rate = reshape(rate, shape=joined_shapes([n], self.batch_shape_tensor()))
        return random_poisson(lam=rate, shape=[], dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Any) -> Any:
        return reduce_logsumexp(self.mixture_distribution.logits + self.distribution.log_prob(x[..., newaxis]), axis=-1)

    def _mean(self) -> Any:
        return exp(reduce_logsumexp(self.mixture_distribution.logits + self.distribution.log_rate, axis=-1))

    def _variance(self) -> Any:
        return exp(self._log_variance())

    def _stddev(self) -> Any:
        return exp(0.5 * self._log_variance())

    def _log_variance(self) -> Any:
        """The logarithm of the mean of the variances plus the variance of the means."""
        between = 2.0 * log(absolute(self.distribution.mean() - self._mean()[..., newaxis]))
        both = stack([self.distribution.log_rate, between], axis=-1)
        return reduce_logsumexp(self.mixture_distribution.logits[..., newaxis] + both, axis=[-2, -1])
