"""``SinhArcsinh`` and ``VectorSinhArcsinhDiag``: normal numbers that lean to a side, or have heavier tails."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.distributions.affine import Affine
from jitgraph.contrib.distributions.composed_bijectors import Chain
from jitgraph.contrib.distributions.elementwise_bijectors import AffineScalar
from jitgraph.contrib.distributions.parametric_bijectors import SinhArcsinh as SinhArcsinhBijector
from jitgraph.contrib.distributions.scalar_bases import maybe_check_scalar_distribution
from jitgraph.contrib.distributions.scales import make_diag_scale, shapes_from_loc_and_scale
from jitgraph.contrib.distributions.transformed import TransformedDistribution
from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.distribution import Distribution
from jitgraph.distributions.location_scale import Normal
from jitgraph.distributions.sample_shapes import get_broadcast_shape
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import ones, zeros


class _Skewed(TransformedDistribution):
    """A distribution of ``loc + C F(z)``: F is the bijector SinhArcsinh, C = 2 scale / F(2) without skewness."""

    _loc: Any
    _scale: Any
    _tailweight: Tensor
    _skewness: Tensor

    @property
    def loc(self) -> Any:
        """What is added."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The width."""
        return self._scale

    @property
    def tailweight(self) -> Tensor:
        """How heavy the tails are, 1 for those of the base."""
        return self._tailweight

    @property
    def skewness(self) -> Tensor:
        """To which side it leans, 0 for none."""
        return self._skewness

    def _base(self, distribution: Distribution | None, dtype: Any, validate_args: bool, allow_nan_stats: bool) -> tuple:
        """(the distribution of z, what is to be checked of it)"""
        if distribution is None:
            return Normal(loc=zeros([], dtype=dtype), scale=ones([], dtype=dtype), allow_nan_stats=allow_nan_stats), []
        return distribution, maybe_check_scalar_distribution(distribution, dtype, validate_args)

    def _bent(self, scale: Any, dtype: Any, has_skewness: bool) -> tuple:
        """(the bijector F, the factor C)"""
        bent = straight = SinhArcsinhBijector(skewness=self._skewness, tailweight=self._tailweight)
        if has_skewness:
            straight = SinhArcsinhBijector(skewness=self._skewness.dtype.as_numpy_dtype(0.0), tailweight=self._tailweight)
        return bent, 2 * scale / straight.forward(convert_to_tensor(2, dtype=dtype))


class SinhArcsinh(_Skewed):
    """Numbers ``loc + C F(z)``, all parameters broadcast; z is normal, or has the scalar `distribution`."""

    def __init__(self, loc: Any, scale: Any, skewness: Any = None, tailweight: Any = None,
                 distribution: Distribution | None = None, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "SinhArcsinh"):
        """Raises TypeError if the distribution has another dtype, ValueError if it is not scalar."""
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale, skewness, tailweight]) as name:
            loc = convert_to_tensor(loc, name="loc")
            dtype = loc.dtype
            scale = convert_to_tensor(scale, name="scale", dtype=dtype)
            self._tailweight = convert_to_tensor(1.0 if tailweight is None else tailweight, name="tailweight", dtype=dtype)
            self._skewness = convert_to_tensor(0.0 if skewness is None else skewness, name="skewness", dtype=dtype)
            batch_shape = get_broadcast_shape(loc, scale, self._tailweight, self._skewness)
            distribution, checks = self._base(distribution, dtype, validate_args, allow_nan_stats)
            if checks:
                loc = with_dependencies(checks, loc)
            bent, factor = self._bent(scale, dtype, skewness is not None)
            bijector = Chain([AffineScalar(shift=loc, scale=factor, validate_args=validate_args), bent])
            super().__init__(distribution=distribution, bijector=bijector, batch_shape=batch_shape, validate_args=validate_args,
                             name=name)
        self._parameters = parameters
        self._loc, self._scale = loc, scale


class VectorSinhArcsinhDiag(_Skewed):
    """Vectors of independent numbers ``loc + C F(z)``: `loc` [..., K], the widths `scale_diag` [..., K] plus
    `scale_identity_multiplier` [...]; 1 if both are None.
    """

    def __init__(self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None, skewness: Any = None,
                 tailweight: Any = None, distribution: Distribution | None = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "MultivariateNormalLinearOperator"):
        """Raises TypeError if the distribution has another dtype, ValueError if it is not scalar."""
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier, skewness, tailweight]) as name:
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            scale = make_diag_scale(loc=loc, scale_diag=scale_diag, scale_identity_multiplier=scale_identity_multiplier)
            batch_shape, event_shape = shapes_from_loc_and_scale(loc, scale)
            diagonal: Any = scale.diag_part()
            dtype = diagonal.dtype
            distribution, checks = self._base(distribution, dtype, validate_args, allow_nan_stats)
            if checks:
                diagonal = with_dependencies(checks, diagonal)
            self._skewness = convert_to_tensor(0.0 if skewness is None else skewness, dtype=dtype, name="skewness")
            self._tailweight = convert_to_tensor(1.0 if tailweight is None else tailweight, dtype=dtype, name="tailweight")
            bent, factor = self._bent(diagonal, dtype, skewness is not None)
            bijector = Chain([Affine(shift=loc, scale_diag=factor, validate_args=validate_args), bent])
            super().__init__(distribution=distribution, bijector=bijector, batch_shape=batch_shape, event_shape=event_shape,
                             validate_args=validate_args, name=name)
        self._parameters = parameters
        self._loc, self._scale = loc, scale
