"""Variables whose newest value may lie on a device."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from jitgraph.compiler.targets import HOST
from jitgraph.runtime.variable import Variable

from .array import DeviceArray
from .device import Block, Device
from .machine import Machine


class DeviceVariable(Variable):
    """A variable with a buffer on the host and, from its first use there on, on devices.

    `valid` are the memories that have its present value: HOST, and ordinals of devices.  A run on a device changes it there; the
    host gets it when somebody asks for `value`, and devices when they need it after the host has `written`.  Whatever changes
    `valid` or the blocks is counted in `machine.moves`.
    """

    __slots__ = ("machine", "blocks", "valid")

    def __init__(self, name: str, machine: Machine) -> None:
        super().__init__(name)
        self.machine = machine
        self.blocks: dict[int, Block] = {}
        self.valid: set[int] = {HOST}

    def value(self) -> np.ndarray | None:
        if HOST not in self.valid:
            with self.machine.lock:
                if HOST not in self.valid:
                    assert self.array is not None
                    device = self._source()
                    device.download(self.array, self.blocks[device.ordinal].address)
                    device.synchronize()
                    self.valid.add(HOST)
                    self.machine.moves += 1
        return self.array

    def there(self) -> Any:
        block = self.block()
        if block is None or self.array is None:
            return self.value()
        return DeviceArray(block, self.array.shape, self.array.dtype)

    def written(self) -> None:
        with self.machine.lock:
            self.valid = {HOST}
            self.machine.moves += 1
            if self.array is not None:
                self.blocks = {k: block for k, block in self.blocks.items() if block.nbytes >= self.array.nbytes}

    def on(self, device: Device) -> int:
        """The address of its buffer on a device, with the present value in it once the device's present work is done."""
        ordinal = device.ordinal
        if ordinal not in self.valid:
            array = self.array
            assert array is not None
            block = self.blocks.get(ordinal)
            if block is None:
                block = self.blocks[ordinal] = device.take(array.nbytes)
            if HOST in self.valid:
                device.upload(block.address, array)
            else:
                source = self._source()
                self.machine.order(source, device)
                self.machine.driver.between((ordinal, block.address), (source.ordinal, self.blocks[source.ordinal].address),
                                            array.nbytes, device.stream)
                self.machine.order(device, source)          # which must not change it before it is copied
            self.valid.add(ordinal)
            self.machine.moves += 1
        address = self.blocks[ordinal].address
        if self.machine.recording is not None:
            self.machine.recording.uses(self, device, address)
        return address

    def block(self) -> Block | None:
        """Its buffer on a device that has its present value, None if none has."""
        return self.blocks[max(self.valid)] if max(self.valid) != HOST else None

    def changed(self, ordinals: Iterable[int]) -> None:
        """Says that work was asked for after which these devices, and no other memory, have its present value."""
        valid = set(ordinals)
        if self.machine.recording is not None:
            self.machine.recording.changed(self, valid)
        if valid != self.valid:
            self.valid = valid
            self.machine.moves += 1

    def _source(self) -> Device:
        return self.machine.devices[max(self.valid)]
