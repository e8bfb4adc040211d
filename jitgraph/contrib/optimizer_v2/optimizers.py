"""Optimizers by the names of ``tf.contrib.optimizer_v2``: steps, variables and slots are those of ``tf.train``."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.optimizer_v2.own import OptimizerV2, Stopped
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.elementwise.cast import cast
from jitgraph.train import adam, adaptive, gradient_descent


class Ready(Stopped):
    """The base of those below, whose steps are those of ``tf.train``: each is an ``OptimizerV2``."""


OptimizerV2.register(Ready)


class GradientDescentOptimizer(Ready, gradient_descent.GradientDescentOptimizer):
    """``tf.train.GradientDescentOptimizer``."""


class MomentumOptimizer(Ready, gradient_descent.MomentumOptimizer):
    """``tf.train.MomentumOptimizer``."""


class AdagradOptimizer(Ready, adaptive.AdagradOptimizer):
    """``tf.train.AdagradOptimizer``."""


class AdadeltaOptimizer(Ready, adaptive.AdadeltaOptimizer):
    """``tf.train.AdadeltaOptimizer``."""


class RMSPropOptimizer(Ready, adaptive.RMSPropOptimizer):
    """``tf.train.RMSPropOptimizer`` whose slot "rms" starts at `epsilon`, which is added to no denominator."""

    def __init__(self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
                 use_locking: bool = False, centered: bool = False, name: str = "RMSProp"):
        super().__init__(learning_rate, decay, momentum, 0, use_locking, centered, name)
        self._first = epsilon

    def _first_square(self, var: Any) -> Any:
        def first(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            return cast(self._first, dtype) * ones(shape, dtype)

        return first


class AdamOptimizer(Ready, adam.AdamOptimizer):
    """``tf.train.AdamOptimizer``."""
