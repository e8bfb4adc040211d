"""A run that is recorded: what it asks the driver for, what memory it uses, and what the host looks at."""
from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler.divide import is_quiet
from jitgraph.compiler.place import HostStep

from .array import DeviceArray, put
from .device import Block, Device
from .draws import Draws
from .repeated_run import Changes, Checked, Fed, RepeatedRun, Seen, Taken, Work, copy
from .tape import Tape, lies_in

if TYPE_CHECKING:
    from .frame import DeviceFrame
    from .machine import Pinned
    from .stretches import Part
    from .variable import DeviceVariable

FEW = 64                # numbers that the host may look at
FIXED = frozenset(["const", "size", "host", "object"])      # kinds of slots whose values follow from sizes


def repeats(step: HostStep) -> bool:
    """Whether a step gives the same for the same inputs, and does nothing else."""
    call, op = step.node.attrs["call"], step.node.op
    if call != "op" or op is None or op.opdef is None or "refs" in step.node.attrs:
        return bool(call == "array")
    return is_quiet(op, may_draw=True) if step.call is not None else op.opdef.repeats


class Recording:
    """Of a run of `frame`, on its one device.  What the run takes, and the frames of the bodies of its loops, belong to what
    comes of it.  The caller has the machine's lock, and that of the variables."""

    def __init__(self, frame: DeviceFrame) -> None:
        self.frame, self.machine, self.device = frame, frame.machine, frame.devices[0]
        self.tape = Tape(self.machine.driver, frame.box)
        self.moves = self.machine.moves
        self.actions: list[Work | Checked | Fed | Taken | Seen] = []
        self.changes: Changes = []              # since the last action
        self.frames: dict[DeviceFrame, None] = {}
        self.blocks: list[tuple[weakref.ref[Block], int, int]] = []     # with address and size
        self.variables: dict[DeviceVariable, int] = {}                  # address of each that was used
        self.unchecked: list[Checked] = []
        self.fed: dict[int, Seen] = {}          # slot -> numbers that were fed ...
        self.seen: dict[int, Seen] = {}         # ... and others that the host has looked at
        self.pinned: list[Pinned] = []
        self.drawn: list[Draws] = []
        self.has_changed = False                # whether variables have changed

    @contextlib.contextmanager
    def standing_in(self) -> Iterator[None]:
        """Within it, its tape is the machine's driver."""
        machine, driver = self.machine, self.tape.driver
        machine.recording, machine.driver = self, self.tape         # type: ignore[assignment]
        for device in machine.devices:
            device.driver, device.recording = self.tape, self       # type: ignore[assignment]
        try:
            yield
        finally:
            machine.recording, machine.driver = None, driver
            for device in machine.devices:
                device.driver, device.recording = driver, None

    # what frames tell ------------------------------------------------------------------------------------------------------
    def taken(self, block: Block) -> None:
        """A block of memory was taken."""
        self.blocks.append((weakref.ref(block), block.address, block.nbytes))

    def runs(self, frame: DeviceFrame) -> None:
        """A frame is run."""
        if frame is not self.frame:
            if frame not in self.frames:
                self.frames[frame] = None
                self.tape.boxes.append(frame.box)
            if any(isinstance(step, tuple) for step in frame.binding.layout.steps) or len(frame.devices) > 1:
                self.tape.refuse("a body has kernels of the host, or of several devices")
            if any(stretch.answers for stretch in frame.schedule.stretches):
                self.tape.refuse("the host looks at a number of the device")

    def does(self, step: HostStep) -> None:
        """A step of the host is done."""
        if not repeats(step):
            self.tape.refuse(f"{step.node.op and step.node.op.type} may give something else another time")

    def is_fed(self, frame: DeviceFrame, slot: int) -> bool:
        """Whether a slot holds what differs from run to run: a feed of the run, not one of a body."""
        return frame is self.frame and frame.binding.layout.slots[slot].kind == "feed"

    def reads(self, frame: DeviceFrame, step: HostStep, slot: int) -> None:
        """A step of the host may look at the value of a slot: a few numbers may be the same in many runs."""
        array, kind = frame.arrays[slot], frame.binding.layout.slots[slot].kind
        if kind in FIXED or kind == "feed" and frame is not self.frame:
            return
        if frame is not self.frame or kind == "variable" or array.size > FEW or array.dtype.kind not in "iubfc" or self.has_changed:
            self.tape.refuse(f"{step.node.op and step.node.op.type} takes a value on the host")
        elif kind == "feed":
            self.fed.setdefault(slot, Seen(slot, np.array(array)))
        elif slot not in self.seen:
            self._see(Seen(slot, np.array(array)))

    def number(self, frame: DeviceFrame, slot: int, there: DeviceArray) -> Any:
        """What a step of the host gets for what lies on a device: of a number of the run the value, since it will look at it."""
        if there.shape or there.dtype.kind not in "iub" or frame is not self.frame or self.has_changed:
            return there
        if slot in self.seen:
            return np.array(self.seen[slot].value)
        pinned = self.machine.pinned(there.nbytes)
        held = pinned.array[:there.nbytes].view(there.dtype).reshape(())
        self.pinned.append(pinned)
        self.tape.boxes.append(pinned.array)
        self.device.download(held, there.address)
        self.device.synchronize()
        self._see(Seen(slot, np.array(held), held))
        return np.array(held)

    def _see(self, seen: Seen) -> None:
        self._cut()
        self.actions.append(seen)
        self.seen[seen.slot] = seen

    def draws(self, draws: Draws) -> np.ndarray:
        """Random numbers that each run reserves, where they can be copied from again."""
        made = draws.made()
        pinned = self.machine.pinned(made.nbytes)
        held = pinned.array[:made.nbytes].view(made.dtype).reshape(made.shape)
        held[...] = made
        self.pinned.append(pinned)
        self.tape.fed.append(pinned.array)
        self.drawn.append(draws._replace(held=held))
        return held

    def uses(self, variable: DeviceVariable, device: Device, address: int) -> None:
        """A variable's present value is used on a device."""
        if self.variables.setdefault(variable, address) != address or device is not self.device:
            self.tape.refuse("a variable lies at several addresses")

    def changing(self, frame: DeviceFrame) -> None:
        """A part follows that changes variables: what may fail before it is looked at first."""
        if frame is not self.frame:
            self.tape.refuse("a body changes a variable")
        self._check()
        self.has_changed = True

    def changed(self, variable: DeviceVariable, ordinals: Iterable[int]) -> None:
        """Work was asked for after which these devices have a variable's value."""
        self.changes.append((variable, frozenset(ordinals)))

    def may_fail(self, frame: DeviceFrame, part: Part) -> None:
        """A part was asked for whose kernels may fail."""
        self.unchecked.append(Checked(None if frame is self.frame else frame, part))
        if frame is not self.frame and self.has_changed:
            self.tape.refuse("a body may fail after a variable was changed")

    def brought(self, frame: DeviceFrame, slot: int, d: int) -> DeviceArray:
        """A feed of the run on a device, for a step of the host that hands it on."""
        array = frame.arrays[slot]
        if lies_in(array, frame.box):
            return put(array, self.device)
        found = DeviceArray(self.device.take(array.nbytes), array.shape, array.dtype)
        self.copies(frame, Fed(slot, d, found.address))
        return found

    def copies(self, frame: DeviceFrame, copied: Fed | Taken) -> bool:
        """Copies a feed or a result of the run, from or to memory that differs from run to run; whether it is one."""
        if frame is not self.frame or isinstance(copied, Fed) and not self.is_fed(frame, copied.slot):
            return False
        self._cut()
        self.actions.append(copied)
        self.tape.notes = False
        copy(frame, copied)
        self.tape.notes = True
        return True

    def _cut(self) -> None:
        calls = self.tape.cut()
        if calls or self.changes:
            self.actions.append(Work(calls, self.changes))
        self.changes = []

    def _check(self) -> None:
        self._cut()
        self.actions += dict.fromkeys(self.unchecked)       # of a body, once
        self.unchecked = []
        self.tape.looked_at()

    # what comes of it ------------------------------------------------------------------------------------------------------
    def made(self) -> RepeatedRun | None:
        """The recording of a run that is over, None if that cannot be repeated."""
        self._check()
        if self.tape.refused or self.machine.moves != self.moves:
            return None
        blocks = self._blocks()
        if blocks is None or not _claimed(self.frames):
            return None
        record = RepeatedRun(self, blocks)
        try:
            record.capture(self)
        except BaseException:
            record.end()
            raise
        return record

    def _blocks(self) -> list[Block] | None:
        """The memory that was used, so that nobody else gets it; None if some of it is gone."""
        alive = {block.address: block for reference, _, _ in self.blocks if (block := reference()) is not None}
        found = [*alive.values()]
        for address, size in {(address, size): None for _, address, size in self.blocks}:
            if address not in alive:
                block = self.device.claim(address, size)
                if block is None:
                    return None
                found.append(block)
        return found


def _claimed(frames: Iterable[DeviceFrame]) -> bool:
    """Takes frames that nobody uses away from the bodies that they are of; False, and none is, where somebody does."""
    found: list[DeviceFrame] = []
    for frame in frames:
        try:
            frame.binding.frames.remove(frame)
        except ValueError:
            for other in found:
                other.binding.frames.append(other)
            return False
        found.append(frame)
    return True
