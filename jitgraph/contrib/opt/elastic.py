"""``ElasticAverageOptimizer``: workers drawn towards a common centre (Zhang, Choromanska and LeCun, 2015)."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.opt.replicas import CopyingGetter, InitializingHook, MeetingOptimizer, first_values
from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import group, no_op
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import bool_
from jitgraph.graph.scopes import add_to_collection, colocate_with, control_dependencies, device
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.elementwise.arithmetic import mod, multiply, subtract
from jitgraph.ops.elementwise.clip import l2_loss
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.resources.queues import FIFOQueue
from jitgraph.train.optimizer import Optimizer
from jitgraph.train.saver import Saver
from jitgraph.variables.assignments import assign_add, assign_sub
from jitgraph.variables.saveables import by_name
from jitgraph.variables.variable_collections import global_variables, trainable_variables


class ElasticAverageCustomGetter(CopyingGetter):
    """A custom getter by which a model's trainable variables are local to `worker_device`, with two centres: one that all workers
    share and a local copy of it."""

    def __init__(self, worker_device: Any):
        super().__init__(worker_device, "local_center_variable")

    @property
    def _local_map(self) -> dict:
        return self._own_map


class ElasticAverageOptimizer(MeetingOptimizer):
    """`opt` on a worker's variables; every `communication_period` steps these and the centre move towards each other.

    `moving_rate`: by which part of their distance, 0.9 / period / workers without; `rho`: how much the distance counts in the
    loss, moving rate / learning rate without; `synchronous`: whether the workers wait for each other at the start.
    """

    BETA = 0.9

    def __init__(self, opt: Any, num_worker: int, ea_custom_getter: ElasticAverageCustomGetter, communication_period: int = 10,
                 moving_rate: float | None = None, rho: float | None = None, use_locking: bool = True, synchronous: bool = False,
                 name: str = "ElasticAverageOptimizer"):
        super().__init__(opt, num_worker, communication_period, use_locking, name)
        self._local_map, self._global_map = ea_custom_getter._local_map, ea_custom_getter._global_map
        self._synchronous = synchronous
        self._moving_rate = self.BETA / communication_period / num_worker if moving_rate is None else moving_rate
        self._rho = self._moving_rate / opt._learning_rate if rho is None else rho

    def compute_gradients(self, loss: Any, var_list: Any = None, gate_gradients: int = Optimizer.GATE_OP,  # type: ignore[override]
                          aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, grad_loss: Any = None) -> list:
        """Gradients of the loss and the distance from the centre."""
        var_list = var_list or trainable_variables()
        differences = [subtract(var, centre) for var, centre in
                       zip(trainable_variables(), [self._local_map[var] for var in var_list])]
        distance = self._rho * add_n([l2_loss(one) for one in differences])
        return self._opt.compute_gradients(
            loss + distance, var_list=var_list, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """The operation of a step; what the optimizer inside keeps becomes local."""
        before = {var.op.name for var in global_variables()}
        applied = self._opt.apply_gradients(grads_and_vars)
        _make_local({var.op.name for var in global_variables()} - before)
        with control_dependencies([applied]):
            counted = assign_add(self._local_step, 1, name="local_step_update").op
        variables = [var for grad, var in grads_and_vars if grad is not None]
        with control_dependencies([counted]):
            return cond(equal(mod(self._local_step, self._period), 0), lambda: self._meet(variables, global_step), no_op)

    def _meet(self, variables: list, global_step: Any) -> Any:
        shared, centres = [self._global_map[var] for var in variables], [self._local_map[var] for var in variables]
        fetched = [centre.assign(var) for centre, var in zip(centres, shared)]
        updates, differences = [], []
        with control_dependencies(fetched):
            for var, centre in zip(variables, centres):
                with device(var.device):
                    differences.append(subtract(var, centre))
            for targets, move in ((variables, assign_sub), (shared, assign_add)):
                for var, difference in zip(targets, differences):
                    with device(var.device):
                        updates.append(move(var, multiply(self._moving_rate, difference)))
            if global_step is not None:
                with colocate_with(global_step):
                    updates.append(assign_add(global_step, 1))
        return group(*updates)

    def get_init_op(self, task_index: int) -> Any:
        """An operation that gives the local variables the values of the centre, and waits for the other workers if `synchronous`.

        Raises ValueError if there are no trainable variables.
        """
        done = first_values(self._global_map, self._local_map, True, "The lists of local_variables, global_center_variables, "
                            "local_center_variables should not be empty  ")
        if not self._synchronous:
            return done
        queues = [FIFOQueue(self._num_worker, [bool_], shapes=[[]], shared_name=f"variable_init_sync_queue{index}")
                  for index in range(self._num_worker)]
        token = constant(False)
        with control_dependencies([done]):
            waits = [no_op() if index == task_index else queue.enqueue(token) for index, queue in enumerate(queues)]
        waits.append(queues[task_index].dequeue_many(len(queues) - 1))
        return group(*waits)

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> InitializingHook:
        """A hook that runs ``get_init_op`` when the session is there."""
        return InitializingHook(lambda: self.get_init_op(task_index), is_chief)

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any) -> Saver:
        """A Saver that saves the centre under the names of the variables.  Raises RuntimeError before there is a centre."""
        if not self._global_map:
            raise RuntimeError("global_center_variable is empty, please make sure this is called after model created and "
                               "ElasticAverageCustomGetter is used when declaring you model")
        if var_list is None:
            var_list = trainable_variables()
        if not isinstance(var_list, dict):
            var_list = by_name(var_list)
        centres = {var.op.name: centre for var, centre in self._global_map.items()}
        swapped = {key: [centres.get(part.op.name, part) for part in var] if isinstance(var, list)
                   else centres.get(var.op.name, var) for key, var in var_list.items()}
        return Saver(swapped, name=name, **kwargs)


def _make_local(names: set[str]) -> None:
    """Moves variables from the collection of global ones to that of local ones."""
    variables = get_default_graph().get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
    for var in [var for var in variables if var.op.name in names]:
        add_to_collection(GraphKeys.LOCAL_VARIABLES, var)
    variables[:] = [var for var in variables if var.op.name not in names]
