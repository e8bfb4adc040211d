"""``BatchNormalization``: a bijector whose inverse normalizes a batch (Papamakarios and others, 2017, section 3.4)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.contrib.distributions.bijector import Bijector
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.layers import normalization
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.elementwise.composite_values import sqrt
from jitgraph.ops.elementwise.elementary import log
from jitgraph.ops.nn.functions import moments
from jitgraph.ops.reduce.reductions import reduce_sum


class BatchNormalization(Bijector):
    """x = (y - mean) / sqrt(variance + epsilon) gamma + beta, by a layer of ``tf.layers``.

    ``inverse`` takes the moments of the batch if `training`, else the moving ones; ``forward`` always the moving ones.
    """

    def __init__(self, batchnorm_layer: Any = None, training: bool = True, validate_args: bool = False,
                 name: str = "batch_normalization"):
        """`batchnorm_layer`: one whose gamma stays above 0 if it is None.

        Raises ValueError if it is no such layer, or one with renormalization or virtual batches.
        """
        self.batchnorm = batchnorm_layer or normalization.BatchNormalization(gamma_constraint=lambda x: relu(x) + 1e-6)
        if not isinstance(self.batchnorm, normalization.BatchNormalization):
            raise ValueError("batchnorm_layer must be an instance of BatchNormalization layer.")
        if self.batchnorm.renorm:
            raise ValueError("BatchNorm Bijector does not support renormalization.")
        if self.batchnorm.virtual_batch_size:
            raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")
        self._training = training
        axis = self.batchnorm.axis
        super().__init__(forward_min_event_ndims=1 if isinstance(axis, int) else len(axis), validate_args=validate_args, name=name)

    def _as_wide_as(self, x: Tensor) -> Callable:
        """A function that gives parameters of one axis the rank of `x`, if that axis is not the last."""
        shape = _known_shape(x)
        rank, axis = len(shape), self.batchnorm.axis
        others = [i for i in range(rank) if i not in axis]
        wide = [1] * rank
        wide[axis[0]] = shape[axis[0]]

        def widened(parameter: Any) -> Any:
            if parameter is not None and len(parameter.get_shape()) != rank and others != list(range(rank - 1)):
                return reshape(parameter, wide)
            return parameter

        return widened

    def _forward(self, x: Any) -> Any:
        layer = self.batchnorm
        if not layer.built:
            layer.build(x.get_shape())
        widened = self._as_wide_as(x)
        mean, variance = widened(layer.moving_mean), widened(layer.moving_variance)
        offset = widened(layer.beta) if layer.center else None
        scale = widened(layer.gamma) if layer.scale else None
        with name_scope(None, "undo_batchnorm", [x, mean, variance, scale, offset]):
            rescale = sqrt(variance + layer.epsilon)
            if scale is not None:
                rescale /= scale
            return x * rescale + (mean - offset * rescale if offset is not None else mean)

    def _inverse(self, y: Any) -> Any:
        return self.batchnorm.apply(y, training=self._training)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -self._inverse_log_det_jacobian(x, use_saved_statistics=True)

    def _inverse_log_det_jacobian(self, y: Any, use_saved_statistics: bool = False) -> Any:
        shape, layer = _known_shape(y), self.batchnorm
        if not layer.built:
            layer.build(shape)
        if use_saved_statistics or not self._training:
            log_variance = log(layer.moving_variance + layer.epsilon)
        else:
            _, variance = moments(y, axes=[i for i in range(len(shape)) if i not in layer.axis], keepdims=True)
            log_variance = log(variance + layer.epsilon)
        log_gamma = reduce_sum(log(layer.gamma))
        return log_gamma - 0.5 * reduce_sum(log_variance)


def _known_shape(x: Tensor) -> np.ndarray:
    if not x.shape.is_fully_defined():
        raise ValueError("Input must have shape known at graph construction.")
    return np.array(x.shape.as_list(), np.int32)
