"""Optimizers that differ from Adam in one thing: rows, momentum, the norm, or where the step is counted."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.contrib.opt.rows import changed_rows
from jitgraph.control.order_ops import group
from jitgraph.graph import dtypes
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import colocate_with, control_dependencies
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.elementwise.arithmetic import abs as abs_of
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.arithmetic import pow as pow_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.composite_values import sqrt, square
from jitgraph.train.adam import AdamOptimizer
from jitgraph.train.optimizer import Optimizer
from jitgraph.variables.assignments import assign, scatter_sub, scatter_update


class _LazyRows(AdamOptimizer):
    """Adam that moves only the rows of a sparse gradient, and only their means."""

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        locking = self._use_locking
        indices, values = grad.indices, grad.values
        beta1_power, beta2_power, lr, beta1, beta2, epsilon = self._hyperparameters(var)
        rate = lr * sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_t = scatter_update(m, indices, beta1 * gather(m, indices) + (1 - beta1) * values, use_locking=locking)
        v_t = scatter_update(v, indices, beta2 * gather(v, indices) + (1 - beta2) * square(values), use_locking=locking)
        m_rows, v_rows = gather(m_t, indices), gather(v_t, indices)
        denominator = sqrt(v_rows) + epsilon
        step = scatter_sub(var, indices, rate * m_rows / denominator, use_locking=locking)
        return group(step, m_t, v_t)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        beta1_power, beta2_power, lr, beta1, beta2, epsilon = self._hyperparameters(var)
        rate = lr * sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * gather(m, indices) + (1 - beta1) * grad
        m_t = raw.ResourceScatterUpdate(m.handle, indices, m_rows)
        v_rows = beta2 * gather(v, indices) + (1 - beta2) * square(grad)
        v_t = raw.ResourceScatterUpdate(v.handle, indices, v_rows)
        step = raw.ResourceScatterSub(var.handle, indices, rate * m_rows / (sqrt(v_rows) + epsilon))
        return group(step, m_t, v_t)


class LazyAdamOptimizer(_LazyRows):
    """Adam in which rows without a gradient rest: neither they nor their means move.

    Cheaper than ``tf.train.AdamOptimizer`` for large embeddings, and not the same.
    """


class _CountedByGlobalStep(AdamOptimizer):
    """Adam whose powers of beta come from a step that is counted elsewhere."""

    def __init__(self, global_step: Any = 0, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999,
                 epsilon: Any = 1e-8, use_locking: bool = False, name: str = "Adam"):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._global_step = global_step
        self._steps: Any = None

    def _get_beta_accumulators(self) -> tuple:
        return pow_of(self._beta1_t, self._steps), pow_of(self._beta2_t, self._steps)

    def _create_slots(self, var_list: list) -> None:
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        self._steps = cast(identity(self._global_step) + 1, dtypes.float32)

    def _finish(self, update_ops: list, name_scope: str) -> Any:
        return Optimizer._finish(self, update_ops, name_scope)


class AdamGSOptimizer(_CountedByGlobalStep):
    """Adam that takes the powers of beta from `global_step`, so that it has no variables of its own for them."""


class LazyAdamGSOptimizer(_CountedByGlobalStep, _LazyRows):
    """``LazyAdamOptimizer`` that takes the powers of beta from `global_step`."""


class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov's momentum (Dozat, 2016)."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return raw.ApplyAdam(var, self.get_slot(var, "m"), self.get_slot(var, "v"), *self._hyperparameters(var), grad,
                             use_locking=self._use_locking, use_nesterov=True).op

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        return raw.ResourceApplyAdam(var.handle, self.get_slot(var, "m").handle, self.get_slot(var, "v").handle,
                                     *self._hyperparameters(grad), grad, use_locking=self._use_locking, use_nesterov=True)

    def _apply_rows(self, grad: Any, var: Any, indices: Any, add_rows: Any) -> Any:
        beta1_power, beta2_power, lr, beta1, beta2, epsilon = self._hyperparameters(var)
        rate = lr * sqrt(1 - beta2_power) / (1 - beta1_power)
        m = self.get_slot(var, "m")
        scaled = grad * (1 - beta1)
        m_t = assign(m, m * beta1, use_locking=self._use_locking)
        with control_dependencies([m_t]):
            m_t = add_rows(m, indices, scaled)
            ahead = scaled + beta1 * gather(m_t, indices)
        v = self.get_slot(var, "v")
        scaled = grad * grad * (1 - beta2)
        v_t = assign(v, v * beta2, use_locking=self._use_locking)
        with control_dependencies([v_t]):
            v_t = add_rows(v, indices, scaled)
        root = sqrt(gather(v_t, indices))
        step = add_rows(var, indices, -rate * ahead / (root + epsilon))
        return group(step, ahead, v_t)


class AdaMaxOptimizer(AdamOptimizer):
    """Adam by the largest instead of the mean of squares (Kingma and Ba, 2014, section 7.1).

    v = max(beta2 * v, abs(gradient)); var -= learning_rate / (1 - beta1 ** t) * m / (v + epsilon).  Slots: "m", "v".
    """

    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
                 use_locking: bool = False, name: str = "AdaMax"):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self) -> Any:
        return self._get_non_slot_variable("beta1_power", get_default_graph())

    def _hyperparameters(self, like: Any) -> list:
        return [self._as(value, like) for value in (self._get_beta_accumulators(), self._lr_t, self._beta1_t, self._beta2_t,
                                                    self._epsilon_t)]

    def _create_slots(self, var_list: list) -> None:
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return raw.ApplyAdaMax(var, self.get_slot(var, "m"), self.get_slot(var, "v"), *self._hyperparameters(var), grad,
                               use_locking=self._use_locking).op

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        return raw.ResourceApplyAdaMax(var.handle, self.get_slot(var, "m").handle, self.get_slot(var, "v").handle,
                                       *self._hyperparameters(grad), grad, use_locking=self._use_locking)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._move_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._move_rows(grad, var, indices)

    def _move_rows(self, grad: Any, var: Any, indices: Any) -> Any:
        beta1_power, lr, beta1, beta2, epsilon = self._hyperparameters(var)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = gather(m, indices) * beta1 + grad * (1 - beta1)
        with control_dependencies([m_rows]):
            m_t = changed_rows("Update", m, indices, m_rows, self._use_locking)
        v_rows = maximum(gather(v, indices) * beta2, abs_of(grad))
        with control_dependencies([v_rows]):
            v_t = changed_rows("Update", v, indices, v_rows, self._use_locking)
        step_rows = -lr / (1 - beta1_power) * (m_rows / (v_rows + epsilon))
        with control_dependencies([step_rows]):
            step = changed_rows("Add", var, indices, step_rows, self._use_locking)
        return group(step, m_t, v_t)

    def _finish(self, update_ops: list, name_scope: str) -> Any:
        with control_dependencies(update_ops):
            power = self._get_beta_accumulators()
            with colocate_with(power.op):
                done = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return group(*update_ops, done, name=name_scope)
