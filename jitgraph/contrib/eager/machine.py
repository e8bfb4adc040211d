"""What programs ask of the machine, and of optimizers."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.devices import list_local_devices


def list_devices() -> list[str]:
    """The full names of the devices that graphs can run on."""
    return [f"/job:localhost/replica:0/task:0{device.name}" for device in list_local_devices()]


def num_gpus() -> int:
    """How many of them are GPUs."""
    return sum(device.device_type == "GPU" for device in list_local_devices())


def get_optimizer_variables(optimizer: Any) -> list:
    """The variables that an optimizer made so far."""
    return optimizer.variables()
