"""``tf.train.replica_device_setter``: variables on parameter servers, everything else on a worker."""
from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.graph.devices import DeviceSpec
from jitgraph.train.cluster.cluster_spec import ClusterSpec

# TensorFlow's list: not all that holds state is on it, and not all on it is declared here
STANDARD_PS_OPS = (
    "Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2", "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2", "MutableDenseHashTable", "MutableDenseHashTableV2", "VarHandleOp",
    "BoostedTreesEnsembleResourceHandleOp", "BoostedTreesQuantileStreamResourceHandleOp", "ResourceConditionalAccumulator",
)


def replica_device_setter(ps_tasks: int = 0, ps_device: str = "/job:ps", worker_device: str = "/job:worker",
                          merge_devices: bool = True, cluster: Any = None, ps_ops: Any = None,
                          ps_strategy: Callable | None = None) -> Callable | None:
    """A function for ``tf.device`` that places variables on parameter servers in turn, and other operations on a worker.

    Args:
      ps_tasks: how many parameter servers there are; without any, None is given back.
      ps_device: the device of the servers, without the task.
      worker_device: the device of everything else.
      merge_devices: whether a device that an operation has already is kept and completed.
      cluster: a ClusterSpec, or what makes one, that says how many parameter servers there are.
      ps_ops: the types of operations that go to them; those that hold state if None.
      ps_strategy: a function of an operation that gives its task; one after the other if None.
    Raises TypeError if the cluster is none, or `ps_strategy` cannot be called.
    """
    if cluster is not None:
        tasks = ClusterSpec(cluster).as_dict().get(DeviceSpec.from_string(ps_device).job)
        if tasks is None:
            return None
        ps_tasks = len(tasks)
    if ps_tasks == 0:
        return None
    if not merge_devices:
        logs.warning("DEPRECATION: It is recommended to set merge_devices=true in replica_device_setter")
    if ps_strategy is None:
        turns = itertools.cycle(range(ps_tasks))
        ps_strategy = lambda op: next(turns)
    elif not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    on_servers = frozenset(STANDARD_PS_OPS if ps_ops is None else ps_ops)
    servers, worker = DeviceSpec.from_string(ps_device or ""), DeviceSpec.from_string(worker_device or "")
    strategy = ps_strategy

    def device_function(op: Any) -> str:
        if not merge_devices and op.device:
            return op.device
        present = DeviceSpec.from_string(op.device or "")
        kind = op.type if hasattr(op, "type") else op.op
        if not ps_device or kind not in on_servers:
            return worker.make_merged_spec(present).to_string()
        chosen = servers
        if servers.job and present.job in (None, "", servers.job):
            chosen = servers.make_merged_spec(DeviceSpec(task=strategy(op)))
        return chosen.make_merged_spec(present).to_string()

    return device_function
