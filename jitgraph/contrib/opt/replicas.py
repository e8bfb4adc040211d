"""Optimizers whose workers train variables of their own and meet now and then: what those of model averages, elastic averages and
accumulated gradients share."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.control.order_ops import group
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.scopes import device
from jitgraph.ops.arrays.fill import zeros_like
from jitgraph.train.hooks.run_hooks import SessionRunHook
from jitgraph.train.optimizer import Optimizer
from jitgraph.variables.assignments import assign
from jitgraph.variables.variable_collections import (
    global_variables_initializer,
    local_variables_initializer,
    trainable_variables,
)
from jitgraph.variables.variable_scopes import get_variable

GLOBAL_VARIABLE_NAME = "global_center_variable"


class CopyingGetter:
    """A custom getter that makes each trainable variable local, with one that all workers share and one more that is local.

    `own_name`: the scope of the latter; partitioned variables are kept part by part.
    """

    def __init__(self, worker_device: Any, own_name: str):
        self._worker_device = worker_device
        self._own_name = own_name
        self._own_map: dict = {}
        self._global_map: dict = {}

    def _untrainable(self, getter: Callable, name: str, trainable: Any, collections: Any, *args: Any, **kwargs: Any) -> Any:
        if collections and GraphKeys.LOCAL_VARIABLES in collections:
            with device(self._worker_device):
                return getter(name, *args, trainable=trainable, collections=collections, **kwargs)
        return getter(name, *args, trainable=trainable, collections=collections, **kwargs)

    def __call__(self, getter: Callable, name: str, trainable: Any, collections: Any, *args: Any, **kwargs: Any) -> Any:
        if not trainable:
            return self._untrainable(getter, name, trainable, collections, *args, **kwargs)
        local = [GraphKeys.LOCAL_VARIABLES]
        with device(self._worker_device):
            variable = getter(name, *args, trainable=True, collections=local, **kwargs)
        if kwargs["reuse"] is True:
            return variable
        everywhere = [GraphKeys.GLOBAL_VARIABLES]
        shared = getter(f"{GLOBAL_VARIABLE_NAME}/{name}", *args, trainable=False, collections=everywhere, **kwargs)
        with device(self._worker_device):
            own = getter(f"{self._own_name}/{name}", *args, trainable=False, collections=local, **kwargs)
        whole = kwargs["partitioner"] is None
        for one, of_all, of_worker in [(variable, shared, own)] if whole else zip(list(variable), list(shared), list(own)):
            self._global_map[one], self._own_map[one] = of_all, of_worker
        return variable


class MeetingOptimizer(Optimizer):
    """`opt` on a worker's own variables, with a count of its steps, by which it is known when the workers meet."""

    def __init__(self, opt: Any, num_worker: Any, period: Any, use_locking: bool, name: str):
        super().__init__(use_locking, name)
        self._opt = opt
        self._num_worker = num_worker
        self._period = period
        self._local_step = get_variable(initializer=0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], name="local_step")
        self._opt._prepare()


class InitializingHook(SessionRunHook):
    """Gives a worker's variables their first values when the session is there; `init_op` makes the operation for that."""

    def __init__(self, init_op: Callable[[], Any], is_chief: bool):
        self._init_op = init_op
        self._is_chief = is_chief

    def begin(self) -> None:
        """Add the operations to the graph."""
        self._local_init_op = local_variables_initializer()
        self._global_init_op = global_variables_initializer() if self._is_chief else None
        self._variable_init_op = self._init_op()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Run them."""
        session.run(self._variable_init_op)


def first_values(global_map: dict, own_map: dict, own_from_shared: bool, missing: str) -> Any:
    """An operation that gives the trainable variables their shared values, and the own ones these, or zeros.

    Raises ValueError with the text `missing` if there are no trainable variables.
    """
    variables = trainable_variables()
    shared, own = [global_map[var] for var in variables], [own_map[var] for var in variables]
    if not variables:
        raise ValueError(missing)
    if own_from_shared:
        return group(*[assign(target, of_all) for var, of_all, of_worker in zip(variables, shared, own)
                       for target in (var, of_worker)])
    return group(*[assign(var, of_all) for var, of_all in zip(variables, shared)],
                 *[assign(one, zeros_like(one)) for one in own])
