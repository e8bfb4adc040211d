"""Optimizers by the names of ``tf.contrib.optimizer_v2``: steps, variables and slots are those of ``tf.train``."""
from __future__ import annotations

from typing import Any

from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.elementwise.cast import cast
from jitgraph.train import adam, adaptive, gradient_descent
from jitgraph.train.optimizer import Optimizer


class Scaled(Optimizer):
    """`stop_gradients` are tensors not to differentiate through; `scale_loss_by_num_replicas` changes nothing: there is one."""

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None,            # type: ignore[override]
                 gate_gradients: int = Optimizer.GATE_OP, aggregation_method: Any = None,
                 name: str | None = None, grad_loss: Any = None, stop_gradients: Any = None,
                 scale_loss_by_num_replicas: bool = False) -> Any:
        """The operation that makes one step towards a smaller `loss`, and adds 1 to `global_step` if given."""
        pairs = self.compute_gradients(
            loss, var_list=var_list, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
            grad_loss=grad_loss, stop_gradients=stop_gradients)
        return self._step_towards(loss, pairs, global_step, name)

    def compute_gradients(self, loss: Any, var_list: Any = None,                            # type: ignore[override]
                          gate_gradients: int = Optimizer.GATE_OP, aggregation_method: Any = None,
                          grad_loss: Any = None, stop_gradients: Any = None, scale_loss_by_num_replicas: bool = False) -> list:
        """The gradients of `loss` as a list of (gradient, variable), as those of ``tf.train`` give them."""
        return self._gradients(loss, var_list, gate_gradients, aggregation_method, False, grad_loss, stop_gradients)


class GradientDescentOptimizer(Scaled, gradient_descent.GradientDescentOptimizer):
    """``tf.train.GradientDescentOptimizer``."""


class MomentumOptimizer(Scaled, gradient_descent.MomentumOptimizer):
    """``tf.train.MomentumOptimizer``."""


class AdagradOptimizer(Scaled, adaptive.AdagradOptimizer):
    """``tf.train.AdagradOptimizer``."""


class AdadeltaOptimizer(Scaled, adaptive.AdadeltaOptimizer):
    """``tf.train.AdadeltaOptimizer``."""


class RMSPropOptimizer(Scaled, adaptive.RMSPropOptimizer):
    """``tf.train.RMSPropOptimizer`` whose slot "rms" starts at `epsilon`, which is added to no denominator."""

    def __init__(self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
                 use_locking: bool = False, centered: bool = False, name: str = "RMSProp"):
        super().__init__(learning_rate, decay, momentum, 0, use_locking, centered, name)
        self._first = epsilon

    def _first_square(self, var: Any) -> Any:
        def first(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            return cast(self._first, dtype) * ones(shape, dtype)

        return first


class AdamOptimizer(Scaled, adam.AdamOptimizer):
    """``tf.train.AdamOptimizer``."""
