"""Training steps as objects, and what runs them; further names of the package that one device has."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from jitgraph.contrib.distribute.strategies import AllReduceCrossDeviceOps
from jitgraph.distribute import strategies
from jitgraph.distribute.further_strategies import CollectiveCommunication
from jitgraph.graph import errors
from jitgraph.graph.errors import UnimplementedError
from jitgraph.variables.variable_collections import global_variables_initializer


class _OfGpus(strategies.Strategy):
    """A strategy that is told how many GPUs a worker has: one at most."""

    def __init__(self, num_gpus_per_worker: int = 0):
        """Raises UnimplementedError for more than one GPU."""
        if num_gpus_per_worker > 1:
            raise UnimplementedError(None, None, f"{type(self).__name__} on {num_gpus_per_worker} GPUs: a session of jitgraph has "
                                                 "one device")
        super().__init__()


class ParameterServerStrategy(_OfGpus):
    """Variables on servers: on this one."""


class CollectiveAllReduceStrategy(_OfGpus):
    """The same variables on all workers: on this one alone; `communication` says by what workers exchange values."""

    def __init__(self, num_gpus_per_worker: int = 0, communication: Any = CollectiveCommunication.AUTO):
        super().__init__(num_gpus_per_worker)


class MultiWorkerAllReduce(AllReduceCrossDeviceOps):
    """That all workers add up the values of all: there is one."""

    def __init__(self, worker_devices: Any, num_gpus_per_worker: int, all_reduce_spec: Any = ("pscpu/pscpu", 2, -1),
                 num_packs: int = 0, agg_small_grads_max_bytes: int = 0, agg_small_grads_max_group: int = 10):
        super().__init__("nccl", num_packs, agg_small_grads_max_bytes, agg_small_grads_max_group)
        self._worker_devices, self._num_gpus_per_worker, self._spec = worker_devices, num_gpus_per_worker, all_reduce_spec


class DistributeConfig(NamedTuple):
    """Strategies for training and for evaluation, and the cluster that they are for."""

    train_distribute: Any = None
    eval_distribute: Any = None
    remote_cluster: Any = None


class UpdateContext:
    """A block in which variables on `device` are changed."""

    def __init__(self, device: Any):
        self._device = device

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: Any) -> None:
        pass


def get_cross_replica_context() -> Any:
    """The strategy where code is for all replicas together, see ``in_cross_replica_context``; else None."""
    return strategies.get_strategy() if strategies.in_cross_replica_context() else None


def require_replica_context(replica_ctx: Any) -> None:
    """Raises RuntimeError unless code is in `replica_ctx`, on that replica."""
    context = strategies.get_replica_context()
    if context is replica_ctx:
        return
    if context is None:
        raise RuntimeError("Need to be inside `call_for_each_replica()`")
    if context.strategy is replica_ctx.strategy:
        raise RuntimeError("Mismatching ReplicaContext.")
    raise RuntimeError(f"Mismatching tf.distribute.Strategy objects: {context.strategy} is not {replica_ctx.strategy}.")


class Step:
    """A step of training for a strategy: ``initialize`` gives what runs once before, a call what runs at each step."""

    def __init__(self, distribution: Any):
        self._distribution = distribution

    @property
    def distribution(self) -> Any:
        """The strategy."""
        return self._distribution

    def initialize(self) -> Any:
        """Operations to run before the first step: none."""
        return []

    def __call__(self) -> Any:
        """The operation of a step.  Raises NotImplementedError: classes derived from this one say what it is."""
        raise NotImplementedError("must be implemented in descendants")


class StandardInputStep(Step):
    """A step with the elements of the dataset that ``dataset_fn()`` gives."""

    def __init__(self, dataset_fn: Callable, distribution: Any):
        super().__init__(distribution)
        self._iterator = distribution.make_input_fn_iterator(lambda _: dataset_fn())

    def initialize(self) -> Any:
        """The initializer of the iterator."""
        return self._iterator.initializer


class StandardSingleLossStep(StandardInputStep):
    """A step of `optimizer` for the loss ``loss_fn(None, element)``, `iterations_per_step` times one after the other."""

    def __init__(self, dataset_fn: Callable, loss_fn: Callable, optimizer: Any, distribution: Any, iterations_per_step: int = 1):
        super().__init__(dataset_fn, distribution)
        self._loss_fn, self._optimizer, self._iterations = loss_fn, optimizer, iterations_per_step

    def __call__(self) -> Any:
        """The operation of a step."""
        from jitgraph.graph.scopes import control_dependencies
        from jitgraph.variables.variable_scopes import get_variable_scope, variable_scope

        def once() -> Any:
            inputs = self._iterator.get_next()
            loss = self._distribution.extended.call_for_each_replica(self._loss_fn, args=(None, inputs))
            return self._optimizer.minimize(loss)

        with self._distribution.scope():
            done: Sequence[Any] = ()
            for _ in range(self._iterations):
                with variable_scope(get_variable_scope(), reuse=True if done else None), control_dependencies(done):
                    done = [once()]
            return done[0]


class Monitor:
    """Runs a Step in `session`, whose variables it initialises.  Raises ValueError without a session."""

    def __init__(self, step_callable: Any, session: Any = None):
        if session is None:
            raise ValueError("Should provide a `session` in Graph mode.")
        session.run(step_callable.initialize())
        self._run_step = session.make_callable(step_callable())
        session.run(global_variables_initializer())

    def run_steps(self, num_steps: int | None = None) -> None:
        """Runs so many steps, or as many as there are elements."""
        step = 0
        while num_steps is None or step < num_steps:
            try:
                self._run_step()
            except errors.OutOfRangeError:
                return
            step += 1
