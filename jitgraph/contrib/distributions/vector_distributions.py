"""``VectorExponentialDiag`` and ``VectorLaplaceDiag``: exponential and Laplace's distributions of vectors."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.distributions.affine import AffineLinearOperator
from jitgraph.contrib.distributions.of_operator import OfOperator
from jitgraph.contrib.distributions.scales import make_diag_scale
from jitgraph.distributions.gamma import Exponential
from jitgraph.distributions.location_scale import Laplace
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.fill import ones, zeros
from jitgraph.ops.arrays.identity import identity


class VectorExponentialLinearOperator(OfOperator):
    """The distribution of ``scale z + loc``, the elements of z being exponential of the rate 1."""

    def __init__(self, loc: Any = None, scale: Any = None, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "VectorExponentialLinearOperator"):
        """Raises ValueError without a scale, TypeError if it is not made of floats."""
        parameters = dict(locals())
        name, loc, shapes = self._take(loc, scale, name)
        with name_scope(name):
            super().__init__(distribution=Exponential(rate=ones([], dtype=scale.dtype), allow_nan_stats=allow_nan_stats),
                             bijector=AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args),
                             validate_args=validate_args, name=name, **shapes)
            self._parameters = parameters

    def _at(self, z: Any) -> Any:
        found = self.bijector.scale.matvec(z(self._shape_of_mean(), self.dtype))
        return found if self.loc is None else identity(self.loc) + found

    def _mean(self) -> Any:
        return self._at(ones)

    def _mode(self) -> Any:
        return self._at(zeros)


class VectorLaplaceLinearOperator(OfOperator):
    """The distribution of ``scale z + loc``, the elements of z having Laplace's distribution of the scale 1."""

    _VARIANCE_OF_Z = 2.0

    def __init__(self, loc: Any = None, scale: Any = None, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "VectorLaplaceLinearOperator"):
        """Raises ValueError without a scale, TypeError if it is not made of floats."""
        parameters = dict(locals())
        scope, loc, shapes = self._take(loc, scale, name)
        with name_scope(scope):
            super().__init__(distribution=Laplace(loc=zeros([], dtype=scale.dtype), scale=ones([], dtype=scale.dtype)),
                             bijector=AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args),
                             validate_args=validate_args, name=name, **shapes)
            self._parameters = parameters

    def _mean(self) -> Any:
        return self._middle()

    def _mode(self) -> Any:
        return self._mean()


def _diagonal(loc: Any, scale_diag: Any, scale_identity_multiplier: Any) -> Any:
    with name_scope("init", values=[loc, scale_diag, scale_identity_multiplier]):
        return make_diag_scale(loc=loc, scale_diag=scale_diag, scale_identity_multiplier=scale_identity_multiplier)


class VectorExponentialDiag(VectorExponentialLinearOperator):
    """Vectors of independent numbers, each `loc` [..., K] plus an exponential one of the mean `scale_diag` [..., K] plus
    `scale_identity_multiplier` [...]; 1 if both are None.
    """

    def __init__(self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "VectorExponentialDiag"):
        """Raises ValueError if nothing says the size of an event."""
        parameters = dict(locals())
        with name_scope(name) as name:
            scale = _diagonal(loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc=loc, scale=scale, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


class VectorLaplaceDiag(VectorLaplaceLinearOperator):
    """Vectors of independent numbers of Laplace's distribution: the middles `loc` [..., K], the widths `scale_diag` [..., K] plus
    `scale_identity_multiplier` [...]; 1 if both are None.
    """

    def __init__(self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "VectorLaplaceDiag"):
        """Raises ValueError if nothing says the size of an event."""
        parameters = dict(locals())
        with name_scope(name):
            scale = _diagonal(loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc=loc, scale=scale, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters
