"""batch: launches of one kernel that need nothing of each other become one launch.

The updates of an optimizer are the example: as many launches as there are variables, of one text, and most of them too short to
fill a device.  A launch for all of them finds the buffers and sizes of each in a table (see `emit.cuda`).

The order of steps changes only where nobody can tell: a step stays behind what writes the buffers that it touches, and behind
what reads those that it writes; steps of the host stay where they are; and what changes a variable stays on its side of what may
fail.  But whether rows that are to change are there is looked at before any variable changes, so that all can change then without
another look.  Two steps that store to different parts of a buffer, as the parts of what is joined or stacked do, need nothing of
each other.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from . import sizes
from .dependencies import Dependencies
from .place import CopyStep, DeviceStep, HostStep
from .primitives.rows import BOUNDS

if TYPE_CHECKING:
    from .program import Program

FAILURE = -1            # stands among the slots for whether anything has failed


def batch(program: Program) -> None:
    """Joins launches for a target that launches one after the other."""
    if program.target.has_memory and program.options.uses("batched_launches"):
        _Batcher(program).run()


class _Batcher:
    def __init__(self, program: Program) -> None:
        self.program, self.layout = program, program.layout

    def run(self) -> None:
        steps: list[Any] = []
        for stretch in self._stretches():
            joined = _joined(stretch, self._uses) if len(stretch) > 1 else [[0]]
            for members in joined:
                steps.append(stretch[members[0]] if len(members) == 1 else _one([stretch[k] for k in members]))
        if len(steps) < len(self.layout.steps):
            self.layout.steps = steps
            self._renew_lives()

    def _stretches(self) -> Iterator[list[Any]]:
        """The steps in order: those of devices that follow one another together, each of the host by itself."""
        found: list[Any] = []
        for step in self.layout.steps:
            if isinstance(step, (DeviceStep, CopyStep)):
                found.append(step)
                continue
            if found:
                yield found
            yield [step]
            found = []
        if found:
            yield found

    def _uses(self, step: Any) -> tuple[list[int], list[tuple[int, range | None]]]:
        """The slots that a step of a device reads, and those that it writes, with the elements among which it stores where that
        is known and it reads nothing there."""
        if isinstance(step, CopyStep):
            return [step.slot], [(step.slot, None)]
        kernel = step.kernel
        written = [(slot, kernel.span(k) if step.slots.count(slot) == 1 else None)
                   for k, (param, slot) in enumerate(zip(kernel.params, step.slots)) if param.use != "in"]
        read = set(step.slots) - {slot for slot, span in written if span is not None}
        fails = any(node.kind.may_fail(node) for node in kernel.nodes)
        changes = any(self.layout.slots[slot].kind == "variable" for slot, _ in written)
        return [*read, *[FAILURE] * changes], [*written, *[(FAILURE, None)] * fails]

    def _renew_lives(self) -> None:
        """Says anew between which steps each slot is alive."""
        lives: dict[int, list[int]] = {}
        for number, step in enumerate(self.layout.steps):
            for slot in _touched(step):
                lives.setdefault(slot, [number, number])[1] = number
        for slot, (first, last) in lives.items():
            self.layout.slots[slot].first, self.layout.slots[slot].last = first, last
        if not self.program.options.uses("memory_reuse"):
            for each in self.layout.slots:
                each.first, each.last = 0, len(self.layout.steps)


def _touched(step: Any) -> list[int]:
    if isinstance(step, CopyStep):
        return [step.slot]
    if isinstance(step, HostStep):
        return [*(slot for slot, *_ in step.inputs), *step.outputs]
    return step.slots if isinstance(step, DeviceStep) else step[1]


def _key(step: Any) -> Any:
    """What launches have in common that may become one; None for a step that stays alone: one that may fail, so that the kernel
    that did is known, and one that fills a device by itself."""
    if not isinstance(step, DeviceStep) or any(node.kind.may_fail(node) for node in step.kernel.nodes):
        return None
    most = step.target.most_batched(step.kernel)
    if sizes.hint_of(step.target.work(step.kernel).blocks) > most:
        return None
    return step.kernel.source, step.kernel.threads, tuple(param.dtype for param in step.kernel.params), step.device


def apart(one: range | None, other: range | None) -> bool:
    """Whether two stretches of a buffer are known to have no element in common; None for one that may be anywhere."""
    return one is not None and other is not None and (one.stop <= other.start or other.stop <= one.start)


class _Slot:
    """Who has used a buffer so far: the `writers` that a further user may have to wait for, each with where it stores, and the
    `readers` since the last that may have stored anywhere."""

    def __init__(self) -> None:
        self.writers: list[tuple[int, range | None]] = []
        self.readers: set[int] = set()

    def before(self, span: range | None) -> set[int]:
        """The units that one must wait for that stores within `span`."""
        return {unit for unit, other in self.writers if not apart(span, other)} | self.readers

    def wrote(self, unit: int, span: range | None) -> None:
        if span is None:
            self.writers.clear()
            self.readers.clear()
        self.writers.append((unit, span))


def _joined(steps: list[Any], uses: Callable[[Any], tuple[list[int], list[tuple[int, range | None]]]]) -> list[list[int]]:
    """The numbers of the steps in the order of execution, those of one launch together."""
    order = Dependencies()
    members: list[list[int]] = []       # of each unit: the steps that are to be one launch
    alike: dict[Any, list[int]] = {}    # the units of each key
    slots: defaultdict[int, _Slot] = defaultdict(_Slot)
    checks = {number for number, step in enumerate(steps) if _is_check(step)}
    last = max(checks, default=-1)
    positions: list[int] = []           # of each unit: where it comes if nothing stands against that
    for number, step in enumerate(steps):
        reads, writes = uses(step)
        if number in checks:
            writes.remove((FAILURE, None))
        needs = {unit for slot in reads for unit, _ in slots[slot].writers}
        needs.update(*(slots[slot].before(span) for slot, span in writes))
        key = _key(step)
        fitting = alike.setdefault(key, []) if key is not None else []
        # the first for which it does not wait
        unit = next((one for one in fitting if one not in needs and not order.is_before(one, needs)), None)
        if unit is None:
            unit = order.new()
            members.append([])
            positions.append(0)
            fitting.append(unit)
        members[unit].append(number)
        positions[unit] = max(number, last) if FAILURE in reads else number
        order.depend(unit, needs)
        for slot in reads:
            slots[slot].readers.add(unit)
        for slot, span in writes:
            slots[slot].wrote(unit, span)
        if number in checks:            # what changes variables waits for it, it waits for nothing of that kind
            slots[FAILURE].writers.append((unit, None))
    return [members[unit] for unit in order.ordered(positions.__getitem__)]


def _is_check(step: Any) -> bool:
    """Whether a step does nothing but look at the indices of rows that are to change."""
    return isinstance(step, DeviceStep) and all(node.kind is BOUNDS for node in step.kernel.nodes)


def _one(steps: list[DeviceStep]) -> DeviceStep:
    """The step of one launch for several."""
    first = steps[0]
    kernel = first.target.batched([step.kernel for step in steps])
    return DeviceStep(kernel, [slot for step in steps for slot in step.slots], first.target, first.device)
