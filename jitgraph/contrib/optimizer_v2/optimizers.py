"""Optimizers by the names of ``tf.contrib.optimizer_v2``: steps, variables and slots are those of ``tf.train``."""
from __future__ import annotations

from typing import Any

from jitgraph.autodiff.gradients import gradients
from jitgraph.train import adam, adaptive, gradient_descent
from jitgraph.train.optimizer import Optimizer, _target
from jitgraph.variables.variable_collections import trainable_variables


class _Scaled(Optimizer):
    """`stop_gradients` are tensors not to differentiate through; `scale_loss_by_num_replicas` changes nothing: there is one."""

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None,            # type: ignore[override]
                 gate_gradients: int = Optimizer.GATE_OP, aggregation_method: Any = None, colocate_gradients_with_ops: bool = False,
                 name: str | None = None, grad_loss: Any = None, stop_gradients: Any = None,
                 scale_loss_by_num_replicas: bool | None = None) -> Any:
        """The operation that makes one step towards a smaller `loss`, and adds 1 to `global_step` if given."""
        pairs = self.compute_gradients(loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss,
                                       stop_gradients)
        if all(grad is None for grad, _ in pairs):
            raise ValueError("No gradients provided for any variable, check your graph for ops that do not support gradients, "
                             f"between variables {[str(variable) for _, variable in pairs]} and loss {loss}.")
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(self, loss: Any, var_list: Any = None,                            # type: ignore[override]
                          gate_gradients: int = Optimizer.GATE_OP, aggregation_method: Any = None,
                          colocate_gradients_with_ops: bool = False, grad_loss: Any = None, stop_gradients: Any = None,
                          scale_loss_by_num_replicas: bool | None = None) -> list:
        """The gradients of `loss` as a list of (gradient, variable), as those of ``tf.train`` give them."""
        if stop_gradients is None:
            return super().compute_gradients(loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops,
                                             grad_loss)
        variables = trainable_variables() if var_list is None else list(var_list)
        found = gradients(loss() if callable(loss) else loss, [_target(one) for one in variables], grad_ys=grad_loss,
                          gate_gradients=gate_gradients == Optimizer.GATE_OP, aggregation_method=aggregation_method,
                          colocate_gradients_with_ops=colocate_gradients_with_ops, stop_gradients=stop_gradients)
        return list(zip(found, variables))


class GradientDescentOptimizer(_Scaled, gradient_descent.GradientDescentOptimizer):
    """``tf.train.GradientDescentOptimizer``."""


class MomentumOptimizer(_Scaled, gradient_descent.MomentumOptimizer):
    """``tf.train.MomentumOptimizer``."""


class AdagradOptimizer(_Scaled, adaptive.AdagradOptimizer):
    """``tf.train.AdagradOptimizer``."""


class AdadeltaOptimizer(_Scaled, adaptive.AdadeltaOptimizer):
    """``tf.train.AdadeltaOptimizer``."""


class AdamOptimizer(_Scaled, adam.AdamOptimizer):
    """``tf.train.AdamOptimizer``."""
