"""transfer: where a target has memories of its own, values are copied to where a step needs them.

A value is copied when a memory is asked for it that has not the present one.  Results are in the host's memory in the end.
A kernel that writes a part of a buffer needs the rest of it beside it, so that is copied, too.

Random numbers are reserved before everything else, so that what devices do is not in pieces for that.

The value of a variable outlives the run, and the runtime knows where it is: it brings it along before a stretch of steps on
devices or on the host begins.  Here it is copied only within such a stretch, from the device that has written it to another.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from .place import CopyStep, DeviceStep, HostStep, Layout
from .program import Program
from .targets import HOST
from .views import is_contiguous


def transfer(program: Program) -> None:
    """Copies between the memories of the host and of the program's target."""
    if program.target.has_memory:
        _Transfer(program.layout).run()


class _Transfer:
    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.steps: list[Any] = []
        # slot -> the memories that have its value; none for what has no value yet, and for a variable that is brought along
        self.valid: list[set[int]] = [{HOST} if slot.kind in ("feed", "const", "size") else set() for slot in layout.slots]
        self.variables = [k for k, slot in enumerate(layout.slots) if slot.kind == "variable"]
        self.moved: dict[int, int] = {}         # number of a step before -> after

    def run(self) -> None:
        for number, step in sorted(enumerate(self.layout.steps), key=lambda numbered: not self.layout.draws(numbered[1])):
            if isinstance(step, DeviceStep):
                self._kernel(step.kernel.params, step.slots, step.device)
            else:
                for slot in self.variables:
                    self.valid[slot] = set()
                if isinstance(step, HostStep):
                    self._stay(step)
                    self._needs((slot for n, (slot, *_) in enumerate(step.inputs) if n not in step.there), HOST)
                    for slot in step.outputs:
                        self.valid[slot] = {HOST}
                else:
                    self._kernel(step[0].params, step[1], HOST)
                for slot in self.variables:
                    self.valid[slot] = set()
            self.moved[number] = len(self.steps)
            self.steps.append(step)
        self._needs((slot for slot, _ in self.layout.results.values() if slot not in self.variables), HOST)
        for each in self.layout.slots:
            each.first, each.last = self.moved.get(each.first, 0), self.moved.get(each.last, 0)
        self.layout.steps = self.steps

    def _stay(self, step: HostStep) -> None:
        """Finds what a step of the host takes as it lies on a device."""
        often = Counter(slot for slot, *_ in step.inputs)
        for n, (slot, shape, strides, _) in enumerate(step.inputs):
            where = self.valid[slot]
            if n in step.keeps and often[slot] == 1 and where and HOST not in where and is_contiguous(shape, strides):
                step.there[n] = max(where)

    def _kernel(self, params: Iterable[Any], slots: list[int], memory: int) -> None:
        self._needs((slot for param, slot in zip(params, slots) if param.use != "out" or self.valid[slot]), memory)
        for param, slot in zip(params, slots):
            if param.use != "in":
                self.valid[slot] = {memory}

    def _needs(self, slots: Iterable[int], memory: int) -> None:
        """Copies those of the slots that have a value, and not in this memory: from a device that has it, if one does."""
        for slot in dict.fromkeys(slots):
            if self.valid[slot] and memory not in self.valid[slot]:
                self.steps.append(CopyStep(slot, max(self.valid[slot]), memory))
                self.valid[slot].add(memory)
