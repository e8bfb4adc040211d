"""Weight decay apart from the gradient (Loshchilov and Hutter, 2017): an extension of any optimizer."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.opt.rows import changed_rows
from jitgraph.control.order_ops import no_op
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.gather import gather
from jitgraph.train.adam import AdamOptimizer
from jitgraph.train.gradient_descent import MomentumOptimizer
from jitgraph.train.optimizer import Optimizer


class DecoupledWeightDecayExtension:
    """Before its optimizer's step, a variable loses `weight_decay` (a number, tensor or function) times itself.

    ``class MyW(DecoupledWeightDecayExtension, MyOptimizer)`` makes such an optimizer.  ``minimize`` and ``apply_gradients`` take
    ``decay_var_list``, the variables that decay; by default all do.
    """

    _decay_var_list: Any

    def __init__(self, weight_decay: Any, **kwargs: Any):
        self._decay_var_list = None
        self._weight_decay = weight_decay
        self._weight_decay_tensor: Any = None
        super().__init__(**kwargs)

    def _take(self, decay_var_list: Any) -> None:
        self._decay_var_list = {id(var) for var in decay_var_list} if decay_var_list else None

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None, gate_gradients: int = Optimizer.GATE_OP,
                 aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, name: str | None = None,
                 grad_loss: Any = None, decay_var_list: Any = None) -> Any:
        """As of ``tf.train.Optimizer``; the variables `decay_var_list` decay."""
        self._take(decay_var_list)
        pairs = self.compute_gradients(  # type: ignore[attr-defined]
            loss, var_list=var_list, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None,
                        decay_var_list: Any = None) -> Any:
        """As of ``tf.train.Optimizer``; the variables `decay_var_list` decay."""
        self._take(decay_var_list)
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)  # type: ignore[misc]

    def _prepare(self) -> None:
        decay = self._weight_decay
        self._weight_decay_tensor = convert_to_tensor(decay() if callable(decay) else decay, name="weight_decay")
        super()._prepare()  # type: ignore[misc]

    def _decays(self, var: Any) -> bool:
        return self._decay_var_list is None or id(var) in self._decay_var_list

    def _decayed(self, var: Any) -> Any:
        locking = self._use_locking  # type: ignore[attr-defined]
        return var.assign_sub(self._weight_decay * var, locking) if self._decays(var) else no_op()

    def _decayed_rows(self, var: Any, indices: Any) -> Any:
        if not self._decays(var):
            return no_op()
        update = -self._weight_decay * gather(var, indices)
        return changed_rows("Add", var, indices, update, self._use_locking)  # type: ignore[attr-defined]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        with control_dependencies([self._decayed(var)]):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        with control_dependencies([self._decayed(var)]):
            return super()._resource_apply_dense(grad, var)  # type: ignore[misc]

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        with control_dependencies([self._decayed_rows(var, grad.indices)]):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        with control_dependencies([self._decayed_rows(var, indices)]):
            return super()._resource_apply_sparse(grad, var, indices)  # type: ignore[misc]


def extend_with_decoupled_weight_decay(base_optimizer: Any) -> Any:
    """The class of `base_optimizer`, a class of optimizers, with weight decay: its constructor takes `weight_decay` first."""
    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        """`base_optimizer` with weight decay."""

        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any):
            super().__init__(weight_decay, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """``tf.train.MomentumOptimizer`` with weight decay."""

    def __init__(self, weight_decay: Any, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "MomentumW",
                 use_nesterov: bool = False):
        super().__init__(weight_decay, learning_rate=learning_rate, momentum=momentum, use_locking=use_locking, name=name,
                         use_nesterov=use_nesterov)


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """``tf.train.AdamOptimizer`` with weight decay."""

    def __init__(self, weight_decay: Any, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
                 use_locking: bool = False, name: str = "AdamW"):
        super().__init__(weight_decay, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon,
                         use_locking=use_locking, name=name)
