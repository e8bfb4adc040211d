"""The strategy of a graph: the default one, ``OneDeviceStrategy``, and ``MirroredStrategy`` on one device."""
from __future__ import annotations

import contextlib
import enum
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from jitgraph.control.order_ops import group as group_of
from jitgraph.data.dataset import Dataset
from jitgraph.graph import dtypes
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.errors import UnimplementedError
from jitgraph.graph.scopes import colocate_with
from jitgraph.graph.scopes import device as device_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.reduce.reductions import reduce_mean, reduce_sum


class ReduceOp(enum.Enum):
    """How values of replicas become one: their sum or their mean."""

    SUM = "SUM"
    MEAN = "MEAN"


class InputReplicationMode(enum.Enum):
    """How input is given to workers: each has its own pipeline."""

    PER_WORKER = "PER_WORKER"


class InputContext:
    """Which of how many input pipelines a function makes."""

    def __init__(self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1):
        self._num_input_pipelines, self._input_pipeline_id = num_input_pipelines, input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._num_replicas_in_sync

    @property
    def input_pipeline_id(self) -> int:
        """The number of this pipeline."""
        return self._input_pipeline_id

    @property
    def num_input_pipelines(self) -> int:
        """How many pipelines there are."""
        return self._num_input_pipelines

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The size of the batch of one replica.  Raises ValueError if the sizes do not fit."""
        if global_batch_size % self._num_replicas_in_sync:
            raise ValueError(f"The `global_batch_size` {global_batch_size!r} is not divisible by `num_replicas_in_sync` "
                             f"{self._num_replicas_in_sync!r} ")
        return global_batch_size // self._num_replicas_in_sync


_state = threading.local()


class StrategyExtended:
    """What a strategy offers to those who build on it."""

    def __init__(self, container_strategy: Strategy):
        self._container = container_strategy

    def call_for_each_replica(self, fn: Callable, args: Any = (), kwargs: dict | None = None) -> Any:
        """What `fn` gives, called once: there is one replica."""
        return self._container.experimental_run_v2(fn, args, kwargs)

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        """`value`: the sum and the mean over one replica."""
        _check_reduce_op(reduce_op)
        return value

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any) -> list:
        """The values of the pairs."""
        return [self.reduce_to(reduce_op, value, destination) for value, destination in value_destination_pairs]

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """`tensor`."""
        return tensor

    def update(self, var: Any, fn: Callable, args: Any = (), kwargs: dict | None = None, group: bool = True) -> Any:
        """What ``fn(var, *args, **kwargs)`` gives; with `group` an operation."""
        with _inside(self._container, None):
            result = fn(var, *args, **(kwargs or {}))
        return group_of(result) if group else result

    def update_non_slot(self, colocate_with: Any, fn: Callable, args: Any = (), kwargs: dict | None = None,
                        group: bool = True) -> Any:
        """What ``fn(*args, **kwargs)`` gives; with `group` an operation."""
        with _inside(self._container, None):
            result = fn(*args, **(kwargs or {}))
        return group_of(result) if group else result

    def read_var(self, v: Any) -> Any:
        """The value of a variable."""
        return identity(v)

    def non_slot_devices(self, var_list: Any) -> str:
        """The device of variables that belong to no other."""
        return self._container._devices[0]

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """A block in which variables are made on the device of another."""
        return colocate_with(colocate_with_variable)

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A dataset of the elements of arrays."""
        return self._container.experimental_make_numpy_dataset(numpy_input, session)

    def experimental_run_steps_on_iterator(self, fn: Callable, iterator: Any, iterations: int = 1,
                                           initial_loop_values: Any = None) -> Any:
        """Raises NotImplementedError: write the loop over ``session.run``."""
        raise NotImplementedError("must be implemented in descendants")

    def value_container(self, value: Any) -> Any:
        """`value`."""
        return value

    def variable_created_in_scope(self, v: Any) -> bool:
        """True: variables belong to the graph."""
        return True

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices of the replicas."""
        return self._container._devices

    parameter_devices = worker_devices

    @property
    def experimental_between_graph(self) -> bool:
        """Whether workers have graphs of their own."""
        return False

    @property
    def experimental_should_init(self) -> bool:
        """Whether this worker initialises variables."""
        return True

    should_checkpoint = should_save_summary = experimental_should_init

    @property
    def experimental_require_static_shapes(self) -> bool:
        """Whether shapes must be known."""
        return False


def _check_reduce_op(reduce_op: Any) -> None:
    if ReduceOp(getattr(reduce_op, "value", str(reduce_op).upper())) not in ReduceOp:
        raise ValueError(f"Unknown reduction {reduce_op}")


class Strategy:
    """Where the replicas of a model are, and how their values become one."""

    _devices: tuple[str, ...] = ("/job:localhost/replica:0/task:0/device:CPU:0",)

    def __init__(self, extended: Any = None):
        self._extended = StrategyExtended(self) if extended is None else extended

    @property
    def extended(self) -> Any:
        """What it offers to those who build on it."""
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are: 1."""
        return 1

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """A block in which it is the current strategy."""
        with _inside(self, None):
            yield self

    def experimental_run_v2(self, fn: Callable, args: Any = (), kwargs: dict | None = None) -> Any:
        """What `fn` gives on the replica."""
        with _inside(self, ReplicaContext(self, constant(0, dtypes.int32))), self._on_device():
            return fn(*args, **(kwargs or {}))

    def _on_device(self) -> Any:
        return contextlib.nullcontext()

    def experimental_run(self, fn: Callable, input_iterator: Any = None) -> Any:
        """What `fn` gives for the next element of the iterator."""
        return self.experimental_run_v2(fn, () if input_iterator is None else (input_iterator.get_next(),))

    def reduce(self, reduce_op: Any, value: Any, axis: Any = None) -> Any:
        """`value`, reduced over `axis` if one is given.  Raises ValueError for another reduction."""
        _check_reduce_op(reduce_op)
        if axis is None:
            return value
        is_sum = getattr(reduce_op, "value", str(reduce_op).upper()) == "SUM"
        return (reduce_sum if is_sum else reduce_mean)(value, axis=axis)

    def experimental_local_results(self, value: Any) -> tuple:
        """The values of the replicas: one."""
        return (value,)

    unwrap = experimental_local_results

    def group(self, value: Any, name: str | None = None) -> Any:
        """An operation after `value`."""
        return group_of(value, name=name)

    def experimental_distribute_dataset(self, dataset: Any) -> Any:
        """`dataset`: the batch of one replica is the whole."""
        return dataset

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """An iterator of `dataset` that the program initialises."""
        return dataset.make_initializable_iterator()

    def make_input_fn_iterator(self, input_fn: Callable, replication_mode: Any = InputReplicationMode.PER_WORKER) -> Any:
        """An iterator of the dataset that `input_fn` makes of an InputContext."""
        return input_fn(InputContext()).make_initializable_iterator()

    def experimental_distribute_datasets_from_function(self, dataset_fn: Callable) -> Any:
        """The dataset that `dataset_fn` makes of an InputContext."""
        return dataset_fn(InputContext())

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """A block in which variables are made on the device of another."""
        return self._extended.colocate_vars_with(colocate_with_variable)

    def configure(self, session_config: Any = None, cluster_spec: Any = None, task_type: Any = None, task_id: Any = None) -> None:
        """Nothing to do: there is one task."""

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A dataset of the elements of arrays."""
        return Dataset.from_tensor_slices(numpy_input)

    def update_config_proto(self, config_proto: Any) -> Any:
        """A copy of `config_proto`."""
        copied = type(config_proto)()
        copied.CopyFrom(config_proto)
        return copied


class OneDeviceStrategy(Strategy):
    """One replica, on `device`."""

    def __init__(self, device: str):
        super().__init__()
        self._devices = (device,)

    def _on_device(self) -> Any:
        return device_scope(self._devices[0])


class MirroredStrategy(Strategy):
    """A replica on each of `devices`, all in step; here on one, which is all that sessions have."""

    def __init__(self, devices: Any = None, cross_device_ops: Any = None):
        """Raises UnimplementedError for more than one device."""
        super().__init__()
        if not devices:
            return
        devices = [devices] if isinstance(devices, str) else list(devices)
        if len(devices) > 1:
            raise UnimplementedError(None, None, f"MirroredStrategy on {len(devices)} devices: a session of jitgraph has one "
                                                 "device; give it alone, or no devices")
        self._devices = tuple(devices)

    def _on_device(self) -> Any:
        return device_scope(self._devices[0])


class ReplicaContext:
    """Where a function that a strategy calls is: on which replica."""

    def __init__(self, strategy: Strategy, replica_id_in_sync_group: Any):
        self._strategy, self._replica_id = strategy, replica_id_in_sync_group

    @property
    def strategy(self) -> Strategy:
        """The strategy."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The number of this replica, an int32 tensor; outside of all strategies 0."""
        return self._replica_id

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of this replica."""
        return self._strategy._devices

    def merge_call(self, merge_fn: Callable, args: Any = (), kwargs: dict | None = None) -> Any:
        """What ``merge_fn(strategy, *args, **kwargs)`` gives, called for all replicas together."""
        with _inside(self._strategy, None):
            return merge_fn(self._strategy, *args, **(kwargs or {}))

    def all_reduce(self, reduce_op: Any, value: Any) -> Any:
        """`value`: the sum and the mean over one replica."""
        _check_reduce_op(reduce_op)
        return value

    def __enter__(self) -> ReplicaContext:
        self._entered = _inside(self._strategy, self)
        self._entered.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._entered.__exit__(*error)


_DEFAULT = Strategy()
_DEFAULT_CONTEXT = ReplicaContext(_DEFAULT, 0)
_ENDLESS: weakref.WeakKeyDictionary[Any, Strategy] = weakref.WeakKeyDictionary()     # {graph: what it is built for}


@contextlib.contextmanager
def _inside(strategy: Strategy, context: ReplicaContext | None) -> Iterator[None]:
    """A block of a strategy: on a replica, or if there is no context, for all together."""
    before = getattr(_state, "stack", [])
    _state.stack = [*before, (strategy, context)]
    try:
        yield
    finally:
        _state.stack = before


def _current() -> tuple[Strategy, ReplicaContext | None]:
    stack = getattr(_state, "stack", [])
    if stack:
        return stack[-1]
    endless = _ENDLESS.get(get_default_graph()) if _ENDLESS else None
    return (_DEFAULT, _DEFAULT_CONTEXT) if endless is None else (endless, None)


def get_strategy() -> Strategy:
    """The strategy of the block, the default one (one replica) outside of all."""
    return _current()[0]


def experimental_set_strategy(strategy: Strategy | None) -> None:
    """Makes a strategy that of the default graph from now on, as a scope without an end; None ends it.

    Raises RuntimeError in the scope of a strategy.
    """
    graph = get_default_graph()
    _ENDLESS.pop(graph, None)
    if has_strategy():
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope.")
    if strategy is not None:
        _ENDLESS[graph] = strategy


def has_strategy() -> bool:
    """Whether there is another than the default strategy."""
    return get_strategy() is not _DEFAULT


def get_replica_context() -> ReplicaContext | None:
    """Where the replica is; None in the scope of a strategy, outside of what it calls."""
    return _current()[1]


def in_cross_replica_context() -> bool:
    """Whether code is in the scope of a strategy, outside of what it calls."""
    return get_replica_context() is None


def get_loss_reduction() -> ReduceOp:
    """SUM: losses divide by the size of the whole batch themselves."""
    return ReduceOp.SUM
