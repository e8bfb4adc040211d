"""What a program does on devices, between steps of the host: worked out once for the sizes of a binding.

Steps on devices that follow one another are a stretch.  What it needs of the host is copied before it, what the host wants of it
after it.  A stretch is done in parts, of each of which a graph can be made; a new one begins where a kernel changes a variable
after others that may fail: a failed run leaves variables as they were when it failed, so those are looked at first.
"""
from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler.place import CopyStep, DeviceStep, HostStep, assign_offsets
from jitgraph.compiler.targets import HOST

if TYPE_CHECKING:
    from jitgraph.runtime.binding import Binding

WORD = 8
ALIGNMENT = 64
Step = DeviceStep | CopyStep


class Part:
    """Steps that are done without a look at what they did: kernels, and copies between devices."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.devices: list[int] = []                    # in the order of their first step
        self.may_fail = False
        self.returns: set[int] = set()                  # devices whose letter box has answers of these steps for the host
        self.words: dict[int, tuple[int, int]] = {}     # where in the letter box of each device errors of these steps lie
        self.changes: dict[int, set[int]] = {}          # slot of a variable -> devices that have its value afterwards
        self.first = self.last = False                  # of a stretch

    def add(self, step: Step) -> None:
        self.steps.append(step)
        for device in (step.device,) if isinstance(step, DeviceStep) else (step.source, step.to):
            if device not in self.devices:
                self.devices.append(device)


class Stretch:
    """Parts, and what is copied before and after: (slot, device) each.  `mail`: devices whose letter box is filled before."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.uploads: list[tuple[int, int]] = []
        self.downloads: list[tuple[int, int]] = []
        self.mail: list[int] = []
        self.variables: list[tuple[int, int]] = []      # (slot, device) of those that are touched
        self.answers = False                            # whether the host wants something of it


