"""Which devices a session sees, and how much of their memory it may take: what its `ConfigProto` says of GPUs."""
from __future__ import annotations

import math
from typing import Any

from jitgraph.compiler import targets
from jitgraph.graph.errors import InvalidArgumentError

from .driver import NoDriver
from .machine import Machine, machine_of


def visible(config: Any, machine: Machine) -> tuple[int, ...]:
    """The ordinals of the devices that graphs know as GPU 0, 1 ...: those of `gpu_options.visible_device_list`, or all; and of
    them the first `device_count["GPU"]`.  Raises InvalidArgumentError for a list that names what there is not."""
    present = range(len(machine.devices))
    if config is None:
        return tuple(present)
    listed = config.gpu_options.visible_device_list
    chosen = _parsed(listed, len(present)) if listed else list(present)
    return tuple(chosen[:config.device_count.get("GPU", len(chosen))])


def _parsed(listed: str, count: int) -> list[int]:
    chosen: list[int] = []
    for entry in listed.split(","):
        if not entry.strip().isdigit():
            raise InvalidArgumentError(None, None, f"Could not parse entry in 'visible_device_list': '{entry}'. "
                                                   f"visible_device_list = {listed}")
        number = int(entry)
        if number >= count:
            raise InvalidArgumentError(None, None, f"'visible_device_list' listed an invalid GPU id '{number}' but visible device "
                                                   f"count is {count}")
        if number in chosen:
            raise InvalidArgumentError(None, None, f"visible_device_list contained a duplicate entry: {listed}")
        chosen.append(number)
    return chosen


def limit_memory(config: Any, machine: Machine) -> None:
    """Holds the process to `gpu_options.per_process_gpu_memory_fraction`.  Memory is taken as it is needed, whether
    `allow_growth` says so or not.  Raises InvalidArgumentError for a share below 0."""
    share = 0.0 if config is None else config.gpu_options.per_process_gpu_memory_fraction
    if not share >= 0:          # NaN too
        raise InvalidArgumentError(None, None, f"gpu_options.per_process_gpu_memory_fraction is {share}: it is a share of each "
                                               "GPU's memory, 0.5 for half of it, or 0 for as much as is needed")
    for device in machine.devices:
        if share:
            device.limit = math.floor(share * device.properties.memory) if share < 1 else math.inf


def description(number: int, ordinal: int, machine: Machine) -> str:
    """A device as TensorFlow describes it."""
    properties = machine.devices[ordinal].properties
    return (f"device: {number}, name: {properties.name}, pci bus id: {properties.pci}, compute capability: "
            "{}.{}".format(*properties.capability))


def local(config: Any) -> list[tuple[str, str, int, str, tuple[int, int]]]:
    """What `Accelerators.found` gives; nothing where the driver does not serve."""
    target: Any = targets.present()
    if not target.has_memory:
        return []
    try:
        machine = machine_of(target)
    except NoDriver:
        return []
    return [(f"/device:GPU:{number}", "GPU", machine.devices[k].properties.memory, description(number, k, machine),
             machine.devices[k].properties.capability) for number, k in enumerate(visible(config, machine))]
