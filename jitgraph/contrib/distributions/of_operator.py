"""Distributions of vectors ``scale z + loc``, z being of independent numbers and `scale` a linear operator."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.contrib.distributions.scales import is_diagonal_scale, shapes_from_loc_and_scale
from jitgraph.contrib.distributions.transformed import TransformedDistribution
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.linear_operators.low_rank import LinearOperatorLowRankUpdate
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.matrix_parts import matrix_diag, matrix_diag_part
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.composite_values import sqrt, square


class OfOperator(TransformedDistribution):
    """What the families of normal, exponential and Laplace's distributions share."""

    _VARIANCE_OF_Z = 1.0

    def _take(self, loc: Any, scale: Any, name: str) -> tuple[Any, Any, dict]:
        """(the scope, `loc` as a tensor, the shapes of batch and event).

        Raises ValueError without a scale, TypeError if it is not made of floats.
        """
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        if not scale.dtype.is_floating:
            raise TypeError("`scale` parameter must have floating-point dtype.")
        with name_scope(name, values=[loc, *scale.graph_parents]) as scope:
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            batch_shape, event_shape = shapes_from_loc_and_scale(loc, scale)
        return scope, loc, {"batch_shape": batch_shape, "event_shape": event_shape}

    @property
    def loc(self) -> Any:
        """What is added, None for 0."""
        return self.bijector.shift

    @property
    def scale(self) -> Any:
        """The linear operator."""
        return self.bijector.scale

    def _shape_of_mean(self) -> Any:
        shape = self.batch_shape.concatenate(self.event_shape)
        return shape if shape.is_fully_defined() else concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)

    def _middle(self) -> Any:
        """`loc`, of the shape of the mean."""
        shape = self._shape_of_mean()
        if self.loc is None:
            return zeros(shape, self.dtype)
        if self.batch_shape.concatenate(self.event_shape).is_fully_defined() and shape == self.loc.get_shape():
            return identity(self.loc)
        return identity(self.loc) + zeros(shape, self.dtype)

    def _covariance(self) -> Any:
        if is_diagonal_scale(self.scale):
            return _times(self._VARIANCE_OF_Z, matrix_diag(square(self.scale.diag_part())))
        return _times(self._VARIANCE_OF_Z, self.scale.matmul(self.scale.to_dense(), adjoint_arg=True))

    def _diagonal_of_product(self, factor: float) -> Any:
        """The diagonal of ``factor scale scale^T``."""
        symmetric = isinstance(self.scale, LinearOperatorLowRankUpdate) and self.scale.is_self_adjoint
        return matrix_diag_part(_times(factor, self.scale.matmul(self.scale.to_dense(), adjoint_arg=not symmetric)))

    def _variance(self) -> Any:
        if is_diagonal_scale(self.scale):
            return _times(self._VARIANCE_OF_Z, square(self.scale.diag_part()))
        return self._diagonal_of_product(self._VARIANCE_OF_Z)

    def _stddev(self) -> Any:
        deviation = np.sqrt(self._VARIANCE_OF_Z)
        if is_diagonal_scale(self.scale):
            return _times(deviation, absolute(self.scale.diag_part()))
        return _times(deviation, sqrt(self._diagonal_of_product(1.0)))


def _times(factor: float, value: Any) -> Any:
    return value if factor == 1.0 else factor * value
