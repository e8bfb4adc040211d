"""transfer: where a target has a memory of its own, values are copied to where a step needs them.

A value is copied when its memory is asked for and has not the present one.  Results are in the host's memory in the end, and
variables whenever the host does a step of its own: that may look at them, and so may other runs meanwhile.  A kernel that
writes a part of a buffer needs the rest of it beside it, so that is copied, too.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .place import CopyStep, DeviceStep, HostStep, Layout
from .program import Program

HOST, DEVICE = "host", "device"


def transfer(program: Program) -> None:
    """Copies between the memories of the host and of the program's target."""
    if program.target.has_memory:
        _Transfer(program.layout).run()


class _Transfer:
    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.steps: list[Any] = []
        self.valid = {k: {HOST} if slot.kind in ("feed", "const", "size", "variable") else set()
                      for k, slot in enumerate(layout.slots)}
        self.variables = [k for k, slot in enumerate(layout.slots) if slot.kind == "variable"]
        self.moved: dict[int, int] = {}         # number of a step before -> after

    def run(self) -> None:
        for number, step in enumerate(self.layout.steps):
            if isinstance(step, HostStep):
                self._needs([*self.variables, *(slot for slot, *_ in step.inputs)], HOST)
                for slot in [*self.variables, *step.outputs]:
                    self.valid[slot] = {HOST}
            else:
                kernel, slots = (step.kernel, step.slots) if isinstance(step, DeviceStep) else step
                memory = DEVICE if isinstance(step, DeviceStep) else HOST
                self._needs([slot for param, slot in zip(kernel.params, slots) if param.use != "out" or self.valid[slot]], memory)
                for param, slot in zip(kernel.params, slots):
                    if param.use != "in":
                        self.valid[slot] = {memory}
            self.moved[number] = len(self.steps)
            self.steps.append(step)
        self._needs(self.variables + [slot for slot, _ in self.layout.results.values()], HOST)
        for each in self.layout.slots:
            each.first, each.last = self.moved.get(each.first, 0), self.moved.get(each.last, 0)
        self.layout.steps = self.steps

    def _needs(self, slots: Iterable[int], memory: str) -> None:
        """Copies those of the slots that have a value, and not in this memory."""
        for slot in dict.fromkeys(slots):
            if self.valid[slot] and memory not in self.valid[slot]:
                self.steps.append(CopyStep(slot, memory == DEVICE))
                self.valid[slot].add(memory)
