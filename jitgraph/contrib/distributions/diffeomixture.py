"""``VectorDiffeomixture``: a distribution whose location and scale lie between two others (Dillon and Langmore, 2018)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.contrib.distributions.affine import AffineLinearOperator
from jitgraph.contrib.distributions.diffeomixture_parts import interpolated_locs, interpolated_scales, shapes_of_parts
from jitgraph.contrib.distributions.quadrature import quadrature_scheme_softmaxnormal_quantiles
from jitgraph.contrib.distributions.scalar_bases import maybe_check_scalar_distribution
from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.argument_checks import gen_new_seed
from jitgraph.distributions.classes import Categorical
from jitgraph.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from jitgraph.distributions.sample_shapes import joined_shapes, pick_vector
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators.addition import add_operators
from jitgraph.linear_operators.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from jitgraph.linear_operators.matrices import LinearOperatorDiag, LinearOperatorFullMatrix
from jitgraph.ops.arrays.fill import ones, ones_like
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.matrix_parts import matrix_diag_part
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import newaxis
from jitgraph.ops.elementwise.composite_values import square
from jitgraph.ops.elementwise.elementary import log
from jitgraph.ops.reduce.reductions import reduce_logsumexp, reduce_prod, reduce_sum


class VectorDiffeomixture(Distribution):
    """The distribution of ``w f(x) + (1 - w) g(x)``: f and g are x times `scale` plus `loc`, x has the scalar `distribution`.

    The weight w is the sigmoid of a normal number of the mean ``mix_loc / temperature`` and the deviation ``1 / temperature``,
    of which `quadrature_fn` makes a grid of `quadrature_size` points.
    """

    def __init__(self, mix_loc: Any, temperature: Any, distribution: Distribution, loc: Any = None, scale: Any = None,
                 quadrature_size: int = 8, quadrature_fn: Callable = quadrature_scheme_softmaxnormal_quantiles,
                 validate_args: bool = False, allow_nan_stats: bool = True, name: str = "VectorDiffeomixture"):
        """Raises ValueError unless there are two scales, and as many locs; TypeError if dtypes differ; NotImplementedError for
        more than two.
        """
        parameters = dict(locals())
        with name_scope(name, values=[mix_loc, temperature]) as name:
            loc, dtype = _checked_parts(loc, scale, validate_args)
            self._endpoint_affine = [
                AffineLinearOperator(shift=its_loc, scale=its_scale, validate_args=validate_args, name=f"endpoint_affine_{k}")
                for k, (its_loc, its_scale) in enumerate(zip(loc, scale))]
            if len(scale) != 2:
                raise NotImplementedError(f"Currently only bimixtures are supported; len(scale)={len(scale)} is not 2.")
            mix_loc = convert_to_tensor(mix_loc, dtype=dtype, name="mix_loc")
            temperature = convert_to_tensor(temperature, dtype=dtype, name="temperature")
            self._grid, probs = quadrature_fn(mix_loc / temperature, 1.0 / temperature, quadrature_size, validate_args)
            self._mixture_distribution = Categorical(logits=log(probs), validate_args=validate_args,
                                                     allow_nan_stats=allow_nan_stats)
            checks = maybe_check_scalar_distribution(distribution, dtype, validate_args)
            if checks:
                self._grid = with_dependencies(checks, self._grid)
            self._distribution = distribution
            self._interpolated_affine = [
                AffineLinearOperator(shift=its_loc, scale=its_scale, validate_args=validate_args, name=f"interpolated_affine_{k}")
                for k, (its_loc, its_scale) in enumerate(zip(interpolated_locs(self._grid, loc),
                                                             interpolated_scales(self._grid, scale)))]
            self._shapes = shapes_of_parts(self._grid, self._endpoint_affine)
            super().__init__(dtype=dtype, reparameterization_type=FULLY_REPARAMETERIZED, validate_args=validate_args,
                             allow_nan_stats=allow_nan_stats, parameters=parameters,
                             graph_parents=distribution._graph_parents + [one for one in loc if one is not None]
                             + [parent for one in scale for parent in one.graph_parents], name=name)

    @property
    def mixture_distribution(self) -> Categorical:
        """Which point of the grid is drawn."""
        return self._mixture_distribution

    @property
    def distribution(self) -> Distribution:
        """The distribution of x."""
        return self._distribution

    @property
    def grid(self) -> Tensor:
        """The weights of both at each point of the grid, [..., 2, N]."""
        return self._grid

    @property
    def endpoint_affine(self) -> list:
        """The bijectors f and g."""
        return self._endpoint_affine

    @property
    def interpolated_affine(self) -> list:
        """The bijector at each point of the grid."""
        return self._interpolated_affine

    def _batch_shape_tensor(self) -> Any:
        return self._shapes[1]

    def _batch_shape(self) -> Any:
        return self._shapes[0]

    def _event_shape_tensor(self) -> Any:
        return self._shapes[3]

    def _event_shape(self) -> Any:
        return self._shapes[2]

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        x = self.distribution.sample(sample_shape=joined_shapes([n], self.batch_shape_tensor(), self.event_shape_tensor()),
                                     seed=seed)
        first, second = [affine.forward(x) for affine in self.endpoint_affine]
        batch_size: Any = self.batch_shape.num_elements()
        if batch_size is None:
            batch_size = reduce_prod(self.batch_shape_tensor())
        mixture = self.mixture_distribution
        mix_size: Any = mixture.batch_shape.num_elements()
        if mix_size is None:
            mix_size = reduce_prod(mixture.batch_shape_tensor())
        ids = mixture.sample(
            sample_shape=joined_shapes([n], pick_vector(self.is_scalar_batch(), np.array([], np.int32), [batch_size // mix_size])),
            seed=gen_new_seed(seed, "vector_diffeomixture"))
        ids = reshape(ids, shape=joined_shapes([n], pick_vector(self.is_scalar_batch(), np.array([], np.int32),
                                                                np.array([-1], np.int32))))
        stride: Any = self.grid.shape.with_rank_at_least(2)[-2:].num_elements()
        if stride is None:
            stride = reduce_prod(shape_of(self.grid)[-2:])
        offset = range_of(0, batch_size * stride, stride, dtype=ids.dtype)
        weight = gather(reshape(self.grid, shape=[-1]), ids + offset)
        if self.batch_shape.is_fully_defined():
            shape: Any = [-1, *self.batch_shape.as_list(), 1]
        else:
            shape = concat(([-1], self.batch_shape_tensor(), [1]), axis=0)
        return reshape(weight, shape=shape) * (first - second) + second

    def _log_prob(self, x: Any) -> Any:
        y = stack([affine.inverse(x) for affine in self.interpolated_affine], axis=-1)
        log_prob = reduce_sum(self.distribution.log_prob(y), axis=-2)
        log_det = stack([affine.forward_log_det_jacobian(x, event_ndims=rank_of(self.event_shape_tensor()))
                         for affine in self.interpolated_affine], axis=-1)
        return reduce_logsumexp(self.mixture_distribution.logits - log_det + log_prob, axis=-1)

    def _mean(self) -> Any:
        p, base = self._expanded_probs(), self._expanded_base_mean()
        mean = None
        for k, affine in enumerate(self.interpolated_affine):
            mean = _sum(mean, p[..., k] * affine.forward(base))
        return mean

    def _covariance(self) -> Any:
        return _sum(self._mean_of_covariances(diag_only=False), self._covariance_of_means(diag_only=False))

    def _variance(self) -> Any:
        return _sum(self._mean_of_covariances(diag_only=True), self._covariance_of_means(diag_only=True))

    def _mean_of_covariances(self, diag_only: bool) -> Any:
        """The mean over the grid of the covariances of ``scale x``, or of their diagonals."""
        p = self.mixture_distribution.probs
        multiplier = diagonal = full = None
        for k, affine in enumerate(self.interpolated_affine):
            scale, weight = affine.scale, p[..., k, newaxis]
            if scale is None or isinstance(scale, LinearOperatorIdentity):
                multiplier = _sum(multiplier, weight)
            elif isinstance(scale, LinearOperatorScaledIdentity):
                multiplier = _sum(multiplier, weight * square(scale.multiplier))
            elif isinstance(scale, LinearOperatorDiag):
                diagonal = _sum(diagonal, weight * square(scale.diag_part()))
            else:
                product = p[..., k, newaxis, newaxis] * scale.matmul(scale.to_dense(), adjoint_arg=True)
                full = _sum(full, matrix_diag_part(product) if diag_only else product)
        variance = self.distribution.variance()
        multiplier = None if multiplier is None else multiplier * variance
        diagonal = None if diagonal is None else diagonal * variance[..., newaxis]
        full = None if full is None else full * variance[..., newaxis]
        if diag_only:
            found = _sum(diagonal, full)
            if found is None and multiplier is not None:
                return multiplier[..., newaxis] * ones(self.event_shape_tensor(), dtype=self.dtype)
            return _sum(found, multiplier)
        return self._dense_sum(multiplier, diagonal, full)

    def _dense_sum(self, multiplier: Any, diagonal: Any, full: Any) -> Any:
        positive = True if all(affine.scale.is_positive_definite for affine in self.endpoint_affine) else None
        parts: list = []
        if diagonal is not None:
            parts.append(LinearOperatorDiag(diag=diagonal, is_positive_definite=positive))
        if full is not None:
            parts.append(LinearOperatorFullMatrix(matrix=full, is_positive_definite=positive))
        if multiplier is not None:
            parts.append(LinearOperatorScaledIdentity(num_rows=self.event_shape_tensor()[0], multiplier=multiplier,
                                                      is_positive_definite=positive))
        return add_operators(parts)[0].to_dense() if parts else None

    def _covariance_of_means(self, diag_only: bool) -> Any:
        """The covariance over the grid of the means, or its diagonal."""
        p = self._expanded_probs()
        if not diag_only:
            p = p[..., newaxis, :]
        base = self._expanded_base_mean()
        found = None
        mean = self._mean()
        for k, affine in enumerate(self.interpolated_affine):
            away = affine.forward(base) - mean
            squared = square(away) if diag_only else away[..., :, newaxis] * away[..., newaxis, :]
            found = _sum(found, p[..., k] * squared)
        return found

    def _expanded_base_mean(self) -> Tensor:
        """The mean of x, repeated to the shape of batch and event."""
        shape = joined_shapes(self.batch_shape_tensor(), self.event_shape_tensor())
        mean = tile(reshape(self.distribution.mean(), shape=ones_like(shape, dtype=dtypes.int32)), multiples=shape)
        mean.set_shape(self.batch_shape.concatenate(self.event_shape))
        return mean

    def _expanded_probs(self) -> Tensor:
        """The probabilities of the grid with dimensions of 1 for those of the event."""
        p = self.mixture_distribution.probs
        known = dimension_value(p.shape.with_rank_at_least(1)[-1])
        size = shape_of(p)[-1] if known is None else known
        of_events = self.event_shape.ndims
        of_events = shape_of(self.event_shape_tensor())[0] if of_events is None else of_events
        return reshape(p, shape=concat([self.mixture_distribution.batch_shape_tensor(), ones([of_events], dtype=dtypes.int32),
                                        [size]], axis=0))


def _checked_parts(loc: Any, scale: Any, validate_args: bool) -> tuple[list, Any]:
    """(the locs as tensors, the dtype of all)"""
    if not scale or len(scale) < 2:
        raise ValueError("Must specify list (or list-like object) of scale LinearOperators, one for each component with "
                         "num_component >= 2.")
    loc = [None] * len(scale) if loc is None else loc
    if len(loc) != len(scale):
        raise ValueError("loc/scale must be same-length lists (or same-length list-like objects).")
    dtype = scale[0].dtype.base_dtype
    loc = [None if one is None else convert_to_tensor(one, dtype=dtype, name=f"loc{k}") for k, one in enumerate(loc)]
    for k, one in enumerate(scale):
        if validate_args and not one.is_positive_definite:
            raise ValueError(f"scale[{k}].is_positive_definite = {one.is_positive_definite} != True")
        if one.dtype.base_dtype != dtype:
            raise TypeError(f'dtype mismatch; scale[{k}].base_dtype="{one.dtype.base_dtype.name}" != "{dtype.name}"')
    return loc, dtype


def _sum(x: Any, y: Any) -> Any:
    """``x + y``, of which either may be None."""
    if x is None:
        return y
    return x if y is None else x + y
