"""``ModelAverageOptimizer``: workers whose variables become the mean of all now and then."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.opt.replicas import GLOBAL_VARIABLE_NAME, InitializingHook, MeetingOptimizer
from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import group, no_op
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.dtypes import bool_
from jitgraph.graph.scopes import colocate_with, control_dependencies, device, name_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import fill
from jitgraph.ops.elementwise.arithmetic import mod
from jitgraph.ops.elementwise.compare import equal
from jitgraph.resources.accumulators import ConditionalAccumulator
from jitgraph.resources.queues import FIFOQueue
from jitgraph.variables.assignments import assign, assign_add
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_collections import trainable_variables


class ModelAverageCustomGetter:
    """A custom getter by which a model's trainable variables are local to `worker_device`, each with one that all workers share."""

    def __init__(self, worker_device: Any):
        self._worker_device = worker_device
        self._local_2_global: dict = {}

    def __call__(self, getter: Callable, name: str, trainable: Any, collections: Any, *args: Any, **kwargs: Any) -> Any:
        if not trainable:
            where = self._worker_device if GraphKeys.LOCAL_VARIABLES in collections else ""
            with device(where):
                return getter(name, *args, trainable=trainable, collections=collections, **kwargs)
        with device(self._worker_device):
            variable = getter(name, *args, trainable=True, collections=[GraphKeys.LOCAL_VARIABLES], **kwargs)
        self._local_2_global[variable] = Variable(
            variable.initialized_value(), trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES],
            name=f"{GLOBAL_VARIABLE_NAME}/{name}")
        return variable


class ModelAverageOptimizer(MeetingOptimizer):
    """`opt` on a worker's variables, which become the mean of those of `num_worker` workers every `interval_steps` steps.

    The chief takes the mean and counts the global step.
    """

    def __init__(self, opt: Any, num_worker: int, is_chief: bool, ma_custom_getter: ModelAverageCustomGetter,
                 interval_steps: int = 100, use_locking: bool = True, name: str = "ModelAverageOptimizer"):
        super().__init__(opt, num_worker, interval_steps, use_locking, name)
        self._is_chief = is_chief
        self._local_2_global = ma_custom_getter._local_2_global
        self._accumulator_list: list[tuple] = []
        self._chief_init_op: Any = None

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list:  # type: ignore[override]
        """Those of the optimizer inside."""
        return self._opt.compute_gradients(*args, **kwargs)

    def _take_shared(self, variables: list) -> Any:
        if not variables:
            raise ValueError("The list of local_variables should not be empty")
        updates = []
        for var, shared in zip(variables, [self._local_2_global[var] for var in variables]):
            with device(var.device):
                updates.append(assign(var, shared.read_value()))
        return group(*updates)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """The operation of a step.  Raises ValueError without gradients or without a global step."""
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required")
        applied = self._opt.apply_gradients(grads_and_vars)
        with control_dependencies([applied]):
            counted = assign_add(self._local_step, 1, name="local_step_update").op
        variables = [var for grad, var in grads_and_vars if grad is not None]
        with name_scope(None, f"{self._name}/global"):      # around the branch, that a step may be given to them from outside
            for var, of_all in zip(variables, [self._local_2_global[var] for var in variables]):
                with device(of_all.device):
                    accumulator = ConditionalAccumulator(var.dtype, shape=var.get_shape(), shared_name=f"{of_all.name}/var_accum")
                    self._accumulator_list.append((accumulator, of_all.device))
        with control_dependencies([counted]):
            done = cond(equal(mod(self._local_step, self._period), 0), lambda: self._meet(variables, global_step), no_op)
        steps = []
        for accumulator, where in self._accumulator_list:
            with device(where):
                steps.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
        self._chief_init_op = group(*steps)
        return done

    def _meet(self, variables: list, global_step: Any) -> Any:
        shared = [self._local_2_global[var] for var in variables]
        with colocate_with(global_step):
            queue = FIFOQueue(-1, [bool_], shapes=[[]], shared_name="sync_queue")
        given, means = [], []
        for var, (accumulator, where) in zip(variables, self._accumulator_list):
            with device(where):
                given.append(accumulator.apply_grad(var._ref(), local_step=global_step))
                means.append(accumulator.take_grad(self._num_worker))
        if self._is_chief:
            updates = []
            with control_dependencies(given):
                for mean, of_all in zip(means, shared):
                    with device(of_all.device):
                        updates.append(assign(of_all, mean))
                with device(global_step.device):
                    updates.append(assign_add(global_step, 1))
            with control_dependencies(updates), device(global_step.device):
                met = queue.enqueue_many(fill([self._num_worker - 1], constant(False)))
        else:
            with control_dependencies(given), device(global_step.device):
                met = queue.dequeue()
        with control_dependencies([met]):
            return self._take_shared(variables)

    def get_init_op(self) -> Any:
        """An operation that gives the local variables the shared values; raises ValueError if there are none."""
        return self._take_shared(trainable_variables())

    def make_session_run_hook(self) -> InitializingHook:
        """A hook that adds ``get_init_op`` to the graph; a program runs it itself."""
        return _AddingHook(self.get_init_op, self._is_chief)


class _AddingHook(InitializingHook):
    def after_create_session(self, session: Any, coord: Any) -> None:
        """Nothing is run, as in TensorFlow."""
