"""What a loss is multiplied by: a number, or one that grows while gradients stay finite (Micikevicius et al., 2018)."""
from __future__ import annotations

import abc
from typing import Any

from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import group, no_op
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import float32, int32
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.elementary import is_finite, reciprocal
from jitgraph.ops.reduce.reductions import reduce_all
from jitgraph.train.optimizer import Optimizer
from jitgraph.variables.assignments import assign, assign_add
from jitgraph.variables.variable import Variable


class LossScaleManager(abc.ABC):
    """Says what the loss is multiplied by, and learns whether the gradients were finite."""

    @abc.abstractmethod
    def get_loss_scale(self) -> Any:
        """The scale, a float32 scalar."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: Any) -> Any:
        """An operation that changes the scale by the bool scalar `finite_grads`."""


class FixedLossScaleManager(LossScaleManager):
    """Always `loss_scale`.  Raises ValueError below 1."""

    def __init__(self, loss_scale: Any):
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = convert_to_tensor(loss_scale, dtype=float32)

    def get_loss_scale(self) -> Any:
        """The scale."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        """An operation that does nothing."""
        return no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """`init_loss_scale` at first; times `incr_ratio` after `incr_every_n_steps` steps in a row with finite gradients, times
    `decr_ratio`, not below 1, after `decr_every_n_nan_or_inf` steps without."""

    def __init__(self, init_loss_scale: Any, incr_every_n_steps: Any, decr_every_n_nan_or_inf: Any = 2, incr_ratio: Any = 2,
                 decr_ratio: Any = 0.8):
        self._incr_every_n_steps, self._decr_every_n_nan_or_inf = incr_every_n_steps, decr_every_n_nan_or_inf
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        self._loss_scale = Variable(convert_to_tensor(init_loss_scale, float32), name="loss_scale", dtype=float32, trainable=False)
        self._num_good_steps: Any = Variable(0, name="good_steps", dtype=int32, trainable=False)
        self._num_bad_steps: Any = Variable(0, name="bad_steps", dtype=int32, trainable=False)

    def get_loss_scale(self) -> Any:
        """The variable that holds the scale."""
        return self._loss_scale

    def _reset_stats(self) -> Any:
        return group(assign(self._num_good_steps, 0), assign(self._num_bad_steps, 0))

    def update_loss_scale(self, finite_grads: Any) -> Any:
        """An operation that counts the step and changes the scale when it is time."""
        return cond(finite_grads, self._after_finite, self._after_infinite)

    def _after_finite(self) -> Any:
        def grow() -> Any:
            larger = cond(is_finite(self._loss_scale * self._incr_ratio), lambda: self._loss_scale * self._incr_ratio,
                          lambda: self._loss_scale)
            return group(assign(self._loss_scale, larger), self._reset_stats())

        return cond(self._num_good_steps + 1 >= self._incr_every_n_steps, grow, lambda: assign_add(self._num_good_steps, 1).op)

    def _after_infinite(self) -> Any:
        def shrink() -> Any:
            smaller = assign(self._loss_scale, maximum(1.0, self._loss_scale * self._decr_ratio))
            return group(smaller, self._reset_stats())

        def count() -> Any:
            return group(assign_add(self._num_bad_steps, 1), assign(self._num_good_steps, 0))

        return cond(self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf, shrink, count)


class LossScaleOptimizer(Optimizer):
    """`opt` on the loss times the scale of `loss_scale_manager`; gradients are divided by it, and a step whose gradients are not
    finite is left out."""

    def __init__(self, opt: Any, loss_scale_manager: LossScaleManager):
        super().__init__(False, "LossScaleOptimizer")
        self._opt, self._loss_scale_manager = opt, loss_scale_manager

    def compute_gradients(self, loss: Any, var_list: Any = None, gate_gradients: int = Optimizer.GATE_OP,  # type: ignore[override]
                          aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, grad_loss: Any = None) -> list:
        """Gradients of the loss itself; it may be a function that makes it."""
        scale = self._loss_scale_manager.get_loss_scale()
        loss = loss() if callable(loss) else loss
        pairs = self._opt.compute_gradients(
            loss * cast(scale, loss.dtype.base_dtype), var_list=var_list, gate_gradients=gate_gradients,
            aggregation_method=aggregation_method, colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        inverse = reciprocal(scale)
        return [(grad if grad is None else grad * cast(inverse, grad.dtype.base_dtype), var) for grad, var in pairs]

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """The operation of a step and of the scale's update."""
        pairs = list(grads_and_vars)
        finite = reduce_all([reduce_all(is_finite(grad)) for grad, _ in pairs])
        done = cond(finite, lambda: self._opt.apply_gradients(pairs, global_step, name), no_op)
        return group(done, self._loss_scale_manager.update_loss_scale(finite))
