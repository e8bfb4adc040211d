"""Device names: ``/job:worker/replica:0/task:1/device:GPU:0``, in parts and merged through nested scopes."""
from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any


class DeviceSpec:
    """A device name in parts; parts that are None are left open.

    ``DeviceSpec(device_type="GPU", device_index=0).to_string()`` is ``"/device:GPU:0"``.
    """

    __slots__ = ("job", "replica", "task", "device_type", "device_index")

    def __init__(self, job: str | None = None, replica: int | None = None, task: int | None = None,
                 device_type: str | None = None, device_index: int | None = None):
        self.job = job
        self.replica = None if replica is None else int(replica)
        self.task = None if task is None else int(task)
        if device_type is not None and device_type.lower() in ("cpu", "gpu"):
            device_type = device_type.upper()
        self.device_type = device_type
        self.device_index = None if device_index is None else int(device_index)

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """The parts of a device name.  Accepts the old short form ``/gpu:0``.  Raises ValueError if it is malformed."""
        return cls().parse_from_string(spec)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Sets this object to what `spec` states, and returns it.  Raises ValueError if it is malformed."""
        self.__init__()     # type: ignore[misc]
        parts = [part for part in str(spec).split("/") if part]
        for part in parts:
            self._parse_part(part, spec)
        if sum(part.partition(":")[0] not in ("job", "replica", "task") for part in parts) > 1:
            raise ValueError(f"Cannot specify multiple device types: {spec}")
        return self

    def _parse_part(self, part: str, spec: str) -> None:
        fields = part.split(":")
        head, values = fields[0], fields[1:]
        try:
            if head == "job" and len(values) == 1:
                self.job = values[0]
            elif head == "replica" and len(values) == 1:
                self.replica = int(values[0])
            elif head == "task" and len(values) == 1:
                self.task = int(values[0])
            elif head.lower() in ("cpu", "gpu") and len(values) <= 1:
                self._set_device(head.upper(), values[0] if values else "*")
            elif head == "device" and len(values) in (1, 2):
                self._set_device(values[0], values[1] if len(values) == 2 else "*")
            else:
                raise ValueError
        except ValueError:
            raise ValueError(f"Unknown attribute: '{fields[0]}' in '{spec}'") from None

    def _set_device(self, device_type: str, index: str) -> None:
        self.device_type = device_type.upper() if device_type.lower() in ("cpu", "gpu") else device_type
        self.device_index = None if index == "*" else int(index)

    def merge_from(self, dev: DeviceSpec) -> None:
        """Takes over every part that `dev` states."""
        for part in self.__slots__:
            value = getattr(dev, part)
            if value is not None:
                setattr(self, part, value)

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """A new spec: the parts of `dev`, and of this one where `dev` leaves them open."""
        merged = DeviceSpec(self.job, self.replica, self.task, self.device_type, self.device_index)
        merged.merge_from(dev)
        return merged

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """A new spec with the named parts replaced."""
        state = {part: getattr(self, part) for part in self.__slots__}
        state.update(kwargs)
        return DeviceSpec(**state)

    def to_string(self) -> str:
        """The canonical device name."""
        text = ""
        for part in ("job", "replica", "task"):
            value = getattr(self, part)
            if value is not None:
                text += f"/{part}:{value}"
        if self.device_type is not None:
            text += f"/device:{self.device_type}:{'*' if self.device_index is None else self.device_index}"
        return text

    def _key(self) -> tuple:
        return tuple(getattr(self, part) for part in self.__slots__)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, DeviceSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"DeviceSpec({self.to_string()!r})"


DeviceSpecV1 = DeviceSpec       # its name in TensorFlow's inner module


def device_string(device: Any) -> str:
    """A device name or DeviceSpec as a canonical string ("" for None)."""
    if device is None:
        return ""
    if isinstance(device, DeviceSpec):
        return device.to_string()
    return canonical(str(device))


@functools.lru_cache(maxsize=1024)
def canonical(name: str) -> str:
    """The canonical form of a device name; ``/gpu:0`` becomes ``/device:GPU:0``."""
    return DeviceSpec.from_string(name).to_string() if name else ""


def _as_stated(device: Any) -> str:
    """What a function of ``tf.device`` answers, in its own spelling.  Raises ValueError if it is malformed."""
    name = device_string(device)
    return name if device is None or isinstance(device, DeviceSpec) else str(device)


@functools.lru_cache(maxsize=1024)
def merged(outer: str, inner: str) -> str:
    """Both names together; where both state a part, `inner` wins."""
    return DeviceSpec.from_string(outer).make_merged_spec(DeviceSpec.from_string(inner)).to_string()


def merge_device(spec: Any) -> Any:
    """A device function that adds `spec` to what a node already states (``tf.device`` with a string does this)."""
    name = device_string(spec)
    return lambda op: merged(name, op.device or "")


class DeviceStack:
    """The nested ``device(...)`` scopes of a graph."""

    def __init__(self) -> None:
        self._entries: list[Any] = []          # canonical strings, functions of an op, or None (forget the outer)
        self._fixed: str | None = ""           # the answer, if no function has a say

    def push(self, device: Any) -> None:
        """Enters a scope: a name, a DeviceSpec, a function of an Operation, or None."""
        if device is not None and not callable(device):
            device = device_string(device)
        self._entries.append(device)
        self._refresh()

    def pop(self) -> None:
        """Leaves the innermost scope."""
        self._entries.pop()
        self._refresh()

    def replace(self, entries: list[Any]) -> list[Any]:
        """Puts other scopes in place, and returns those that were there."""
        before, self._entries = self._entries, entries
        self._refresh()
        return before

    def _refresh(self) -> None:
        active = self._active()
        if any(callable(entry) for entry in active):
            self._fixed = None
            return
        name = ""
        for entry in active:
            name = merged(entry, name)
        self._fixed = name

    def _active(self) -> list[Any]:
        """Innermost first, up to the first None."""
        active = []
        for entry in reversed(self._entries):
            if entry is None:
                break
            active.append(entry)
        return active

    def _names(self, op: Any, name: str) -> Iterator[str]:
        """The device of `op`, which is `name` so far, after each of the scopes."""
        for entry in self._active():
            name = _as_stated(entry(op)) if callable(entry) else merged(entry, name)
            yield name

    def assign(self, op: Any) -> None:
        """Sets the device of a new operation."""
        if self._fixed is not None:
            if self._fixed:
                op._device = self._fixed
            return
        for name in self._names(op, op._device):
            op._device = name

    def tell(self, probe: Any) -> None:
        """Tells the present device, if there is one, to something that takes the place of an operation."""
        named = self._fixed
        if named is None:
            *_, named = self._names(probe, "")
        if not named:
            return
        if hasattr(probe, "_set_device_from_string"):
            probe._set_device_from_string(named)
        else:
            probe._set_device(DeviceSpec.from_string(named))


_RUNTIME = "jitgraph.runtime.placement"       # says what there is, once it is loaded


def _ask(config: Any) -> list[tuple[str, str, int, str, tuple[int, int]]]:
    importlib.import_module(_RUNTIME)
    return Accelerators.found(config)


class Accelerators:
    """The devices beside the CPU that sessions of this process run on; the runtime says what they are, and is loaded to be asked:
    programs ask before they have a session.

    `found(config)` gives for each its name in graphs, type, bytes of memory, a description, and its compute capability.
    """

    found: Callable[[Any], list[tuple[str, str, int, str, tuple[int, int]]]] = staticmethod(_ask)


def list_local_devices(session_config: Any = None) -> list:
    """The DeviceAttributes of the devices that graphs can run on here: the CPU, with the machine's memory in bytes, and the GPUs
    that sessions with this configuration see."""
    import os

    from jitgraph.protobuf.messages import DeviceAttributes

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return [DeviceAttributes(name="/device:CPU:0", device_type="CPU", memory_limit=memory),
            *(DeviceAttributes(name=name, device_type=kind, memory_limit=limit, physical_device_desc=description)
              for name, kind, limit, description, _ in Accelerators.found(session_config))]