class Schedule:
    """All stretches of a binding, and the memory of each device.

    A letter box is memory that the host and a device have alike: small feeds, then what each device answers, small results and
    one word of errors for each of its kernels.  So one copy takes all feeds there, and one brings all answers back.
    """

    def __init__(self, binding: Binding, resident: bool = False) -> None:
        self.binding, layout, self.resident = binding, binding.layout, resident
        self.slots, self.steps = layout.slots, layout.steps
        self.nbytes = [_nbytes(binding, k) for k in range(len(self.slots))]
        self.launched = [step for step in self.steps if isinstance(step, DeviceStep)]
        self.devices = sorted({d for step in self.steps if not isinstance(step, (tuple, HostStep)) for d in _devices_of(step)})
        self.constants: list[tuple[int, int]] = []
        self.end = len(self.steps)              # behind the last step that is not a copy
        self.stretches: list[Stretch] = []
        self.writer = self._writers()
        self.staying = self._staying() if resident else {}      # slot of a result that is not copied to the host -> its device

    def _staying(self) -> dict[int, int]:
        """The results that only the caller wants of the host, but for numbers: by these loops go on, or not."""
        end = max((n for n, step in enumerate(self.steps) if not isinstance(step, CopyStep)), default=-1)
        self.end = end + 1
        return {step.slot: step.source for step in self.steps[end + 1:]
                if isinstance(step, CopyStep) and step.to == HOST and not self._is_number(step.slot)}

    def _is_number(self, slot: int) -> bool:
        dtype = self.slots[slot].dtype
        return not self.binding.shapes[slot] and (dtype.is_integer or dtype.is_bool)

    def _writers(self) -> dict[int, int]:
        """{slot of a result: the one memory whose kernels write it}; not of one that several write."""
        found: dict[int, set[int]] = {}
        for step in self.steps:
            if isinstance(step, (DeviceStep, tuple)):
                device = step.device if isinstance(step, DeviceStep) else HOST
                kernel, slots = (step.kernel, step.slots) if isinstance(step, DeviceStep) else step
                for param, slot in zip(kernel.params, slots):
                    if param.use != "in":
                        found.setdefault(slot, set()).add(device)
        return {slot: next(iter(memories)) for slot, memories in found.items() if len(memories) == 1}

    def letters(self, feeds: Iterable[int], outputs: Iterable[int]) -> None:
        """Lays out the letter box for small feeds and results: `at` of each slot, `fed` bytes of feeds, `answered` the range of
        each device, `words` of errors by step, `size` of all."""
        end = 0
        self.at: dict[int, int] = {}
        self.words: dict[DeviceStep, int] = {}
        self.answered: dict[int, tuple[int, int]] = {}
        results = list(outputs)

        def put(slot: int) -> None:
            nonlocal end
            self.at[slot] = end
            end += (self.nbytes[slot] // ALIGNMENT + 1) * ALIGNMENT

        for slot in feeds:
            put(slot)
        self.fed = end
        for slot in results:
            if self.writer.get(slot, HOST) == HOST:
                put(slot)
        for device in self.devices:
            start = end
            for slot in results:
                if self.writer.get(slot) == device:
                    put(slot)
            for step in self.launched:
                if step.device == device:
                    self.words[step] = end
                    end += WORD
            end = -(-end // ALIGNMENT) * ALIGNMENT
            self.answered[device] = start, end
        self.size = end
        self._stretches()
        self._arenas()

    def in_box(self, slot: int, device: int) -> bool:
        """Whether the memory of a slot on a device is in its letter box."""
        return slot in self.at and (self.at[slot] < self.fed or self.writer.get(slot) == device)

    # stretches -----------------------------------------------------------------------------------------------------
    def _stretches(self) -> None:
        stretch: Stretch | None = None
        mailed: set[int] = set()
        self.spans: dict[tuple[int, int], list[int]] = {}       # (slot, device): first and last step that touches it there
        self.wrote: dict[int, Part] = {}        # slot -> the part that has written it last
        first = 0
        for number, step in enumerate(self.steps):
            if isinstance(step, (tuple, HostStep)):
                if stretch is not None:
                    self._end(stretch, first, number)
                stretch = None
                if isinstance(step, HostStep):
                    for n, device in step.there.items():
                        self._touch(step.inputs[n][0], device, number, number)
                continue
            if stretch is None:
                stretch, first = Stretch(), number
                self.stretches.append(stretch)
            if isinstance(step, DeviceStep):
                self._launch(stretch, step, number)
            elif self.slots[step.slot].kind in ("const", "size"):
                self.constants.append((step.slot, step.to))
                self._touch(step.slot, step.to, 0, len(self.steps))
            elif step.source == HOST:
                if not self.in_box(step.slot, step.to):
                    stretch.uploads.append((step.slot, step.to))
                elif step.to not in mailed:
                    mailed.add(step.to)
                    stretch.mail.append(step.to)
                if self.resident and self.slots[step.slot].kind == "feed":      # the next run may find it there
                    self._touch(step.slot, step.to, 0, len(self.steps))
                self._touch(step.slot, step.to, first, number)
            elif step.to == HOST and number >= self.end and step.slot in self.staying:
                self._touch(step.slot, step.source, number, len(self.steps))
            elif step.to == HOST:
                stretch.answers = True
                if self.slots[step.slot].kind == "output":      # stays, for who wants it there
                    self._touch(step.slot, step.source, number, len(self.steps))
                if self.in_box(step.slot, step.source):
                    self.wrote[step.slot].returns.add(step.source)
                else:
                    stretch.downloads.append((step.slot, step.source))
                    self._touch(step.slot, step.source, number, len(self.steps))
            else:
                self._between(stretch, step, number)
        if stretch is not None:
            self._end(stretch, first, len(self.steps))

    def _launch(self, stretch: Stretch, step: DeviceStep, number: int) -> None:
        changed = [slot for param, slot in zip(step.kernel.params, step.slots)
                   if param.use != "in" and self.slots[slot].kind == "variable"]
        if not stretch.parts or changed and stretch.parts[-1].may_fail:
            stretch.parts.append(Part())
        part = stretch.parts[-1]
        part.add(step)
        begin, _ = part.words.get(step.device, (self.words[step], 0))       # they follow one another
        part.words[step.device] = begin, self.words[step] + WORD
        part.may_fail |= self.binding.compiled.launches[step].may_fail
        self.wrote.update((slot, part) for param, slot in zip(step.kernel.params, step.slots) if param.use != "in")
        for slot in step.slots:
            if self.slots[slot].kind != "variable":
                self._touch(slot, step.device, number, number)
            elif (slot, step.device) not in stretch.variables:
                stretch.variables.append((slot, step.device))
        part.changes.update((slot, {step.device}) for slot in changed)

    def _between(self, stretch: Stretch, step: CopyStep, number: int) -> None:
        if not stretch.parts:
            stretch.parts.append(Part())
        part = stretch.parts[-1]
        part.add(step)
        if self.slots[step.slot].kind != "variable":
            self._touch(step.slot, step.source, number, number)
            self._touch(step.slot, step.to, 0, len(self.steps))     # nothing else has lain there: no need to wait for that
            return
        stretch.variables += [(step.slot, d) for d in (step.source, step.to) if (step.slot, d) not in stretch.variables]
        for earlier in reversed(stretch.parts):
            if step.slot in earlier.changes:
                part.changes[step.slot] = earlier.changes[step.slot] | {step.to}
                break

    def _end(self, stretch: Stretch, first: int, end: int) -> None:
        """What is copied to the host after the stretch must lie there until then."""
        for slot, device in stretch.downloads:
            if (slot, device) in self.spans:
                self._touch(slot, device, first, end)
        for part in stretch.parts:
            part.first, part.last = part is stretch.parts[0], part is stretch.parts[-1]

    # memory ----------------------------------------------------------------------------------------------------------
    def _touch(self, slot: int, device: int, first: int, last: int) -> None:
        if self.in_box(slot, device):
            return
        span = self.spans.setdefault((slot, device), [first, last])
        span[0], span[1] = min(span[0], first), max(span[1], last)

    def _arenas(self) -> None:
        """Where each slot lies in the memory of its device: values that are not alive at the same time share it."""
        reuse = self.binding.compiled.program.options.uses("memory_reuse")
        self.offsets: dict[tuple[int, int], int] = {}
        self.arena: dict[int, int] = {}
        for device in self.devices:
            mine = [key for key in self.spans if key[1] == device]
            spans = [(self.nbytes[slot], *(self.spans[slot, d] if reuse else (0, len(self.steps)))) for slot, d in mine]
            offsets, self.arena[device] = assign_offsets(spans)         # type: ignore[arg-type]
            self.offsets.update(zip(mine, offsets))


def _devices_of(step: Any) -> list[int]:
    return [step.device] if isinstance(step, DeviceStep) else [d for d in (step.source, step.to) if d != HOST]


def _nbytes(binding: Binding, k: int) -> int:
    slot = binding.layout.slots[k]
    if slot.kind == "object":
        return 0
    return math.prod(binding.shapes[k]) * np.dtype(slot.dtype.as_numpy_dtype).itemsize
