"""Where what a run needs lies on its devices, and launches with these addresses.

Each device has an arena, a letter box and the words of all its kernels; addresses stay what they are for as long as the frame
lives, but for those of variables, which are given with each launch.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler.place import DeviceStep

from .stretches import WORD, Part, Schedule

if TYPE_CHECKING:
    from jitgraph.runtime.binding import Binding

    from .device import Device
    from .driver import Function

MOVE = 16               # bytes that a thread moves at once, which lie at a multiple of as many, as what libraries are given does


class Places:
    """The memory of a frame on `devices`, taken when this is made, and its kernels, loaded there."""

    def __init__(self, binding: Binding, schedule: Schedule, devices: list[Device], arrays: list[Any]) -> None:
        """`arrays`: what the slots hold; what never changes is copied to the devices.  Under the machine's lock."""
        self.binding, self.schedule, self.devices = binding, schedule, devices
        self.blocks_of: dict[int, list[Any]] = {}
        self.place_of: dict[tuple[int, int], int] = {}          # (slot, device) -> address, but for variables
        self.box_of: dict[int, int] = {}
        self.launches: dict[DeviceStep, tuple[Function, int, int]] = {}
        self.calls: dict[DeviceStep, Any] = {}                  # what a library has prepared for steps that it does
        for d in schedule.devices:
            self._take(d)
        for slot, d in schedule.constants:
            devices[d].upload(self.place_of[slot, d], np.ascontiguousarray(arrays[slot]))

    def _take(self, d: int) -> None:
        """The memory of one device."""
        schedule, launches, device = self.schedule, self.binding.launches, self.devices[d]
        steps = [step for step in schedule.launched if step.device == d]
        words = np.array([word for step in steps for word in launches[step].words] or [0], np.int64)
        blocks = [device.take(n) for n in (schedule.arena[d], schedule.size, words.nbytes)]
        self.blocks_of[d] = blocks
        arena, self.box_of[d], at = (block.address for block in blocks)
        for (slot, where), offset in schedule.offsets.items():
            if where == d:
                self.place_of[slot, d] = arena + offset
        self.place_of.update(((slot, d), self.box_of[d] + offset) for slot, offset in schedule.at.items()
                             if schedule.in_box(slot, d))
        device.upload(at, words)
        self._prepare_calls(d, steps)
        for step in steps:
            length = WORD * len(launches[step].words)
            if step not in self.calls:
                code = self.binding.compiled.launches[step].code
                self.launches[step] = (device.load(step.kernel.name, code), at, length)
            at += length

    def _prepare_calls(self, d: int, steps: list[DeviceStep]) -> None:
        """What libraries do of these steps: the others are kernels.  All calls of a device work in the same memory, one after the
        other."""
        blocks, wanted = self.blocks_of[d], 0
        for step in steps:
            asked = self.binding.launches[step].asked
            library = self.devices[d].library_for(asked) if asked is not None else None
            prepared = library.prepare(asked, blocks[0].address) if library is not None else None
            if prepared is not None:
                self.calls[step] = prepared
                wanted = max(wanted, prepared.workspace)
        if wanted:
            blocks.append(self.devices[d].take(wanted))

    def buffers(self, step: DeviceStep, addresses: dict[tuple[int, int], int]) -> list[int]:
        """Where the buffers of a step lie; `addresses`: of those that lie in no place of this frame's."""
        d = step.device
        return [addresses.get((slot, d)) or self.place_of[slot, d] for slot in step.slots]

    def alignment(self, slot: int) -> int:
        """At a multiple of how many bytes a slot must lie, for kernels that move several elements at once, and for libraries."""
        if any(slot in step.slots for step in self.calls):
            return MOVE
        return math.gcd(MOVE, self.schedule.nbytes[slot]) or 1

    def launch(self, step: DeviceStep, addresses: dict[tuple[int, int], int], table: int | None = None) -> None:
        """Asks for a kernel, or a library's work.  `table`: where the words of this launch lie instead of its own."""
        if step in self.calls:
            self._call(step, addresses)
            return
        d, schedule, bound = step.device, self.schedule, self.binding.launches[step]
        function, words, length = self.launches[step]
        words = words if table is None else table
        buffers = list(zip(self.buffers(step, addresses), (schedule.nbytes[slot] for slot in step.slots)))
        reached, buffers = (buffers, []) if bound.addresses else ([], buffers)
        pointers, nbytes = zip(*buffers, (words, length), (self.box_of[d] + schedule.words[step], WORD))
        self.devices[d].driver.launch(function, bound.blocks, bound.threads, pointers, nbytes, self.devices[d].stream, reached)

    def _call(self, step: DeviceStep, addresses: dict[tuple[int, int], int]) -> None:
        device, call, prepared = self.devices[step.device], step.kernel.library, self.calls[step]
        library = device.library_for(self.binding.launches[step].asked)
        assert call is not None and library is not None
        buffers = self.buffers(step, addresses)
        at = [buffers[k] if k >= 0 else 0 for k in call.operands]
        workspace = self.blocks_of[step.device][-1].address if prepared.workspace else 0
        device.driver.ask(library.run, (prepared, at, workspace, device.stream), device.stream)

    def fill_tables(self, part: Part, addresses: dict[tuple[int, int], int]) -> None:
        """Copies the tables of launches that find their buffers in one to their devices."""
        for step in part.steps:
            if isinstance(step, DeviceStep) and (bound := self.binding.launches[step]).addresses:
                d = step.device
                words = np.array(bound.words, np.int64)
                words[list(bound.addresses)] = self.buffers(step, addresses)
                self.devices[d].upload(self.launches[step][1], words)
