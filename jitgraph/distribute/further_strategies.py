"""The strategies for several devices and machines, which here run on the one device of a session, and how values are reduced."""
from __future__ import annotations

import enum
from typing import Any

from jitgraph.distribute.strategies import MirroredStrategy, ReduceOp, Strategy
from jitgraph.graph.scopes import device as device_scope


class CrossDeviceOps:
    """How values of several devices become one: there is one device, so they are left as they are."""

    def __init__(self) -> None:
        pass

    def reduce(self, reduce_op: Any, per_replica_value: Any, destinations: Any) -> Any:
        """`per_replica_value`.  Raises ValueError unless `reduce_op` is a ReduceOp."""
        ReduceOp(reduce_op)
        return per_replica_value

    def batch_reduce(self, reduce_op: Any, value_destination_pairs: Any) -> list:
        """The values of the pairs."""
        return [self.reduce(reduce_op, value, destination) for value, destination in value_destination_pairs]

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        """`tensor`."""
        return tensor

    def reduce_implementation(self, reduce_op: Any, per_replica_value: Any, destinations: Any) -> Any:
        """What ``reduce`` does."""
        return self.reduce(reduce_op, per_replica_value, destinations)

    def batch_reduce_implementation(self, reduce_op: Any, value_destination_pairs: Any) -> list:
        """What ``batch_reduce`` does."""
        return self.batch_reduce(reduce_op, value_destination_pairs)

    def broadcast_implementation(self, tensor: Any, destinations: Any) -> Any:
        """What ``broadcast`` does."""
        return tensor


class ReductionToOneDevice(CrossDeviceOps):
    """Values are sent to a device and added there by `accumulation_fn`."""

    def __init__(self, reduce_to_device: Any = None, accumulation_fn: Any = None):
        super().__init__()


class NcclAllReduce(CrossDeviceOps):
    """Values are added by NCCL, gradients in `num_packs` packs.  Raises ValueError for a negative number."""

    def __init__(self, num_packs: int = 1):
        if num_packs < 0:
            raise ValueError(f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is specified")
        super().__init__()


class HierarchicalCopyAllReduce(CrossDeviceOps):
    """Values are added along a hierarchy of devices, gradients in `num_packs` packs.  Raises ValueError for a negative number."""

    def __init__(self, num_packs: int = 1):
        if num_packs < 0:
            raise ValueError(f"HierarchicalCopy requires num_packs >= 0, but {num_packs} is specified")
        super().__init__()


class CollectiveCommunication(enum.Enum):
    """By what workers exchange values."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class CentralStorageStrategy(Strategy):
    """Variables on one device, the same computation on all `compute_devices`: on one.  Raises UnimplementedError for more."""

    def __init__(self, compute_devices: Any = None, parameter_device: Any = None):
        super().__init__()
        self._devices = MirroredStrategy(compute_devices)._devices

    def _on_device(self) -> Any:
        return device_scope(self._devices[0])


class MultiWorkerMirroredStrategy(Strategy):
    """The same variables on all workers: on this one alone."""

    def __init__(self, communication: Any = CollectiveCommunication.AUTO):
        super().__init__()


class ParameterServerStrategy(Strategy):
    """Variables on servers: on this one."""

    def __init__(self, cluster_resolver: Any = None):
        super().__init__()
