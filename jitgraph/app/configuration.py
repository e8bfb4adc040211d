"""``tf.config``: what a process says of its devices and threads.

As in TensorFlow 1.15, these belong to eager execution: sessions do not read them but their own ``ConfigProto``.  They are kept,
checked and given back, so that programs that set them run.
"""
from __future__ import annotations

import collections
from typing import Any

PhysicalDevice = collections.namedtuple("PhysicalDevice", "name device_type")
LogicalDevice = collections.namedtuple("LogicalDevice", "name device_type")


class VirtualDeviceConfiguration(collections.namedtuple("VirtualDeviceConfiguration", "memory_limit")):
    """The memory in MB that a virtual device may use, None for any."""

    __slots__ = ()

    def __new__(cls, memory_limit: int | None = None) -> VirtualDeviceConfiguration:
        return super().__new__(cls, memory_limit)


_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
_POLICIES = ("silent", "silent_for_int32", "warn", "explicit")
_OPTIONS = {"disable_model_pruning": False, "disable_meta_optimizer": False}
_kept: dict[str, Any] = {}


def get_soft_device_placement() -> bool:
    """What was set last, False at first."""
    return _kept.get("soft placement", False)


def set_soft_device_placement(enabled: bool) -> None:
    """Keeps whether an operation may run on another device than it names."""
    _kept["soft placement"] = enabled


def get_inter_op_parallelism_threads() -> int:
    """What was set last, 0 (as many as there are) at first."""
    return _kept.get("inter op threads", 0)


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Keeps how many operations may run at once."""
    _kept["inter op threads"] = num_threads


def get_intra_op_parallelism_threads() -> int:
    """What was set last, 0 (as many as there are) at first."""
    return _kept.get("intra op threads", 0)


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Keeps how many threads one operation may use.  See JITGRAPH_THREADS for what sets it here."""
    _kept["intra op threads"] = num_threads


def get_optimizer_jit() -> bool:
    """What was set last, False at first."""
    return _kept.get("jit", False)


def set_optimizer_jit(enabled: bool) -> None:
    """Keeps whether to compile by XLA.  Sessions compile in any case."""
    _kept["jit"] = enabled


def get_optimizer_experimental_options() -> dict[str, Any]:
    """The options that were set, by name."""
    return {**_kept.get("options", {}), **_OPTIONS}


def set_optimizer_experimental_options(options: dict[str, Any]) -> None:
    """Keeps options of the graph optimizer, by name."""
    _kept["options"] = {**_kept.get("options", {}), **options}


def get_device_policy() -> str:
    """What was set last, "silent" at first."""
    return _kept.get("policy") or "silent"


def set_device_policy(device_policy: str | None) -> None:
    """Keeps what to do with a tensor on another device.  Raises ValueError for what is no policy."""
    if device_policy is not None and device_policy not in _POLICIES:
        raise ValueError(f"Not a valid device policy: {device_policy!r}")
    _kept["policy"] = device_policy


def get_synchronous_execution() -> bool:
    """What was set last, True at first."""
    return _kept.get("synchronous", True)


def set_synchronous_execution(enable: bool | None) -> None:
    """Keeps whether each operation is waited for."""
    _kept["synchronous"] = True if enable is None else bool(enable)


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine that sessions run on: the CPU."""
    return [_CPU] if device_type in (None, "CPU") else []


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices by their names in graphs."""
    return [LogicalDevice("/job:localhost/replica:0/task:0/device:CPU:0", "CPU")] if device_type in (None, "CPU") else []


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that were made visible, all at first."""
    return [device for device in _kept.get("visible", [_CPU]) if device_type in (None, device.device_type)]


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Keeps which devices are visible.  Raises ValueError for what is no device of this machine."""
    devices = devices if isinstance(devices, (list, tuple)) else [devices]
    for device in devices:
        if device != _CPU:
            raise ValueError(f"Unrecognized device: {device!r}")
        if device_type is not None and device.device_type != device_type:
            raise ValueError(f"Unrecognized device: {device!r}")
    others = [one for one in get_visible_devices() if device_type is not None and one.device_type != device_type]
    _kept["visible"] = [*others, *devices]


def get_memory_growth(device: Any) -> bool:
    """Raises KeyError: it belongs to GPUs, of which sessions use none."""
    raise KeyError(device)


def set_memory_growth(device: Any, enable: bool) -> None:
    """Raises ValueError: it belongs to GPUs, of which sessions use none."""
    if device != _CPU:
        raise ValueError(f"Unrecognized device: {device!r}")
    raise ValueError("Cannot set memory growth on non-GPU devices")


def get_virtual_device_configuration(device: Any) -> Any:
    """The configurations that were set for a device, None at first."""
    if device != _CPU:
        raise ValueError(f"Unrecognized device: {device!r}")
    return _kept.get("virtual devices")


def set_virtual_device_configuration(device: Any, virtual_devices: Any) -> None:
    """Keeps the configurations of a device.  Raises ValueError for another device, or a limit of memory on the CPU."""
    if device != _CPU:
        raise ValueError(f"Unrecognized device: {device!r}")
    if any(one.memory_limit is not None for one in virtual_devices):
        raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    _kept["virtual devices"] = virtual_devices


def experimental_list_devices() -> list[str]:
    """The names of the devices in graphs."""
    return [device.name for device in list_logical_devices()]


def experimental_run_functions_eagerly(run_eagerly: bool) -> None:
    """Sets whether the functions of ``tf.function`` only call the Python function, which makes its nodes where it is called."""
    _kept["eager functions"] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """What ``tf.config.experimental_run_functions_eagerly`` has set last, False at first."""
    return bool(_kept.get("eager functions", False))


def get_log_device_placement() -> bool:
    """What was set last, False at first."""
    return _kept.get("log placement", False)


def set_log_device_placement(enabled: bool) -> None:
    """Keeps whether to log where operations run; sessions ask their ``ConfigProto``."""
    _kept["log placement"] = enabled
