"""``tensorflow.python.distribute.device_util``: full names of devices, and what the current block says of them."""
from __future__ import annotations

from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.devices import DeviceSpec, canonical


def canonicalize(d: str, default: str | None = None) -> str:
    """The full name of a device: what it leaves open is that of `default`, else the first replica, task and device."""
    spec = DeviceSpec.from_string(d)
    if spec.device_type is not None and spec.device_index is None:
        spec = spec.replace(device_index=0)
    whole = DeviceSpec(replica=0, task=0, device_type="CPU", device_index=0)
    if default:
        whole = whole.make_merged_spec(DeviceSpec.from_string(default))
    return whole.make_merged_spec(spec).to_string()


class _Probe:
    """Takes the place of an operation, and notes its device."""

    name = type = ""
    device = ""

    def _set_device_from_string(self, device: str) -> None:
        self.device = device


def current() -> str:
    """The device of a node that is made now, "" where no block says one."""
    probe = _Probe()
    get_default_graph()._apply_device_functions(probe)
    return canonical(probe.device)


def resolve(d: str) -> str:
    """The full name of a device, what it leaves open being that of the current block."""
    return canonicalize(d, default=current())


def get_host_for_device(device: str) -> str:
    """The CPU of the task that a device is of."""
    spec = DeviceSpec.from_string(device)
    return DeviceSpec(job=spec.job, replica=spec.replica, task=spec.task, device_type="CPU", device_index=0).to_string()


def local_devices_from_num_gpus(num_gpus: int) -> tuple[str, ...]:
    """The names of so many GPUs, or that of the CPU."""
    return tuple(f"/device:GPU:{i}" for i in range(num_gpus)) or ("/device:CPU:0",)
