"""``tensorflow.python.distribute.input_lib``: who reads a dataset, and what a loop over steps keeps: one worker, on one device."""
from __future__ import annotations

from typing import Any

from jitgraph.distribute import strategies
from jitgraph.distribute.device_names import get_host_for_device
from jitgraph.distribute.replica_values import DeviceMap


class InputWorkers:
    """The workers that read, each for some devices: `worker_device_pairs`, by default the host of all devices of `device_map`."""

    def __init__(self, device_map: DeviceMap, worker_device_pairs: Any = None, logical_device: int = 0):
        self._device_map, self._logical_device = device_map, logical_device
        devices = device_map.logical_to_actual_devices(logical_device)
        self._pairs = worker_device_pairs or ((get_host_for_device(devices[0]), devices),)

    @property
    def device_map(self) -> DeviceMap:
        """The devices of the replicas."""
        return self._device_map

    @property
    def logical_device(self) -> int:
        """Which device of a replica is read for."""
        return self._logical_device

    @property
    def num_workers(self) -> int:
        """How many read."""
        return len(self._pairs)

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices of those that read."""
        return tuple(worker for worker, _ in self._pairs)

    def compute_devices_for_worker(self, worker_index: int) -> tuple[str, ...]:
        """The devices that one of them reads for."""
        return self._pairs[worker_index][1]


class MultiStepContext:
    """What the steps of a loop keep: tensors of the last step by names, and other things."""

    def __init__(self) -> None:
        self._last_step_outputs: dict[str, Any] = {}
        self._non_tensor_outputs: dict[str, Any] = {}

    @property
    def last_step_outputs(self) -> dict[str, Any]:
        """{name: tensor} of the last step."""
        return self._last_step_outputs

    @property
    def non_tensor_outputs(self) -> dict[str, Any]:
        """{name: what a step kept}"""
        return self._non_tensor_outputs

    def set_last_step_output(self, name: str, output: Any, reduce_op: Any = None) -> None:
        """Keeps a tensor.  With a `reduce_op`, values of several replicas become one: there is one."""
        self._last_step_outputs[name] = output

    def set_non_tensor_output(self, name: str, output: Any) -> None:
        """Keeps something else."""
        self._non_tensor_outputs[name] = output


def get_distributed_dataset(dataset: Any, input_workers: Any, strategy: Any, split_batch_by: int | None = None,
                            input_context: Any = None) -> Any:
    """`dataset`: there is one replica, which reads all of it.  Raises ValueError if batches are to be split for more."""
    if split_batch_by not in (None, 1):
        raise ValueError(f"split_batch_by={split_batch_by}: there is one replica, on the one device of a session")
    return dataset


def get_distributed_datasets_from_function(dataset_fn: Any, input_workers: Any, input_contexts: Any, strategy: Any) -> Any:
    """The dataset that a function of an InputContext gives."""
    return dataset_fn((input_contexts or [strategies.InputContext()])[0])
