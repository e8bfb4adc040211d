"""Where what a run needs lies on its devices, and launches with these addresses.

Each device has an arena, a letter box and the words of all its kernels; addresses stay what they are for as long as the frame
lives, but for those of variables, which are given with each launch.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler.place import DeviceStep

from .products import ALIGNMENT, Addresses, Prepared
from .stretches import WORD, Part, Schedule

if TYPE_CHECKING:
    from jitgraph.runtime.binding import Binding

    from .device import Device
    from .driver import Function

MOVE = 16               # bytes that a thread moves at once, which lie at a multiple of as many


class Places:
    """The memory of a frame on `devices`, taken when this is made, and its kernels, loaded there."""

    def __init__(self, binding: Binding, schedule: Schedule, devices: list[Device], arrays: list[Any]) -> None:
        """`arrays`: what the slots hold; what never changes is copied to the devices.  Under the machine's lock."""
        self.binding, self.schedule, self.devices = binding, schedule, devices
        self.blocks_of: dict[int, list[Any]] = {}
        self.place_of: dict[tuple[int, int], int] = {}          # (slot, device) -> address, but for variables
        self.box_of: dict[int, int] = {}
        self.words_of = {d: self._words(d) for d in schedule.devices}   # where error words of its kernels lie in the letter box
        self.launches: dict[DeviceStep, tuple[Function, int, int]] = {}
        self.products: dict[DeviceStep, Prepared] = {}          # of steps that the library does
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
        self._prepare_products(d, steps)
        for step in steps:
            length = WORD * len(launches[step].words)
            if step not in self.products:
                code = self.binding.compiled.launches[step].code
                self.launches[step] = (device.load(step.kernel.name, code), at, length)
            at += length

    def _prepare_products(self, d: int, steps: list[DeviceStep]) -> None:
        """What the library makes of the products of these steps: the others are kernels.  All products of a device work in the
        same memory, one after the other."""
        library, blocks = self.devices[d].products, self.blocks_of[d]
        for step in steps:
            product = self.binding.launches[step].product
            prepared = None if product is None or library is None else library.prepare(product, blocks[0].address)
            if prepared is not None:
                self.products[step] = prepared
        wanted = max((self.products[step].workspace for step in steps if step in self.products), default=0)
        if wanted:
            blocks.append(self.devices[d].take(wanted))

    def _words(self, d: int) -> tuple[int, int]:
        words = [at for step, at in self.schedule.words.items() if step.device == d]
        return (min(words), max(words) + WORD) if words else (0, 0)

    def buffers(self, step: DeviceStep, addresses: dict[tuple[int, int], int]) -> list[int]:
        """Where the buffers of a step lie; `addresses`: of those that lie in no place of this frame's."""
        d = step.device
        return [addresses.get((slot, d)) or self.place_of[slot, d] for slot in step.slots]

    def alignment(self, slot: int) -> int:
        """At a multiple of how many bytes a slot must lie, for kernels that move several elements at once, and for the library."""
        if any(slot in step.slots for step in self.products):
            return ALIGNMENT
        return math.gcd(MOVE, self.schedule.nbytes[slot]) or 1

    def launch(self, step: DeviceStep, addresses: dict[tuple[int, int], int], table: int | None = None) -> None:
        """Asks for a kernel, or a product.  `table`: where the words of this launch lie instead of its own."""
        if step in self.products:
            self._multiply(step, addresses)
            return
        d, schedule, bound = step.device, self.schedule, self.binding.launches[step]
        function, words, length = self.launches[step]
        words = words if table is None else table
        buffers = list(zip(self.buffers(step, addresses), (schedule.nbytes[slot] for slot in step.slots)))
        reached, buffers = (buffers, []) if bound.addresses else ([], buffers)
        pointers, nbytes = zip(*buffers, (words, length), (self.box_of[d] + schedule.words[step], WORD))
        self.devices[d].driver.launch(function, bound.blocks, bound.threads, pointers, nbytes, self.devices[d].stream, reached)

    def _multiply(self, step: DeviceStep, addresses: dict[tuple[int, int], int]) -> None:
        d, call, prepared = step.device, step.kernel.library, self.products[step]
        library, stream = self.devices[d].products, self.devices[d].stream
        assert call is not None and library is not None
        at = self.buffers(step, addresses)
        a, b, c, bias, y = (at[k] if k >= 0 else 0 for k in (0, 1, call.c, call.bias, call.y))
        library.multiply(prepared, Addresses(a, b, c, bias, y), self.blocks_of[d][-1].address if prepared.workspace else 0, stream)

    def fill_tables(self, part: Part, addresses: dict[tuple[int, int], int]) -> None:
        """Copies the tables of launches that find their buffers in one to their devices."""
        for step in part.steps:
            if isinstance(step, DeviceStep) and (bound := self.binding.launches[step]).addresses:
                d = step.device
                words = np.array(bound.words, np.int64)
                words[list(bound.addresses)] = self.buffers(step, addresses)
                self.devices[d].upload(self.launches[step][1], words)
