"""What distributions of scalars share: their events have no shape, and their batch is that of the parameters."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.distributions.distribution import Distribution
from jitgraph.distributions.sample_shapes import broadcast_shape, shapes_of_parameters
from jitgraph.graph import dtypes
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import broadcast_dynamic_shape
from jitgraph.ops.arrays.shape import shape as shape_of


class OfScalars(Distribution):
    """A distribution of scalars whose parameters, broadcast together, have the shape of the batch."""

    _PARAMETERS: tuple[str, ...] = ()

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict:      # type: ignore[override]
        return shapes_of_parameters(cls._PARAMETERS, sample_shape)

    def _broadcast(self) -> list[Tensor]:
        return [getattr(self, name) for name in self._PARAMETERS]

    def _batch_shape_tensor(self) -> Any:
        *rest, last = [shape_of(parameter) for parameter in self._broadcast()]
        for shape in reversed(rest):
            last = broadcast_dynamic_shape(shape, last)
        return last

    def _batch_shape(self) -> Any:
        return broadcast_shape(*self._broadcast())

    def _event_shape_tensor(self) -> Any:
        return constant([], dtype=dtypes.int32)

    def _event_shape(self) -> Any:
        return TensorShape([])

    def _shape_of_samples(self, n: Any) -> Tensor:
        return concat([[n], self.batch_shape_tensor()], 0)


class ByNormalization(OfScalars):
    """A distribution whose density is a function of the value over one of the parameters."""

    def _log_unnormalized_prob(self, x: Any) -> Any:
        raise NotImplementedError

    def _log_normalization(self) -> Any:
        raise NotImplementedError

    def _log_prob(self, x: Any) -> Any:
        return self._log_unnormalized_prob(x) - self._log_normalization()


def nan_of(distribution: Distribution) -> np.ndarray:
    """NaN of a distribution's dtype."""
    return np.array(np.nan, dtype=distribution.dtype.as_numpy_dtype)
