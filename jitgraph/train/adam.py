"""Adam."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import group
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import colocate_with, control_dependencies
from jitgraph.train.optimizer import Optimizer
from jitgraph.variables.assignments import assign, assign_sub, scatter_add


class AdamOptimizer(Optimizer):
    """Steps by running means of the gradient and of its square (Kingma and Ba, 2014).

    In step t, m and v being those means: var -= lr_t * m / (sqrt(v) + epsilon), with
    lr_t = learning_rate * sqrt(1 - beta2 ** t) / (1 - beta1 ** t).  Sparse gradients move all rows.  Slots: "m", "v";
    the powers of beta are the variables ``beta1_power``, ``beta2_power``.
    """

    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
                 use_locking: bool = False, name: str = "Adam"):
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon
        self._lr_t: Any = None
        self._beta1_t: Any = None
        self._beta2_t: Any = None
        self._epsilon_t: Any = None

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        graph = get_default_graph()
        return self._get_non_slot_variable("beta1_power", graph), self._get_non_slot_variable("beta2_power", graph)

    def _create_slots(self, var_list: list) -> None:
        first = min(var_list, key=lambda v: v.name)     # the same place on every run
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        self._create_non_slot_variable(self._beta2, "beta2_power", first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self) -> None:
        self._lr_t = convert_to_tensor(self._call_if_callable(self._lr), name="learning_rate")
        self._beta1_t = convert_to_tensor(self._call_if_callable(self._beta1), name="beta1")
        self._beta2_t = convert_to_tensor(self._call_if_callable(self._beta2), name="beta2")
        self._epsilon_t = convert_to_tensor(self._call_if_callable(self._epsilon), name="epsilon")

    def _hyperparameters(self, like: Any) -> list:
        return [self._as(value, like) for value in (*self._get_beta_accumulators(), self._lr_t, self._beta1_t,
                                                    self._beta2_t, self._epsilon_t)]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return raw.ApplyAdam(var, self.get_slot(var, "m"), self.get_slot(var, "v"), *self._hyperparameters(var), grad,
                             use_locking=self._use_locking).op

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        return raw.ResourceApplyAdam(var.handle, self.get_slot(var, "m").handle, self.get_slot(var, "v").handle,
                                     *self._hyperparameters(grad), grad, use_locking=self._use_locking)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._apply_rows(grad.values, var, grad.indices, lambda x, i, v: scatter_add(
            x, i, v, use_locking=self._use_locking))

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        def add(variable: Any, rows: Any, values: Any) -> Any:
            with control_dependencies([raw.ResourceScatterAdd(variable.handle, rows, values)]):
                return variable.value()

        return self._apply_rows(grad, var, indices, add)

    def _apply_rows(self, grad: Any, var: Any, indices: Any, add_rows: Any) -> Any:
        """All rows decay; those of the gradient receive it."""
        beta1_power, beta2_power, lr, beta1, beta2, epsilon = self._hyperparameters(var)
        rate = lr * raw.Sqrt(1 - beta2_power) / (1 - beta1_power)
        m = self.get_slot(var, "m")
        scaled = grad * (1 - beta1)
        m_t = assign(m, m * beta1, use_locking=self._use_locking)
        with control_dependencies([m_t]):
            m_t = add_rows(m, indices, scaled)
        v = self.get_slot(var, "v")
        scaled = (grad * grad) * (1 - beta2)
        v_t = assign(v, v * beta2, use_locking=self._use_locking)
        with control_dependencies([v_t]):
            v_t = add_rows(v, indices, scaled)
        root = raw.Sqrt(v_t)
        step = assign_sub(var, rate * m_t / (root + epsilon), use_locking=self._use_locking)
        return group(step, m_t, v_t)

    def _finish(self, update_ops: list, name_scope: str) -> Any:
        with control_dependencies(update_ops):
            beta1_power, beta2_power = self._get_beta_accumulators()
            with colocate_with(beta1_power.op):
                powers = [beta1_power.assign(beta1_power * self._beta1_t, use_locking=self._use_locking),
                          beta2_power.assign(beta2_power * self._beta2_t, use_locking=self._use_locking)]
        return group(*update_ops, *powers, name=name_scope)
