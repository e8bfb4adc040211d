"""Strategies that are given numbers of GPUs; here there is one device, and one replica."""
from __future__ import annotations

from typing import Any

from jitgraph.distribute import strategies
from jitgraph.distribute.further_strategies import CrossDeviceOps
from jitgraph.graph.errors import UnimplementedError


class OneDeviceStrategy(strategies.OneDeviceStrategy):
    """One replica, on `device`."""


class MirroredStrategy(strategies.MirroredStrategy):
    """A replica on each of `devices`, or on each of `num_gpus`; here on one, which is all that sessions have."""

    def __init__(self, devices: Any = None, num_gpus: int | None = None, num_gpus_per_worker: int | None = None,
                 cross_device_ops: Any = None, auto_shard_dataset: bool = False, cross_tower_ops: Any = None):
        """Raises ValueError for arguments that say the same, UnimplementedError for more than one device."""
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("You cannot specify both `num_gpus` and `num_gpus_per_worker`.")
        if devices and (num_gpus or num_gpus_per_worker):
            raise ValueError("Must only specify one of `devices` and `num_gpus_per_worker`.")
        gpus = num_gpus or num_gpus_per_worker or 0
        if gpus > 1:
            raise UnimplementedError(None, None, f"MirroredStrategy on {gpus} GPUs: a session of jitgraph has one device")
        super().__init__(devices)


class AllReduceCrossDeviceOps(CrossDeviceOps):
    """That all devices add up the values of all."""

    def __init__(self, all_reduce_alg: str = "nccl", num_packs: int = 1, agg_small_grads_max_bytes: int = 0,
                 agg_small_grads_max_group: int = 10):
        super().__init__()
        self._all_reduce_alg, self._num_packs = all_reduce_alg, num_packs
        self._agg_small_grads_max_bytes, self._agg_small_grads_max_group = agg_small_grads_max_bytes, agg_small_grads_max_group
