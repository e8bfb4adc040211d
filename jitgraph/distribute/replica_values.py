"""``tensorflow.python.distribute.values``: values of several replicas, told apart by their devices."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from jitgraph.distribute import device_names
from jitgraph.graph import structures as nest


class DeviceMap:
    """The devices of replicas."""

    def __init__(self, devices: Iterable[str]):
        self._devices = tuple(map(device_names.canonicalize, devices))
        if len(set(self._devices)) != len(self._devices):
            raise ValueError(f"Duplicate devices in {self._devices}, after canonicalization: {self._devices}")

    @property
    def all_devices(self) -> tuple[str, ...]:
        """The full names of the devices."""
        return self._devices

    @property
    def devices_by_replica(self) -> tuple[tuple[str, ...], ...]:
        """The devices of each replica."""
        return tuple((device,) for device in self._devices)

    @property
    def num_logical_devices(self) -> int:
        """How many devices a replica has."""
        return 1

    @property
    def num_replicas_in_graph(self) -> int:
        """How many replicas there are."""
        return len(self._devices)

    def logical_device_from_values(self, values: Any) -> int:
        """Which device of a replica holds values: the one that it has."""
        return 0

    def logical_to_actual_devices(self, logical_device_id: int) -> tuple[str, ...]:
        """The devices of the replicas."""
        assert logical_device_id == 0
        return self._devices

    def replica_for_device(self, device: str) -> int | None:
        """The number of the replica on a device, by its full name; None if there is none."""
        return self._devices.index(device) if device in self._devices else None

    def is_device_in_replica(self, device: str, replica_id: int) -> bool:
        """Whether a replica is on a device."""
        return self._devices[replica_id] == device

    def select_for_device(self, values: Any, device: str) -> Any:
        """Of values, one for each replica, that on a device.  Raises ValueError for a device of none."""
        replica = self.replica_for_device(device)
        if replica is None:
            raise ValueError(f"Device {device} not found in {self._devices} (current device {device_names.current()})")
        return values[replica]

    def select_for_current_replica(self, values: Any, replica_context: Any) -> Any:
        """Of values, one for each replica, that of a context."""
        return values[int(replica_context.replica_id_in_sync_group or 0)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self._devices)})"

    def __str__(self) -> str:
        return f"[{', '.join(self._devices)}]"


class ReplicaDeviceMap(DeviceMap):
    """A device for each replica."""


class SingleDeviceMap(DeviceMap):
    """One replica, on a device."""

    def __init__(self, device: str):
        super().__init__([device])


class DistributedValues:
    """A value for each replica of a DeviceMap."""

    def __init__(self, device_map: DeviceMap, values: Iterable[Any], logical_device: int | None = None):
        self._device_map, self._values = device_map, tuple(values)
        self._logical_device = 0 if logical_device is None else logical_device
        assert len(self._values) == device_map.num_replicas_in_graph

    @property
    def device_map(self) -> DeviceMap:
        """The devices of the replicas."""
        return self._device_map

    @property
    def logical_device(self) -> int:
        """Which device of a replica it is on."""
        return self._logical_device

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that the values are on."""
        return self._device_map.logical_to_actual_devices(self._logical_device)

    @property
    def values(self) -> tuple:
        """The values, in the order of the replicas."""
        return self._values

    @property
    def primary(self) -> Any:
        """The value of the first replica."""
        return self._values[0]

    @property
    def is_tensor_like(self) -> bool:
        """Whether all values are tensors."""
        return all(hasattr(value, "dtype") for value in self._values)

    def get(self, device: str | None = None) -> Any:
        """The value on a device; without one, that of the replica which is called now, of which there is one.  Raises ValueError
        for a device of none."""
        if device is None:
            return self.primary
        return self._device_map.select_for_device(self._values, device_names.resolve(device))

    def __str__(self) -> str:
        lines = [f"{i} {device}: {value}" for i, (device, value) in enumerate(zip(self.devices, self._values))]
        return f"{type(self).__name__}:{{\n  " + ",\n  ".join(lines) + "\n}"

    __repr__ = __str__


class DistributedDelegate(DistributedValues):
    """Values whose attributes are those of the value of the replica that is called now."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.primary, name)


class PerReplica(DistributedValues):
    """A value for each replica, which may differ."""


class Mirrored(DistributedDelegate):
    """The same value for each replica."""


class DistributedVariable:
    """A variable with a copy on each of several devices; a base class, of which there are no objects."""

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(f"{type(self).__name__}: a session has one device, on which tf.distribute's strategies make "
                                  "plain variables")


class MirroredVariable(DistributedVariable):
    """One whose copies are the same."""


class SyncOnReadVariable(DistributedVariable):
    """One whose copies are put together when it is read."""


class AggregatingVariable(DistributedVariable):
    """One on a server of parameters."""


def is_distributed_variable(v: Any) -> bool:
    """Whether a variable has copies on several devices: none has."""
    return isinstance(v, DistributedVariable)


def value_container(val: Any) -> Any:
    """What holds a value for all replicas: itself."""
    return val


def select_replica(replica_id: int, structured: Any) -> Any:
    """A structure with the values of one replica."""
    return _each(structured, lambda one: one.values[replica_id])


def select_device_mirrored(device: str, structured: Any) -> Any:
    """A structure with the values on a device.  Raises TypeError for values that differ between replicas."""
    def on_device(one: DistributedValues) -> Any:
        if not isinstance(one, Mirrored):
            raise TypeError(f"Expected value to be mirrored across replicas: {one} in {structured}.")
        return one.get(device)

    return _each(structured, on_device)


def _each(structured: Any, chosen: Callable) -> Any:
    return nest.map_structure(lambda one: chosen(one) if isinstance(one, DistributedValues) else one, structured)


def regroup(device_map: DeviceMap, values: Any, wrap_class: Any = PerReplica) -> Any:
    """Of a structure for each replica one structure, of a `wrap_class` where the values are not one object."""
    def together(*parts: Any) -> Any:
        return parts[0] if all(part is parts[0] for part in parts) else wrap_class(device_map, parts)

    return nest.map_structure(together, *values)
