"""``AGNOptimizer``: workers that add up gradients and normalize them before they meet (Hermans, Spanakis and Moeckel, 2017)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.opt.replicas import CopyingGetter, InitializingHook, MeetingOptimizer, first_values
from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import group, no_op
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.scopes import colocate_with, control_dependencies
from jitgraph.ops.arrays.fill import zeros_like
from jitgraph.ops.elementwise.arithmetic import mod
from jitgraph.ops.elementwise.compare import equal
from jitgraph.variables.assignments import assign, assign_add
from jitgraph.variables.creators import variable_creator_scope


class AGNCustomGetter(CopyingGetter):
    """A custom getter by which a model's trainable variables are local to `worker_device`, with a centre that all workers share and
    a local sum of gradients."""

    def __init__(self, worker_device: Any):
        super().__init__(worker_device, "grad_variable")

    @property
    def _grad_map(self) -> dict:
        return self._own_map

    def _untrainable(self, getter: Callable, name: str, trainable: Any, collections: Any, *args: Any, **kwargs: Any) -> Any:
        return getter(name, *args, trainable=trainable, collections=collections, **kwargs)


class AGNOptimizer(MeetingOptimizer):
    """`optimizer` on a worker's variables; every `communication_period` steps the mean of its gradients is applied to those that
    all workers share, whose values the worker takes."""

    def __init__(self, optimizer: Any, num_worker: int, custom_getter: AGNCustomGetter, communication_period: int = 10,
                 use_locking: bool = True, name: str = "AGNOptimizer"):
        super().__init__(optimizer, num_worker, communication_period, use_locking, name)
        self._global_map, self._grad_map = custom_getter._global_map, custom_getter._grad_map

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """The operation of a step; what the optimizer inside keeps of local variables is local."""
        grads_and_vars = list(grads_and_vars)
        with variable_creator_scope(_local_creator):
            updates = [self._opt.apply_gradients(grads_and_vars)]
        variables = [var for grad, var in grads_and_vars if grad is not None]
        sums = [self._grad_map[var] for var in variables]
        updates.extend(assign_add(total, grad) for total, grad in
                       zip(sums, [grad for grad, _ in grads_and_vars if grad is not None]))
        counted = assign_add(self._local_step, 1, name="local_step_update").op
        with control_dependencies([counted]):
            meets = equal(mod(self._local_step, self._period), 0)
        with control_dependencies(updates):
            return cond(meets, lambda: self._meet(variables, sums, global_step), no_op)

    def _meet(self, variables: list, sums: list, global_step: Any) -> Any:
        with control_dependencies([assign(total, total / self._period) for total in sums]):
            applied = self._opt.apply_gradients(zip(sums, [self._global_map[var] for var in variables]))
        updates = []
        with control_dependencies([applied]):
            if global_step is not None:
                with colocate_with(global_step):
                    updates.append(assign_add(global_step, 1))
            updates.extend(assign(var, self._global_map[var].read_value()) for var in variables)
            updates.extend(assign(total, zeros_like(total)) for total in sums)
            return group(*updates)

    def get_init_op(self, task_index: int) -> Any:
        """An operation that gives the local variables the shared values; raises ValueError if there are no trainable variables."""
        return first_values(self._global_map, self._grad_map, False, "The lists of local_variables, global_center_variables,"
                            "grad_center_variables should not be empty")

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> InitializingHook:
        """A hook that runs ``get_init_op`` when the session is there."""
        return InitializingHook(lambda: self.get_init_op(task_index), is_chief)


def _local_creator(next_creator: Callable, collections: Any, **kwargs: Any) -> Any:
    if not collections:
        collections = [GraphKeys.LOCAL_VARIABLES]
    elif GraphKeys.GLOBAL_VARIABLES in collections:
        collections = [key for key in collections if key != GraphKeys.GLOBAL_VARIABLES] + [GraphKeys.LOCAL_VARIABLES]
    return next_creator(collections=collections, **kwargs)
